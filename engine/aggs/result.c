/* The meaning of results: derived numbers, values by name, orders of buckets. */
#include "engine/aggs/result.h"
#include "engine/aggs/agg_row.h"

#include "common/base/base64.h"
#include "engine/aggs/hdr.h"
#include "engine/aggs/hll.h"
#include "engine/aggs/tdigest.h"

#include "common/base/inet.h"
#include "common/base/num.h"

#include <math.h>

int agg_key_cmp(const struct agg_key *a, const struct agg_key *b)
{
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    switch (a->kind) {
    case KEY_I64:
        return a->i < b->i ? -1 : a->i > b->i;
    case KEY_F64: {
        int64_t x = num_from_double(a->d), y = num_from_double(b->d);
        return x < y ? -1 : x > y;
    }
    case KEY_STR:
        return str_cmp(a->s, b->s);
    case KEY_NONE:
    case KEY_NULL:
        break;
    }
    return 0;
}

#define OWN_ALIGN ((size_t)16)

static size_t padded_result_size(const struct agg *a)
{
    return (a->type->result_size + OWN_ALIGN - 1) / OWN_ALIGN * OWN_ALIGN;
}

static const struct agg *at_place(const struct agg *level, uint32_t i)
{
    return i < level->n_subs ? level->subs[i] : level->pipes[i - level->n_subs];
}

struct agg_result *results_new(struct arena *arena, const struct agg *level)
{
    uint32_t n = agg_places(level);
    size_t bytes = (n * sizeof(struct agg_result) + OWN_ALIGN - 1) / OWN_ALIGN * OWN_ALIGN, at = bytes;
    for (uint32_t i = 0; i < n; i++) {
        bytes += padded_result_size(at_place(level, i));
    }
    struct agg_result *v = arena_zalloc(arena, bytes);
    for (uint32_t i = 0; v != NULL && i < n; i++) {
        v[i].agg = at_place(level, i);
        v[i].own = (char *)v + at;
        at += padded_result_size(v[i].agg);
    }
    return v;
}

/* ---- single numbers ------------------------------------------------------------------------------------ */

/* The names of a form: the first if a row has only one. */
static const char *name_by_form(const char *const names[4], enum result_form form)
{
    size_t at = form == RESULT_STR ? 0 : form == RESULT_I64 ? 1 : form == RESULT_F64 ? 2 : 3;
    return names[at] != NULL ? names[at] : names[0];
}

const char *result_typed_name(const struct agg_result *r)
{
    const struct agg_type *t = r->agg->type;
    const char *name = t->typed_of != NULL ? t->typed_of(r->agg) : name_by_form(t->typed, r->form);
    return name != NULL ? name : t->name;
}

static enum err not_a_number(const struct agg_result *r, struct errmsg *em)
{
    const char *java = name_by_form(r->agg->type->results, r->form);
    if (java != NULL) {
        return err_set(em, ERR_AGG_EXECUTION,
                       "buckets_path must reference either a number value or a single value numeric metric "
                       "aggregation, got: [%s] at aggregation [%.*s]",
                       java, STR_ARG(r->agg->name));
    }
    return err_set(em, ERR_AGG_EXECUTION,
                   "buckets_path must reference either a number value or a single value numeric metric "
                   "aggregation, but [%.*s] contains multiple values. Please specify which to use.",
                   STR_ARG(r->agg->name));
}

enum err value_unknown(const struct agg_result *r, struct str key, UNUSED double *out, struct errmsg *em)
{
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "path not supported for [%.*s]: [%.*s]", STR_ARG(r->agg->name),
                   STR_ARG(key));
}

enum err result_value(const struct agg_result *r, struct str key, double *out, struct errmsg *em)
{
    const struct agg_type *type = r->agg->type;
    if (type->class == CLASS_SINGLE && r->n == 1) {
        if (key.p != NULL && (str_is(key, "_count") || str_is(key, "doc_count"))) {
            *out = (double)r->buckets->doc_count;
            return ERR_OK;
        }
        return key.p == NULL
                   ? not_a_number(r, em)
                   : err_set(em, ERR_ILLEGAL_ARGUMENT, "Cannot find an aggregation named [%.*s] in [%.*s]",
                             STR_ARG(key), STR_ARG(r->agg->name));
    }
    if (type->class == CLASS_MULTI) {
        if (key.p != NULL && str_is(key, "_bucket_count")) {
            *out = (double)r->n;
            return ERR_OK;
        }
        return not_a_number(r, em);
    }
    if (type->number != NULL && (key.p == NULL || str_is(key, "value"))) {
        *out = type->number(r);
        return ERR_OK;
    }
    if (key.p == NULL && type->class == CLASS_METRIC) {
        return not_a_number(r, em);
    }
    return type->value != NULL ? type->value(r, key, out, em) : value_unknown(r, key, out, em);
}

/* ---- orders -------------------------------------------------------------------------------------------- */

static const struct agg_result *sub_result(const struct agg_bucket *b, const struct agg *a, struct str name)
{
    for (uint32_t i = 0; b->subs != NULL && i < a->n_subs; i++) {
        if (str_eq(a->subs[i]->name, name)) {
            return &b->subs[i];
        }
    }
    return NULL;
}

static double path_value(const struct agg *a, const struct agg_path *path, const struct agg_bucket *b)
{
    for (uint32_t i = 0; i < path->n; i++) {
        const struct agg_result *r = sub_result(b, a, path->v[i].name);
        double v = NAN;
        if (r == NULL) {
            return NAN;
        }
        a = r->agg;
        if (i + 1 < path->n) {
            if (a->type->class != CLASS_SINGLE || r->n != 1) {
                return NAN;
            }
            b = r->buckets;
            continue;
        }
        if (a->type->class == CLASS_SINGLE) {
            return r->n == 1 ? (double)r->buckets->doc_count : NAN;
        }
        return result_value(r, path->v[i].key, &v, NULL) == ERR_OK ? v : NAN;
    }
    return NAN;
}

static int cmp_value(double a, double b, bool asc)
{
    if (isnan(a) || isnan(b)) {
        return isnan(a) - isnan(b);
    }
    int c = a < b ? -1 : a > b;
    return asc ? c : -c;
}

int bucket_order_cmp(const struct agg *a, const struct agg_orders *orders, const struct agg_bucket *x,
                     const struct agg_bucket *y)
{
    for (uint32_t i = 0; i < orders->n; i++) {
        const struct agg_order *o = &orders->v[i];
        int c;
        if (o->by == ORDER_PATH) {
            c = cmp_value(path_value(a, &o->path, x), path_value(a, &o->path, y), o->asc);
        } else {
            c = o->by == ORDER_KEY ? agg_key_cmp(&x->key, &y->key)
                                   : (x->doc_count > y->doc_count) - (x->doc_count < y->doc_count);
            c = o->asc ? c : -c;
        }
        if (c != 0) {
            return c;
        }
    }
    return 0;
}

bool bucket_key_text(const struct agg_result *r, const struct agg_bucket *b, struct buf *out)
{
    switch (b->key.kind) {
    case KEY_I64:
        if (r->shape != NULL) {
            value_shape_print_i64(r->shape, b->key.i, out);
        } else {
            buf_i64(out, b->key.i);
        }
        return true;
    case KEY_F64:
        if (r->shape != NULL) {
            value_shape_print(r->shape, b->key.d, out);
        } else {
            num_put_double(out, b->key.d);
        }
        return true;
    case KEY_STR:
        if (r->shape != NULL && r->shape->kind == FORMAT_IP && b->key.s.n == INET_BYTES
            && !r->agg->type->plain_keys) {
            inet_print((const uint8_t *)b->key.s.p, out);
        } else if (r->shape != NULL && r->shape->kind == FORMAT_BINARY) {
            base64_put(b->key.s, out);
        } else {
            buf_str(out, b->key.s);
        }
        return true;
    case KEY_NONE:
    case KEY_NULL:
        break;
    }
    return false;
}
