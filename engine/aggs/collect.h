/* collect.h - gathering one shard's aggregations.
 *
 * Documents go through the tree of collectors in batches, ascending within a segment: a batch is parallel arrays of
 * documents, of the bucket that each falls into, and of scores when some aggregation wants them. Buckets are dense numbers
 * per collector, so that a collector's state is arrays by bucket; one with buckets of its own sends new batches, with its own
 * numbers, to the collectors below it. Nothing is allocated per document. Memory is the request's arena; one thread.
 *
 * Failures while collecting stick in the run (collect functions return nothing) and are checked between batches. */
#ifndef ENGINE_AGGS_COLLECT_H
#define ENGINE_AGGS_COLLECT_H

#include "engine/aggs/result.h"

#define BATCH 512 /* documents at a time */

struct agg_script;
struct top_hits;

struct agg_run {
    const struct agg_spec *spec;
    const struct search_context *cx;
    const struct weight *query;
    struct arena *arena;
    struct errmsg em; /* of the first failure */
    enum err failed;
    const struct leaf *leaf;
    struct scorer *scorer;
    bool scores;
    bool empty; /* what is being built are results of no documents: collector_empty_subs() */
    /* the collectors to free: all that were made */
    struct agg_script *scripts;
    struct top_hits *top_hits;
};
void agg_scripts_free(struct agg_run *r);
void top_hits_free(struct agg_run *r);

/* Notes a failure; the first one counts. */
void run_fail(struct agg_run *r, enum err e);
void run_no_memory(struct agg_run *r);
/* Makes an array of elements of `size` bytes hold n, new ones zeroed. false: no memory (noted). */
bool run_reserve(struct agg_run *r, void *array /* T ** */, uint32_t *cap, uint64_t n, size_t size);

struct doc_run {
    const doc_id *docs;
    const uint32_t *buckets; /* NULL: all fall into bucket 0 */
    const float *scores;     /* NULL: not wanted */
    uint32_t n;
};

static inline uint32_t run_bucket(const struct doc_run *d, uint32_t i)
{
    return d->buckets != NULL ? d->buckets[i] : 0;
}

struct collector;

struct collector_ops {
    /* What is bound after the collectors below were made (queries); NULL: nothing. */
    enum err (*made)(struct collector *c, struct errmsg *em);
    /* What is refused only once the whole tree is bound (collector_ready): before and after those below were asked. Both may
     * be NULL. */
    enum err (*check)(struct collector *c, struct errmsg *em);
    enum err (*check_orders)(struct collector *c, struct errmsg *em);
    enum err (*leaf)(struct collector *c, struct errmsg *em); /* a new segment: c->run->leaf; may be NULL */
    void (*collect)(struct collector *c, const struct doc_run *d);
    void (*leaf_end)(struct collector *c); /* may be NULL */
    /* Before results are built: for those who put work off. Up to `buckets` of the parent's exist. May be NULL. */
    enum err (*finish)(struct collector *c, struct errmsg *em);
    /* The result of the parent's bucket; buckets that were never met give the empty result. */
    enum err (*build)(struct collector *c, uint32_t bucket, struct agg_result *out, struct errmsg *em);
    /* The number that a parent's order asks for; `key` may be empty. */
    double (*value)(struct collector *c, uint32_t bucket, struct str key);
    /* Many at once into bucket 0, without scores. NULL, or false returned: collect() is to get them. */
    bool (*collect_bits)(struct collector *c, doc_id from, const uint64_t *bits, uint32_t n_bits);
};

struct collector {
    const struct collector_ops *ops;
    const struct agg *agg;
    struct agg_run *run;
    const struct collector *parent; /* NULL: at the top; known once the tree is bound */
    struct collector **subs;
    uint32_t n_subs;
    bool rewritten; /* its filter, or that of one below */
    bool single;    /* has one bucket for one of its parent's; set when it is bound */
    bool unmapped;  /* what it goes by is not there: it has no bucket to sort by */
    /* what is on its way to the subs */
    doc_id *out_docs;
    uint32_t *out_buckets;
    float *out_scores;
    uint32_t out_n;
};

/* Binds an aggregation, then those below it. Errors come in the order in which Elasticsearch builds its factories: fields,
 * formats and queries of the whole tree first; what its aggregators refuse when they are made is collector_ready()'s. */
enum err collector_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em);
enum err collector_ready(struct collector *c, struct errmsg *em);
/* It is asked for one bucket alone, as all above it are single. */
bool collector_asked_once(const struct collector *c);
/* Sets up the common part. */
enum err collector_init(struct collector *c, const struct collector_ops *ops, struct agg_run *r,
                        const struct agg *a, struct errmsg *em);
void collector_leaf_end(struct collector *c);
enum err collector_leaf(struct collector *c, struct errmsg *em);
enum err collector_finish(struct collector *c, struct errmsg *em);
/* Documents that were put off, sorted by their number in the view, go to the collectors below: after collecting. */
struct put_off {
    uint32_t doc; /* in the view */
    uint32_t bucket;
    float score;
    int64_t key; /* the collector's own use */
};
enum err collector_replay(struct collector *c, const struct put_off *v, uint32_t n, struct errmsg *em);
/* Hands the batch on. */
void collector_flush(struct collector *c);
/* Sends a document down into one of the collector's own buckets. */
static inline void collector_send(struct collector *c, doc_id doc, uint32_t bucket, float score)
{
    if (c->n_subs == 0) {
        return;
    }
    if (c->out_n == BATCH) {
        collector_flush(c);
    }
    c->out_docs[c->out_n] = doc;
    c->out_buckets[c->out_n] = bucket;
    if (c->out_scores != NULL) {
        c->out_scores[c->out_n] = score;
    }
    c->out_n++;
}
/* The same for several documents of d, by their places in it. */
void collector_send_all(struct collector *c, const struct doc_run *d, const uint32_t *at, uint32_t n,
                        uint32_t bucket);
/* Results of the subs for one of the collector's own buckets. */
enum err collector_subs(struct collector *c, uint32_t bucket, struct agg_result **out, struct errmsg *em);
/* The result of an aggregation that is one bucket, of doc_count documents, with its sub-aggregations. */
enum err collector_single(struct collector *c, uint32_t bucket, int64_t doc_count, struct agg_result *out,
                          struct errmsg *em);
/* The sub-results of no documents. */
enum err collector_empty_subs(struct collector *c, struct agg_result **out, struct errmsg *em);

/* ---- buckets by key: (owner, key) -> dense number ---------------------------------------------------------------- */

struct bucket_map {
    struct agg_run *run;
    uint32_t *slots; /* bucket + 1; 0: free */
    uint32_t n_slots;
    uint32_t n, cap_keys, cap_owners, cap_counts;
    int64_t *keys;
    uint32_t *owners;
    int64_t *counts;
    uint32_t *by_owner, *starts; /* made by bucket_map_group() */
    uint32_t n_owners;
};
#define NO_BUCKET UINT32_MAX
void bucket_map_init(struct bucket_map *m, struct agg_run *r);
/* The bucket, made when it is new. NO_BUCKET: no memory. */
uint32_t bucket_map_get(struct bucket_map *m, uint32_t owner, int64_t key);
uint32_t bucket_map_find(const struct bucket_map *m, uint32_t owner, int64_t key);
/* Sorts the buckets by owner: those of owner o are by_owner[starts[o] .. starts[o + 1]). */
enum err bucket_map_group(struct bucket_map *m, struct errmsg *em);
static inline uint32_t bucket_map_of(const struct bucket_map *m, uint32_t owner, const uint32_t **list)
{
    if (owner >= m->n_owners) {
        *list = NULL;
        return 0;
    }
    *list = m->by_owner + m->starts[owner];
    return m->starts[owner + 1] - m->starts[owner];
}

/* ---- orders by sub-aggregations --------------------------------------------------------------------------------------- */

/* Follows an order's path to the collector that gives its value. ERR_AGG_EXECUTION as Elasticsearch words it. */
enum err order_bind(struct collector *c, const struct agg_order *o, struct collector **out,
                    struct errmsg *em);
double order_value(struct collector *leaf, const struct agg_order *o, uint32_t bucket);

/* Elasticsearch would have rewritten the query on this shard (rewritten.c). */
bool query_is_rewritten(struct agg_run *r, const struct json *query);

/* ---- filters over segments ----------------------------------------------------------------------------------------------- */

/* Membership of ascending documents of one segment, in windows that the query's scorer fills. */
struct filter_bits {
    struct agg_run *run;
    const struct weight *weight;
    struct scorer *scorer;
    uint64_t *bits;
    doc_id from, to; /* what bits cover */
};
enum err filter_bits_init(struct filter_bits *f, struct agg_run *r, const struct json *query,
                          struct errmsg *em);
enum err filter_bits_leaf(struct filter_bits *f, struct errmsg *em);
bool filter_bits_test(struct filter_bits *f, doc_id doc);

#endif
