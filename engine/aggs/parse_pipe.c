/* Definitions of pipeline aggregations. Some have Elasticsearch's newer, declared parsers, the rest read
 * token by token: their refusals differ. */
#include "engine/aggs/agg_int.h"
#include "engine/aggs/pipeline.h"

#include "common/base/jsonr.h"
#include "engine/mapping/java.h"
#include "engine/query/query.h"

#include <math.h>

static bool declared(const struct agg_type *k)
{
    return k == &agg_cumulative_sum || k == &agg_moving_fn || k == &agg_bucket_script
           || k == &agg_bucket_sort;
}

/* Which pipelines take how many paths is looked at late in Elasticsearch; what an empty list leads to there. */
static enum err check_paths(struct agg_parse *p, const struct agg *a)
{
    const struct pipe_params *given = pipe_params(a);
    bool one = a->type == &agg_cumulative_sum;
    if (given->n == 1 || (given->n > 1 && !one)) {
        return ERR_OK;
    }
    if (a->type->validate != check_sequential && a->type->class == CLASS_PARENT) {
        return ERR_OK;
    }
    return one ? err_set(
               p->em, ERR_ACTION_VALIDATION,
               "Validation Failed: 1: buckets_path must contain a single entry for aggregation [%.*s];",
               STR_ARG(a->name))
               : err_set(p->em, ERR_ARRAY_BOUNDS, "Index 0 out of bounds for length 0");
}

/* "a>b", ["a>b", ...] or {"var":"a>b", ...}. Without names, scripts know the values as _value, or _value0,
 * _value1 ... */
static enum err set_paths(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct pipe_params *given = pipe_params(a);
    uint32_t n = v->type == JSON_STRING ? 1 : v->n;
    struct pipe_path *list = ARENA_ARRAY(p->arena, struct pipe_path, n);
    if (list == NULL) {
        return err_no_memory(p->em);
    }
    bool selector = a->type == &agg_bucket_selector && v->type == JSON_OBJECT;
    for (uint32_t i = 0; i < n; i++) {
        const struct json *text = v->type == JSON_STRING  ? v
                                  : v->type == JSON_ARRAY ? &v->items[i]
                                                          : &v->members[i].value;
        list[i].var = v->type == JSON_OBJECT  ? v->members[i].key
                      : v->type == JSON_ARRAY ? arena_printf(p->arena, "_value%u", i)
                                              : STR("_value");
        /* bucket_selector takes any value for a path, as Java shows it */
        enum err e = selector ? ERR_OK : agg_text(p, text, &list[i].path.text);
        if (e != ERR_OK) {
            return e;
        }
        list[i].path.text = selector ? java_text(text, p->arena) : list[i].path.text;
        if (list[i].var.p == NULL || list[i].path.text.p == NULL) {
            return err_no_memory(p->em);
        }
    }
    given->v = list;
    given->n = n;
    return ERR_OK;
}

static enum err set_gap(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct pipe_params *given = pipe_params(a);
    struct str s = json_text(v);
    if (str_eq_nocase(s, STR("skip"))) {
        given->gap = GAP_SKIP;
        return ERR_OK;
    }
    if (str_eq_nocase(s, STR("insert_zeros"))) {
        given->gap = GAP_ZEROS;
        return ERR_OK;
    }
    return jr_fail(p->text, v->off, p->em,
                   "Invalid gap policy: [%.*s], accepted values: [insert_zeros, skip]", STR_ARG(s));
}

static enum err set_format(struct agg_parse *p, struct agg *a, const struct json *v)
{
    (void)p;
    pipe_params(a)->format = json_text(v);
    return ERR_OK;
}

static enum err set_script(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_script(p, v, &pipe_params(a)->script);
}

static enum err set_unit(struct agg_parse *p, struct agg *a, const struct json *v)
{
    (void)p;
    pipe_params(a)->unit = json_text(v); /* read when it is used: that is where Elasticsearch refuses it */
    return ERR_OK;
}

static enum err set_window(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return jr_int(v, &pipe_params(a)->window, p->em);
}

static enum err set_shift(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return jr_int(v, &pipe_params(a)->shift, p->em);
}

static enum err set_sort_from(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct pipe_params *given = pipe_params(a);
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
    struct pipe_params *given = pipe_params(a);
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
    struct pipe_params *given = pipe_params(a);
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
    given->sort = ARENA_ARRAY(p->arena, struct pipe_sort, n);
    given->n_sort = n;
    if (given->sort == NULL) {
        return err_no_memory(p->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        given->sort[i].asc = !specs[i].descending;
        given->sort[i].path.text = specs[i].field.p != NULL ? specs[i].field : STR("_score");
    }
    return ERR_OK;
}

static const struct agg_param cumulative_table[] = {
    {"buckets_path", TK_STRING | TK_ARRAY, set_paths}, {"format", TK_STRING, set_format}, {NULL, 0, NULL}};
static const struct agg_param moving_fn_table[] = {{"buckets_path", TK_STRING, set_paths},
                                                   {"format", TK_STRING, set_format},
                                                   {"gap_policy", TK_STRING, set_gap},
                                                   {"window", TK_INT, set_window},
                                                   {"shift", TK_INT, set_shift},
                                                   {"script", TK_SCRIPT, set_script},
                                                   {NULL, 0, NULL}};
static const struct agg_param script_table[] = {{"buckets_path", TK_OBJECT | TK_STRING | TK_ARRAY, set_paths},
                                                {"format", TK_STRING, set_format},
                                                {"gap_policy", TK_STRING, set_gap},
                                                {"script", TK_SCRIPT, set_script},
                                                {NULL, 0, NULL}};
static const struct agg_param sort_table[] = {{"sort", TK_OBJECT | TK_ARRAY, set_sort},
                                              {"from", TK_INT, set_sort_from},
                                              {"size", TK_INT, set_sort_size},
                                              {"gap_policy", TK_STRING, set_gap},
                                              {NULL, 0, NULL}};

/* What a declared parser must have been given. */
static enum err all_given(struct agg_parse *p, const struct agg *a)
{
    bool script = a->type != &agg_cumulative_sum && pipe_params(a)->script == NULL;
    bool window = a->type == &agg_moving_fn && pipe_params(a)->window == INT32_MIN;
    const char *const names[] = {pipe_params(a)->v == NULL ? "buckets_path" : NULL, script ? "script" : NULL,
                                 window ? "window" : NULL};
    struct str list = STR("");
    for (size_t i = 0; i < ARRAY_LEN(names) && list.p != NULL; i++) {
        list = names[i] == NULL
                   ? list
                   : arena_printf(p->arena, "%.*s%s%s", STR_ARG(list), list.n > 0 ? ", " : "", names[i]);
    }
    return list.p == NULL ? err_no_memory(p->em)
           : list.n == 0  ? ERR_OK
                          : err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Required [%.*s]", STR_ARG(list));
}

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

static enum err parse_declared(struct agg_parse *p, struct agg *a, const struct json *body)
{
    struct pipe_params *given = pipe_params(a);
    const struct agg_type *k = a->type;
    const struct agg_param *table = k == &agg_cumulative_sum  ? cumulative_table
                                    : k == &agg_moving_fn     ? moving_fn_table
                                    : k == &agg_bucket_script ? script_table
                                                              : sort_table;
    given->window = INT32_MIN;
    enum err e = agg_params(p, a, body, a->type->name, table, NULL);
    if (given->refused) {
        return err_wrap(p->em, ERR_X_CONTENT,
                        "failed to build [bucket_sort] after last required field arrived");
    }
    if (e != ERR_OK) {
        return e;
    }
    e = k == &agg_bucket_sort ? ERR_OK : all_given(p, a);
    if (e != ERR_OK) {
        return e;
    }
    if (k == &agg_moving_fn && given->window <= 0) {
        return moving_window(p, body);
    }
    return check_paths(p, a);
}

/* ---- the older parsers --------------------------------------------------------------------------------- */

/* Tokens that an older parser knows as values of some parameter: others it does not even look at. */
static unsigned older_tokens(const struct agg_type *k)
{
    return k == &agg_derivative        ? TK_STRING | TK_ARRAY
           : k == &agg_serial_diff     ? TK_STRING | TK_NUMBER | TK_ARRAY
           : k == &agg_bucket_selector ? TK_STRING | TK_ARRAY | TK_OBJECT
                                       : TK_STRING | TK_NUMBER | TK_ARRAY | TK_OBJECT | TK_BOOL;
}

static enum err unexpected(struct agg_parse *p, const struct agg *a, const struct json_member *m)
{
    const char *token = json_token_name(&m->value);
    const struct agg_type *k = a->type;
    if (a->type->class == CLASS_SIBLING) {
        return jr_fail(p->text, m->value.off, p->em, "Unexpected token %s [%.*s] in [%.*s]", token,
                       STR_ARG(m->key), STR_ARG(a->name));
    }
    return (older_tokens(k) & agg_token(&m->value)) == 0
               ? jr_fail(p->text, m->value.off, p->em, "Unexpected token %s in [%.*s].", token,
                         STR_ARG(a->name))
               : jr_fail(p->text, m->value.off, p->em, "Unknown key for a %s in [%.*s]: [%.*s].", token,
                         STR_ARG(a->name), STR_ARG(m->key));
}

static enum err bucket_percents(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct pipe_params *given = pipe_params(a);
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
    given->percents = list;
    given->n_percents = v->n;
    return ERR_OK;
}

static enum err older_window(struct agg_parse *p, const struct agg *a, const struct json_member *m,
                             int32_t *out)
{
    enum err e = jr_int(&m->value, out, p->em);
    if (e != ERR_OK || *out > 0) {
        return e;
    }
    return str_is(m->key, "window")
               ? jr_fail(p->text, m->value.off, p->em,
                         "[window] value must be a positive, non-zero integer.  Value supplied was [null] in "
                         "[%.*s].",
                         STR_ARG(a->name))
               : jr_fail(p->text, m->value.off, p->em,
                         "[predict] value must be a positive integer.  Value supplied was [%d] in [%.*s].",
                         *out, STR_ARG(a->name));
}

static enum err moving_member(struct agg_parse *p, struct agg *a, const struct json_member *m)
{
    if (str_is(m->key, "window") && m->value.type == JSON_NUMBER) {
        return older_window(p, a, m, &pipe_params(a)->window);
    }
    if (str_is(m->key, "predict") && m->value.type == JSON_NUMBER) {
        return older_window(p, a, m, &pipe_params(a)->predict);
    }
    if (str_is(m->key, "settings") && m->value.type == JSON_OBJECT) {
        pipe_params(a)->settings = &m->value; /* read with the model */
        return ERR_OK;
    }
    if (str_is(m->key, "minimize") && m->value.type == JSON_BOOL) {
        return ERR_OK; /* parameters are taken as they are given */
    }
    if (str_is(m->key, "model") && m->value.type == JSON_STRING) {
        pipe_params(a)->model_name = m->value.s;
        return ERR_OK;
    }
    return unexpected(p, a, m);
}

static enum err special_member(struct agg_parse *p, struct agg *a, const struct json_member *m)
{
    struct pipe_params *given = pipe_params(a);
    const struct agg_type *k = a->type;
    const struct json *v = &m->value;
    if (k == &agg_percentiles_bucket && str_is(m->key, "percents") && v->type == JSON_ARRAY) {
        return bucket_percents(p, a, v);
    }
    if (k == &agg_percentiles_bucket && str_is(m->key, "keyed") && v->type == JSON_BOOL) {
        given->keyed = v->b;
        return ERR_OK;
    }
    if (k == &agg_extended_stats_bucket && str_is(m->key, "sigma") && v->type == JSON_NUMBER) {
        given->sigma = json_double(v);
        return given->sigma >= 0
                   ? ERR_OK
                   : err_set(p->em, ERR_ILLEGAL_ARGUMENT, "sigma must be a non-negative double");
    }
    if (k == &agg_serial_diff && str_is(m->key, "lag") && v->type == JSON_NUMBER) {
        enum err e = jr_int(v, &given->lag, p->em);
        return e != ERR_OK || given->lag > 0
                   ? e
                   : jr_fail(
                       p->text, v->off, p->em,
                       "Lag must be a positive, non-zero integer.  Value supplied was%d in [%.*s]: [lag].",
                       given->lag, STR_ARG(a->name));
    }
    if (k == &agg_bucket_selector && str_is(m->key, "script")
        && (v->type == JSON_STRING || v->type == JSON_OBJECT)) {
        return set_script(p, a, v);
    }
    if (k == &agg_bucket_selector && str_is(m->key, "buckets_path") && v->type == JSON_OBJECT) {
        return set_paths(p, a, v);
    }
    return k == &agg_moving_avg ? moving_member(p, a, m) : unexpected(p, a, m);
}

static bool derivative_unit(const struct agg *a, const struct json_member *m)
{
    return a->type == &agg_derivative && str_is(m->key, "unit") && m->value.type == JSON_STRING;
}

static enum err path_missing(struct agg_parse *p, const struct agg *a, const struct json *body)
{
    const struct agg_type *k = a->type;
    const char *what = k == &agg_derivative || k == &agg_serial_diff ? "derivative "
                       : k == &agg_moving_avg                        ? "movingAvg "
                       : k == &agg_bucket_selector                   ? "bucket_selector "
                                                                     : "";
    return jr_fail(p->text, body->end - 1, p->em,
                   "Missing required field [buckets_path] for %saggregation [%.*s]", what, STR_ARG(a->name));
}

static enum err parse_older(struct agg_parse *p, struct agg *a, const struct json *body)
{
    struct pipe_params *given = pipe_params(a);
    for (uint32_t i = 0; i < body->n; i++) {
        const struct json_member *m = &body->members[i];
        bool text = m->value.type == JSON_STRING;
        enum err e;
        if (str_is(m->key, "format") && text && a->type != &agg_bucket_selector) {
            e = set_format(p, a, &m->value);
        } else if (str_is(m->key, "gap_policy") && text) {
            e = set_gap(p, a, &m->value);
        } else if (str_is(m->key, "buckets_path") && (text || m->value.type == JSON_ARRAY)) {
            e = set_paths(p, a, &m->value);
        } else if (derivative_unit(a, m)) {
            e = set_unit(p, a, &m->value);
        } else {
            e = special_member(p, a, m);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    if (given->v == NULL) {
        return path_missing(p, a, body);
    }
    if (a->type == &agg_bucket_selector && given->script == NULL) {
        return jr_fail(p->text, body->end - 1, p->em,
                       "Missing required field [script] for bucket_selector aggregation [%.*s]",
                       STR_ARG(a->name));
    }
    enum err e = check_paths(p, a);
    return e == ERR_OK && a->type == &agg_moving_avg ? moving_model_parse(p, a, body) : e;
}

enum err parse_pipe(struct agg_parse *p, struct agg *a, const struct json *body)
{
    static const double defaults[] = {1, 5, 25, 50, 75, 95, 99};
    *pipe_params(a) = (struct pipe_params){.keyed = true,
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
    return declared(a->type) ? parse_declared(p, a, body) : parse_older(p, a, body);
}
