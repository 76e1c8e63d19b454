/* search_context.h - the searched shard, and the state shared by a search and its sub-searches. */
#ifndef ENGINE_COLLECT_SEARCH_CONTEXT_H
#define ENGINE_COLLECT_SEARCH_CONTEXT_H

#include "common/base/clock.h"
#include "engine/collect/scope.h"
#include "engine/query/scorer.h"
#include "engine/query/source.h"

struct top_doc;

/* The shard that is searched, and what the request says beside its body. */
struct search_shard {
    struct search_scope scope;
    struct str index_name, index_uuid;
    int32_t shard;      /* number */
    struct str node_id; /* for explain's _node */
    struct view *view;
    const struct settings *index_settings; /* NULL: the defaults */
    struct filter_cache *filters;          /* may be NULL */
    const struct search_stats *stats;      /* dfs; NULL: the shard's own */
    const struct query *query;             /* whole_query()'s, when it has been built already; else NULL */
    bool dfs;                              /* statistics are gathered first: nothing is asked beforehand */
    const struct top_doc *after_doc;       /* scroll: only documents behind this one; NULL: from the start */
    int64_t max_buckets;                   /* search.max_buckets; 0: the default */
    const struct clock *clock;             /* for time-outs; NULL: they do not apply */
    bool (*cancelled)(void *self);
    void *self;
};

/* What sub-searches (inner hits, top_hits, filters of aggregations) share with the search around them. */
struct search_context {
    const struct search_shard *shard;
    const struct search_source *source;
    struct query_context query;   /* to build queries */
    struct weight_context weight; /* to run them */
    const struct field *nested;   /* the nested object that the hits are of; NULL: root documents */
    struct arena *arena;
};
void search_context_init(struct search_context *cx, const struct search_shard *shard,
                         const struct search_source *source, struct arena *arena);
/* Puts what belongs to the request's slice of this shard around *q (slice_filter.c). */
enum err search_add_slice(const struct query **q, const struct search_context *cx, struct errmsg *em);

/* Collectors beside the top documents (aggregations) see every matching live document of a segment, in order. */
struct doc_collector {
    void *self;
    bool needs_scores;
    /* A new segment begins. `scorer` is where scores come from (NULL when not needed). */
    enum err (*leaf)(void *self, const struct leaf *leaf, struct scorer *scorer, struct errmsg *em);
    void (*collect)(void *self, doc_id doc, float score);
    /* Many at once: bit i is document from + i. NULL: collect() is called for each. */
    void (*collect_bits)(void *self, doc_id from, const uint64_t *bits, uint32_t n_bits);
    enum err (*done)(void *self, struct errmsg *em);
};

#endif
