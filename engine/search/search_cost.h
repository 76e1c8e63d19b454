/* search_cost.h - how much work a search of one shard is, told before it runs.
 *
 * For whoever decides where it runs: an estimate from what segments say of terms, in documents to be looked at, which does not
 * see how much skipping will spare. Pure functions; what they do not know is expensive. */
#ifndef ENGINE_SEARCH_SEARCH_COST_H
#define ENGINE_SEARCH_SEARCH_COST_H

#include "engine/query/query_ops.h"
#include "engine/search/search.h"

#define SEARCH_COST_UNKNOWN QUERY_COST_UNKNOWN

/* The query and fetch phases of `source`. The query it builds goes to *q (in cx's arena), NULL when it was not looked at or is
 * wrong, which the query phase then says. */
uint64_t search_cost(const struct search_context *cx, const struct query **q);

#endif
