/* result.h - the results of aggregations, as a tree: one shard's, or the whole answer's.
 *
 * A shard's collectors build it, its byte form travels, reduce merges several into one, pipelines add to it and it is
 * printed. Everything lives in an arena. What printing needs of the fields (formats, zones) comes along: whoever reduces
 * has no mapping. */
#ifndef ENGINE_AGGS_RESULT_H
#define ENGINE_AGGS_RESULT_H

#include "common/base/bytes.h"
#include "common/base/decimal_format.h"
#include "engine/aggs/agg_int.h"

/* How values are shown. */
enum format_kind {
    FORMAT_RAW,
    FORMAT_BOOLEAN,
    FORMAT_DATE,
    FORMAT_DECIMAL,
    FORMAT_IP,
    FORMAT_GEOHASH,
    FORMAT_GEOTILE,
    FORMAT_BINARY /* texts in base64, without padding */
};
struct value_shape {
    enum format_kind kind;
    struct str pattern; /* dates and decimals */
    struct str zone_id; /* dates; n == 0: UTC */
    /* made of these where they are read */
    const struct date_format *date;
    const struct zone *zone;
    const struct decimal_format *decimal;
};
/* Compiles date, zone and decimal out of the texts. */
enum err value_shape_ready(struct value_shape *s, struct arena *arena, struct errmsg *em);
/* The text of a value, into `out` (appended). */
void value_shape_print(const struct value_shape *s, double v, struct buf *out);
void value_shape_print_i64(const struct value_shape *s, int64_t v, struct buf *out);

enum key_kind { KEY_NONE, KEY_I64, KEY_F64, KEY_STR, KEY_NULL };
struct agg_key {
    enum key_kind kind;
    union {
        int64_t i;
        double d;
        struct str s;
    };
};
int agg_key_cmp(const struct agg_key *a, const struct agg_key *b);

struct agg_bucket {
    struct agg_key key;
    int64_t doc_count;
    int64_t error;                  /* terms: how many documents of this term shards may not have reported */
    double from, to;                /* of what has ends; infinite: open */
    struct str from_s, to_s;        /* ip ranges; p == NULL: open */
    const struct agg_key *keys;     /* composite: one a source */
    int64_t subset_df, superset_df; /* significant terms */
    double score;
    struct agg_result *subs; /* agg_places() of them; NULL when the aggregation has no sub-aggregations */
};

/* Which of several forms a result has. */
enum result_form { RESULT_ABSENT, RESULT_UNMAPPED, RESULT_STR, RESULT_I64, RESULT_F64, RESULT_PLAIN };

struct agg_result {
    const struct agg *agg;
    enum result_form form;
    bool rewritten; /* `meta` is shown, empty if need be */
    struct value_shape *shape;
    /* many buckets; a single bucket is one of them */
    struct agg_bucket *buckets;
    uint32_t n;
    /* the empty bucket's sub-aggregations: what filling up gaps makes buckets of */
    struct agg_result *empty;
    void *own; /* type->result_size bytes that are zero at first: what the type alone knows */
};

/* The own part of a result of the type whose struct this is: name(r). */
#define AGG_RESULT(name)                                        \
    static inline struct name *name(const struct agg_result *r) \
    {                                                           \
        return r->own;                                          \
    }

/* What stands in a bucket of `level`: results of its sub-aggregations, then of its pipelines, absent so far. NULL: no
 * memory. */
struct agg_result *results_new(struct arena *arena, const struct agg *level);

/* Byte forms. The decoder reads into a new result (results_new) and trusts nothing: ERR_CORRUPT for whatever does not fit its
 * aggregation. */
void result_encode(const struct agg_result *r, struct buf *out);
enum err result_decode(struct agg_result *r, struct bytes_in *in, struct arena *arena, struct errmsg *em);

/* Merges n results of one aggregation (they are consumed). */
struct reduce {
    const struct agg_spec *spec;
    struct arena *arena;
    int64_t buckets, max_buckets; /* so far, and of the whole answer */
    struct errmsg *em;
};
enum err result_reduce(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                       struct agg_result *out);
enum err err_too_many_buckets(int64_t max, int64_t n, struct errmsg *em);
/* Counts buckets of the answer. ERR_TOO_MANY_BUCKETS. */
enum err reduce_count(struct reduce *r, int64_t n);
/* The sub-aggregations of one bucket, out of those of n buckets. */
enum err reduce_subs(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                     struct agg_result **out);
/* Merging lists of buckets that are sorted (reduce_merge.c): all of them in the order of their queue, in which equal ones are
 * neighbours; how many are equal to the first; one bucket out of n. */
typedef int bucket_cmp(const struct agg *a, const struct agg_bucket *x, const struct agg_bucket *y);
enum err reduce_queue(struct reduce *r, const struct agg *a, bucket_cmp *cmp, struct agg_result *const *in,
                      uint32_t n, struct agg_bucket ***out, size_t *total);
size_t reduce_run(const struct agg *a, bucket_cmp *cmp, struct agg_bucket *const *v, size_t n);
int bucket_key_cmp(const struct agg *a, const struct agg_bucket *x, const struct agg_bucket *y);
enum err reduce_buckets(struct reduce *r, const struct agg *a, struct agg_bucket *const *in, uint32_t n,
                        struct agg_bucket *out);
/* As reduce_by_key(), for those that report their buckets by key: histograms. */
enum err reduce_sorted(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                       struct agg_bucket **out, uint32_t *n_out);
/* Buckets with equal keys become one, in key order; equal ones meet in the order of the shards. */
enum err reduce_by_key(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                       struct agg_bucket **out, uint32_t *n_out);
/* The order of two buckets of aggregation a. */
int bucket_order_cmp(const struct agg *a, const struct agg_orders *orders, const struct agg_bucket *x,
                     const struct agg_bucket *y);
enum err buckets_sort(struct reduce *r, const struct agg *a, const struct agg_orders *orders,
                      struct agg_bucket *v, uint32_t n);

/* The pipelines of `level`, whose result `self` is, and of everything below it; inner ones first. */
enum err pipelines_run(struct reduce *r, const struct agg *level, struct agg_result *self);

/* The value that a path names in a result: its metric's, its bucket count. false: there is none such. */
enum err result_value(const struct agg_result *r, struct str key, double *out, struct errmsg *em);

/* Writes "name": {...}. */
void result_print(const struct agg_result *r, bool typed_keys, struct jsonw *w);
/* The type that typed_keys shows. */
const char *result_typed_name(const struct agg_result *r);
bool bucket_key_text(const struct agg_result *r, const struct agg_bucket *b, struct buf *out);

#endif
