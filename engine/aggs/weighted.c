/* weighted_avg. */
#include "common/base/date.h"
#include "common/base/kahan.h"
#include "engine/aggs/agg_row.h"
#include "engine/aggs/values.h"

#include <math.h>

struct weighted_params {
    struct source_spec weight;
    bool has_value, has_weight;
};
AGG_PARAMS(weighted_params)

struct weighted_result {
    double sum, sum_error, weights, weights_error;
};
AGG_RESULT(weighted_result)

/* ---- the definition -------------------------------------------------------------------------------------- */

static enum err config_missing(UNUSED struct agg_parse *p, struct agg *a, const struct json *v)
{
    a->vs.missing = v->type != JSON_NULL ? v : NULL;
    return ERR_OK;
}

static const struct agg_param field_config_table[] = {{"field", TK_STRING, agg_set_field},
                                                      {"missing", TK_VALUE, config_missing},
                                                      {"script", TK_SCRIPT, agg_set_script},
                                                      {"time_zone", TK_INT, agg_set_zone},
                                                      {NULL, 0, NULL}};

static enum err field_config(struct agg_parse *p, const struct json *v, struct source_spec *s)
{
    struct agg scratch = {.vs = *s};
    enum err e = agg_params(p, &scratch, v, "field_config", field_config_table, NULL);
    *s = scratch.vs;
    p->at = v->end - 1;
    if (e != ERR_OK || (s->field.n > 0) != (s->script != NULL)) {
        return e;
    }
    return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                   s->field.n > 0
                       ? "[field] and [script] cannot both be configured.  Please specify one or the other."
                       : "[field] and [script] cannot both be null.  Please specify one or the other.");
}

static enum err weighted_value(struct agg_parse *p, struct agg *a, const struct json *v)
{
    weighted_params(a)->has_value = true;
    return field_config(p, v, &a->vs);
}

static enum err weighted_weight(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct weighted_params *given = weighted_params(a);
    given->has_weight = true;
    return field_config(p, v, &given->weight);
}

static const struct agg_param weighted_table[] = {
    {"value", TK_OBJECT, weighted_value},   {"weight", TK_OBJECT, weighted_weight},
    {"format", TK_STRING, agg_set_format},  {"value_type", TK_STRING, agg_set_type},
    {"valueType", TK_STRING, agg_set_type}, {NULL, 0, NULL}};

static enum err parse_weighted(struct agg_parse *p, struct agg *a, const struct json *body)
{
    return agg_params(p, a, body, "weighted_avg", weighted_table, NULL);
}

/* ---- collecting ------------------------------------------------------------------------------------------ */

struct weighted_acc {
    double sum, sum_error, weights, weights_error;
};

struct weighted {
    struct collector c;
    struct values value, weight;
    struct weighted_acc *acc;
    uint32_t cap;
    double *weight_of;           /* of the batch's documents; NaN: none */
    bool *twice;                 /* has several weights, which is wrong where there is a value */
    struct value_shape *of_type; /* the form of a value_type; NULL: none */
};

static enum err weighted_leaf(struct collector *c, struct errmsg *em)
{
    struct weighted *w = (struct weighted *)c;
    enum err e = values_leaf(&w->value, em);
    return e == ERR_OK ? values_leaf(&w->weight, em) : e;
}

/* The single weight of each document. */
static bool load_weights(struct weighted *w, const struct doc_run *d)
{
    struct agg_run *r = w->c.run;
    for (uint32_t i = 0; i < d->n; i++) {
        w->weight_of[i] = NAN;
        w->twice[i] = false;
    }
    for (uint32_t pos = 0; pos < d->n;) {
        uint32_t n = values_doubles(&w->weight, d, &pos);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t at = w->weight.at[i];
            w->twice[at] = !isnan(w->weight_of[at]);
            w->weight_of[at] = w->weight.d[i];
        }
    }
    return r->failed == ERR_OK;
}

static void weighted_collect(struct collector *c, const struct doc_run *d)
{
    struct weighted *w = (struct weighted *)c;
    if (!load_weights(w, d)) {
        return;
    }
    for (uint32_t pos = 0; pos < d->n;) {
        uint32_t n = values_doubles(&w->value, d, &pos);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t at = w->value.at[i], bucket = run_bucket(d, at);
            double weight = w->weight_of[at];
            if (isnan(weight)) {
                continue;
            }
            if (w->twice[at]) {
                run_fail(c->run, err_set(&c->run->em, ERR_AGG_EXECUTION,
                                         "Encountered more than one weight for a single document. Use a "
                                         "script to combine multiple weights-per-doc into a single value."));
                return;
            }
            if (!run_reserve(c->run, &w->acc, &w->cap, bucket + 1, sizeof(*w->acc))) {
                return;
            }
            struct weighted_acc *a = &w->acc[bucket];
            kahan_add(&a->sum, &a->sum_error, w->value.d[i] * weight);
            kahan_add(&a->weights, &a->weights_error, weight);
        }
    }
}

static enum err weighted_build(struct collector *c, uint32_t bucket, struct agg_result *out,
                               UNUSED struct errmsg *em)
{
    struct weighted *w = (struct weighted *)c;
    out->form = RESULT_PLAIN;
    /* neither a field's own format counts, nor one beside a type: that has its own */
    out->shape = c->agg->vs.value_type != VT_NONE ? w->of_type
                 : c->agg->vs.format.n > 0        ? w->value.shape
                                                  : NULL;
    if (bucket < w->cap) {
        weighted_result(out)->sum = w->acc[bucket].sum;
        weighted_result(out)->weights = w->acc[bucket].weights;
    }
    return ERR_OK;
}

static double weighted_order(struct collector *c, uint32_t bucket, UNUSED struct str key)
{
    struct weighted_result own = {0};
    struct agg_result r = {.agg = c->agg, .own = &own};
    weighted_build(c, bucket, &r, NULL);
    return c->agg->type->number(&r);
}

static enum err numeric_only(const struct values *v, struct errmsg *em)
{
    return v->kind > SOURCE_BOOLEAN && v->field != NULL
               ? err_set(em, ERR_ILLEGAL_ARGUMENT, "Expected numeric type on field [%.*s], but got [%s]",
                         STR_ARG(v->field->path), v->field->class->name)
               : ERR_OK;
}

static enum err weighted_check(struct collector *c, struct errmsg *em)
{
    struct weighted *w = (struct weighted *)c;
    enum err e = numeric_only(&w->weight, em);
    e = e == ERR_OK ? numeric_only(&w->value, em) : e;
    if (e != ERR_OK || c->agg->vs.value_type != VT_DATE) {
        return e;
    }
    w->of_type = ARENA_NEW(c->run->arena, struct value_shape);
    if (w->of_type == NULL) {
        return err_no_memory(em);
    }
    *w->of_type = (struct value_shape){.kind = FORMAT_DATE, .pattern = STR(DATE_FORMAT_DEFAULT)};
    return value_shape_ready(w->of_type, c->run->arena, em);
}

static const struct collector_ops weighted_ops = {.check = weighted_check,
                                                  .leaf = weighted_leaf,
                                                  .collect = weighted_collect,
                                                  .build = weighted_build,
                                                  .value = weighted_order};

static enum err weighted_part(struct values *v, struct agg_run *r, const struct agg *a,
                              const struct source_spec *s, struct errmsg *em)
{
    return values_bind(v, r, a, s, TAKES_ALL, SOURCE_NUMBER, em);
}

static enum err weighted_new(struct collector **out, struct agg_run *r, const struct agg *a,
                             struct errmsg *em)
{
    const struct weighted_params *given = weighted_params(a);
    struct weighted *w = ARENA_NEW(r->arena, struct weighted);
    if (w == NULL) {
        return err_no_memory(em);
    }
    *out = &w->c;
    if (!given->has_value) {
        return err_set(em, ERR_NULL_POINTER, "weighted_avg has no [value]");
    }
    if (!given->has_weight) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Could not find field name [weight] in multiValuesSource");
    }
    w->weight_of = ARENA_ARRAY(r->arena, double, BATCH);
    w->twice = ARENA_ARRAY(r->arena, bool, BATCH);
    enum err e = w->weight_of == NULL || w->twice == NULL ? err_no_memory(em)
                                                          : collector_init(&w->c, &weighted_ops, r, a, em);
    /* in the order of Elasticsearch's map */
    e = e == ERR_OK ? weighted_part(&w->weight, r, a, &given->weight, em) : e;
    return e == ERR_OK ? weighted_part(&w->value, r, a, &a->vs, em) : e;
}

/* ---- merging, bytes, printing, row ----------------------------------------------------------------------- */

static enum err reduce_weighted(UNUSED struct reduce *r, UNUSED const struct agg *a,
                                struct agg_result *const *in, uint32_t n, struct agg_result *out)
{
    struct weighted_result *own = weighted_result(out);
    for (uint32_t i = 0; i < n; i++) {
        const struct weighted_result *part = weighted_result(in[i]);
        kahan_add(&own->sum, &own->sum_error, part->sum);
        kahan_add(&own->weights, &own->weights_error, part->weights);
    }
    return ERR_OK;
}

static void weighted_put(struct buf *b, const struct agg_result *r)
{
    const struct weighted_result *own = weighted_result(r);
    put_f64(b, own->sum);
    put_f64(b, own->weights);
}

static enum err weighted_get(const struct result_reading *d, struct agg_result *r)
{
    struct weighted_result *own = weighted_result(r);
    own->sum = get_f64(d->in);
    own->weights = get_f64(d->in);
    return ERR_OK;
}

static double weighted_number(const struct agg_result *r)
{
    const struct weighted_result *own = weighted_result(r);
    return own->weights != 0 ? own->sum / own->weights : NAN;
}

static void weighted_print(const struct agg_result *r, struct jsonw *w)
{
    print_value(r, weighted_number(r), weighted_result(r)->weights != 0, w);
}

const struct agg_type agg_weighted_avg = {
    .name = "weighted_avg",
    .class = CLASS_METRIC,
    .params_size = sizeof(struct weighted_params),
    .result_size = sizeof(struct weighted_result),
    .parse = parse_weighted,
    .collector = weighted_new,
    .builder = "metrics.WeightedAvgAggregationBuilder",
    .put = weighted_put,
    .get = weighted_get,
    .reduce = reduce_weighted,
    .print = weighted_print,
    .number = weighted_number,
};
