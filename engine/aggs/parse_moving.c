/* The model of moving_avg and its settings. */
#include "engine/aggs/pipeline.h"

#include "common/base/jsonr.h"
#include "common/base/num.h"
#include "engine/mapping/java.h"

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
    struct pipe_params *given = pipe_params(a);
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
    struct pipe_params *given = pipe_params(a);
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
    struct pipe_params *given = pipe_params(a);
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

enum err moving_model_parse(struct agg_parse *p, struct agg *a, const struct json *body)
{
    struct pipe_params *given = pipe_params(a);
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
