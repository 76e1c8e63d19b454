/* template.h - texts with parameters: mustache, as Elasticsearch extends it (toJson, join, url, indices and `size` of arrays).
 *
 * A template is compiled into an arena and rendered with parameters, any number of times. It knows nothing of what the text is for.
 * Pure; any thread, each arena one at a time. */
#ifndef ENGINE_TEMPLATE_TEMPLATE_H
#define ENGINE_TEMPLATE_TEMPLATE_H

#include "common/base/jsonw.h"
#include "engine/script/script.h"

struct template;

#define TEMPLATE_JSON "application/json; charset=UTF-8" /* the content type of a source that is an object */

/* What is compiled: the text with its id, and how values are escaped (a content type; p == NULL: as in JSON). */
struct template_source {
    struct script_text text;
    struct str content_type;
};

/* *out lives in `arena` and borrows from the source. ERR_SCRIPT around ERR_MUSTACHE, with the source in em->about; ERR_GENERAL_SCRIPT
 * where the content type is none, or the text too deep. */
enum err template_compile(struct template **out, const struct template_source *source, struct arena *arena,
                          struct errmsg *em) NODISCARD;
/* Appends the text with these parameters (an object; NULL: none). `arena` is for what is needed meanwhile. ERR_GENERAL_SCRIPT around the
 * cause; ERR_NO_MEMORY beyond the buffer's limit; ERR_CANCELLED when the thread's work was stopped. */
enum err template_render(const struct template *t, const struct json *params, struct buf *out,
                         struct arena *arena, struct errmsg *em) NODISCARD;
/* The text of a template that was sent as an object, in `arena`. p == NULL: no memory. */
struct str template_text(const struct json *object, struct arena *arena) NODISCARD;

#endif
