/* suggest.h - the suggest section of a search: completion, term and phrase suggesters.
 *
 * As with aggregations: a spec without mapping, a partial result per shard in byte form, a pure reduce.
 * Completion options carry the document they come from; the winners' hits are fetched like any hit. */
#ifndef ENGINE_SUGGEST_SUGGEST_H
#define ENGINE_SUGGEST_SUGGEST_H

#include "engine/collect/search_context.h"
#include "engine/collect/top_doc.h"

struct suggest_spec;

enum err suggest_parse(const struct suggest_spec **out, const struct json *suggest, struct str text,
                       struct arena *arena, struct errmsg *em);
/* The shard's part. */
enum err suggest_run(const struct suggest_spec *spec, const struct search_context *cx, struct buf *out,
                     struct errmsg *em);

/* Merged suggestions, ready to be printed once the documents of completion options are fetched. */
struct suggest_reduced;
struct suggest_partial {
    struct str bytes; /* what suggest_run() gave */
    uint32_t slot;    /* of the shard */
};
/* Pure; of no partials, nothing is printed. */
enum err suggest_reduce(struct suggest_reduced **out, const struct suggest_spec *spec,
                        const struct suggest_partial *partials, uint32_t n, struct arena *arena,
                        struct errmsg *em);
bool suggest_is_empty(const struct suggest_spec *spec);
/* The documents that completion options show: slot and doc (in the view) of each, in the order of
 * printing. */
uint32_t suggest_docs(const struct suggest_reduced *r, const struct top_doc **out);
/* Writes {"name":[...]}; hits may be NULL; hits[i] is the fetched JSON object of suggest_docs()[i]: its
 * members follow the option's text. */
void suggest_write(const struct suggest_reduced *r, const struct str *hits, bool typed_keys, struct jsonw *w);

#endif
