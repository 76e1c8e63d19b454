/* bucket_sort: other orders, and windows, of the buckets that it is in. */
#include "engine/aggs/pipeline.h"

#include "common/base/jsonr.h"
#include "common/base/sort_items.h"

#include <math.h>

struct bucket_sort_params {
    struct pipe_params pipe; /* what is sorted by */
    const bool *asc;         /* one a path */
    int64_t from, size;      /* size -1: all */
    bool refused;            /* from or size was read, and refused when it was set */
};
AGG_PARAMS(bucket_sort_params)

/* ---- the definition -------------------------------------------------------------------------------------- */

static enum err set_sort_from(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct bucket_sort_params *given = bucket_sort_params(a);
    int32_t n = 0;
    enum err e = jr_int(v, &n, p->em);
    given->from = n;
    given->refused = e == ERR_OK && n < 0;
    return given->refused ? err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                                    "[from] must be a non-negative integer: [%lld]", (long long)given->from)
                          : e;
}

static enum err set_sort_size(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct bucket_sort_params *given = bucket_sort_params(a);
    int32_t n = 1;
    enum err e = jr_int(v, &n, p->em);
    given->size = n;
    given->refused = e == ERR_OK && n <= 0;
    return given->refused ? err_set(p->em, ERR_ILLEGAL_ARGUMENT, "[size] must be a positive integer: [%lld]",
                                    (long long)given->size)
                          : e;
}

/* Keys as in a search's sort: "_key", {"t":"desc"}, {"t":{"order":"desc"}}. */
static enum err set_sort(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct bucket_sort_params *given = bucket_sort_params(a);
    const struct sort_spec *specs;
    uint32_t n;
    for (uint32_t i = 0; v->type == JSON_ARRAY && i < v->n && p->at == v->off; i++) {
        bool fine = v->items[i].type == JSON_OBJECT || v->items[i].type == JSON_STRING;
        p->at = fine ? p->at : v->items[i].off;
    }
    enum err e = sort_parse(&specs, &n, v, p->text, p->arena, p->em);
    if (e != ERR_OK) {
        return e;
    }
    struct pipe_path *list = ARENA_ARRAY(p->arena, struct pipe_path, n);
    bool *asc = ARENA_ARRAY(p->arena, bool, n);
    if (list == NULL || asc == NULL) {
        return err_no_memory(p->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        asc[i] = !specs[i].descending;
        list[i].path.text = specs[i].field.p != NULL ? specs[i].field : STR("_score");
    }
    given->pipe.v = list;
    given->pipe.n = n;
    given->asc = asc;
    return ERR_OK;
}

static const struct agg_param sort_table[] = {{"sort", TK_OBJECT | TK_ARRAY, set_sort},
                                              {"from", TK_INT, set_sort_from},
                                              {"size", TK_INT, set_sort_size},
                                              {"gap_policy", TK_STRING, pipe_set_gap},
                                              {NULL, 0, NULL}};

static enum err parse_sort(struct agg_parse *p, struct agg *a, const struct json *body)
{
    bucket_sort_params(a)->size = -1;
    enum err e = agg_params(p, a, body, "bucket_sort", sort_table, NULL);
    return bucket_sort_params(a)->refused ? err_wrap(
               p->em, ERR_X_CONTENT, "failed to build [bucket_sort] after last required field arrived")
                                          : e;
}

static enum err check_sort(struct agg_parse *p, const struct agg *level, const struct agg *a)
{
    const struct bucket_sort_params *given = bucket_sort_params(a);
    enum err e = check_scripted(p, level, a);
    if (level->type != &agg_type_root && given->pipe.n == 0 && given->from == 0 && given->size < 0) {
        return pipe_failed(
            p, arena_printf(p->arena,
                            "[%.*s] is configured to perform nothing. Please set either of [sort, "
                            "size, from] to use bucket_sort",
                            STR_ARG(a->name)));
    }
    return e;
}

/* ---- sorting --------------------------------------------------------------------------------------------- */

struct sorted {
    const struct bucket_sort_params *orders;
    struct agg_bucket *b;
    struct agg_key key;     /* as it is shown: addresses sort as texts here */
    struct bucket_value *v; /* one an order; _key's found is false: the bucket's own key counts */
    uint32_t at;
};

static bool is_key(const struct pipe_path *o)
{
    return o->path.n == 1 && str_is(o->path.v[0].name, "_key");
}

static int by_orders(const void *x, const void *y)
{
    const struct sorted *a = x, *b = y;
    for (uint32_t i = 0; i < a->orders->pipe.n; i++) {
        const struct pipe_path *o = &a->orders->pipe.v[i];
        int c;
        if (is_key(o)) {
            c = agg_key_cmp(&a->key, &b->key);
        } else if (!a->v[i].found || !b->v[i].found) {
            c = (a->v[i].found ? 0 : 1) - (b->v[i].found ? 0 : 1);
            if (c != 0) {
                return c; /* those without a value come last, either way */
            }
        } else {
            c = a->v[i].v < b->v[i].v ? -1 : a->v[i].v > b->v[i].v;
        }
        if (c != 0) {
            return a->orders->asc[i] ? c : -c;
        }
    }
    return a->at < b->at ? -1 : a->at > b->at;
}

static bool shown_key(struct reduce *r, const struct agg_result *of, struct sorted *s)
{
    struct buf b;
    if (of->shape == NULL || of->shape->kind != FORMAT_IP) {
        return true;
    }
    buf_init(&b, NULL, KIB);
    bucket_key_text(of, s->b, &b);
    s->key = (struct agg_key){.kind = KEY_STR, .s = arena_str(r->arena, buf_view(&b))};
    buf_fini(&b);
    return s->key.s.p != NULL;
}

static enum err sort_buckets(struct reduce *r, const struct agg *p, struct agg_result *of, uint32_t *n)
{
    const struct bucket_sort_params *orders = bucket_sort_params(p);
    struct sorted *all = ARENA_ARRAY(r->arena, struct sorted, of->n);
    struct agg_bucket *moved = ARENA_ARRAY(r->arena, struct agg_bucket, of->n);
    if (all == NULL || moved == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < of->n; i++) {
        struct sorted s = {orders, &of->buckets[i], of->buckets[i].key,
                           ARENA_ARRAY(r->arena, struct bucket_value, orders->pipe.n), i};
        bool any = false;
        if (s.v == NULL || !shown_key(r, of, &s)) {
            return err_no_memory(r->em);
        }
        for (uint32_t k = 0; k < orders->pipe.n; k++) {
            bool key = is_key(&orders->pipe.v[k]);
            enum err e = key ? ERR_OK
                             : pipe_bucket_value(r, of->agg, s.b, &orders->pipe.v[k].path, 0,
                                                 orders->pipe.gap, &s.v[k]);
            if (e != ERR_OK) {
                return e;
            }
            s.v[k].found = s.v[k].found && !isnan(s.v[k].v);
            any |= key || s.v[k].found;
        }
        if (any) {
            all[(*n)++] = s;
        }
    }
    sort_items(all, *n, sizeof(*all), by_orders);
    for (uint32_t i = 0; i < *n; i++) {
        moved[i] = *all[i].b;
    }
    of->buckets = moved;
    return ERR_OK;
}

static enum err run_sort(struct reduce *r, const struct agg *p, struct agg_result *of)
{
    const struct bucket_sort_params *given = bucket_sort_params(p);
    if (given->from >= of->n) { /* whatever they would be sorted by */
        of->n = 0;
        return ERR_OK;
    }
    uint32_t n = given->pipe.n > 0 ? 0 : of->n;
    enum err e = given->pipe.n > 0 ? sort_buckets(r, p, of, &n) : ERR_OK;
    uint32_t from = (uint32_t)MIN_OF(given->from, (int64_t)n);
    int64_t size = given->size < 0 ? (int64_t)n : given->size;
    of->buckets += from;
    of->n = (uint32_t)MIN_OF((int64_t)(n - from), size);
    return e;
}

const struct agg_type agg_bucket_sort = {
    .name = "bucket_sort",
    .class = CLASS_PARENT,
    .params_size = sizeof(struct bucket_sort_params),
    .result_size = sizeof(struct value_result),
    .parse = parse_sort,
    .print = print_single,
    .number = pipe_number,
    .validate = check_sort,
    .run = run_sort,
};
