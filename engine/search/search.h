/* search.h - searching one shard: the query phase and the fetch phase.
 *
 * Both are functions of a point-in-time view and a request; they need no lock and no cluster. The query phase finds the
 * best documents, counts, aggregates and suggests; its result has a byte form (query_result_encode), so that it may come
 * from another process; reduce.h merges results of many shards. The fetch phase turns chosen documents into hits, each a
 * finished JSON object. */
#ifndef ENGINE_SEARCH_SEARCH_H
#define ENGINE_SEARCH_SEARCH_H

#include "common/base/bytes.h"
#include "common/base/clock.h"
#include "engine/query/scorer.h"
#include "engine/search/scope.h"
#include "engine/search/source.h"

struct query;
struct script_cache;
struct top_doc;

/* The shard that is searched, and what the request says beside its body. */
struct search_shard {
    struct search_scope scope;
    struct str index_name, index_uuid;
    int32_t shard;      /* number */
    struct str node_id; /* for explain's _node */
    struct view *view;
    const struct settings *index_settings; /* names without "index." */
    struct filter_cache *filters;          /* may be NULL */
    struct script_cache *scripts;          /* may be NULL: compiled per request */
    const struct search_stats *stats;      /* dfs; NULL: the shard's own */
    const struct query *query;             /* whole_query()'s, when it has been built already; else NULL */
    bool dfs;                              /* statistics are gathered first: nothing is asked beforehand */
    const struct top_doc *after_doc;       /* scroll: only documents behind this one; NULL: from the start */
    bool allow_partial;
    int64_t max_buckets;       /* search.max_buckets; 0: the default */
    const struct clock *clock; /* for time-outs; NULL: they do not apply */
    bool (*cancelled)(void *self);
    void *self;
    enum err (*lookup_terms)(void *self, const struct json *lookup, struct arena *arena,
                             const struct json **values, struct errmsg *em);
};

enum sort_value_kind {
    SV_NULL,
    SV_LONG,
    SV_DOUBLE,
    SV_FLOAT, /* d, printed as a float */
    SV_STR,
    SV_BOOL,
    SV_IP, /* s is the address, 16 bytes, or those of `missing`: it is text only where it is printed */
};
struct sort_value {
    enum sort_value_kind kind;
    union {
        int64_t l;
        double d;
        struct str s;
    };
};

struct top_doc {
    uint32_t doc;                  /* in the view */
    uint32_t slot;                 /* of its shard */
    float score;                   /* NaN when not computed */
    const struct sort_value *sort; /* one a sort key; NULL when sorted by score */
    struct sort_value collapse;    /* the group's value, when collapsing */
};

enum total_relation { TOTAL_EQ, TOTAL_GTE, TOTAL_NONE /* not tracked */ };

struct query_result {
    uint32_t slot;
    struct top_doc *docs; /* best first; at most from + size */
    uint32_t n;
    uint32_t n_sort; /* values in every docs[i].sort */
    int64_t total;
    enum total_relation relation;
    float max_score; /* NaN: none */
    bool timed_out, terminated_early;
    bool
        first_key_refused; /* of a failed phase: it was the first sort key, which several shards are asked about beforehand */
    bool limited;       /* it would have stopped at a page's end, and tells whether it did */
    struct str aggs;    /* byte form of the partial aggregations; n == 0: none */
    struct str suggest; /* likewise */
    struct str profile; /* JSON text; n == 0: none */
};

/* Could the query of a request be one that a shard rewrites to match_none, and nothing else in it needs every shard? */
bool search_may_match_none(const struct search_source *s);
/* Need the shard be searched? No, when its mapping, the bounds of its dates, and its name say that nothing can match. Errors
 * are those of rewriting the query. */
enum err search_can_match(bool *matches, const struct search_shard *shard, const struct search_source *source,
                          struct arena *arena, struct errmsg *em);

/* What of the query phase refuses a request before any document is looked at. */
enum err search_query_check(const struct search_shard *shard, const struct search_source *source,
                            struct arena *arena, struct errmsg *em);

/* The query phase. The result lives in `arena`. Field-dependent errors of the request are ERR_QUERY_SHARD and the like. */
enum err search_query_phase(struct query_result *out, const struct search_shard *shard,
                            const struct search_source *source, struct arena *arena, struct errmsg *em);

/* The fetch phase: hits[i] becomes the JSON object of docs[i], in `arena`. `index_of_hit` names the index in every hit. */
enum err search_fetch_phase(struct str *hits, const struct search_shard *shard,
                            const struct search_source *source, const struct top_doc *docs, uint32_t n,
                            struct arena *arena, struct errmsg *em);

/* The stored fields named (patterns) of one document, as the object under "fields"; n == 0 in *out: none. */
struct engine_doc;
enum err stored_fields_json(const struct view *v, const struct engine_doc *doc, const struct str *names,
                            uint32_t n_names, struct arena *arena, struct str *out, struct errmsg *em);

void query_result_encode(const struct query_result *r, struct buf *out);
enum err query_result_decode(struct query_result *r, struct str bytes, struct arena *arena,
                             struct errmsg *em);

/* Documents of a result with n_sort values each (when they have any). Decoding sets in->bad on whatever cannot
 * be read. */
void top_docs_encode(const struct top_doc *docs, uint32_t n, uint32_t n_sort, struct buf *out);
void top_docs_decode(struct top_doc **docs, uint32_t *n, uint32_t *n_sort, struct bytes_in *in,
                     struct arena *arena);

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

/* What sub-searches (inner hits, top_hits, filters of aggregations) share with the search around them. */
struct search_context {
    const struct search_shard *shard;
    const struct search_source *source;
    struct query_context query;   /* to build queries */
    struct weight_context weight; /* to run them */
    const struct field *nested;   /* the nested object that the hits are of; NULL: root documents */
    struct arena *arena;
};
enum err search_context_init(struct search_context *cx, const struct search_shard *shard,
                             const struct search_source *source, struct arena *arena, struct errmsg *em);
/* Puts what belongs to the request's slice of this shard around *q (slice_filter.c). */
enum err search_add_slice(const struct query **q, const struct search_context *cx, struct errmsg *em);
/* Runs a sub-search over the documents that `filter` (bits per leaf, NULL: all) lets through; used by inner hits. */

/* ---- sorting (sort.c) ------------------------------------------------------------------------------------------- */

struct sort_plan; /* the sort keys bound to a view */
enum err sort_plan_new(struct sort_plan **out, const struct search_context *cx, const struct sort_spec *specs,
                       uint32_t n, struct errmsg *em);
bool sort_plan_needs_scores(const struct sort_plan *p);
bool sort_plan_shows_scores(const struct sort_plan *p);
/* Are these the bytes of an address? Those of `missing` need not be. */
static inline bool sort_address_is_one(struct str bytes)
{
    return bytes.n == 4 || bytes.n == 16;
}
/* A comparison of two rows of values under the specs; documents' ties are the caller's. Used by shards and by reduce. */
int sort_values_cmp(const struct sort_spec *specs, uint32_t n, const struct sort_value *a,
                    const struct sort_value *b);
static inline bool sort_value_is_bytes(const struct sort_value *v)
{
    return v->kind == SV_STR || v->kind == SV_IP;
}
/* A sort value as the response prints it. */
void sort_value_write(const struct sort_value *v, struct jsonw *w);
/* Its bytes. What is none sets in->bad; texts are copied into the arena. */
void sort_value_encode(const struct sort_value *v, struct buf *out);
void sort_value_decode(struct sort_value *v, struct bytes_in *in, struct arena *arena);

#endif
