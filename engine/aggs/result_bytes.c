/* The byte form of results. Integers are varints, strings carry their lengths; the tree's shape is the request's, so only
 * what differs from shard to shard is written. */
#include "engine/aggs/agg_row.h"
#include "engine/aggs/result.h"

#include "engine/aggs/hdr.h"
#include "engine/aggs/hll.h"
#include "engine/aggs/tdigest.h"

#include <math.h>

/* ---- writing ------------------------------------------------------------------------------------------------------- */

#define REWRITTEN 0x80 /* beside the form */

void put_shape(struct buf *b, const struct value_shape *s)
{
    put_bool(b, s != NULL);
    if (s != NULL) {
        put_u8(b, (uint8_t)s->kind);
        put_str(b, s->pattern);
        put_str(b, s->zone_id);
    }
}

void put_key(struct buf *b, const struct agg_key *k)
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
    if (a->type->put_bucket != NULL) {
        a->type->put_bucket(b, a, k);
    } else {
        put_key(b, &k->key);
    }
    put_subs(b, a, k->subs);
}

static void put_buckets(struct buf *b, const struct agg_result *r)
{
    const struct agg *a = r->agg;
    if (a->type->put != NULL) {
        a->type->put(b, r);
    }
    put_subs(b, a, r->empty);
    put_varint(b, r->n);
    for (uint32_t i = 0; i < r->n; i++) {
        put_bucket(b, a, &r->buckets[i]);
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
        r->agg->type->put(out, r);
    }
}

/* ---- reading ---------------------------------------------------------------------------------------------------------- */

enum err result_corrupt(const struct result_reading *d)
{
    d->in->bad = true;
    return err_set(d->em, ERR_CORRUPT, "partial aggregations are malformed");
}

enum err get_shape(const struct result_reading *d, struct value_shape **out)
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
    return kind > FORMAT_BINARY || d->in->bad ? result_corrupt(d) : value_shape_ready(s, d->arena, d->em);
}

void get_key(const struct result_reading *d, struct agg_key *k)
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

int64_t get_size(const struct result_reading *d)
{
    return (int64_t)(get_varint(d->in) & INT64_MAX);
}

static enum err get_subs(const struct result_reading *d, const struct agg *a, struct agg_result **out)
{
    *out = NULL;
    if (!get_bool(d->in)) {
        return d->in->bad ? result_corrupt(d) : ERR_OK;
    }
    struct agg_result *subs = results_new(d->arena, a);
    if (subs == NULL) {
        return err_no_memory(d->em);
    }
    for (uint32_t i = 0; i < a->n_subs; i++) {
        enum err e = result_decode(&subs[i], d->in, d->arena, d->em);
        if (e != ERR_OK) {
            return e;
        }
    }
    *out = subs;
    return ERR_OK;
}

static enum err get_bucket(const struct result_reading *d, const struct agg *a, struct agg_bucket *k)
{
    k->doc_count = get_size(d);
    enum err e = ERR_OK;
    if (a->type->get_bucket != NULL) {
        e = a->type->get_bucket(d, a, k);
    } else {
        get_key(d, &k->key);
    }
    return e == ERR_OK ? get_subs(d, a, &k->subs) : e;
}

/* Every bucket's key must be of the kind that the result's form promises. */
static bool keys_fit(const struct agg_result *r)
{
    enum key_kind want = r->form == RESULT_STR   ? KEY_STR
                         : r->form == RESULT_I64 ? KEY_I64
                         : r->form == RESULT_F64 ? KEY_F64
                                                 : KEY_NONE;
    if (r->agg->type->any_keys) {
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

static enum err get_buckets(const struct result_reading *d, struct agg_result *r)
{
    const struct agg *a = r->agg;
    enum err e = a->type->get != NULL ? a->type->get(d, r) : ERR_OK;
    e = e == ERR_OK ? get_subs(d, a, &r->empty) : e;
    if (e != ERR_OK) {
        return e;
    }
    size_t n = get_count(d->in, 2);
    if (d->in->bad || n > UINT32_MAX || (a->type->class == CLASS_SINGLE && n != 1)) {
        return result_corrupt(d);
    }
    r->n = (uint32_t)n;
    r->buckets = ARENA_ARRAY(d->arena, struct agg_bucket, n);
    if (r->buckets == NULL) {
        return err_no_memory(d->em);
    }
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        e = get_bucket(d, a, &r->buckets[i]);
    }
    return e != ERR_OK ? e : keys_fit(r) ? ERR_OK : result_corrupt(d);
}

enum err result_decode(struct agg_result *r, struct bytes_in *in, struct arena *arena, struct errmsg *em)
{
    struct result_reading d = {in, arena, em};
    uint8_t form = get_u8(in);
    r->rewritten = (form & REWRITTEN) != 0;
    form &= (uint8_t)~REWRITTEN;
    if (in->bad || form > RESULT_PLAIN) {
        return result_corrupt(&d);
    }
    r->form = (enum result_form)form;
    if (form == RESULT_ABSENT) {
        return ERR_OK;
    }
    enum err e = get_shape(&d, &r->shape);
    if (e == ERR_OK) {
        e = agg_has_buckets(r->agg) ? get_buckets(&d, r) : r->agg->type->get(&d, r);
    }
    return e == ERR_OK && in->bad ? result_corrupt(&d) : e;
}
