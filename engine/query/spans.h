/* spans.h - phrases of token graphs (several words standing for one) as Lucene's span queries: terms, any of several, and several
 * one right behind the other. Internal to engine/query.
 *
 * Where parts of different lengths can stand at one place, only those that Lucene's NearSpansOrdered tries are tried: each
 * part takes its first place behind the one before. */
#ifndef ENGINE_QUERY_SPANS_H
#define ENGINE_QUERY_SPANS_H

#include "engine/query/scorers.h"

/* The documents of one segment that hold the spans. *out stays NULL: none does. sim NULL: they are not scored.
 * ERR_ILLEGAL_STATE: the field has one of the terms, but no positions. */
enum err span_scorer_new(const struct weight *w, const struct sim *sim, const struct scorer_request *rq,
                         struct scorer **out);
/* How often the current document, which was accepted, holds them. */
float span_scorer_freq(struct scorer *s);
/* Its terms, sorted, each once. false: no memory. */
bool span_terms(const struct span_part *root, struct arena *a, struct str **out, uint32_t *n);
/* About how many documents hold the spans. */
uint64_t span_cost(const struct span_part *part, const struct seg_field *f);

#endif
