/* search_cost.h - an estimate of the work of a search on one shard, before it runs.
 *
 * Callers decide by it where a search runs. It is computed from the segments' statistics of terms, in documents to examine, and does not
 * foresee how many documents will be skipped. Pure functions; an unknown cost counts as high. */
#ifndef ENGINE_SEARCH_SEARCH_COST_H
#define ENGINE_SEARCH_SEARCH_COST_H

#include "engine/query/query_ops.h"
#include "engine/search/search.h"

#define SEARCH_COST_UNKNOWN QUERY_COST_UNKNOWN

/* The query and fetch phases of `source`. The query it builds goes to *q (in cx's arena), NULL when it was not looked at or is
 * wrong, which the query phase then says. */
uint64_t search_cost(const struct search_context *cx, const struct query **q);

#endif
