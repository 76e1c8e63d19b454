/* Pipelines from bucket to bucket of a histogram: derivative, cumulative_sum, serial_diff. */
#include "engine/aggs/pipeline.h"

#include "common/base/jsonr.h"

#include <math.h>

struct derivative_params {
    struct pipe_params pipe;
    struct str unit; /* p == NULL: none */
};
AGG_PARAMS(derivative_params)

struct derivative_result {
    struct value_result single;
    double normal; /* per unit */
    bool has_normal;
};
AGG_RESULT(derivative_result)

struct serial_diff_params {
    struct pipe_params pipe;
    int32_t lag;
};
AGG_PARAMS(serial_diff_params)

/* ---- derivative ------------------------------------------------------------------------------------------ */

static bool derivative_member(UNUSED struct agg_parse *p, struct agg *a, const struct json_member *m,
                              UNUSED enum err *e)
{
    if (!str_is(m->key, "unit") || m->value.type != JSON_STRING) {
        return false;
    }
    derivative_params(a)->unit =
        m->value.s; /* read when it is used: that is where Elasticsearch refuses it */
    return true;
}

static enum err parse_derivative(struct agg_parse *p, struct agg *a, const struct json *body)
{
    static const struct pipe_form form = {
        .called = "derivative ", .tokens = TK_STRING | TK_ARRAY, .member = derivative_member};
    enum err e = pipe_parse_older(p, a, body, &form);
    return e == ERR_OK ? pipe_need_path(p, a) : e;
}

static enum err unit_of(struct reduce *r, const struct agg *p, int64_t *out)
{
    const struct derivative_params *given = derivative_params(p);
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

static enum err run_derivative(struct reduce *r, const struct agg *p, struct agg_result *of)
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
            e = e == ERR_OK ? pipe_key_number(r, of, i, &key) : e;
            e = e == ERR_OK ? pipe_key_number(r, of, i - 1, &last_key) : e;
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

static void derivative_print(const struct agg_result *r, struct jsonw *w)
{
    const struct derivative_result *own = derivative_result(r);
    print_single(r, w);
    if (!own->has_normal) {
        return;
    }
    print_number(w, "normalized_value", own->normal, isfinite(own->normal));
    if (isfinite(own->normal) && result_shaped(r->shape)) {
        print_as_string(w, r->shape, "normalized_value", own->normal);
    }
}

static enum err derivative_by_name(const struct agg_result *r, struct str key, double *out, struct errmsg *em)
{
    if (!str_is(key, "normalized_value")) {
        return value_unknown(r, key, out, em);
    }
    *out = derivative_result(r)->normal;
    return ERR_OK;
}

const struct agg_type agg_derivative = {
    .name = "derivative",
    .class = CLASS_PARENT,
    .params_size = sizeof(struct derivative_params),
    .result_size = sizeof(struct derivative_result),
    .parse = parse_derivative,
    .print = derivative_print,
    .number = pipe_number,
    .value = derivative_by_name,
    .validate = check_sequential,
    .run = run_derivative,
};

/* ---- cumulative_sum -------------------------------------------------------------------------------------- */

static const struct agg_param cumulative_table[] = {{"buckets_path", TK_STRING | TK_ARRAY, pipe_set_paths},
                                                    {"format", TK_STRING, pipe_set_format},
                                                    {NULL, 0, NULL}};

static enum err parse_cumulative(struct agg_parse *p, struct agg *a, const struct json *body)
{
    const struct pipe_params *given = pipe_params(a);
    enum err e = agg_params(p, a, body, "cumulative_sum", cumulative_table, NULL);
    const char *missing = given->v == NULL ? "buckets_path" : NULL;
    e = e == ERR_OK ? pipe_need(p, &missing, 1) : e;
    return e != ERR_OK || given->n == 1
               ? e
               : err_set(
                   p->em, ERR_ACTION_VALIDATION,
                   "Validation Failed: 1: buckets_path must contain a single entry for aggregation [%.*s];",
                   STR_ARG(a->name));
}

static enum err run_cumulative(struct reduce *r, const struct agg *p, struct agg_result *of)
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

const struct agg_type agg_cumulative_sum = {
    .name = "cumulative_sum",
    .class = CLASS_PARENT,
    .params_size = sizeof(struct pipe_params),
    .result_size = sizeof(struct value_result),
    .parse = parse_cumulative,
    .typed = {"simple_value"},
    .print = print_single,
    .number = pipe_number,
    .validate = check_sequential,
    .run = run_cumulative,
};

/* ---- serial_diff ----------------------------------------------------------------------------------------- */

static bool difference_member(struct agg_parse *p, struct agg *a, const struct json_member *m, enum err *e)
{
    struct serial_diff_params *given = serial_diff_params(a);
    if (!str_is(m->key, "lag") || m->value.type != JSON_NUMBER) {
        return false;
    }
    *e = jr_int(&m->value, &given->lag, p->em);
    if (*e == ERR_OK && given->lag <= 0) {
        *e = jr_fail(p->text, m->value.off, p->em,
                     "Lag must be a positive, non-zero integer.  Value supplied was%d in [%.*s]: [lag].",
                     given->lag, STR_ARG(a->name));
    }
    return true;
}

static enum err parse_difference(struct agg_parse *p, struct agg *a, const struct json *body)
{
    static const struct pipe_form form = {
        .called = "derivative ", .tokens = TK_STRING | TK_NUMBER | TK_ARRAY, .member = difference_member};
    serial_diff_params(a)->lag = 1;
    enum err e = pipe_parse_older(p, a, body, &form);
    return e == ERR_OK ? pipe_need_path(p, a) : e;
}

static enum err run_difference(struct reduce *r, const struct agg *p, struct agg_result *of)
{
    const struct pipe_params *given = pipe_params(p);
    uint32_t lag = (uint32_t)serial_diff_params(p)->lag;
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

const struct agg_type agg_serial_diff = {
    .name = "serial_diff",
    .class = CLASS_PARENT,
    .params_size = sizeof(struct serial_diff_params),
    .result_size = sizeof(struct value_result),
    .parse = parse_difference,
    .typed = {"simple_value"},
    .print = print_single,
    .number = pipe_number,
    .validate = check_sequential,
    .run = run_difference,
};
