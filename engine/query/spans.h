/* spans.h - Lucene's span queries: those of a request, and phrases of token graphs (several words standing for one), which are terms,
 * any of several, and several one right behind the other. Internal to engine/query. */
#ifndef ENGINE_QUERY_SPANS_H
#define ENGINE_QUERY_SPANS_H

#include "engine/query/scorers.h"
#include "engine/query/span_match.h"

/* The documents of one segment that hold the spans of w->query. *out stays NULL: none does. sim NULL: they are not scored.
 * ERR_ILLEGAL_STATE: the field has one of the terms, but no positions. */
enum err span_scorer_new(const struct weight *w, const struct sim *sim, const struct scorer_request *rq,
                         struct scorer **out);
/* How often the current document, which was accepted, holds them, each counted less the wider it is. */
float span_scorer_freq(struct scorer *s);

struct span_word {
    struct str field, term;
};
/* The terms that it is scored by, sorted, each once. `field`: of what names none. false: no memory. */
bool span_words(const struct span_part *root, struct str field, struct arena *a, struct span_word **out,
                uint32_t *n);
/* As Lucene prints it. */
void span_print(const struct span_part *p, struct str field, struct buf *out);
/* The field of a part, in one of `field`. */
static inline struct str span_field(const struct span_part *part, struct str field)
{
    return part->field.p != NULL ? part->field : field;
}
/* About how many documents of a segment hold the spans. */
uint64_t span_cost(const struct span_part *part, struct str field, const struct segment *segment);

/* (spans_rewrite.c) Beginnings and patterns become the terms that there are. */
enum err spans_rewrite(struct weight_shared *sh, const struct query *q, const struct query **out,
                       struct errmsg *em);

#endif
