/* The byte form of results. Integers are varints, strings carry their lengths; the tree's shape is the request's, so only
 * what differs from shard to shard is written. */
#include "engine/aggs/result.h"

#include "engine/aggs/hdr.h"
#include "engine/aggs/hll.h"
#include "engine/aggs/tdigest.h"

#include <math.h>

/* ---- writing ------------------------------------------------------------------------------------------------------- */

#define REWRITTEN 0x80 /* beside the form */

static void put_shape(struct buf *b, const struct value_shape *s)
{
    put_bool(b, s != NULL);
    if (s != NULL) {
        put_u8(b, (uint8_t)s->kind);
        put_str(b, s->pattern);
        put_str(b, s->zone_id);
    }
}

static void put_key(struct buf *b, const struct agg_key *k)
{
    put_u8(b, (uint8_t)k->kind);
    if (k->kind == KEY_I64) {
        put_zigzag(b, k->i);
    } else if (k->kind == KEY_F64) {
        put_f64(b, k->d);
    } else if (k->kind == KEY_STR) {
        put_str(b, k->s);
    }
}

static void put_opt_str(struct buf *b, struct str s)
{
    put_bool(b, s.p != NULL);
    if (s.p != NULL) {
        put_str(b, s);
    }
}

static void put_subs(struct buf *b, const struct agg *a, const struct agg_result *subs)
{
    put_bool(b, subs != NULL);
    for (uint32_t i = 0; subs != NULL && i < a->n_subs; i++) {
        result_encode(&subs[i], b);
    }
}

static void put_bucket(struct buf *b, const struct agg *a, const struct agg_bucket *k)
{
    put_varint(b, (uint64_t)k->doc_count);
    switch (a->type->kind) {
    case AGG_TERMS:
        put_key(b, &k->key);
        put_zigzag(b, k->error);
        break;
    case AGG_RANGE:
    case AGG_DATE_RANGE:
    case AGG_GEO_DISTANCE:
        put_key(b, &k->key);
        put_f64(b, k->from);
        put_f64(b, k->to);
        break;
    case AGG_IP_RANGE:
        put_key(b, &k->key);
        put_opt_str(b, k->from_s);
        put_opt_str(b, k->to_s);
        break;
    case AGG_SIGNIFICANT_TERMS:
        put_key(b, &k->key);
        put_varint(b, (uint64_t)k->superset_df);
        break;
    case AGG_COMPOSITE:
        for (uint32_t i = 0; i < a->composite.n; i++) {
            put_key(b, &k->keys[i]);
        }
        break;
    default:
        put_key(b, &k->key);
    }
    put_subs(b, a, k->subs);
}

static void put_buckets(struct buf *b, const struct agg_result *r)
{
    const struct agg *a = r->agg;
    enum agg_kind k = a->type->kind;
    if (k == AGG_TERMS) {
        put_varint(b, (uint64_t)r->other);
        put_varint(b, (uint64_t)r->shard_size);
    } else if (k == AGG_SIGNIFICANT_TERMS) {
        put_varint(b, (uint64_t)r->subset_size);
        put_varint(b, (uint64_t)r->superset_size);
    } else if (k == AGG_AUTO_DATE_HISTOGRAM) {
        put_u8(b, (uint8_t)r->unit);
    } else if (k == AGG_COMPOSITE) {
        for (uint32_t i = 0; i < a->composite.n; i++) {
            put_shape(b, r->shapes != NULL ? r->shapes[i] : NULL);
        }
    } else if (k == AGG_HISTOGRAM || k == AGG_DATE_HISTOGRAM) {
        put_bool(b, r->empty_bounds);
        put_f64(b, r->ext_min);
        put_f64(b, r->ext_max);
    }
    put_subs(b, a, r->empty);
    put_varint(b, r->n);
    for (uint32_t i = 0; i < r->n; i++) {
        put_bucket(b, a, &r->buckets[i]);
    }
}

static void put_sort_value(struct buf *b, const struct sort_value *v)
{
    put_u8(b, (uint8_t)v->kind);
    if (sort_value_is_bytes(v)) {
        put_str(b, v->s);
    } else if (v->kind == SV_DOUBLE || v->kind == SV_FLOAT) {
        put_f64(b, v->d);
    } else if (v->kind != SV_NULL) {
        put_zigzag(b, v->l);
    }
}

static void put_hits(struct buf *b, const struct agg_result *r)
{
    put_varint(b, (uint64_t)r->count);
    put_f32(b, r->max_score);
    put_varint(b, r->n_sort);
    put_varint(b, r->n_hits);
    for (uint32_t i = 0; i < r->n_hits; i++) {
        put_f32(b, r->hits[i].score);
        for (uint32_t k = 0; k < r->n_sort; k++) {
            put_sort_value(b, &r->hits[i].sort[k]);
        }
        put_str(b, r->hits[i].json);
    }
}

static void put_metric(struct buf *b, const struct agg_result *r)
{
    switch (r->agg->type->kind) {
    case AGG_CARDINALITY:
        put_bool(b, r->hll != NULL);
        if (r->hll != NULL) {
            hll_encode(r->hll, b);
        }
        break;
    case AGG_PERCENTILES:
    case AGG_PERCENTILE_RANKS:
    case AGG_MAD:
        put_u8(b, r->digest != NULL ? 1 : r->hdr != NULL ? 2 : 0);
        if (r->digest != NULL) {
            tdigest_encode(r->digest, b);
        } else if (r->hdr != NULL) {
            hdr_encode(r->hdr, b);
        }
        break;
    case AGG_TOP_HITS:
        put_hits(b, r);
        break;
    case AGG_GEO_BOUNDS:
    case AGG_GEO_CENTROID:
        put_varint(b, (uint64_t)r->count);
        for (size_t i = 0; i < ARRAY_LEN(r->geo); i++) {
            put_f64(b, r->geo[i]);
        }
        break;
    case AGG_WEIGHTED_AVG:
        put_f64(b, r->sum);
        put_f64(b, r->weights);
        break;
    default:
        put_varint(b, (uint64_t)r->count);
        put_f64(b, r->sum);
        put_f64(b, r->min);
        put_f64(b, r->max);
        put_f64(b, r->squares);
    }
}

void result_encode(const struct agg_result *r, struct buf *out)
{
    put_u8(out, (uint8_t)(r->form | (r->rewritten ? REWRITTEN : 0)));
    if (r->form == RESULT_ABSENT) {
        return;
    }
    put_shape(out, r->shape);
    if (agg_has_buckets(r->agg)) {
        put_buckets(out, r);
    } else {
        put_metric(out, r);
    }
}

/* ---- reading ---------------------------------------------------------------------------------------------------------- */

struct reading {
    struct bytes_in *in;
    struct arena *arena;
    struct errmsg *em;
};

static enum err corrupt(const struct reading *d)
{
    d->in->bad = true;
    return err_set(d->em, ERR_CORRUPT, "partial aggregations are malformed");
}

static enum err get_shape(const struct reading *d, struct value_shape **out)
{
    *out = NULL;
    if (!get_bool(d->in)) {
        return ERR_OK;
    }
    struct value_shape *s = ARENA_NEW(d->arena, struct value_shape);
    if (s == NULL) {
        return err_no_memory(d->em);
    }
    uint8_t kind = get_u8(d->in);
    s->kind = (enum format_kind)kind;
    s->pattern = get_str(d->in);
    s->zone_id = get_str(d->in);
    *out = s;
    return kind > FORMAT_BINARY || d->in->bad ? corrupt(d) : value_shape_ready(s, d->arena, d->em);
}

static void get_key(const struct reading *d, struct agg_key *k)
{
    uint8_t kind = get_u8(d->in);
    k->kind = kind <= KEY_NULL ? (enum key_kind)kind : KEY_NONE;
    if (k->kind == KEY_I64) {
        k->i = get_zigzag(d->in);
    } else if (k->kind == KEY_F64) {
        k->d = get_f64(d->in);
    } else if (k->kind == KEY_STR) {
        k->s = get_str(d->in);
    }
}

static struct str get_opt_str(const struct reading *d)
{
    return get_bool(d->in) ? get_str(d->in) : STR_NULL;
}

static int64_t get_size(const struct reading *d)
{
    return (int64_t)(get_varint(d->in) & INT64_MAX);
}

static enum err get_subs(const struct reading *d, const struct agg *a, struct agg_result **out)
{
    *out = NULL;
    if (!get_bool(d->in)) {
        return d->in->bad ? corrupt(d) : ERR_OK;
    }
    struct agg_result *subs = ARENA_ARRAY(d->arena, struct agg_result, agg_places(a));
    if (subs == NULL) {
        return err_no_memory(d->em);
    }
    for (uint32_t i = 0; i < a->n_subs; i++) {
        enum err e = result_decode(&subs[i], a->subs[i], d->in, d->arena, d->em);
        if (e != ERR_OK) {
            return e;
        }
    }
    *out = subs;
    return ERR_OK;
}

static enum err get_bucket(const struct reading *d, const struct agg *a, struct agg_bucket *k)
{
    k->doc_count = get_size(d);
    struct agg_key *keys = NULL;
    switch (a->type->kind) {
    case AGG_TERMS:
        get_key(d, &k->key);
        k->error = get_zigzag(d->in);
        break;
    case AGG_RANGE:
    case AGG_DATE_RANGE:
    case AGG_GEO_DISTANCE:
        get_key(d, &k->key);
        k->from = get_f64(d->in);
        k->to = get_f64(d->in);
        break;
    case AGG_IP_RANGE:
        get_key(d, &k->key);
        k->from_s = get_opt_str(d);
        k->to_s = get_opt_str(d);
        break;
    case AGG_SIGNIFICANT_TERMS:
        get_key(d, &k->key);
        k->superset_df = get_size(d);
        break;
    case AGG_COMPOSITE:
        keys = ARENA_ARRAY(d->arena, struct agg_key, a->composite.n);
        if (keys == NULL) {
            return err_no_memory(d->em);
        }
        for (uint32_t i = 0; i < a->composite.n; i++) {
            get_key(d, &keys[i]);
        }
        k->keys = keys;
        break;
    default:
        get_key(d, &k->key);
    }
    return get_subs(d, a, &k->subs);
}

/* Every bucket's key must be of the kind that the result's form promises. */
static bool keys_fit(const struct agg_result *r)
{
    enum key_kind want = r->form == RESULT_STR   ? KEY_STR
                         : r->form == RESULT_I64 ? KEY_I64
                         : r->form == RESULT_F64 ? KEY_F64
                                                 : KEY_NONE;
    if (r->agg->type->kind == AGG_COMPOSITE) {
        return true;
    }
    for (uint32_t i = 0; i < r->n; i++) {
        enum key_kind have = r->buckets[i].key.kind;
        if (have != want && !(have == KEY_F64 && isnan(r->buckets[i].key.d))) {
            return false;
        }
    }
    return true;
}

static enum err get_buckets(const struct reading *d, struct agg_result *r)
{
    const struct agg *a = r->agg;
    enum agg_kind k = a->type->kind;
    enum err e = ERR_OK;
    if (k == AGG_TERMS) {
        r->other = get_size(d);
        r->shard_size = get_size(d);
    } else if (k == AGG_SIGNIFICANT_TERMS) {
        r->subset_size = get_size(d);
        r->superset_size = get_size(d);
    } else if (k == AGG_AUTO_DATE_HISTOGRAM) {
        r->unit = get_u8(d->in) % 6;
    } else if (k == AGG_COMPOSITE) {
        r->shapes = ARENA_ARRAY(d->arena, struct value_shape *, a->composite.n);
        r->n_shapes = a->composite.n;
        for (uint32_t i = 0; r->shapes != NULL && e == ERR_OK && i < a->composite.n; i++) {
            e = get_shape(d, &r->shapes[i]);
        }
        e = r->shapes == NULL ? err_no_memory(d->em) : e;
    } else if (k == AGG_HISTOGRAM || k == AGG_DATE_HISTOGRAM) {
        r->empty_bounds = get_bool(d->in);
        r->ext_min = get_f64(d->in);
        r->ext_max = get_f64(d->in);
    }
    e = e == ERR_OK ? get_subs(d, a, &r->empty) : e;
    if (e != ERR_OK) {
        return e;
    }
    size_t n = get_count(d->in, 2);
    if (d->in->bad || n > UINT32_MAX || (a->type->class == CLASS_SINGLE && n != 1)) {
        return corrupt(d);
    }
    r->n = (uint32_t)n;
    r->buckets = ARENA_ARRAY(d->arena, struct agg_bucket, n);
    if (r->buckets == NULL) {
        return err_no_memory(d->em);
    }
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        e = get_bucket(d, a, &r->buckets[i]);
    }
    return e != ERR_OK ? e : keys_fit(r) ? ERR_OK : corrupt(d);
}

static void get_sort_value(const struct reading *d, struct sort_value *v)
{
    uint8_t kind = get_u8(d->in);
    v->kind = kind <= SV_IP ? (enum sort_value_kind)kind : SV_NULL;
    if (sort_value_is_bytes(v)) {
        v->s = get_str(d->in);
    } else if (v->kind == SV_DOUBLE || v->kind == SV_FLOAT) {
        v->d = get_f64(d->in);
    } else if (v->kind != SV_NULL) {
        v->l = get_zigzag(d->in);
    }
}

static enum err get_hits(const struct reading *d, struct agg_result *r)
{
    r->count = get_size(d);
    r->max_score = get_f32(d->in);
    size_t n_sort = get_count(d->in, 0), want = r->agg->top_hits.source->n_sort;
    if (n_sort != 0 && n_sort != want) {
        return corrupt(d);
    }
    r->n_sort = (uint32_t)n_sort;
    r->n_hits = (uint32_t)get_count(d->in, 5);
    r->hits = ARENA_ARRAY(d->arena, struct agg_hit, r->n_hits);
    if (r->hits == NULL) {
        return err_no_memory(d->em);
    }
    for (uint32_t i = 0; i < r->n_hits && !d->in->bad; i++) {
        struct agg_hit *h = &r->hits[i];
        h->score = get_f32(d->in);
        struct sort_value *v = n_sort > 0 ? ARENA_ARRAY(d->arena, struct sort_value, n_sort) : NULL;
        if (n_sort > 0 && v == NULL) {
            return err_no_memory(d->em);
        }
        for (size_t k = 0; k < n_sort; k++) {
            get_sort_value(d, &v[k]);
        }
        h->sort = v;
        h->json = get_str(d->in);
    }
    return ERR_OK;
}

static enum err get_metric(const struct reading *d, struct agg_result *r)
{
    uint8_t kind;
    switch (r->agg->type->kind) {
    case AGG_CARDINALITY:
        if (get_bool(d->in)) {
            r->hll = hll_decode(d->in, d->arena);
            return r->hll != NULL ? ERR_OK : err_no_memory(d->em);
        }
        return ERR_OK;
    case AGG_PERCENTILES:
    case AGG_PERCENTILE_RANKS:
    case AGG_MAD:
        kind = get_u8(d->in);
        if (kind == 1) {
            r->digest = tdigest_decode(d->in, d->arena);
        } else if (kind == 2) {
            r->hdr = hdr_decode(d->in, d->arena);
        }
        return kind == 0 || r->digest != NULL || r->hdr != NULL ? ERR_OK : err_no_memory(d->em);
    case AGG_TOP_HITS:
        return get_hits(d, r);
    case AGG_GEO_BOUNDS:
    case AGG_GEO_CENTROID:
        r->count = get_size(d);
        for (size_t i = 0; i < ARRAY_LEN(r->geo); i++) {
            r->geo[i] = get_f64(d->in);
        }
        return ERR_OK;
    case AGG_WEIGHTED_AVG:
        r->sum = get_f64(d->in);
        r->weights = get_f64(d->in);
        return ERR_OK;
    default:
        r->count = get_size(d);
        r->sum = get_f64(d->in);
        r->min = get_f64(d->in);
        r->max = get_f64(d->in);
        r->squares = get_f64(d->in);
        return ERR_OK;
    }
}

enum err result_decode(struct agg_result *r, const struct agg *agg, struct bytes_in *in, struct arena *arena,
                       struct errmsg *em)
{
    struct reading d = {in, arena, em};
    *r = (struct agg_result){.agg = agg};
    uint8_t form = get_u8(in);
    r->rewritten = (form & REWRITTEN) != 0;
    form &= (uint8_t)~REWRITTEN;
    if (in->bad || form > RESULT_PLAIN) {
        return corrupt(&d);
    }
    r->form = (enum result_form)form;
    if (form == RESULT_ABSENT) {
        return ERR_OK;
    }
    enum err e = get_shape(&d, &r->shape);
    if (e == ERR_OK) {
        e = agg_has_buckets(agg) ? get_buckets(&d, r) : get_metric(&d, r);
    }
    return e == ERR_OK && in->bad ? corrupt(&d) : e;
}
