/* bucket_script, bucket_selector, moving_fn. */
#include "engine/aggs/pipeline.h"

#include "common/base/stop.h"
#include "engine/query/script_use.h"

#include <math.h>

struct bound_script {
    struct script *script;
    struct script_run *run;
};

static enum err bind(struct reduce *r, const struct agg *p, enum script_context context,
                     struct bound_script *out)
{
    const struct json *form = pipe_params(p)->script;
    const struct json *source = form->type == JSON_OBJECT ? json_get(form, "source") : form;
    source = source != NULL ? source : json_get(form, "inline");
    const struct json *lang = json_get(form, "lang");
    *out = (struct bound_script){0};
    if (script_form_check(form, r->em) != ERR_OK) {
        return err_code(r->em);
    }
    if (source == NULL) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "must specify [source] for an inline script");
    }
    enum err e = script_compile(&out->script, json_text(source), lang != NULL ? json_text(lang) : STR(""),
                                context, r->em);
    return e == ERR_OK ? script_run_new(&out->run, out->script, json_get(form, "params"), NULL, r->em) : e;
}

static void unbind(struct bound_script *s)
{
    script_run_free(s->run);
    script_unref(s->script);
}

/* Values of the paths; *skip: one is missing and the gap policy says to leave the bucket alone. */
static enum err load_vars(struct reduce *r, const struct agg *p, const struct agg_result *of, uint32_t i,
                          struct script_var *vars, bool *skip)
{
    const struct pipe_params *given = pipe_params(p);
    *skip = false;
    for (uint32_t k = 0; k < given->n; k++) {
        struct bucket_value x;
        enum err e = pipe_bucket_value(r, of->agg, &of->buckets[i], &given->v[k].path, 0, given->gap, &x);
        if (e != ERR_OK) {
            return e;
        }
        *skip |= given->gap == GAP_SKIP && (!x.found || isnan(x.v));
        vars[k] = (struct script_var){given->v[k].var, x.v, !x.found};
    }
    return ERR_OK;
}

static enum err run_buckets(struct reduce *r, const struct agg *p, struct agg_result *of,
                            struct bound_script *s, struct script_var *vars)
{
    bool selects = p->type == &agg_bucket_selector, skip;
    struct script_env env = {.self = NULL};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < of->n && !stop_often(); i++) {
        enum err e = load_vars(r, p, of, i, vars, &skip);
        if (e != ERR_OK) {
            return e;
        }
        script_run_vars(s->run, vars, pipe_params(p)->n);
        if (selects) {
            bool keep = false;
            e = script_bool(s->run, &env, &keep, r->em);
            if (e == ERR_OK && keep) {
                of->buckets[kept++] = of->buckets[i];
            }
        } else if (!skip) {
            double v = 0;
            bool null = false;
            e = script_number(s->run, &env, &v, &null, r->em);
            e = e == ERR_OK && !null ? pipe_add(r, of->agg, &of->buckets[i], p, v) : e;
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    of->n = selects ? kept : of->n;
    return ERR_OK;
}

static uint32_t clamp(int64_t at, uint32_t n)
{
    return at < 0 ? 0 : (uint32_t)MIN_OF(at, (int64_t)n);
}

static enum err run_moving(struct reduce *r, const struct agg *p, struct agg_result *of,
                           struct bound_script *s)
{
    const struct pipe_params *given = pipe_params(p);
    double *values = ARENA_ARRAY(r->arena, double, of->n);
    uint32_t *from = ARENA_ARRAY(r->arena, uint32_t, of->n), n = 0;
    if (values == NULL || from == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < of->n; i++) {
        struct bucket_value x;
        enum err e = pipe_bucket_value(r, of->agg, &of->buckets[i], &given->v[0].path, 0, given->gap, &x);
        if (e != ERR_OK) {
            return e;
        }
        if (x.found && !isnan(x.v)) {
            from[n] = i;
            values[n++] = x.v;
        }
    }
    for (uint32_t k = 0; k < n && !stop_now(); k++) {
        int64_t at = (int64_t)k + given->shift;
        uint32_t lo = clamp(at - given->window, n), hi = clamp(at, n);
        struct script_env env = {.values = values + lo, .values_n = hi > lo ? hi - lo : 0};
        double v = 0;
        enum err e = script_number(s->run, &env, &v, NULL, r->em);
        e = e == ERR_OK ? pipe_add(r, of->agg, &of->buckets[from[k]], p, v) : e;
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

enum err pipe_script(struct reduce *r, const struct agg *p, struct agg_result *of)
{
    const struct agg_type *k = p->type;
    struct bound_script s;
    struct script_var *vars = ARENA_ARRAY(r->arena, struct script_var, pipe_params(p)->n);
    if (vars == NULL) {
        return err_no_memory(r->em);
    }
    enum err e = bind(r, p,
                      k == &agg_moving_fn         ? SCRIPT_MOVING_FN
                      : k == &agg_bucket_selector ? SCRIPT_BUCKET_SELECTOR
                                                  : SCRIPT_BUCKET,
                      &s);
    if (e == ERR_OK) {
        e = k == &agg_moving_fn ? run_moving(r, p, of, &s) : run_buckets(r, p, of, &s, vars);
    }
    unbind(&s);
    return e;
}
