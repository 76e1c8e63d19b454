/* moving_avg: averages of the last buckets by a model, and predictions beyond the last one. */
#include "engine/aggs/pipeline.h"

#include "common/base/jsonr.h"
#include "common/base/num.h"
#include "common/base/stop.h"
#include "engine/mapping/java.h"

#include <math.h>

struct moving_params {
    struct pipe_params pipe;
    const struct json *settings; /* NULL: none */
    struct str model_name;
    enum { MODEL_SIMPLE, MODEL_LINEAR, MODEL_EWMA, MODEL_HOLT, MODEL_HOLT_WINTERS } model;
    double alpha, beta, gamma;
    int32_t window, period, predict;
    bool multiplicative, pad;
};
AGG_PARAMS(moving_params)

/* ---- the definition -------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *settings[6];
} models[] = {
    [MODEL_SIMPLE] = {"simple", {NULL}},
    [MODEL_LINEAR] = {"linear", {NULL}},
    [MODEL_EWMA] = {"ewma", {"alpha", NULL}},
    [MODEL_HOLT] = {"holt", {"alpha", "beta", NULL}},
    [MODEL_HOLT_WINTERS] = {"holt_winters", {"alpha", "beta", "gamma", "period", "pad", "type"}},
};

static enum err fraction(struct agg_parse *p, const struct json_member *m, double *out)
{
    if (m->value.type == JSON_NULL) {
        return ERR_OK;
    }
    if (m->value.type != JSON_NUMBER) {
        return err_set(p->em, ERR_QUERY_SYNTAX,
                       "Parameter [%.*s] must be a double, type `%s` provided instead", STR_ARG(m->key),
                       java_class_name(&m->value));
    }
    *out = json_double(&m->value);
    return *out >= 0 && *out <= 1
               ? ERR_OK
               : err_set(p->em, ERR_QUERY_SYNTAX,
                         "Parameter [%.*s] must be between 0-1 inclusive.  Providedvalue was [%s]",
                         STR_ARG(m->key), num_text(*out).s);
}

static enum err season(struct agg_parse *p, struct agg *a, const struct json_member *m)
{
    struct moving_params *given = moving_params(a);
    const struct json *v = &m->value;
    if (v->type == JSON_NULL) {
        return ERR_OK;
    }
    if (str_is(m->key, "period")) {
        return v->type == JSON_NUMBER
                   ? jr_int(v, &given->period, p->em)
                   : err_set(p->em, ERR_QUERY_SYNTAX,
                             "Parameter [period] must be an integer, type `%s` provided instead",
                             java_class_name(v));
    }
    if (str_is(m->key, "pad")) {
        given->pad = v->type == JSON_BOOL && v->b;
        return v->type == JSON_BOOL ? ERR_OK
                                    : err_set(p->em, ERR_QUERY_SYNTAX,
                                              "Parameter [pad] must be a boolean, type `%s` provided instead",
                                              java_class_name(v));
    }
    given->multiplicative = str_is(json_text(v), "mult");
    return v->type == JSON_STRING && (given->multiplicative || str_is(v->s, "add"))
               ? ERR_OK
               : err_set(p->em, ERR_PARSE,
                         "failed to parse seasonality type [%.*s]. accepted values are [[add, mult]]",
                         STR_ARG(json_text(v)));
}

static enum err setting(struct agg_parse *p, struct agg *a, const struct json_member *m, bool *known)
{
    struct moving_params *given = moving_params(a);
    const char *const *names = models[given->model].settings;
    *known = false;
    for (size_t i = 0; i < ARRAY_LEN(models[0].settings) && names[i] != NULL; i++) {
        *known = *known || str_is(m->key, names[i]);
    }
    if (!*known) {
        return ERR_OK;
    }
    double *to = str_is(m->key, "alpha")   ? &given->alpha
                 : str_is(m->key, "beta")  ? &given->beta
                 : str_is(m->key, "gamma") ? &given->gamma
                                           : NULL;
    return to != NULL ? fraction(p, m, to) : season(p, a, m);
}

static enum err settings(struct agg_parse *p, struct agg *a)
{
    struct moving_params *given = moving_params(a);
    struct str unknown = STR("");
    uint32_t n = 0;
    for (uint32_t i = 0; i < given->settings->n; i++) {
        const struct json_member *m = &given->settings->members[i];
        bool known;
        enum err e = setting(p, a, m, &known);
        if (e != ERR_OK) {
            return e;
        }
        if (!known) {
            unknown =
                arena_printf(p->arena, "%.*s%s%.*s", STR_ARG(unknown), n++ > 0 ? ", " : "", STR_ARG(m->key));
        }
        if (unknown.p == NULL) {
            return err_no_memory(p->em);
        }
    }
    return n == 0 ? ERR_OK
                  : err_set(p->em, ERR_QUERY_SYNTAX, "Unrecognized parameter(s): [[%.*s]]", STR_ARG(unknown));
}

/* The model and its settings, read when the rest is. ERR_PARSING. */
static enum err model_parse(struct agg_parse *p, struct agg *a, const struct json *body)
{
    struct moving_params *given = moving_params(a);
    uint32_t line, col;
    struct str name = given->model_name;
    if (name.p == NULL) { /* settings are for a model that is named */
        return ERR_OK;
    }
    size_t i = 0;
    while (i < ARRAY_LEN(models) && !str_is(name, models[i].name)) {
        i++;
    }
    if (i == ARRAY_LEN(models)) {
        return jr_fail(p->text, body->end - 1, p->em, "no [moving_avg_model] registered for [%.*s]",
                       STR_ARG(name));
    }
    given->model = (unsigned)i;
    enum err e = given->settings != NULL ? settings(p, a) : ERR_OK;
    if (e != ERR_QUERY_SYNTAX) {
        return e;
    }
    json_place(p->text, body->end - 1, &line, &col);
    return err_wrap_at(p->em, ERR_PARSING, line, col, "Could not parse settings for model [%.*s].",
                       STR_ARG(name));
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

static bool moving_member(struct agg_parse *p, struct agg *a, const struct json_member *m, enum err *e)
{
    struct moving_params *given = moving_params(a);
    const struct json *v = &m->value;
    if (str_is(m->key, "window") && v->type == JSON_NUMBER) {
        *e = older_window(p, a, m, &given->window);
    } else if (str_is(m->key, "predict") && v->type == JSON_NUMBER) {
        *e = older_window(p, a, m, &given->predict);
    } else if (str_is(m->key, "settings") && v->type == JSON_OBJECT) {
        given->settings = v; /* read with the model */
    } else if (str_is(m->key, "model") && v->type == JSON_STRING) {
        given->model_name = v->s;
    } else {
        /* parameters are taken as they are given, whatever is to be minimized */
        return str_is(m->key, "minimize") && v->type == JSON_BOOL;
    }
    return true;
}

static enum err parse_moving(struct agg_parse *p, struct agg *a, const struct json *body)
{
    static const struct pipe_form form = {.called = "movingAvg ",
                                          .tokens = TK_STRING | TK_NUMBER | TK_ARRAY | TK_OBJECT | TK_BOOL,
                                          .member = moving_member};
    *moving_params(a) =
        (struct moving_params){.alpha = 0.3, .beta = 0.1, .gamma = 0.3, .period = 1, .window = 5};
    enum err e = pipe_parse_older(p, a, body, &form);
    e = e == ERR_OK ? pipe_need_path(p, a) : e;
    return e == ERR_OK ? model_parse(p, a, body) : e;
}

/* ---- models ---------------------------------------------------------------------------------------------- */

struct series { /* the last values, oldest first */
    double *v;
    uint32_t n;
};

static double simple(const struct series *s)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        sum += s->v[i];
    }
    return sum / (double)s->n;
}

/* As Elasticsearch has it, the weights' sum begins with 1. */
static double linear(const struct series *s)
{
    double sum = 0, weights = 1;
    for (uint32_t i = 0; i < s->n; i++) {
        sum += s->v[i] * (i + 1);
        weights += i + 1;
    }
    return sum / weights;
}

static double ewma(const struct series *s, double alpha)
{
    double avg = s->v[0];
    for (uint32_t i = 1; i < s->n; i++) {
        avg = s->v[i] * alpha + avg * (1 - alpha);
    }
    return avg;
}

/* Level and trend; the forecast `steps` ahead. */
static double holt(const struct series *s, double alpha, double beta, uint32_t steps)
{
    double level = s->v[0], trend = 0;
    for (uint32_t i = 1; i < s->n; i++) {
        double before = level;
        level = alpha * s->v[i] + (1 - alpha) * (before + trend);
        trend = beta * (level - before) + (1 - beta) * trend;
    }
    return level + steps * trend;
}

static double holt_winters(struct reduce *r, const struct moving_params *p, const struct series *s,
                           uint32_t steps)
{
    uint32_t period = (uint32_t)p->period;
    double *season = ARENA_ARRAY(r->arena, double, s->n), level = 0, trend = 0,
           pad = p->multiplicative && p->pad ? 1e-10 : 0;
    if (period == 0 || season == NULL || s->n < 2 * period) {
        return NAN;
    }
    uint32_t ahead = (steps - 1) % period;
    for (uint32_t i = 0; i < period; i++) {
        level += s->v[i] + pad;
        trend += (s->v[i + period] - s->v[i]) / period;
    }
    level /= period;
    trend /= period;
    double last = level, last_trend = 0;
    for (uint32_t i = 0; i < period; i++) {
        season[i] = level == 0 ? 0 : (s->v[i] + pad) / level;
    }
    for (uint32_t i = period; i < s->n; i++) {
        double x = s->v[i] + pad, was = season[i - period];
        level = p->alpha * (p->multiplicative ? x / was : x - was) + (1 - p->alpha) * (last + last_trend);
        trend = p->beta * (level - last) + (1 - p->beta) * last_trend;
        season[i] = p->gamma * (p->multiplicative ? x / (last + last_trend) : x - (last - last_trend))
                    + (1 - p->gamma) * was;
        last = level;
        last_trend = trend;
    }
    double at = season[s->n - period + ahead];
    return p->multiplicative ? (level + steps * trend) * at : level + steps * trend + at;
}

/* The value `steps` behind the series; 1 is the next. */
static double forecast(struct reduce *r, const struct moving_params *p, const struct series *s,
                       uint32_t steps)
{
    switch (p->model) {
    case MODEL_LINEAR:
        return linear(s);
    case MODEL_EWMA:
        return ewma(s, p->alpha);
    case MODEL_HOLT:
        return holt(s, p->alpha, p->beta, steps - 1);
    case MODEL_HOLT_WINTERS:
        return holt_winters(r, p, s, steps);
    case MODEL_SIMPLE:
        break;
    }
    return simple(s);
}

/* ---- running --------------------------------------------------------------------------------------------- */

static bool enough(const struct moving_params *p, uint32_t n)
{
    return p->model == MODEL_HOLT_WINTERS ? n >= 2 * (uint32_t)p->period : n > 0;
}

/* Predictions go into the buckets behind the last value, new ones if need be. */
static enum err predict(struct reduce *r, const struct agg *p, struct agg_result *of, const struct series *s,
                        uint32_t last)
{
    const struct moving_params *given = moving_params(p);
    uint32_t n = (uint32_t)given->predict;
    enum err e = reduce_count(r, n);
    struct agg_bucket *v = e == ERR_OK ? ARENA_ARRAY(r->arena, struct agg_bucket, (size_t)of->n + n) : NULL;
    if (v == NULL) {
        return e != ERR_OK ? e : err_no_memory(r->em);
    }
    memcpy(v, of->buckets, of->n * sizeof(*v));
    of->buckets = v;
    struct agg_key key = v[last].key;
    for (uint32_t i = 0; e == ERR_OK && i < n && !stop_now(); i++) {
        key = of->agg->type->next_key(of->agg, key);
        if (last + i + 1 >= of->n) {
            v[of->n++] = (struct agg_bucket){.key = key};
        }
        e = pipe_add(r, of->agg, &v[last + i + 1], p, forecast(r, given, s, i + 1));
    }
    return e;
}

static enum err run_moving(struct reduce *r, const struct agg *p, struct agg_result *of)
{
    const struct moving_params *given = moving_params(p);
    uint32_t window = (uint32_t)given->window, last = UINT32_MAX, n = 0;
    double *all = ARENA_ARRAY(r->arena, double, of->n);
    struct series s = {0};
    if (all == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < of->n && !stop_now(); i++) {
        struct bucket_value x;
        enum err e =
            pipe_bucket_value(r, of->agg, &of->buckets[i], &given->pipe.v[0].path, 0, given->pipe.gap, &x);
        if (e == ERR_OK && x.found && !isnan(x.v)) {
            if (enough(given, s.n)) {
                e = pipe_add(r, of->agg, &of->buckets[i], p, forecast(r, given, &s, 1));
            }
            last = i;
            all[n++] = x.v;
            s.n = MIN_OF(n, window);
            s.v = all + (n - s.n);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    bool more = given->predict > 0 && last != UINT32_MAX && enough(given, s.n);
    return more ? predict(r, p, of, &s, last) : ERR_OK;
}

const struct agg_type agg_moving_avg = {
    .name = "moving_avg",
    .class = CLASS_PARENT,
    .params_size = sizeof(struct moving_params),
    .result_size = sizeof(struct value_result),
    .parse = parse_moving,
    .typed = {"simple_value"},
    .print = print_single,
    .number = pipe_number,
    .validate = check_sequential,
    .run = run_moving,
};
