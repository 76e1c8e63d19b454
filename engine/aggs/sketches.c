/* cardinality, percentiles, percentile_ranks, median_absolute_deviation: a sketch a bucket. */
#include "common/base/memory_account.h"
#include "engine/aggs/agg_row.h"
#include "engine/aggs/values.h"

#include "engine/aggs/hdr.h"
#include "engine/aggs/hll.h"
#include "engine/aggs/tdigest.h"

#include "common/base/geo.h"
#include "common/base/num.h"

#include <math.h>

/* ---- cardinality --------------------------------------------------------------------------------------- */

struct cardinality {
    struct collector c;
    struct values v;
    struct hll **sketch;
    uint32_t cap;
    int precision;
    uint64_t *hashes; /* of texts by number; 0: not hashed yet */
    uint32_t cap_hashes;
};

static enum err cardinality_leaf(struct collector *c, struct errmsg *em)
{
    return values_leaf(&((struct cardinality *)c)->v, em);
}

static struct hll *sketch_of(struct cardinality *s, uint32_t bucket)
{
    if (!run_reserve(s->c.run, &s->sketch, &s->cap, bucket + 1, sizeof(struct hll *))) {
        return NULL;
    }
    if (s->sketch[bucket] == NULL) {
        s->sketch[bucket] = hll_new(s->c.run->arena, s->precision);
    }
    if (s->sketch[bucket] == NULL || s->sketch[bucket]->failed) {
        run_no_memory(s->c.run);
        return NULL;
    }
    return s->sketch[bucket];
}

static uint64_t hash_of_id(struct cardinality *s, uint32_t id)
{
    if (!run_reserve(s->c.run, &s->hashes, &s->cap_hashes, s->v.dict.n, sizeof(*s->hashes))) {
        return 0;
    }
    if (s->hashes[id] == 0) {
        s->hashes[id] = hll_hash_bytes(dict_text(&s->v.dict, id));
    }
    return s->hashes[id];
}

static uint32_t next_values(struct cardinality *s, const struct doc_run *d, uint32_t *pos)
{
    switch (s->v.kind) {
    case SOURCE_TEXT:
    case SOURCE_IP:
        return values_ids(&s->v, d, pos);
    case SOURCE_GEO:
        return values_points(&s->v, d, pos);
    default:
        return s->v.floating ? values_doubles(&s->v, d, pos) : values_longs(&s->v, d, pos);
    }
}

static uint64_t hash_of(struct cardinality *s, uint32_t i)
{
    switch (s->v.kind) {
    case SOURCE_TEXT:
    case SOURCE_IP:
        return hash_of_id(s, s->v.id[i]);
    case SOURCE_GEO:
        return hll_hash_i64(geo_pack(s->v.g[i]));
    default:
        return s->v.floating ? hll_hash_double(s->v.d[i]) : hll_hash_i64(s->v.i[i]);
    }
}

/* A range field counts different sets of ranges. */
static void collect_ranges(struct cardinality *s, const struct doc_run *d)
{
    struct str from, to;
    for (uint32_t k = 0; k < d->n && s->v.seg != NULL; k++) {
        uint64_t h = 0;
        uint32_t n = 0;
        for (; seg_range_value(s->v.seg, d->docs[k], n, &from, &to); n++) {
            h = hll_hash_i64((int64_t)(h ^ hll_hash_bytes(from) ^ (hll_hash_bytes(to) << 1)));
        }
        struct hll *sketch = n > 0 ? sketch_of(s, run_bucket(d, k)) : NULL;
        if (sketch != NULL) {
            hll_add(sketch, h);
        }
    }
}

static void cardinality_collect(struct collector *c, const struct doc_run *d)
{
    struct cardinality *s = (struct cardinality *)c;
    if (s->v.kind == SOURCE_RANGE) {
        collect_ranges(s, d);
        return;
    }
    for (uint32_t pos = 0; pos < d->n;) {
        uint32_t n = next_values(s, d, &pos);
        for (uint32_t i = 0; i < n; i++) {
            struct hll *h = sketch_of(s, run_bucket(d, s->v.at[i]));
            if (h == NULL) {
                return;
            }
            hll_add(h, hash_of(s, i));
        }
    }
}

static enum err cardinality_build(struct collector *c, uint32_t bucket, struct agg_result *out,
                                  struct errmsg *em)
{
    struct cardinality *s = (struct cardinality *)c;
    out->agg = c->agg;
    out->form = s->v.none ? RESULT_UNMAPPED : RESULT_PLAIN;
    out->hll = bucket < s->cap ? s->sketch[bucket] : NULL;
    return out->hll != NULL && out->hll->failed ? err_no_memory(em) : ERR_OK;
}

static double cardinality_order(struct collector *c, uint32_t bucket, struct str key)
{
    struct cardinality *s = (struct cardinality *)c;
    (void)key;
    return bucket < s->cap && s->sketch[bucket] != NULL ? (double)hll_count(s->sketch[bucket]) : 0;
}

static const struct collector_ops cardinality_ops = {.leaf = cardinality_leaf,
                                                     .collect = cardinality_collect,
                                                     .build = cardinality_build,
                                                     .value = cardinality_order};

enum err cardinality_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    struct cardinality *s = ARENA_NEW(r->arena, struct cardinality);
    if (s == NULL) {
        return err_no_memory(em);
    }
    *out = &s->c;
    s->precision = hll_precision(a->cardinality.threshold);
    enum err e = collector_init(&s->c, &cardinality_ops, r, a, em);
    return e == ERR_OK ? values_bind(&s->v, r, a, &a->vs, TAKES_ALL, SOURCE_TEXT, em) : e;
}

/* ---- quantiles ----------------------------------------------------------------------------------------- */

struct quantiles {
    struct collector c;
    struct values v;
    struct tdigest **digest;
    struct hdr **hdr;
    uint32_t cap;
};

static enum err quantiles_leaf(struct collector *c, struct errmsg *em)
{
    return values_leaf(&((struct quantiles *)c)->v, em);
}

static void add_hdr(struct quantiles *q, uint32_t bucket, double x)
{
    struct agg_run *r = q->c.run;
    if (!run_reserve(r, &q->hdr, &q->cap, bucket + 1, sizeof(struct hdr *))) {
        return;
    }
    if (q->hdr[bucket] == NULL) {
        q->hdr[bucket] = hdr_new(r->arena, q->c.agg->percentiles.digits);
    }
    if (q->hdr[bucket] == NULL) {
        run_no_memory(r);
        return;
    }
    hdr_add(q->hdr[bucket], x);
    if (q->hdr[bucket]->failed) {
        run_no_memory(r);
    } else if (q->hdr[bucket]->negative) {
        run_fail(r, err_set(&r->em, ERR_ARRAY_BOUNDS,
                            "The value %s is out of bounds for histogram, current covered range cannot be "
                            "extended any further.",
                            num_text(x).s));
    }
}

static void add_digest(struct quantiles *q, uint32_t bucket, double x)
{
    struct agg_run *r = q->c.run;
    if (!run_reserve(r, &q->digest, &q->cap, bucket + 1, sizeof(struct tdigest *))) {
        return;
    }
    if (q->digest[bucket] == NULL) {
        q->digest[bucket] = tdigest_new(r->arena, q->c.agg->percentiles.compression);
    }
    if (q->digest[bucket] == NULL) {
        run_no_memory(r);
        return;
    }
    tdigest_add(q->digest[bucket], x, 1);
    if (q->digest[bucket]->failed) {
        run_no_memory(r);
    }
}

static void quantiles_collect(struct collector *c, const struct doc_run *d)
{
    struct quantiles *q = (struct quantiles *)c;
    for (uint32_t pos = 0; pos < d->n;) {
        uint32_t n = values_doubles(&q->v, d, &pos);
        for (uint32_t i = 0; i < n && c->run->failed == ERR_OK; i++) {
            uint32_t bucket = run_bucket(d, q->v.at[i]);
            if (c->agg->percentiles.hdr) {
                add_hdr(q, bucket, q->v.d[i]);
            } else {
                add_digest(q, bucket, q->v.d[i]);
            }
        }
    }
}

static void quantiles_load(const struct quantiles *q, uint32_t bucket, struct agg_result *out)
{
    out->agg = q->c.agg;
    out->form = q->v.none ? RESULT_UNMAPPED : RESULT_PLAIN;
    out->shape = q->v.shape;
    out->digest = q->digest != NULL && bucket < q->cap ? q->digest[bucket] : NULL;
    out->hdr = q->hdr != NULL && bucket < q->cap ? q->hdr[bucket] : NULL;
}

static enum err quantiles_build(struct collector *c, uint32_t bucket, struct agg_result *out,
                                struct errmsg *em)
{
    (void)em;
    quantiles_load((struct quantiles *)c, bucket, out);
    return ERR_OK;
}

static double quantiles_order(struct collector *c, uint32_t bucket, struct str key)
{
    struct agg_result r = {.agg = c->agg};
    double out = NAN;
    quantiles_load((struct quantiles *)c, bucket, &r);
    if (c->agg->type->number != NULL) {
        return c->agg->type->number(&r);
    }
    return result_value(&r, key, &out, NULL) == ERR_OK ? out : NAN;
}

static const struct collector_ops quantiles_ops = {
    .leaf = quantiles_leaf, .collect = quantiles_collect, .build = quantiles_build, .value = quantiles_order};

enum err percentiles_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    struct quantiles *q = ARENA_NEW(r->arena, struct quantiles);
    if (q == NULL) {
        return err_no_memory(em);
    }
    *out = &q->c;
    unsigned takes = a->type == &agg_median_absolute_deviation ? TAKES_NUMBER : TAKES_NUMERIC;
    enum err e = collector_init(&q->c, &quantiles_ops, r, a, em);
    return e == ERR_OK ? values_bind(&q->v, r, a, &a->vs, takes, SOURCE_NUMBER, em) : e;
}

/* ---- merging, bytes, printing, rows ---- */

static enum err reduce_cardinality(struct reduce *r, const struct agg *a, struct agg_result *const *in,
                                   uint32_t n, struct agg_result *out)
{
    (void)a;
    for (uint32_t i = 0; i < n; i++) {
        if (in[i]->hll == NULL) {
            continue;
        }
        if (out->hll == NULL) {
            out->hll = in[i]->hll;
        } else if (out->hll->p != in[i]->hll->p) {
            return err_set(r->em, ERR_CORRUPT, "partial aggregations differ in precision");
        } else {
            hll_merge(out->hll, in[i]->hll);
        }
    }
    return out->hll != NULL && out->hll->failed ? err_no_memory(r->em) : ERR_OK;
}

static enum err reduce_quantiles(struct reduce *r, const struct agg *a, struct agg_result *const *in,
                                 uint32_t n, struct agg_result *out)
{
    struct tdigest **digests = ARENA_ARRAY(r->arena, struct tdigest *, n);
    uint32_t have = 0;
    if (digests == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (in[i]->digest != NULL) {
            digests[have++] = in[i]->digest;
        }
        if (in[i]->hdr != NULL && out->hdr != NULL && out->hdr->half_bits == in[i]->hdr->half_bits) {
            hdr_merge(out->hdr, in[i]->hdr);
        } else if (in[i]->hdr != NULL) {
            out->hdr = in[i]->hdr;
        }
    }
    if (have <= 1) {
        out->digest = have == 1 ? digests[0] : NULL;
        return ERR_OK;
    }
    out->digest = tdigest_new(r->arena, a->percentiles.compression);
    if (out->digest == NULL) {
        return err_no_memory(r->em);
    }
    tdigest_merge(out->digest, digests, have);
    return out->digest->failed ? err_no_memory(r->em) : ERR_OK;
}

/* The median of the distances to the median, weighted by the centroids. */
static double median_deviation(const struct tdigest *t)
{
    struct arena arena;
    if (t == NULL || t->n == 0) {
        return NAN;
    }
    double median = tdigest_quantile(t, 0.5), out = NAN;
    memory_request_arena(&arena);
    struct tdigest *d = tdigest_new(&arena, t->compression);
    for (size_t i = 0; d != NULL && i < t->n; i++) {
        tdigest_add(d, fabs(t->mean[i] - median), t->weight[i]);
    }
    if (d != NULL && !d->failed) {
        out = tdigest_quantile(d, 0.5);
    }
    arena_fini(&arena);
    return out;
}

double percentile_value(const struct agg_result *r, double at)
{
    bool ranks = r->agg->type == &agg_percentile_ranks;
    if (r->hdr != NULL) {
        return ranks ? fmin(fmax(hdr_rank(r->hdr, at), 0), 100) : hdr_percentile(r->hdr, at);
    }
    if (r->digest == NULL) {
        return NAN;
    }
    if (!ranks) {
        return tdigest_quantile(r->digest, at / 100);
    }
    double rank = tdigest_cdf(r->digest, at) * 100;
    return isnan(rank) ? rank : fmin(fmax(rank, 0), 100);
}

static bool percentile_named(const struct agg_result *r, struct str key, double *out, struct errmsg *em)
{
    double at;
    if (!num_parse_double(key, &at)) {
        err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(key));
        return false;
    }
    *out = percentile_value(r, at);
    return true;
}

static double cardinality_number(const struct agg_result *r)
{
    return r->hll != NULL ? (double)hll_count(r->hll) : 0;
}

static void cardinality_print(const struct agg_result *r, struct jsonw *w)
{
    jw_ki64(w, "value", (int64_t)cardinality_number(r));
}

static void cardinality_put(struct buf *b, const struct agg_result *r)
{
    put_bool(b, r->hll != NULL);
    if (r->hll != NULL) {
        hll_encode(r->hll, b);
    }
}

static enum err cardinality_get(const struct result_reading *d, struct agg_result *r)
{
    if (!get_bool(d->in)) {
        return ERR_OK;
    }
    r->hll = hll_decode(d->in, d->arena);
    return r->hll != NULL ? ERR_OK : err_no_memory(d->em);
}

static void quantiles_put(struct buf *b, const struct agg_result *r)
{
    put_u8(b, r->digest != NULL ? 1 : r->hdr != NULL ? 2 : 0);
    if (r->digest != NULL) {
        tdigest_encode(r->digest, b);
    } else if (r->hdr != NULL) {
        hdr_encode(r->hdr, b);
    }
}

static enum err quantiles_get(const struct result_reading *d, struct agg_result *r)
{
    uint8_t kind = get_u8(d->in);
    if (kind == 1) {
        r->digest = tdigest_decode(d->in, d->arena);
    } else if (kind == 2) {
        r->hdr = hdr_decode(d->in, d->arena);
    }
    return kind == 0 || r->digest != NULL || r->hdr != NULL ? ERR_OK : err_no_memory(d->em);
}

static double deviation_number(const struct agg_result *r)
{
    return median_deviation(r->digest);
}

static enum err percentile_by_name(const struct agg_result *r, struct str key, double *out, struct errmsg *em)
{
    return percentile_named(r, key, out, em) ? ERR_OK : ERR_ILLEGAL_ARGUMENT;
}

static void percentiles_print(const struct agg_result *r, struct jsonw *w)
{
    const struct percentiles_params *p = &r->agg->percentiles;
    print_percents(r, p->keyed, p->v, NULL, p->n, w);
}

static const char *percentiles_typed(const struct agg *a)
{
    return a->percentiles.hdr ? "hdr_percentiles" : "tdigest_percentiles";
}

static const char *ranks_typed(const struct agg *a)
{
    return a->percentiles.hdr ? "hdr_percentile_ranks" : "tdigest_percentile_ranks";
}

const struct agg_type agg_cardinality = {
    .name = "cardinality",
    .class = CLASS_METRIC,
    .parse = parse_cardinality,
    .collector = cardinality_new,
    .builder = "metrics.CardinalityAggregationBuilder",
    .put = cardinality_put,
    .get = cardinality_get,
    .reduce = reduce_cardinality,
    .print = cardinality_print,
    .number = cardinality_number,
};

const struct agg_type agg_percentiles = {
    .name = "percentiles",
    .class = CLASS_METRIC,
    .parse = parse_percentiles,
    .collector = percentiles_new,
    .builder = "metrics.PercentilesAggregationBuilder",
    .put = quantiles_put,
    .get = quantiles_get,
    .reduce = reduce_quantiles,
    .print = percentiles_print,
    .typed_of = percentiles_typed,
    .names = NAMES_NUMBERS,
    .value = percentile_by_name,
};

const struct agg_type agg_percentile_ranks = {
    .name = "percentile_ranks",
    .class = CLASS_METRIC,
    .parse = parse_percentiles,
    .collector = percentiles_new,
    .builder = "metrics.PercentileRanksAggregationBuilder",
    .put = quantiles_put,
    .get = quantiles_get,
    .reduce = reduce_quantiles,
    .print = percentiles_print,
    .typed_of = ranks_typed,
    .names = NAMES_NUMBERS,
    .value = percentile_by_name,
};

const struct agg_type agg_median_absolute_deviation = {
    .name = "median_absolute_deviation",
    .class = CLASS_METRIC,
    .parse = parse_percentiles,
    .collector = percentiles_new,
    .builder = "metrics.MedianAbsoluteDeviationAggregationBuilder",
    .put = quantiles_put,
    .get = quantiles_get,
    .reduce = reduce_quantiles,
    .print = print_single,
    .number = deviation_number,
};
