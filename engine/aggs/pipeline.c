/* Pipeline aggregations: from the results of others, after everything was reduced. */
#include "engine/aggs/pipeline.h"

#include <math.h>

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

double pipe_number(const struct agg_result *r)
{
    return value_result(r)->value;
}

/* ---- over the buckets of a sibling --------------------------------------------------------------------- */

static enum err pipeline_gather(struct reduce *r, const struct agg *p, const struct agg_result *of,
                                struct gathered *g)
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
    e = e == ERR_OK && of != NULL ? pipeline_gather(r, p, of, &g) : e;
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

enum err pipe_key_number(struct reduce *r, const struct agg_result *of, uint32_t i, double *out)
{
    return key_value(r, of->agg, &of->buckets[i], out);
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
