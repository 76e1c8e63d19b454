/* bucket_script, bucket_selector, moving_fn. */
#include "engine/aggs/pipeline.h"

#include "common/base/jsonr.h"
#include "common/base/stop.h"
#include "engine/query/script_use.h"

#include <math.h>

struct script_params {
    struct pipe_params pipe;
    const struct json *script;
};
AGG_PARAMS(script_params)

struct moving_fn_params {
    struct script_params scripted;
    int32_t window, shift;
};
AGG_PARAMS(moving_fn_params)

/* ---- definitions ----------------------------------------------------------------------------------------- */

static enum err set_script(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_script(p, v, &script_params(a)->script);
}

static enum err set_window(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return jr_int(v, &moving_fn_params(a)->window, p->em);
}

static enum err set_shift(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return jr_int(v, &moving_fn_params(a)->shift, p->em);
}

static const struct agg_param moving_fn_table[] = {{"buckets_path", TK_STRING, pipe_set_paths},
                                                   {"format", TK_STRING, pipe_set_format},
                                                   {"gap_policy", TK_STRING, pipe_set_gap},
                                                   {"window", TK_INT, set_window},
                                                   {"shift", TK_INT, set_shift},
                                                   {"script", TK_SCRIPT, set_script},
                                                   {NULL, 0, NULL}};

static const struct agg_param script_table[] = {
    {"buckets_path", TK_OBJECT | TK_STRING | TK_ARRAY, pipe_set_paths},
    {"format", TK_STRING, pipe_set_format},
    {"gap_policy", TK_STRING, pipe_set_gap},
    {"script", TK_SCRIPT, set_script},
    {NULL, 0, NULL}};

/* A window of none is found when the last of the parameters that must be there has been read. */
static enum err moving_window(struct agg_parse *p, const struct json *body)
{
    static const char *const required[] = {"buckets_path", "window", "script"};
    const struct json_member *last = body->members;
    for (uint32_t i = 0; i < body->n; i++) {
        for (size_t k = 0; k < ARRAY_LEN(required); k++) {
            last = str_is(body->members[i].key, required[k]) ? &body->members[i] : last;
        }
    }
    size_t at = last->value.type == JSON_OBJECT ? last->value.end - 1 : last->value.off;
    err_set(p->em, ERR_ILLEGAL_ARGUMENT, "[window] must be a positive, non-zero integer.");
    err_wrap(p->em, ERR_X_CONTENT, "Failed to build [moving_fn] after last required field arrived");
    return jr_wrap_field(p->text, at, "moving_fn", last->key, p->em);
}

static enum err parse_moving_fn(struct agg_parse *p, struct agg *a, const struct json *body)
{
    struct moving_fn_params *given = moving_fn_params(a);
    given->window = INT32_MIN;
    enum err e = agg_params(p, a, body, "moving_fn", moving_fn_table, NULL);
    const char *const missing[] = {given->scripted.pipe.v == NULL ? "buckets_path" : NULL,
                                   given->scripted.script == NULL ? "script" : NULL,
                                   given->window == INT32_MIN ? "window" : NULL};
    e = e == ERR_OK ? pipe_need(p, missing, ARRAY_LEN(missing)) : e;
    if (e == ERR_OK && given->window <= 0) {
        return moving_window(p, body);
    }
    return e == ERR_OK ? pipe_need_path(p, a) : e;
}

static enum err parse_script(struct agg_parse *p, struct agg *a, const struct json *body)
{
    enum err e = agg_params(p, a, body, "bucket_script", script_table, NULL);
    const char *const missing[] = {pipe_params(a)->v == NULL ? "buckets_path" : NULL,
                                   script_params(a)->script == NULL ? "script" : NULL};
    return e == ERR_OK ? pipe_need(p, missing, ARRAY_LEN(missing)) : e;
}

static bool selector_member(struct agg_parse *p, struct agg *a, const struct json_member *m, enum err *e)
{
    bool object = m->value.type == JSON_OBJECT;
    if (str_is(m->key, "script") && (object || m->value.type == JSON_STRING)) {
        *e = set_script(p, a, &m->value);
        return true;
    }
    if (str_is(m->key, "buckets_path") && object) {
        *e = pipe_set_any_paths(p, a, &m->value);
        return true;
    }
    return false;
}

static enum err parse_selector(struct agg_parse *p, struct agg *a, const struct json *body)
{
    static const struct pipe_form form = {.called = "bucket_selector ",
                                          .tokens = TK_STRING | TK_ARRAY | TK_OBJECT,
                                          .no_format = true,
                                          .member = selector_member};
    enum err e = pipe_parse_older(p, a, body, &form);
    return e != ERR_OK || script_params(a)->script != NULL
               ? e
               : jr_fail(p->text, body->end - 1, p->em,
                         "Missing required field [script] for bucket_selector aggregation [%.*s]",
                         STR_ARG(a->name));
}

/* ---- running --------------------------------------------------------------------------------------------- */

struct bound_script {
    struct script *script;
    struct script_run *run;
};

static enum err pipe_script_bind(struct reduce *r, const struct agg *p, enum script_context context,
                                 struct bound_script *out)
{
    const struct json *form = script_params(p)->script;
    *out = (struct bound_script){0};
    enum err e = script_compile_form(&out->script, form, context, r->em);
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
                            struct bound_script *s, struct script_var *vars, bool selects)
{
    bool skip;
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

static enum err run_script(struct reduce *r, const struct agg *p, struct agg_result *of,
                           enum script_context context)
{
    struct bound_script s;
    struct script_var *vars = ARENA_ARRAY(r->arena, struct script_var, pipe_params(p)->n);
    if (vars == NULL) {
        return err_no_memory(r->em);
    }
    enum err e = pipe_script_bind(r, p, context, &s);
    e = e == ERR_OK ? run_buckets(r, p, of, &s, vars, context == SCRIPT_BUCKET_SELECTOR) : e;
    unbind(&s);
    return e;
}

static enum err run_bucket_script(struct reduce *r, const struct agg *p, struct agg_result *of)
{
    return run_script(r, p, of, SCRIPT_BUCKET);
}

static enum err run_selector(struct reduce *r, const struct agg *p, struct agg_result *of)
{
    return run_script(r, p, of, SCRIPT_BUCKET_SELECTOR);
}

static uint32_t clamp(int64_t at, uint32_t n)
{
    return at < 0 ? 0 : (uint32_t)MIN_OF(at, (int64_t)n);
}

static enum err move(struct reduce *r, const struct agg *p, struct agg_result *of, struct bound_script *s)
{
    const struct moving_fn_params *given = moving_fn_params(p);
    double *values = ARENA_ARRAY(r->arena, double, of->n);
    uint32_t *from = ARENA_ARRAY(r->arena, uint32_t, of->n), n = 0;
    if (values == NULL || from == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < of->n; i++) {
        struct bucket_value x;
        enum err e = pipe_bucket_value(r, of->agg, &of->buckets[i], &given->scripted.pipe.v[0].path, 0,
                                       given->scripted.pipe.gap, &x);
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

static enum err run_moving_fn(struct reduce *r, const struct agg *p, struct agg_result *of)
{
    struct bound_script s;
    enum err e = pipe_script_bind(r, p, SCRIPT_MOVING_FN, &s);
    e = e == ERR_OK ? move(r, p, of, &s) : e;
    unbind(&s);
    return e;
}

const struct agg_type agg_moving_fn = {
    .name = "moving_fn",
    .class = CLASS_PARENT,
    .params_size = sizeof(struct moving_fn_params),
    .result_size = sizeof(struct value_result),
    .parse = parse_moving_fn,
    .typed = {"simple_value"},
    .print = print_single,
    .number = pipe_number,
    .validate = check_sequential,
    .run = run_moving_fn,
};

const struct agg_type agg_bucket_script = {
    .name = "bucket_script",
    .class = CLASS_PARENT,
    .params_size = sizeof(struct script_params),
    .result_size = sizeof(struct value_result),
    .parse = parse_script,
    .typed = {"simple_value"},
    .print = print_single,
    .number = pipe_number,
    .validate = check_scripted,
    .run = run_bucket_script,
};

const struct agg_type agg_bucket_selector = {
    .name = "bucket_selector",
    .class = CLASS_PARENT,
    .params_size = sizeof(struct script_params),
    .result_size = sizeof(struct value_result),
    .parse = parse_selector,
    .print = print_single,
    .number = pipe_number,
    .validate = check_scripted,
    .run = run_selector,
};
