/* The answer as Elasticsearch prints it, and the entry point that reduces. */
#include "engine/aggs/agg_row.h"
#include "engine/aggs/result.h"

#include "common/base/num.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"

#include <math.h>

/* Nobody reads on, or there is no room for more. `before` is where a part of the answer began. */
bool result_ends(const struct jsonw *w, size_t before)
{
    return w->out->failed || stop_worked(w->out->n - before + 16);
}

/* ---- small parts ------------------------------------------------------------------------------------------------------ */

bool result_shaped(const struct value_shape *s)
{
    return s != NULL && s->kind != FORMAT_RAW;
}

/* A number that is not finite is written as text; null if there is no value. */
void print_number(struct jsonw *w, const char *key, double v, bool there)
{
    jw_k(w, key);
    if (there) {
        jw_double(w, v);
    } else {
        jw_null(w);
    }
}

/* "<name>_as_string" */
void print_as_string(struct jsonw *w, const struct value_shape *s, const char *name, double v)
{
    struct buf b, key;
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_init(&key, NULL, KIB);
    buf_printf(&key, "%s_as_string", name);
    value_shape_print(s, v, &b);
    jw_key(w, buf_view(&key));
    jw_str(w, buf_view(&b));
    buf_fini(&b);
    buf_fini(&key);
}

void print_value(const struct agg_result *r, double v, bool is, struct jsonw *w)
{
    print_number(w, "value", v, is);
    if (is && result_shaped(r->shape)) {
        print_as_string(w, r->shape, "value", v);
    }
}

void print_single(const struct agg_result *r, struct jsonw *w)
{
    double v = r->agg->type->number(r);
    print_value(r, v, isfinite(v), w);
}

/* ---- percentiles ----------------------------------------------------------------------------------------------------------- */

static void print_pair(const struct value_shape *s, bool keyed, double at, double v, struct jsonw *w)
{
    struct buf key;
    buf_init(&key, NULL, KIB);
    num_put_double(&key, at);
    if (keyed) {
        jw_key(w, buf_view(&key));
        if (isnan(v)) {
            jw_null(w);
        } else {
            jw_double(w, v);
        }
        if (result_shaped(s) && !isnan(v)) {
            buf_char(&key, '\0');
            print_as_string(w, s, key.p, v);
        }
    } else {
        jw_obj(w);
        jw_kdouble(w, "key", at);
        jw_k(w, "value");
        if (isnan(v)) {
            jw_null(w);
        } else {
            jw_double(w, v);
        }
        if (result_shaped(s) && !isnan(v)) {
            print_as_string(w, s, "value", v);
        }
        jw_obj_end(w);
    }
    buf_fini(&key);
}

void print_percents(const struct agg_result *r, bool keyed, const double *at, uint32_t n,
                    double (*value)(const struct agg_result *r, uint32_t i), struct jsonw *w)
{
    jw_k(w, "values");
    if (keyed) {
        jw_obj(w);
    } else {
        jw_arr(w);
    }
    for (uint32_t i = 0; i < n && !result_ends(w, w->out->n); i++) {
        print_pair(r->shape, keyed, at[i], value(r, i), w);
    }
    if (keyed) {
        jw_obj_end(w);
    } else {
        jw_arr_end(w);
    }
}

/* ---- buckets --------------------------------------------------------------------------------------------------------------- */

static void print_subs(const struct agg *a, const struct agg_result *subs, bool typed, struct jsonw *w)
{
    size_t before = w->out->n;
    for (uint32_t i = 0; subs != NULL && i < agg_places(a) && !result_ends(w, before); i++) {
        before = w->out->n;
        if (subs[i].form != RESULT_ABSENT) {
            result_print(&subs[i], typed, w);
        }
    }
}

void print_key_as_string(const struct agg_result *r, const struct agg_bucket *b, struct jsonw *w)
{
    struct buf text;
    if (!result_shaped(r->shape) || b->key.kind == KEY_STR) {
        return;
    }
    buf_init(&text, NULL, BUF_UNLIMITED);
    bucket_key_text(r, b, &text);
    jw_kstr(w, "key_as_string", buf_view(&text));
    buf_fini(&text);
}

void print_key_text(const struct agg_result *r, const struct agg_bucket *b, struct jsonw *w)
{
    struct buf text;
    buf_init(&text, NULL, BUF_UNLIMITED);
    bucket_key_text(r, b, &text);
    jw_kstr(w, "key", buf_view(&text));
    buf_fini(&text);
}

void print_key(const struct agg_result *r, const struct agg_bucket *b, struct jsonw *w)
{
    if (b->key.kind == KEY_I64) {
        jw_ki64(w, "key", b->key.i);
    } else if (b->key.kind == KEY_F64) {
        jw_kdouble(w, "key", b->key.d);
    } else {
        print_key_text(r, b, w);
    }
}

void print_keyed_head(const struct agg_result *r, const struct agg_bucket *b, UNUSED bool keyed,
                      struct jsonw *w)
{
    print_key(r, b, w);
    print_key_as_string(r, b, w);
}

static void print_buckets(const struct agg_result *r, bool typed, struct jsonw *w)
{
    const struct agg_type *t = r->agg->type;
    bool keyed = t->keyed != NULL && t->keyed(r->agg);
    struct buf key;
    jw_k(w, "buckets");
    if (keyed) {
        jw_obj(w);
    } else {
        jw_arr(w);
    }
    buf_init(&key, NULL, BUF_UNLIMITED);
    size_t before = w->out->n;
    for (uint32_t i = 0; i < r->n && !result_ends(w, before); i++) {
        const struct agg_bucket *b = &r->buckets[i];
        before = w->out->n;
        if (keyed) {
            buf_reset(&key);
            bucket_key_text(r, b, &key);
            jw_key(w, buf_view(&key));
        }
        jw_obj(w);
        t->print_bucket(r, b, keyed, w);
        jw_ki64(w, "doc_count", b->doc_count);
        if (t->print_counts != NULL) {
            t->print_counts(r, b, w);
        }
        print_subs(r->agg, b->subs, typed, w);
        jw_obj_end(w);
    }
    buf_fini(&key);
    if (keyed) {
        jw_obj_end(w);
    } else {
        jw_arr_end(w);
    }
}

void result_print(const struct agg_result *r, bool typed, struct jsonw *w)
{
    const struct agg *a = r->agg;
    struct buf name;
    buf_init(&name, NULL, BUF_UNLIMITED);
    if (typed) {
        buf_z(&name, result_typed_name(r));
        buf_char(&name, '#');
    }
    buf_str(&name, a->name);
    jw_key(w, buf_view(&name));
    buf_fini(&name);
    jw_obj(w);
    if (a->meta != NULL) {
        jw_k(w, "meta");
        jw_value(w, a->meta);
    } else if (r->rewritten) {
        jw_kobj(w, "meta");
        jw_obj_end(w);
    }
    if (a->type->class == CLASS_SINGLE) {
        jw_ki64(w, "doc_count", r->n == 1 ? r->buckets->doc_count : 0);
        print_subs(a, r->n == 1 ? r->buckets->subs : NULL, typed, w);
    } else if (a->type->class == CLASS_MULTI) {
        if (a->type->print != NULL) {
            a->type->print(r, w);
        }
        print_buckets(r, typed, w);
        if (a->type->print_after != NULL) {
            a->type->print_after(r, w);
        }
    } else {
        a->type->print(r, w);
    }
    jw_obj_end(w);
}

/* ---- the entry point ---------------------------------------------------------------------------------------------------------- */

struct partial {
    uint64_t slot;
    struct bytes_in in;
    struct str bytes;
};

static int by_slot(const void *x, const void *y)
{
    const struct partial *a = x, *b = y;
    return a->slot != b->slot ? (a->slot < b->slot ? -1 : 1) : str_cmp(a->bytes, b->bytes);
}

/* Opens the partial results and puts them in the order of their shards, whichever came first. */
static enum err open_partials(struct reduce *r, const struct str *bytes, uint32_t n, struct partial **out,
                              uint32_t *have)
{
    struct partial *v = ARENA_ARRAY(r->arena, struct partial, n);
    *have = 0;
    *out = v;
    if (v == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (bytes[i].n == 0) {
            continue; /* the shard had nothing to say */
        }
        struct partial *p = &v[(*have)++];
        p->bytes = bytes[i];
        p->in = bytes_in(bytes[i]);
        uint8_t version = get_u8(&p->in);
        p->slot = get_varint(&p->in);
        if (version != 1 || p->in.bad) {
            return err_set(r->em, ERR_CORRUPT, "partial aggregations are malformed");
        }
    }
    sort_items(v, *have, sizeof(*v), by_slot);
    return ERR_OK;
}

static enum err count_tree(struct reduce *r, const struct agg_result *x)
{
    enum err e = x->agg->type->class == CLASS_MULTI ? reduce_count(r, x->n) : ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < x->n; i++) {
        const struct agg_result *subs = x->buckets[i].subs;
        for (uint32_t k = 0; e == ERR_OK && subs != NULL && k < x->agg->n_subs; k++) {
            e = agg_has_buckets(subs[k].agg) ? count_tree(r, &subs[k]) : ERR_OK;
        }
    }
    return e;
}

static enum err reduce_root(struct reduce *r, struct partial *parts, uint32_t n, struct agg_result *root)
{
    const struct agg *a = &r->spec->root;
    struct agg_result **subs = ARENA_ARRAY(r->arena, struct agg_result *, n);
    struct agg_bucket *bucket = ARENA_NEW(r->arena, struct agg_bucket);
    if (subs == NULL || bucket == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        subs[i] = results_new(r->arena, a);
        if (subs[i] == NULL) {
            return err_no_memory(r->em);
        }
        for (uint32_t k = 0; k < a->n_subs; k++) {
            enum err e = result_decode(&subs[i][k], &parts[i].in, r->arena, r->em);
            if (e != ERR_OK) {
                return e;
            }
        }
    }
    *root = (struct agg_result){.agg = a, .form = RESULT_PLAIN, .buckets = bucket, .n = 1};
    enum err e = reduce_subs(r, a, subs, n, &bucket->subs);
    r->buckets = 0;
    e = e == ERR_OK ? count_tree(r, root) : e;
    return e == ERR_OK ? pipelines_run(r, a, root) : e;
}

enum err aggs_reduce(const struct agg_spec *spec, const struct str *partials, uint32_t n,
                     const struct aggs_reduce_opts *opts, struct arena *arena, struct jsonw *w,
                     struct errmsg *em)
{
    ERR_LOCAL(own);
    struct reduce r = {
        .spec = spec, .arena = arena, .max_buckets = opts->max_buckets, .em = em != NULL ? em : &own};
    struct agg_result root;
    struct partial *parts;
    uint32_t have;
    err_clear(r.em);
    enum err e = open_partials(&r, partials, n, &parts, &have);
    e = e == ERR_OK ? reduce_root(&r, parts, have, &root) : e;
    if (e != ERR_OK) {
        return e;
    }
    jw_obj(w);
    print_subs(&spec->root, root.buckets->subs, opts->typed_keys, w);
    jw_obj_end(w);
    return ERR_OK;
}
