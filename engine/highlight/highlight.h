/* highlight.h - marking what matched: unified, plain and fvh highlighters of ES 7.12. */
#ifndef ENGINE_HIGHLIGHT_HIGHLIGHT_H
#define ENGINE_HIGHLIGHT_HIGHLIGHT_H

#include "engine/collect/search_context.h"

struct highlight_spec;

/* Whether every highlight_query can be built on this shard: asked before anything is searched, whatever is found.
 * Refusals are not wrapped. */
enum err highlight_check(const struct highlight_spec *spec, const struct search_context *cx,
                         struct errmsg *em);

/* Prepared once per fetch on a shard. `query` is the search's built query; fields' own highlight_query are
 * built here. */
struct highlighter;
enum err highlighter_new(struct highlighter **out, const struct highlight_spec *spec,
                         const struct search_context *cx, const struct query *query, struct errmsg *em);
/* Writes {"field":["fragment",...],...} as the value of "highlight"; *any false: nothing was found and
 * nothing written. `source` is the document's parsed source (NULL when not stored). */
enum err highlight_doc(struct highlighter *h, const struct leaf *leaf, doc_id doc, const struct json *source,
                       struct arena *arena, struct jsonw *w, bool *any, struct errmsg *em);

#endif
