/* Definitions of pipeline aggregations. Some have Elasticsearch's newer, declared parsers, the rest read
 * token by token: their refusals differ. */
#include "engine/aggs/agg_int.h"

#include "common/base/jsonr.h"
#include "common/base/num.h"
#include "engine/query/query.h"

#include <math.h>

static bool declared(enum agg_kind k)
{
    return k == AGG_DERIVATIVE || k == AGG_CUMULATIVE_SUM || k == AGG_MOVING_FN || k == AGG_BUCKET_SCRIPT
           || k == AGG_BUCKET_SORT;
}

static enum err one_path(struct agg_parse *p, struct pipe_path *to, struct str var, struct str text)
{
    enum err e = ERR_OK;
    to->var = var;
    agg_path_parse(&to->path, text, p->arena, p->em, &e);
    return e;
}

/* Which pipelines take how many paths is looked at late in Elasticsearch; what an empty list leads to there. */
static enum err check_paths(struct agg_parse *p, const struct agg *a)
{
    bool one = a->type->kind == AGG_CUMULATIVE_SUM;
    if (a->pipe.n == 1 || (a->pipe.n > 1 && !one)) {
        return ERR_OK;
    }
    switch (a->type->kind) {
    case AGG_BUCKET_SCRIPT:
    case AGG_BUCKET_SELECTOR:
    case AGG_BUCKET_SORT:
        return ERR_OK;
    case AGG_CUMULATIVE_SUM:
        return err_set(
            p->em, ERR_ACTION_VALIDATION,
            "Validation Failed: 1: buckets_path must contain a single entry for aggregation [%.*s];",
            STR_ARG(a->name));
    default:
        return err_set(p->em, ERR_ARRAY_BOUNDS, "Index 0 out of bounds for length 0");
    }
}

/* "a>b", ["a>b", ...] or {"var":"a>b", ...}. Without names, scripts know the values as _value, or _value0,
 * _value1 ... */
static enum err set_paths(struct agg_parse *p, struct agg *a, const struct json *v)
{
    uint32_t n = v->type == JSON_STRING ? 1 : v->n;
    struct pipe_path *list = ARENA_ARRAY(p->arena, struct pipe_path, n);
    if (list == NULL) {
        return err_no_memory(p->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct str var = STR("_value");
        const struct json *text = v->type == JSON_STRING  ? v
                                  : v->type == JSON_ARRAY ? &v->items[i]
                                                          : &v->members[i].value;
        if (v->type == JSON_OBJECT) {
            var = v->members[i].key;
        } else if (n > 1) {
            var = arena_printf(p->arena, "_value%u", i);
        }
        if (text->type == JSON_OBJECT || text->type == JSON_ARRAY || text->type == JSON_NULL) {
            return err_set(p->em, ERR_ILLEGAL_STATE, "Can't get text on a %s", json_token_name(text));
        }
        enum err e = var.p == NULL ? err_no_memory(p->em) : one_path(p, &list[i], var, json_text(text));
        if (e != ERR_OK) {
            return e;
        }
    }
    a->pipe.v = list;
    a->pipe.n = n;
    return ERR_OK;
}

static enum err set_gap(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct str s = json_text(v);
    if (str_eq_nocase(s, STR("skip"))) {
        a->pipe.gap = GAP_SKIP;
        return ERR_OK;
    }
    if (str_eq_nocase(s, STR("insert_zeros"))) {
        a->pipe.gap = GAP_ZEROS;
        return ERR_OK;
    }
    return jr_fail(p->text, v->off, p->em,
                   "Invalid gap policy: [%.*s], accepted values: [insert_zeros, skip]", STR_ARG(s));
}

static enum err set_format(struct agg_parse *p, struct agg *a, const struct json *v)
{
    (void)p;
    a->pipe.format = json_text(v);
    return ERR_OK;
}

static enum err set_script(struct agg_parse *p, struct agg *a, const struct json *v)
{
    a->pipe.script = v;
    return script_check(v, p->text, p->arena, p->em);
}

static enum err set_unit(struct agg_parse *p, struct agg *a, const struct json *v)
{
    (void)p;
    a->pipe.unit = json_text(v); /* read when it is used: that is where Elasticsearch refuses it */
    return ERR_OK;
}

static enum err set_window(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return jr_int(v, &a->pipe.window, p->em);
}

static enum err set_shift(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return jr_int(v, &a->pipe.shift, p->em);
}

static enum err set_sort_from(struct agg_parse *p, struct agg *a, const struct json *v)
{
    enum err e = jr_long(v, &a->pipe.from, p->em);
    return e == ERR_OK && a->pipe.from < 0
               ? err_set(p->em, ERR_ILLEGAL_ARGUMENT, "[from] must be a non-negative integer: [%lld]",
                         (long long)a->pipe.from)
               : e;
}

static enum err set_sort_size(struct agg_parse *p, struct agg *a, const struct json *v)
{
    enum err e = jr_long(v, &a->pipe.size, p->em);
    return e == ERR_OK && a->pipe.size <= 0
               ? err_set(p->em, ERR_ILLEGAL_ARGUMENT, "[size] must be a positive integer: [%lld]",
                         (long long)a->pipe.size)
               : e;
}

/* Keys as in a search's sort: "_key", {"t":"desc"}, {"t":{"order":"desc"}}. */
static enum err set_sort(struct agg_parse *p, struct agg *a, const struct json *v)
{
    const struct sort_spec *specs;
    uint32_t n;
    enum err e = sort_parse(&specs, &n, v, p->text, p->arena, p->em);
    if (e != ERR_OK) {
        return e;
    }
    struct agg_order *list = ARENA_ARRAY(p->arena, struct agg_order, n);
    struct agg_orders *all = ARENA_NEW(p->arena, struct agg_orders);
    if (list == NULL || all == NULL) {
        return err_no_memory(p->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        list[i] = (struct agg_order){.by = ORDER_PATH, .asc = !specs[i].descending};
        struct str field = specs[i].field.p != NULL ? specs[i].field : STR("_score");
        if (!agg_path_parse(&list[i].path, field, p->arena, p->em, &e)) {
            return e;
        }
    }
    *all = (struct agg_orders){list, n};
    a->pipe.sort = all;
    return ERR_OK;
}

static const struct agg_param derivative_params[] = {{"buckets_path", TK_STRING | TK_ARRAY, set_paths},
                                                     {"format", TK_STRING, set_format},
                                                     {"gap_policy", TK_STRING, set_gap},
                                                     {"unit", TK_INT, set_unit},
                                                     {NULL, 0, NULL}};
static const struct agg_param cumulative_params[] = {
    {"buckets_path", TK_STRING | TK_ARRAY, set_paths}, {"format", TK_STRING, set_format}, {NULL, 0, NULL}};
static const struct agg_param moving_fn_params[] = {{"buckets_path", TK_STRING, set_paths},
                                                    {"format", TK_STRING, set_format},
                                                    {"gap_policy", TK_STRING, set_gap},
                                                    {"window", TK_INT, set_window},
                                                    {"shift", TK_INT, set_shift},
                                                    {"script", TK_SCRIPT, set_script},
                                                    {NULL, 0, NULL}};
static const struct agg_param script_params[] = {
    {"buckets_path", TK_OBJECT | TK_STRING | TK_ARRAY, set_paths},
    {"format", TK_STRING, set_format},
    {"gap_policy", TK_STRING, set_gap},
    {"script", TK_SCRIPT, set_script},
    {NULL, 0, NULL}};
static const struct agg_param sort_params[] = {{"sort", TK_OBJECT | TK_ARRAY, set_sort},
                                               {"from", TK_INT, set_sort_from},
                                               {"size", TK_INT, set_sort_size},
                                               {"gap_policy", TK_STRING, set_gap},
                                               {NULL, 0, NULL}};

static enum err parse_declared(struct agg_parse *p, struct agg *a, const struct json *body)
{
    enum agg_kind k = a->type->kind;
    const struct agg_param *table = k == AGG_DERIVATIVE       ? derivative_params
                                    : k == AGG_CUMULATIVE_SUM ? cumulative_params
                                    : k == AGG_MOVING_FN      ? moving_fn_params
                                    : k == AGG_BUCKET_SCRIPT  ? script_params
                                                              : sort_params;
    a->pipe.window = INT32_MIN;
    enum err e = agg_params(p, a, body, a->type->name, table, NULL);
    if (e == ERR_X_CONTENT && k == AGG_BUCKET_SORT && p->em != NULL && p->em->n > 1) {
        return err_wrap(p->em, ERR_X_CONTENT,
                        "failed to build [bucket_sort] after last required field arrived");
    }
    if (e != ERR_OK) {
        return e;
    }
    if (k != AGG_BUCKET_SORT && a->pipe.v == NULL) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Required [buckets_path]");
    }
    if ((k == AGG_MOVING_FN || k == AGG_BUCKET_SCRIPT) && a->pipe.script == NULL) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Required [script]");
    }
    if (k == AGG_MOVING_FN && a->pipe.window == INT32_MIN) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Required [window]");
    }
    if (k == AGG_MOVING_FN && a->pipe.window <= 0) {
        err_set(p->em, ERR_ILLEGAL_ARGUMENT, "[window] must be a positive, non-zero integer.");
        err_wrap(p->em, ERR_X_CONTENT, "Failed to build [moving_fn] after last required field arrived");
        return jr_wrap_field(p->text, body->off, "moving_fn", STR("script"), p->em);
    }
    return check_paths(p, a);
}

/* ---- the older parsers --------------------------------------------------------------------------------- */

static enum err unexpected(struct agg_parse *p, const struct agg *a, const struct json_member *m)
{
    return jr_fail(p->text, m->value.off, p->em, "Unexpected token %s [%.*s] in [%.*s]",
                   json_token_name(&m->value), STR_ARG(m->key), STR_ARG(a->name));
}

static enum err bucket_percents(struct agg_parse *p, struct agg *a, const struct json *v)
{
    double *list = ARENA_ARRAY(p->arena, double, v->n);
    if (list == NULL) {
        return err_no_memory(p->em);
    }
    for (uint32_t i = 0; i < v->n; i++) {
        enum err e = jr_double(&v->items[i], &list[i], p->em);
        if (e == ERR_OK && !(list[i] >= 0 && list[i] <= 100)) {
            e = err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                        "percents must only contain non-null doubles from 0.0-100.0 inclusive");
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    a->pipe.percents = list;
    a->pipe.n_percents = v->n;
    return ERR_OK;
}

static enum err older_window(struct agg_parse *p, const struct agg *a, const struct json_member *m,
                             int32_t *out)
{
    enum err e = jr_int(&m->value, out, p->em);
    if (e == ERR_OK && *out <= 0) {
        return jr_fail(
            p->text, m->value.off, p->em,
            "[%.*s] value must be a positive, non-zero integer.  Value supplied was [%d] in [%.*s].",
            STR_ARG(m->key), *out, STR_ARG(a->name));
    }
    return e;
}

static enum err moving_settings(struct agg_parse *p, struct agg *a, const struct json *v)
{
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        enum err e = ERR_OK;
        if (str_is(m->key, "alpha") || str_is(m->key, "beta") || str_is(m->key, "gamma")) {
            double d = 0;
            e = jr_double(&m->value, &d, p->em);
            if (e == ERR_OK && !(d >= 0 && d <= 1)) {
                e = err_set(
                    p->em, ERR_PARSE,
                    "Parameter [%.*s] must be between 0-1 inclusive.  Provided value was [%s] instead.",
                    STR_ARG(m->key), num_text(d).s);
            }
            *(m->key.p[0] == 'a' ? &a->pipe.alpha : m->key.p[0] == 'b' ? &a->pipe.beta : &a->pipe.gamma) = d;
        } else if (str_is(m->key, "period")) {
            e = jr_int(&m->value, &a->pipe.period, p->em);
        } else if (str_is(m->key, "pad")) {
            e = jr_bool(&m->value, &a->pipe.pad, p->em);
        } else if (str_is(m->key, "type")) {
            a->pipe.multiplicative = str_is(json_text(&m->value), "mult");
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err moving_member(struct agg_parse *p, struct agg *a, const struct json_member *m)
{
    if (str_is(m->key, "window") && m->value.type == JSON_NUMBER) {
        return older_window(p, a, m, &a->pipe.window);
    }
    if (str_is(m->key, "predict") && m->value.type == JSON_NUMBER) {
        return older_window(p, a, m, &a->pipe.predict);
    }
    if (str_is(m->key, "settings") && m->value.type == JSON_OBJECT) {
        return moving_settings(p, a, &m->value);
    }
    if (str_is(m->key, "minimize") && m->value.type == JSON_BOOL) {
        return ERR_OK; /* parameters are taken as they are given */
    }
    if (str_is(m->key, "model") && m->value.type == JSON_STRING) {
        a->pipe.model_name = m->value.s;
        return ERR_OK;
    }
    return unexpected(p, a, m);
}

static enum err special_member(struct agg_parse *p, struct agg *a, const struct json_member *m)
{
    enum agg_kind k = a->type->kind;
    const struct json *v = &m->value;
    if (k == AGG_PERCENTILES_BUCKET && str_is(m->key, "percents") && v->type == JSON_ARRAY) {
        return bucket_percents(p, a, v);
    }
    if (k == AGG_PERCENTILES_BUCKET && str_is(m->key, "keyed") && v->type == JSON_BOOL) {
        a->pipe.keyed = v->b;
        return ERR_OK;
    }
    if (k == AGG_EXTENDED_STATS_BUCKET && str_is(m->key, "sigma") && v->type == JSON_NUMBER) {
        a->pipe.sigma = json_double(v);
        return a->pipe.sigma >= 0
                   ? ERR_OK
                   : err_set(p->em, ERR_ILLEGAL_ARGUMENT, "sigma must be a non-negative double");
    }
    if (k == AGG_SERIAL_DIFF && str_is(m->key, "lag") && v->type == JSON_NUMBER) {
        enum err e = jr_int(v, &a->pipe.lag, p->em);
        return e != ERR_OK || a->pipe.lag > 0
                   ? e
                   : jr_fail(
                       p->text, v->off, p->em,
                       "Lag must be a positive, non-zero integer.  Value supplied was%d in [%.*s]: [lag].",
                       a->pipe.lag, STR_ARG(a->name));
    }
    if (k == AGG_BUCKET_SELECTOR && str_is(m->key, "script")
        && (v->type == JSON_STRING || v->type == JSON_OBJECT)) {
        return set_script(p, a, v);
    }
    if (k == AGG_BUCKET_SELECTOR && str_is(m->key, "buckets_path") && v->type == JSON_OBJECT) {
        return set_paths(p, a, v);
    }
    return k == AGG_MOVING_AVG ? moving_member(p, a, m) : unexpected(p, a, m);
}

/* Read when the rest is: that is where a wrong one is refused. */
static enum err moving_model(struct agg_parse *p, struct agg *a, const struct json *body)
{
    static const char *const models[] = {"simple", "linear", "ewma", "holt", "holt_winters"};
    for (size_t i = 0; i < ARRAY_LEN(models); i++) {
        if (a->pipe.model_name.p == NULL || str_is(a->pipe.model_name, models[i])) {
            a->pipe.model = (unsigned)i;
            return ERR_OK;
        }
    }
    return jr_fail(p->text, body->end - 1, p->em, "no [moving_avg_model] registered for [%.*s]",
                   STR_ARG(a->pipe.model_name));
}

static enum err parse_older(struct agg_parse *p, struct agg *a, const struct json *body)
{
    for (uint32_t i = 0; i < body->n; i++) {
        const struct json_member *m = &body->members[i];
        bool text = m->value.type == JSON_STRING;
        enum err e;
        if (str_is(m->key, "format") && text && a->type->kind != AGG_BUCKET_SELECTOR) {
            e = set_format(p, a, &m->value);
        } else if (str_is(m->key, "gap_policy") && text) {
            e = set_gap(p, a, &m->value);
        } else if (str_is(m->key, "buckets_path") && (text || m->value.type == JSON_ARRAY)) {
            e = set_paths(p, a, &m->value);
        } else {
            e = special_member(p, a, m);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    if (a->pipe.v == NULL) {
        return jr_fail(p->text, body->end - 1, p->em,
                       "Missing required field [buckets_path] for aggregation [%.*s]", STR_ARG(a->name));
    }
    if (a->type->kind == AGG_BUCKET_SELECTOR && a->pipe.script == NULL) {
        return jr_fail(p->text, body->end - 1, p->em,
                       "Missing required field [script] for bucket_selector aggregation [%.*s]",
                       STR_ARG(a->name));
    }
    enum err e = check_paths(p, a);
    return e == ERR_OK && a->type->kind == AGG_MOVING_AVG ? moving_model(p, a, body) : e;
}

enum err parse_pipe(struct agg_parse *p, struct agg *a, const struct json *body)
{
    static const double defaults[] = {1, 5, 25, 50, 75, 95, 99};
    a->pipe = (struct pipe_params){.keyed = true,
                                   .percents = defaults,
                                   .n_percents = ARRAY_LEN(defaults),
                                   .sigma = 2,
                                   .lag = 1,
                                   .size = -1,
                                   .window = 5,
                                   .alpha = 0.3,
                                   .beta = 0.1,
                                   .gamma = 0.3,
                                   .period = 1};
    return declared(a->type->kind) ? parse_declared(p, a, body) : parse_older(p, a, body);
}
