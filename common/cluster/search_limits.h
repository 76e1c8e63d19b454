/* search_limits.h - the limits of a search, from the cluster's current settings. Pure; any thread. */
#ifndef CLUSTER_SEARCH_LIMITS_H
#define CLUSTER_SEARCH_LIMITS_H

#include "common/cluster/state.h"

struct search_limits {
    int64_t max_buckets; /* search.max_buckets: of one answer's aggregations */
    int64_t scrolls;     /* search.max_open_scroll_context: of one node */
    /* indices.breaker.request.limit: of one request's memory on one shard, or while merging */
    size_t request_bytes;
    int64_t keep_ms;     /* search.default_keep_alive: of a context between the phases of a search */
    int64_t keep_max_ms; /* search.max_keep_alive: of scrolls and points in time */
};

/* `s` NULL: the defaults. */
struct search_limits search_limits_of(const struct cluster_state *s);

#endif
