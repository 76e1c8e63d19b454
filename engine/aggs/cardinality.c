/* cardinality: a sketch of hashes a bucket. */
#include "engine/aggs/agg_row.h"
#include "engine/aggs/hll.h"
#include "engine/aggs/values.h"

#include "common/base/geo.h"
#include "common/base/jsonr.h"

struct cardinality_params {
    int64_t threshold; /* -1: the default */
};
AGG_PARAMS(cardinality_params)

struct cardinality_result {
    struct hll *hll; /* NULL: no values */
};
AGG_RESULT(cardinality_result)

static enum err cardinality_threshold(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct cardinality_params *given = cardinality_params(a);
    enum err e = jr_long(v, &given->threshold, p->em);
    if (e == ERR_OK && given->threshold < 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "[precisionThreshold] must be greater than or equal to 0. Found [%lld] in [%.*s]",
                       (long long)given->threshold, STR_ARG(a->name));
    }
    return e;
}

static enum err cardinality_rehash(struct agg_parse *p, UNUSED struct agg *a, const struct json *v)
{
    int64_t ignored; /* without effect since Elasticsearch 2, and read as a number */
    return jr_long(v, &ignored, p->em);
}

static const struct agg_param cardinality_table[] = {{"precision_threshold", TK_INT, cardinality_threshold},
                                                     {"rehash", TK_INT, cardinality_rehash},
                                                     {NULL, 0, NULL}};

static enum err parse_cardinality(struct agg_parse *p, struct agg *a, const struct json *body)
{
    cardinality_params(a)->threshold = -1;
    enum err e = agg_params(p, a, body, "cardinality", cardinality_table, agg_plain_params);
    return e == ERR_OK ? agg_need_source(p, &a->vs) : e;
}

/* ---- collecting ------------------------------------------------------------------------------------------ */

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
    if (s->v.kind == SOURCE_TEXT || s->v.kind == SOURCE_IP) {
        return values_ids(&s->v, d, pos);
    }
    return s->v.kind == SOURCE_GEO ? values_points(&s->v, d, pos)
           : s->v.floating         ? values_doubles(&s->v, d, pos)
                                   : values_longs(&s->v, d, pos);
}

static uint64_t hash_of(struct cardinality *s, uint32_t i)
{
    if (s->v.kind == SOURCE_TEXT || s->v.kind == SOURCE_IP) {
        return hash_of_id(s, s->v.id[i]);
    }
    return s->v.kind == SOURCE_GEO ? hll_hash_i64(geo_pack(s->v.g[i]))
           : s->v.floating         ? hll_hash_double(s->v.d[i])
                                   : hll_hash_i64(s->v.i[i]);
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
    struct cardinality_result *own = cardinality_result(out);
    struct cardinality *s = (struct cardinality *)c;
    out->form = s->v.none ? RESULT_UNMAPPED : RESULT_PLAIN;
    own->hll = bucket < s->cap ? s->sketch[bucket] : NULL;
    return own->hll != NULL && own->hll->failed ? err_no_memory(em) : ERR_OK;
}

static double cardinality_order(struct collector *c, uint32_t bucket, UNUSED struct str key)
{
    struct cardinality *s = (struct cardinality *)c;
    return bucket < s->cap && s->sketch[bucket] != NULL ? (double)hll_count(s->sketch[bucket]) : 0;
}

static const struct collector_ops cardinality_ops = {.leaf = cardinality_leaf,
                                                     .collect = cardinality_collect,
                                                     .build = cardinality_build,
                                                     .value = cardinality_order};

static enum err cardinality_new(struct collector **out, struct agg_run *r, const struct agg *a,
                                struct errmsg *em)
{
    struct cardinality *s = ARENA_NEW(r->arena, struct cardinality);
    if (s == NULL) {
        return err_no_memory(em);
    }
    *out = &s->c;
    s->precision = hll_precision(cardinality_params(a)->threshold);
    enum err e = collector_init(&s->c, &cardinality_ops, r, a, em);
    return e == ERR_OK ? values_bind(&s->v, r, a, &a->vs, TAKES_ALL, SOURCE_TEXT, em) : e;
}

/* ---- merging, bytes, printing, row ----------------------------------------------------------------------- */

static enum err reduce_cardinality(struct reduce *r, UNUSED const struct agg *a, struct agg_result *const *in,
                                   uint32_t n, struct agg_result *out)
{
    struct cardinality_result *own = cardinality_result(out);
    for (uint32_t i = 0; i < n; i++) {
        const struct cardinality_result *part = cardinality_result(in[i]);
        if (part->hll == NULL) {
            continue;
        }
        if (own->hll == NULL) {
            own->hll = part->hll;
        } else if (own->hll->p != part->hll->p) {
            return err_set(r->em, ERR_CORRUPT, "partial aggregations differ in precision");
        } else {
            hll_merge(own->hll, part->hll);
        }
    }
    return own->hll != NULL && own->hll->failed ? err_no_memory(r->em) : ERR_OK;
}

static double cardinality_number(const struct agg_result *r)
{
    const struct cardinality_result *own = cardinality_result(r);
    return own->hll != NULL ? (double)hll_count(own->hll) : 0;
}

static void cardinality_print(const struct agg_result *r, struct jsonw *w)
{
    jw_ki64(w, "value", (int64_t)cardinality_number(r));
}

static void cardinality_put(struct buf *b, const struct agg_result *r)
{
    const struct cardinality_result *own = cardinality_result(r);
    put_bool(b, own->hll != NULL);
    if (own->hll != NULL) {
        hll_encode(own->hll, b);
    }
}

static enum err cardinality_get(const struct result_reading *d, struct agg_result *r)
{
    struct cardinality_result *own = cardinality_result(r);
    if (!get_bool(d->in)) {
        return ERR_OK;
    }
    own->hll = hll_decode(d->in, d->arena);
    return own->hll != NULL ? ERR_OK : err_no_memory(d->em);
}

const struct agg_type agg_cardinality = {
    .name = "cardinality",
    .class = CLASS_METRIC,
    .params_size = sizeof(struct cardinality_params),
    .result_size = sizeof(struct cardinality_result),
    .parse = parse_cardinality,
    .collector = cardinality_new,
    .builder = "metrics.CardinalityAggregationBuilder",
    .put = cardinality_put,
    .get = cardinality_get,
    .reduce = reduce_cardinality,
    .print = cardinality_print,
    .number = cardinality_number,
};
