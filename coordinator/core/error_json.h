/* error_json.h - errors in the form that Elasticsearch gives them. Pure; any thread. */
#ifndef COORDINATOR_CORE_ERROR_JSON_H
#define COORDINATOR_CORE_ERROR_JSON_H

#include "common/base/err.h"
#include "common/base/jsonw.h"

/* The members of an error object (without its braces): root_cause, type, reason, caused_by ... */
void error_write(struct jsonw *w, const struct errmsg *em);
/* Without root_cause: as `caused_by`, items of bulk, shard failures. */
void error_write_cause(struct jsonw *w, const struct errmsg *em);
/* One frame of an error, and those from it inwards; `about` is the error's. */
void error_write_frame(struct jsonw *w, const struct err_frame *f, const struct err_about *about);
void error_write_frames(struct jsonw *w, const struct err_frame *f, const struct err_about *about);
/* {"error":{...},"status":n} */
void error_answer(const struct errmsg *em, struct buf *b);

#endif
