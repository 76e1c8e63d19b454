/* cardinality, percentiles, percentile_ranks, median_absolute_deviation: a sketch a bucket. */
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
    if (c->agg->type->kind == AGG_MAD) {
        return metric_value(&r);
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
    unsigned takes = a->type->kind == AGG_MAD ? TAKES_NUMBER : TAKES_NUMERIC;
    enum err e = collector_init(&q->c, &quantiles_ops, r, a, em);
    return e == ERR_OK ? values_bind(&q->v, r, a, &a->vs, takes, SOURCE_NUMBER, em) : e;
}
