/* update_script.h - updates by script: `ctx` in, an operation out. */
#ifndef DATA_SERVICE_UPDATE_SCRIPT_H
#define DATA_SERVICE_UPDATE_SCRIPT_H

#include "data/service/update.h"

/* Runs body.script over `source` (the current document, or the upsert when `create`). ctx.op decides: index,
 * none or noop, delete. ERR_ILLEGAL_ARGUMENT "failed to execute script" around what went wrong. */
enum err update_by_script(struct update_plan *out, const struct update_input *in, const struct json *body,
                          const struct json *source, bool create, struct arena *arena, struct errmsg *em);

#endif
