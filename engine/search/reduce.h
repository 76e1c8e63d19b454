/* reduce.h - many shards' query results into one: pure, independent of the order in which they arrive. */
#ifndef ENGINE_SEARCH_REDUCE_H
#define ENGINE_SEARCH_REDUCE_H

#include "engine/search/search.h"

struct reduced {
    struct top_doc *docs; /* the page: from .. from + size */
    uint32_t n;
    int64_t total;
    enum total_relation relation;
    float max_score;
    bool timed_out, terminated_early, limited;
};

/* Merges hits of n shards (any order): totals, best score, and the page that the source asks for. Ties go by sort values,
 * then by the shards' slots, then by document. Strings are borrowed from the inputs. */
enum err reduce_hits(struct reduced *out, const struct query_result *in, uint32_t n,
                     const struct search_source *source, struct arena *arena, struct errmsg *em);

#endif
