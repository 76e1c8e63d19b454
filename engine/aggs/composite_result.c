/* composite: bytes, merging, printing of its results, and its row. */
#include "engine/aggs/agg_row.h"
#include "engine/aggs/composite.h"

#include "common/base/stop.h"

static int combination_cmp(const struct agg *a, const struct agg_bucket *x, const struct agg_bucket *y)
{
    const struct composite_params *given = composite_params(a);
    for (uint32_t i = 0; i < given->n; i++) {
        const struct agg_key *p = &x->keys[i], *q = &y->keys[i];
        bool null_p = p->kind == KEY_NULL, null_q = q->kind == KEY_NULL;
        int c = null_p || null_q ? (null_p ? 0 : 1) - (null_q ? 0 : 1) : agg_key_cmp(p, q);
        if (c != 0) {
            return given->v[i].descending ? -c : c;
        }
    }
    return 0;
}

static bool shows(const struct agg_result *in, uint32_t source)
{
    const struct composite_result *own = composite_result(in);
    return own->shapes != NULL && source < own->n_shapes && own->shapes[source] != NULL
           && own->shapes[source]->kind != FORMAT_RAW;
}

/* A source that some shard did not know is shown as a shard that knows it does. */
static enum err composite_shapes(struct reduce *r, const struct agg *a, struct agg_result *const *in,
                                 uint32_t n, struct agg_result *out)
{
    struct composite_result *own = composite_result(out);
    own->n_shapes = composite_params(a)->n;
    own->shapes = ARENA_ARRAY(r->arena, struct value_shape *, own->n_shapes);
    if (own->shapes == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t s = 0; s < own->n_shapes; s++) {
        for (uint32_t i = 0; i < n && own->shapes[s] == NULL; i++) {
            own->shapes[s] = shows(in[i], s) ? composite_result(in[i])->shapes[s] : NULL;
        }
    }
    return ERR_OK;
}

static enum err reduce_composite(struct reduce *r, const struct agg *a, struct agg_result *const *in,
                                 uint32_t n, struct agg_result *out)
{
    struct agg_bucket **all;
    size_t total;
    enum err e = reduce_queue(r, a, combination_cmp, in, n, &all, &total);
    if (e != ERR_OK) {
        return e;
    }
    out->buckets = ARENA_ARRAY(r->arena, struct agg_bucket, total);
    if (out->buckets == NULL) {
        return err_no_memory(r->em);
    }
    for (size_t i = 0, end; i < total && out->n < composite_params(a)->size; i = end) {
        end = i + reduce_run(a, combination_cmp, all + i, total - i);
        e = reduce_buckets(r, a, all + i, (uint32_t)(end - i), &out->buckets[out->n++]);
        if (e != ERR_OK) {
            return e;
        }
    }
    composite_result(out)->after = out->n > 0 ? out->buckets[out->n - 1].keys : NULL;
    return composite_shapes(r, a, in, n, out);
}

static void print_combination(const struct agg_result *r, const struct agg_key *keys, struct jsonw *w)
{
    const struct composite_params *given = composite_params(r->agg);
    const struct composite_result *own = composite_result(r);
    jw_obj(w);
    size_t before = w->out->n;
    for (uint32_t i = 0; i < given->n && !result_ends(w, before); i++) {
        before = w->out->n;
        struct value_shape *s = own->shapes != NULL && i < own->n_shapes ? own->shapes[i] : NULL;
        struct agg_result one = {.agg = r->agg, .shape = s};
        struct agg_bucket b = {.key = keys[i]};
        jw_key(w, given->v[i].name);
        if (keys[i].kind == KEY_NULL || keys[i].kind == KEY_NONE) {
            jw_null(w);
        } else if (s != NULL && s->kind == FORMAT_BOOLEAN && keys[i].kind == KEY_I64) {
            jw_bool(w, keys[i].i != 0);
        } else if (result_shaped(s) || keys[i].kind == KEY_STR) {
            struct buf text;
            buf_init(&text, NULL, BUF_UNLIMITED);
            bucket_key_text(&one, &b, &text);
            jw_str(w, buf_view(&text));
            buf_fini(&text);
        } else if (keys[i].kind == KEY_F64) {
            jw_double(w, keys[i].d);
        } else {
            jw_i64(w, keys[i].i);
        }
    }
    jw_obj_end(w);
}

static void composite_put(struct buf *b, const struct agg_result *r)
{
    const struct composite_result *own = composite_result(r);
    for (uint32_t i = 0; i < composite_params(r->agg)->n; i++) {
        put_shape(b, own->shapes != NULL ? own->shapes[i] : NULL);
    }
}

static enum err composite_get(const struct result_reading *d, struct agg_result *r)
{
    struct composite_result *own = composite_result(r);
    enum err e = ERR_OK;
    own->n_shapes = composite_params(r->agg)->n;
    own->shapes = ARENA_ARRAY(d->arena, struct value_shape *, own->n_shapes);
    for (uint32_t i = 0; own->shapes != NULL && e == ERR_OK && i < own->n_shapes; i++) {
        e = get_shape(d, &own->shapes[i]);
    }
    return own->shapes == NULL ? err_no_memory(d->em) : e;
}

static void composite_put_bucket(struct buf *b, const struct agg *a, const struct agg_bucket *k)
{
    for (uint32_t i = 0; i < composite_params(a)->n; i++) {
        put_key(b, &k->keys[i]);
    }
}

static enum err composite_get_bucket(const struct result_reading *d, const struct agg *a,
                                     struct agg_bucket *k)
{
    const struct composite_params *given = composite_params(a);
    struct agg_key *keys = ARENA_ARRAY(d->arena, struct agg_key, given->n);
    if (keys == NULL) {
        return err_no_memory(d->em);
    }
    for (uint32_t i = 0; i < given->n; i++) {
        get_key(d, &keys[i]);
    }
    k->keys = keys;
    return ERR_OK;
}

static void composite_print(const struct agg_result *r, struct jsonw *w)
{
    const struct composite_result *own = composite_result(r);
    if (own->after != NULL || r->n > 0) {
        jw_k(w, "after_key");
        print_combination(r, own->after != NULL ? own->after : r->buckets[r->n - 1].keys, w);
    }
}

static void composite_print_bucket(const struct agg_result *r, const struct agg_bucket *b, UNUSED bool keyed,
                                   struct jsonw *w)
{
    jw_k(w, "key");
    print_combination(r, b->keys, w);
}

const struct agg_type agg_composite = {
    .name = "composite",
    .class = CLASS_MULTI,
    .params_size = sizeof(struct composite_params),
    .result_size = sizeof(struct composite_result),
    .parse = parse_composite,
    .collector = composite_new,
    .builder = "bucket.composite.CompositeAggregationBuilder",
    .factory = "CompositeAggregationFactory",
    .results = {"InternalComposite"},
    .put = composite_put,
    .get = composite_get,
    .put_bucket = composite_put_bucket,
    .get_bucket = composite_get_bucket,
    .any_keys = true,
    .reduce = reduce_composite,
    .java_queue = true,
    .print = composite_print,
    .print_bucket = composite_print_bucket,
};
