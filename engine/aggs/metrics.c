/* avg, sum, min, max, stats, extended_stats, value_count: their definitions and collectors. Sums are compensated (Kahan), as in
 * Elasticsearch, so that they agree to the last digit. */
#include "engine/aggs/metrics.h"
#include "engine/aggs/values.h"

#include "common/base/jsonr.h"
#include "common/base/kahan.h"
#include "common/base/num.h"

#include <math.h>

/* ---- definitions ----------------------------------------------------------------------------------------- */

static enum err stats_sigma(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct stats_params *given = stats_params(a);
    enum err e = jr_double(v, &given->sigma, p->em);
    if (e == ERR_OK && given->sigma < 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "[sigma] must be greater than or equal to 0. Found [%s] in [%.*s]",
                       num_text(given->sigma).s, STR_ARG(a->name));
    }
    return e;
}

static const struct agg_param stats_table[] = {{"sigma", TK_INT, stats_sigma}, {NULL, 0, NULL}};

enum err parse_stats(struct agg_parse *p, struct agg *a, const struct json *body)
{
    stats_params(a)->sigma = 2;
    enum err e = agg_params(p, a, body, a->type->name, stats_table, agg_source_params);
    return e == ERR_OK ? agg_need_source(p, &a->vs) : e;
}

/* ---- collecting ------------------------------------------------------------------------------------------ */

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

static bool metrics_begin(struct metric *m, uint32_t buckets)
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
    return metrics_begin(m, most + 1);
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

static void metrics_load(const struct metric *m, uint32_t bucket, struct agg_result *out)
{
    struct stats_result *own = stats_result(out);
    static const struct acc nothing = {.min = INFINITY, .max = -INFINITY};
    const struct acc *a = bucket < m->n ? &m->acc[bucket] : &nothing;
    out->form = m->v.none ? RESULT_UNMAPPED : RESULT_PLAIN;
    out->shape = m->v.shape;
    own->count = a->count;
    own->sum = a->sum;
    own->min = a->min;
    own->max = a->max;
    own->squares = a->squares;
}

static enum err metric_build(struct collector *c, uint32_t bucket, struct agg_result *out,
                             UNUSED struct errmsg *em)
{
    metrics_load((const struct metric *)c, bucket, out);
    return ERR_OK;
}

static double metric_order(struct collector *c, uint32_t bucket, struct str key)
{
    struct stats_result own = {0};
    struct agg_result r = {.agg = c->agg, .own = &own};
    double out = NAN;
    metrics_load((const struct metric *)c, bucket, &r);
    return result_value(&r, key.n > 0 ? key : STR_NULL, &out, NULL) == ERR_OK ? out : NAN;
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
