/* avg, sum, min, max, stats, extended_stats, value_count, weighted_avg. Sums are compensated (Kahan), as in
 * Elasticsearch, so that they agree to the last digit. */
#include "common/base/date.h"
#include "engine/aggs/values.h"

#include <math.h>

struct acc {
    int64_t count;
    double sum, sum_error;
    double min, max;
    double squares, squares_error;
};

struct metric {
    struct collector c;
    struct values v;
    struct acc *acc;
    uint32_t cap, n; /* n: buckets that have begun */
    double most;     /* no sum so far is beyond this, either way */
    bool exact;      /* all sums are of whole numbers below EXACT_MAX, with those of the current segment */
};

#define EXACT_MAX 0x1p52 /* with a bit to spare */

static void kahan_add(double *sum, double *error, double x)
{
    if (!isfinite(x)) {
        *sum = x + *sum;
        *error = 0;
    } else if (isfinite(*sum)) {
        double corrected = x - *error, updated = *sum + corrected;
        *error = (updated - *sum) - corrected;
        *sum = updated;
    }
}

static bool begin(struct metric *m, uint32_t buckets)
{
    if (!run_reserve(m->c.run, &m->acc, &m->cap, buckets, sizeof(*m->acc))) {
        return false;
    }
    for (; m->n < buckets; m->n++) {
        m->acc[m->n].min = INFINITY;
        m->acc[m->n].max = -INFINITY;
    }
    return true;
}

static bool begin_all(struct metric *m, const struct doc_run *d)
{
    uint32_t most = 0;
    for (uint32_t i = 0; d->buckets != NULL && i < d->n; i++) {
        most = MAX_OF(most, d->buckets[i]);
    }
    return begin(m, most + 1);
}

/* Whole numbers whose sums are exact in any order: what compensates for rounding stays zero, and is left out. Neighbours are
 * often in the same bucket, which is not stored in between. */
static void sum_exactly(struct metric *m, const struct doc_run *d, uint32_t n)
{
    const uint32_t *at = m->v.at;
    const double *v = m->v.d;
    for (uint32_t i = 0, to; i < n; i = to) {
        uint32_t bucket = run_bucket(d, at[i]);
        struct acc *a = &m->acc[bucket];
        double sum = a->sum, min = a->min, max = a->max;
        to = i;
        do {
            double x = v[to++];
            sum += x;
            min = x < min ? x : min;
            max = x > max ? x : max;
        } while (to < n && run_bucket(d, at[to]) == bucket);
        a->count += to - i;
        a->sum = sum;
        a->min = min;
        a->max = max;
    }
}

static void metric_collect(struct collector *c, const struct doc_run *d)
{
    struct metric *m = (struct metric *)c;
    bool squares = c->agg->type == &agg_extended_stats;
    if (!begin_all(m, d)) {
        return;
    }
    for (uint32_t pos = 0; pos < d->n;) {
        uint32_t n = values_doubles(&m->v, d, &pos);
        if (m->exact && !squares) {
            sum_exactly(m, d, n);
            continue;
        }
        for (uint32_t i = 0; i < n; i++) {
            struct acc *a = &m->acc[run_bucket(d, m->v.at[i])];
            double x = m->v.d[i];
            a->count++;
            kahan_add(&a->sum, &a->sum_error, x);
            a->min = x < a->min ? x : a->min;
            a->max = x > a->max ? x : a->max;
            if (squares) {
                kahan_add(&a->squares, &a->squares_error, x * x);
            }
        }
    }
}

static void minmax_collect(struct collector *c, const struct doc_run *d)
{
    struct metric *m = (struct metric *)c;
    if (!begin_all(m, d)) {
        return;
    }
    for (uint32_t pos = 0; pos < d->n;) {
        uint32_t n = values_doubles(&m->v, d, &pos);
        for (uint32_t i = 0; i < n; i++) {
            struct acc *a = &m->acc[run_bucket(d, m->v.at[i])];
            double x = m->v.d[i];
            a->count++;
            a->min = x < a->min ? x : a->min;
            a->max = x > a->max ? x : a->max;
        }
    }
}

static void count_collect(struct collector *c, const struct doc_run *d)
{
    struct metric *m = (struct metric *)c;
    if (!begin_all(m, d)) {
        return;
    }
    uint32_t n = m->v.none ? 0 : values_count(&m->v, d);
    for (uint32_t i = 0; i < n; i++) {
        m->acc[run_bucket(d, i)].count += m->v.at[i];
    }
}

static enum err metric_leaf(struct collector *c, struct errmsg *em)
{
    struct metric *m = (struct metric *)c;
    const struct num_column *nums = &m->v.nums;
    enum err e = values_leaf(&m->v, em);
    bool whole = m->v.field != NULL && !m->v.floating && m->v.script == NULL && !m->v.has_missing;
    double greatest = fmax(fabs((double)nums->min), fabs((double)nums->max));
    m->most += whole ? greatest * (double)nums->n_values : INFINITY;
    m->exact = m->most < EXACT_MAX;
    return e;
}

static void load(const struct metric *m, uint32_t bucket, struct agg_result *out)
{
    static const struct acc nothing = {.min = INFINITY, .max = -INFINITY};
    const struct acc *a = bucket < m->n ? &m->acc[bucket] : &nothing;
    out->agg = m->c.agg;
    out->form = m->v.none ? RESULT_UNMAPPED : RESULT_PLAIN;
    out->shape = m->v.shape;
    out->count = a->count;
    out->sum = a->sum;
    out->min = a->min;
    out->max = a->max;
    out->squares = a->squares;
}

static enum err metric_build(struct collector *c, uint32_t bucket, struct agg_result *out, struct errmsg *em)
{
    (void)em;
    load((const struct metric *)c, bucket, out);
    return ERR_OK;
}

static double metric_order(struct collector *c, uint32_t bucket, struct str key)
{
    struct agg_result r = {.agg = c->agg};
    double out = NAN;
    load((const struct metric *)c, bucket, &r);
    if (c->agg->type->number != NULL) {
        return c->agg->type->number(&r);
    }
    return stats_value(&r, key, &out) ? out : NAN;
}

static const struct collector_ops metric_ops = {
    .leaf = metric_leaf, .collect = metric_collect, .build = metric_build, .value = metric_order};
static const struct collector_ops minmax_ops = {
    .leaf = metric_leaf, .collect = minmax_collect, .build = metric_build, .value = metric_order};
static const struct collector_ops count_ops = {
    .leaf = metric_leaf, .collect = count_collect, .build = metric_build, .value = metric_order};

enum err metric_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    struct metric *m = ARENA_NEW(r->arena, struct metric);
    if (m == NULL) {
        return err_no_memory(em);
    }
    const struct agg_type *k = a->type;
    *out = &m->c;
    bool count = k == &agg_value_count;
    const struct collector_ops *ops = count                            ? &count_ops
                                      : k == &agg_min || k == &agg_max ? &minmax_ops
                                                                       : &metric_ops;
    enum err e = collector_init(&m->c, ops, r, a, em);
    if (e != ERR_OK) {
        return e;
    }
    return values_bind(&m->v, r, a, &a->vs, count ? TAKES_ALL : TAKES_NUMERIC,
                       count ? SOURCE_TEXT : SOURCE_NUMBER, em);
}

/* ---- weighted_avg -------------------------------------------------------------------------------------- */

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
                               struct errmsg *em)
{
    struct weighted *w = (struct weighted *)c;
    (void)em;
    out->agg = c->agg;
    out->form = RESULT_PLAIN;
    /* neither a field's own format counts, nor one beside a type: that has its own */
    out->shape = c->agg->vs.value_type != VT_NONE ? w->of_type
                 : c->agg->vs.format.n > 0        ? w->value.shape
                                                  : NULL;
    if (bucket < w->cap) {
        out->sum = w->acc[bucket].sum;
        out->weights = w->acc[bucket].weights;
    }
    return ERR_OK;
}

static double weighted_order(struct collector *c, uint32_t bucket, struct str key)
{
    struct agg_result r = {.agg = c->agg};
    (void)key;
    weighted_build(c, bucket, &r, NULL);
    return c->agg->type->number(&r);
}

static enum err weighted_number(const struct values *v, struct errmsg *em)
{
    return v->kind > SOURCE_BOOLEAN && v->field != NULL
               ? err_set(em, ERR_ILLEGAL_ARGUMENT, "Expected numeric type on field [%.*s], but got [%s]",
                         STR_ARG(v->field->path), field_type_name(v->field->type))
               : ERR_OK;
}

static enum err weighted_check(struct collector *c, struct errmsg *em)
{
    struct weighted *w = (struct weighted *)c;
    enum err e = weighted_number(&w->weight, em);
    e = e == ERR_OK ? weighted_number(&w->value, em) : e;
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

enum err weighted_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    struct weighted *w = ARENA_NEW(r->arena, struct weighted);
    if (w == NULL) {
        return err_no_memory(em);
    }
    *out = &w->c;
    if (!a->weighted.has_value) {
        return err_set(em, ERR_NULL_POINTER, "weighted_avg has no [value]");
    }
    if (!a->weighted.has_weight) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Could not find field name [weight] in multiValuesSource");
    }
    w->weight_of = ARENA_ARRAY(r->arena, double, BATCH);
    w->twice = ARENA_ARRAY(r->arena, bool, BATCH);
    enum err e = w->weight_of == NULL || w->twice == NULL ? err_no_memory(em)
                                                          : collector_init(&w->c, &weighted_ops, r, a, em);
    /* in the order of Elasticsearch's map */
    e = e == ERR_OK ? weighted_part(&w->weight, r, a, &a->weighted.weight, em) : e;
    return e == ERR_OK ? weighted_part(&w->value, r, a, &a->vs, em) : e;
}
