/* Pipeline aggregations: from the results of others, after everything was reduced. */
#include "engine/aggs/pipeline.h"
#include "common/base/sort_items.h"

#include <math.h>
#include <stdlib.h>

/* ---- values by path ------------------------------------------------------------------------------------ */

static enum err not_numeric(struct reduce *r, const struct agg *a)
{
    return err_set(r->em, ERR_AGG_EXECUTION,
                   "buckets_path must reference either a number value or a single value numeric metric "
                   "aggregation, got: [Bucket] at "
                   "aggregation [%.*s]",
                   STR_ARG(a->name));
}

static const struct agg_result *sub_named(const struct agg *a, const struct agg_bucket *b, struct str name)
{
    for (uint32_t i = 0; b->subs != NULL && i < agg_places(a); i++) {
        const struct agg *sub = i < a->n_subs ? a->subs[i] : a->pipes[i - a->n_subs];
        if (str_eq(sub->name, name) && b->subs[i].form != RESULT_ABSENT) {
            return &b->subs[i];
        }
    }
    return NULL;
}

static enum err key_value(struct reduce *r, const struct agg *a, const struct agg_bucket *b, double *out)
{
    if (b->key.kind == KEY_I64) {
        *out = (double)b->key.i;
    } else if (b->key.kind == KEY_F64) {
        *out = b->key.d;
    } else {
        return not_numeric(r, a);
    }
    return ERR_OK;
}

/* Whether a step names one bucket of several: `t['hat']`. */
static bool names_bucket(struct str key)
{
    return key.p != NULL && key.n >= 2 && key.p[0] == '\'' && key.p[key.n - 1] == '\'';
}

/* The bucket that such a step names; NULL: there is none. *ok false: no memory. */
static const struct agg_bucket *named_bucket(const struct agg_result *of, struct str key, bool *ok)
{
    struct str wanted = {key.p + 1, key.n - 2};
    const struct agg_bucket *found = NULL;
    struct buf text;
    buf_init(&text, NULL, BUF_UNLIMITED);
    for (uint32_t i = 0; i < of->n && found == NULL; i++) {
        buf_reset(&text);
        bucket_key_text(of, &of->buckets[i], &text);
        found = str_eq(buf_view(&text), wanted) ? &of->buckets[i] : NULL;
    }
    *ok = !text.failed;
    buf_fini(&text);
    return found;
}

/* The number itself, before gaps are looked at; *found false: no such path here. */
static enum err raw_value(struct reduce *r, const struct agg *a, const struct agg_bucket *b,
                          const struct agg_path *path, uint32_t from, bool *found, double *out)
{
    *found = true;
    if (from == path->n) {
        return not_numeric(r, a);
    }
    for (uint32_t i = from; i < path->n; i++) {
        struct str name = path->v[i].name;
        if (str_is(name, "_count")) {
            *out = (double)b->doc_count;
            return ERR_OK;
        }
        if (str_is(name, "_key")) {
            return a->type->key_no_number ? not_numeric(r, a) : key_value(r, a, b, out);
        }
        const struct agg_result *sub = sub_named(a, b, name);
        if (sub == NULL) {
            *found = false;
            return ERR_OK;
        }
        if (i + 1 == path->n) {
            struct str key = path->v[i].key;
            if (sub->agg->type->class == CLASS_MULTI && names_bucket(key)) {
                bool ok;
                *found = named_bucket(sub, key, &ok) != NULL;
                return !ok ? err_no_memory(r->em) : *found ? not_numeric(r, sub->agg) : ERR_OK;
            }
            /* what the buckets of one that has several do not have is a gap */
            *found = key.p == NULL || sub->agg->type->class != CLASS_MULTI || sub->n == 0
                     || str_is(key, "_bucket_count");
            return *found ? result_value(sub, key, out, r->em) : ERR_OK;
        }
        if (sub->agg->type->class == CLASS_MULTI && i + 2 == path->n
            && str_is(path->v[i + 1].name, "_bucket_count")) {
            *out = (double)sub->n;
            return ERR_OK;
        }
        if (sub->agg->type->class == CLASS_MULTI && names_bucket(path->v[i].key)) {
            bool ok;
            b = named_bucket(sub, path->v[i].key, &ok);
            if (b == NULL) {
                *found = false;
                return ok ? ERR_OK : err_no_memory(r->em);
            }
        } else if (sub->agg->type->class == CLASS_MULTI && path->v[i].key.p != NULL && sub->n > 0) {
            *found = false; /* its buckets have nothing of that name */
            return ERR_OK;
        } else if (sub->agg->type->class != CLASS_SINGLE || sub->n != 1) {
            return not_numeric(r, sub->agg);
        } else {
            b = sub->buckets;
        }
        a = sub->agg;
    }
    return ERR_OK;
}

enum err pipe_bucket_value(struct reduce *r, const struct agg *a, const struct agg_bucket *b,
                           const struct agg_path *path, uint32_t from, enum gap_policy gap,
                           struct bucket_value *out)
{
    bool counts = path->n == from + 1 && str_is(path->v[from].name, "_count");
    *out = (struct bucket_value){.v = NAN};
    enum err e = raw_value(r, a, b, path, from, &out->found, &out->v);
    if (e == ERR_OK && out->found && (!isfinite(out->v) || (b->doc_count == 0 && !counts))) {
        out->v = gap == GAP_ZEROS ? 0 : NAN;
    }
    return e;
}

/* ---- adding results ------------------------------------------------------------------------------------ */

enum err pipe_shape(struct reduce *r, const struct agg *p, struct value_shape **out)
{
    const struct pipe_params *given = pipe_params(p);
    *out = NULL;
    if (given->format.p == NULL) {
        return ERR_OK;
    }
    struct value_shape *s = ARENA_NEW(r->arena, struct value_shape);
    if (s == NULL) {
        return err_no_memory(r->em);
    }
    *s = (struct value_shape){.kind = FORMAT_DECIMAL, .pattern = given->format};
    *out = s;
    return value_shape_ready(s, r->arena, r->em);
}

struct agg_result *pipe_place(struct reduce *r, const struct agg *a, struct agg_bucket *b,
                              const struct agg *p)
{
    if (b->subs == NULL) {
        b->subs = results_new(r->arena, a);
    }
    return b->subs != NULL ? &b->subs[p->place] : NULL;
}

enum err pipe_add(struct reduce *r, const struct agg *a, struct agg_bucket *b, const struct agg *p, double v)
{
    struct agg_result *to = pipe_place(r, a, b, p);
    if (to == NULL) {
        return err_no_memory(r->em);
    }
    to->form = RESULT_PLAIN;
    value_result(to)->value = v;
    return pipe_shape(r, p, &to->shape);
}

/* ---- over the buckets of a sibling --------------------------------------------------------------------- */

static enum err gather(struct reduce *r, const struct agg *p, const struct agg_result *of, struct gathered *g)
{
    const struct pipe_params *given = pipe_params(p);
    g->v = ARENA_ARRAY(r->arena, double, of->n);
    g->from = ARENA_ARRAY(r->arena, uint32_t, of->n);
    if (g->v == NULL || g->from == NULL) {
        return err_no_memory(r->em);
    }
    const struct agg_path *path = &given->v[0].path;
    struct agg_path rest = *path;
    struct agg_step *steps = NULL;
    uint32_t from = 1;
    if (path->n == 1 && path->v[0].key.p != NULL) { /* "q.t": the key names what is below */
        steps = ARENA_NEW(r->arena, struct agg_step);
        if (steps == NULL) {
            return err_no_memory(r->em);
        }
        steps->name = path->v[0].key;
        rest = (struct agg_path){path->text, steps, 1};
        from = 0;
    }
    for (uint32_t i = 0; i < of->n; i++) {
        struct bucket_value x;
        enum err e = pipe_bucket_value(r, of->agg, &of->buckets[i], &rest, from, given->gap, &x);
        if (e != ERR_OK) {
            return e;
        }
        if (x.found && !isnan(x.v)) {
            g->from[g->n] = i;
            g->v[g->n++] = x.v;
        }
    }
    return ERR_OK;
}

static enum err sibling(struct reduce *r, const struct agg *p, const struct agg *level, struct agg_bucket *b)
{
    struct str first = pipe_params(p)->v[0].path.v[0].name;
    const struct agg_result *of = sub_named(level, b, first);
    struct agg_result *out = pipe_place(r, level, b, p);
    struct gathered g = {.stats = {.min = INFINITY, .max = -INFINITY}};
    if (out == NULL) {
        return err_no_memory(r->em);
    }
    out->form = RESULT_PLAIN;
    enum err e = pipe_shape(r, p, &out->shape);
    e = e == ERR_OK && of != NULL ? gather(r, p, of, &g) : e;
    if (e != ERR_OK) {
        return e;
    }
    for (uint32_t i = 0; i < g.n; i++) {
        g.stats.count++;
        g.stats.sum += g.v[i];
        g.stats.squares += g.v[i] * g.v[i];
        g.stats.min = fmin(g.stats.min, g.v[i]);
        g.stats.max = fmax(g.stats.max, g.v[i]);
    }
    return p->type->finish(r, p, of, &g, out);
}

/* ---- over the buckets that they are in ----------------------------------------------------------------- */

static enum err key_number(struct reduce *r, const struct agg_result *of, uint32_t i, double *out)
{
    return key_value(r, of->agg, &of->buckets[i], out);
}

static enum err unit_of(struct reduce *r, const struct agg *p, int64_t *out)
{
    const struct pipe_params *given = pipe_params(p);
    static const int64_t ms[] = {
        [UNIT_SECOND] = 1000,        [UNIT_MINUTE] = 60000,    [UNIT_HOUR] = 3600000,
        [UNIT_DAY] = 86400000,       [UNIT_WEEK] = 604800000,  [UNIT_MONTH] = 2629746000,
        [UNIT_QUARTER] = 7889238000, [UNIT_YEAR] = 31556952000};
    enum date_unit unit;
    *out = 0;
    if (given->unit.p == NULL) {
        return ERR_OK;
    }
    if (date_unit_of(given->unit, &unit)) {
        *out = ms[unit];
        return ERR_OK;
    }
    return fixed_interval_parse(given->unit, "DerivativePipelineAggregationBuilder.unit", out, r->em);
}

enum err pipe_derivative(struct reduce *r, const struct agg *p, struct agg_result *of)
{
    const struct pipe_params *given = pipe_params(p);
    struct bucket_value last = {.found = false};
    int64_t unit;
    enum err e = unit_of(r, p, &unit);
    for (uint32_t i = 0; e == ERR_OK && i < of->n; i++) {
        struct bucket_value x;
        double key = 0, last_key = 0;
        e = pipe_bucket_value(r, of->agg, &of->buckets[i], &given->v[0].path, 0, given->gap, &x);
        if (e == ERR_OK && x.found && last.found) {
            e = pipe_add(r, of->agg, &of->buckets[i], p, x.v - last.v);
            e = e == ERR_OK ? key_number(r, of, i, &key) : e;
            e = e == ERR_OK ? key_number(r, of, i - 1, &last_key) : e;
            if (e != ERR_OK) {
                return e;
            }
            struct derivative_result *own = derivative_result(&of->buckets[i].subs[p->place]);
            double units = unit > 0 ? (key - last_key) / (double)unit : -1;
            own->has_normal = units > 0;
            own->normal = units > 0 ? (x.v - last.v) / units : x.v - last.v;
        }
        last = x;
    }
    return e;
}

enum err pipe_cumulative(struct reduce *r, const struct agg *p, struct agg_result *of)
{
    double sum = 0;
    for (uint32_t i = 0; i < of->n; i++) {
        struct bucket_value x;
        enum err e =
            pipe_bucket_value(r, of->agg, &of->buckets[i], &pipe_params(p)->v[0].path, 0, GAP_ZEROS, &x);
        sum += e == ERR_OK && x.found && isfinite(x.v) ? x.v : 0;
        e = e == ERR_OK ? pipe_add(r, of->agg, &of->buckets[i], p, sum) : e;
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

enum err pipe_difference(struct reduce *r, const struct agg *p, struct agg_result *of)
{
    const struct pipe_params *given = pipe_params(p);
    uint32_t lag = (uint32_t)given->lag;
    double *seen = ARENA_ARRAY(r->arena, double, of->n);
    if (seen == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < of->n; i++) {
        struct bucket_value x;
        enum err e = pipe_bucket_value(r, of->agg, &of->buckets[i], &given->v[0].path, 0, given->gap, &x);
        seen[i] = e == ERR_OK && x.found ? x.v : NAN;
        if (e == ERR_OK && i >= lag && !isnan(seen[i]) && !isnan(seen[i - lag])) {
            e = pipe_add(r, of->agg, &of->buckets[i], p, seen[i] - seen[i - lag]);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

/* ---- bucket_sort --------------------------------------------------------------------------------------- */

struct sorted {
    const struct pipe_params *orders;
    struct agg_bucket *b;
    struct agg_key key;     /* as it is shown: addresses sort as texts here */
    struct bucket_value *v; /* one an order; _key's found is false: the bucket's own key counts */
    uint32_t at;
};

static bool is_key(const struct pipe_sort *o)
{
    return o->path.n == 1 && str_is(o->path.v[0].name, "_key");
}

static int by_orders(const void *x, const void *y)
{
    const struct sorted *a = x, *b = y;
    for (uint32_t i = 0; i < a->orders->n_sort; i++) {
        const struct pipe_sort *o = &a->orders->sort[i];
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
            return o->asc ? c : -c;
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
    const struct pipe_params *given = pipe_params(p);
    const struct pipe_params *orders = given;
    struct sorted *all = ARENA_ARRAY(r->arena, struct sorted, of->n);
    struct agg_bucket *moved = ARENA_ARRAY(r->arena, struct agg_bucket, of->n);
    if (all == NULL || moved == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < of->n; i++) {
        struct sorted s = {orders, &of->buckets[i], of->buckets[i].key,
                           ARENA_ARRAY(r->arena, struct bucket_value, orders->n_sort), i};
        bool any = false;
        if (s.v == NULL || !shown_key(r, of, &s)) {
            return err_no_memory(r->em);
        }
        for (uint32_t k = 0; k < orders->n_sort; k++) {
            bool key = is_key(&orders->sort[k]);
            enum err e =
                key ? ERR_OK
                    : pipe_bucket_value(r, of->agg, s.b, &orders->sort[k].path, 0, given->gap, &s.v[k]);
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

enum err pipe_bucket_sort(struct reduce *r, const struct agg *p, struct agg_result *of)
{
    const struct pipe_params *given = pipe_params(p);
    uint32_t n = given->n_sort > 0 ? 0 : of->n;
    enum err e = given->n_sort > 0 ? sort_buckets(r, p, of, &n) : ERR_OK;
    uint32_t from = (uint32_t)MIN_OF(given->from, (int64_t)n);
    int64_t size = given->size < 0 ? (int64_t)n : given->size;
    of->buckets += from;
    of->n = (uint32_t)MIN_OF((int64_t)(n - from), size);
    return e;
}

static enum err pipe_parent(struct reduce *r, const struct agg *p, struct agg_result *of)
{
    if (of->agg->type->class != CLASS_MULTI) {
        return err_set(r->em, ERR_CLASS_CAST,
                       "class [%s] cannot be cast to class InternalMultiBucketAggregation",
                       of->agg->type->name);
    }
    return p->type->run(r, p, of);
}

enum err pipelines_run(struct reduce *r, const struct agg *level, struct agg_result *self)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < self->n; i++) {
        struct agg_bucket *b = &self->buckets[i];
        for (uint32_t k = 0; e == ERR_OK && b->subs != NULL && k < level->n_subs; k++) {
            if (agg_has_buckets(level->subs[k])) {
                e = pipelines_run(r, level->subs[k], &b->subs[k]);
            }
        }
    }
    for (uint32_t k = 0; e == ERR_OK && k < level->n_pipes; k++) {
        const struct agg *p = level->pipes[k];
        if (p->type->class == CLASS_PARENT) {
            e = pipe_parent(r, p, self);
            continue;
        }
        for (uint32_t i = 0; e == ERR_OK && i < self->n; i++) {
            e = sibling(r, p, level, &self->buckets[i]);
        }
    }
    return e;
}
