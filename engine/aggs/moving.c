/* moving_avg: averages of the last buckets by a model, and predictions beyond the last one. */
#include "engine/aggs/pipeline.h"

#include "common/base/stop.h"

#include <math.h>

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

static double holt_winters(struct reduce *r, const struct pipe_params *p, const struct series *s,
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
static double forecast(struct reduce *r, const struct pipe_params *p, const struct series *s, uint32_t steps)
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
    default:
        return simple(s);
    }
}

static bool enough(const struct pipe_params *p, uint32_t n)
{
    return p->model == MODEL_HOLT_WINTERS ? n >= 2 * (uint32_t)p->period : n > 0;
}

/* Predictions go into the buckets behind the last value, new ones if need be. */
static enum err predict(struct reduce *r, const struct agg *p, struct agg_result *of, const struct series *s,
                        uint32_t last)
{
    const struct pipe_params *given = pipe_params(p);
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

enum err pipe_moving(struct reduce *r, const struct agg *p, struct agg_result *of)
{
    const struct pipe_params *given = pipe_params(p);
    uint32_t window = (uint32_t)given->window, last = UINT32_MAX, n = 0;
    double *all = ARENA_ARRAY(r->arena, double, of->n);
    struct series s = {0};
    if (all == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < of->n && !stop_now(); i++) {
        struct bucket_value x;
        enum err e = pipe_bucket_value(r, of->agg, &of->buckets[i], &given->v[0].path, 0, given->gap, &x);
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
