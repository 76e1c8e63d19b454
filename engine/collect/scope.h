/* scope.h - the parts of a shard request that all phases of a search share, beside the body. */
#ifndef ENGINE_COLLECT_SCOPE_H
#define ENGINE_COLLECT_SCOPE_H

#include "common/base/str.h"

struct search_scope {
    uint32_t slot;     /* the shard's place in the request's list of shards: ties break by it */
    uint32_t n_shards; /* of the whole request: 1 lets the shard skip what only a reduce needs */
    const struct str *alias_filters; /* JSON texts, any of which must match; 0 of them: no filter */
    uint32_t n_alias_filters;
    float index_boost;                  /* of indices_boost; 1 */
    uint32_t asked_shards, asked_shard; /* how many shards are asked, and which of these it is: for slices */
    int64_t now_ms;
    bool scroll;
    bool refuse_expensive; /* search.allow_expensive_queries is false */
};

#endif
