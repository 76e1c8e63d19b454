/* rewrite.h - queries made simpler and more concrete before they run, by the rules of Lucene 8.8's
 * Query.rewrite().
 *
 * What changes here shows: in explanations, in how sums are rounded (clauses of nested disjunctions become
 * one sum), and in scores of repeated words (their boosts are added up). Internal to engine/query. */
#ifndef ENGINE_QUERY_REWRITE_H
#define ENGINE_QUERY_REWRITE_H

#include "engine/query/weight.h"

enum err query_rewrite(struct weight_shared *sh, const struct query *q, const struct query **out,
                       struct errmsg *em);
/* The same query but for their own boosts (and names). */
bool query_same(const struct query *a, const struct query *b);
/* As query_same, boosts included. */
bool query_equal(const struct query *a, const struct query *b);

#endif
