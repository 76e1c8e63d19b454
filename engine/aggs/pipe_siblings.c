/* Pipelines over the buckets of an aggregation beside them: avg_bucket, sum_bucket, min_bucket, max_bucket, stats_bucket,
 * extended_stats_bucket, percentiles_bucket. */
#include "engine/aggs/pipeline.h"

#include "common/base/jsonr.h"
#include "common/base/sort_items.h"

#include <math.h>

struct extended_bucket_params {
    struct pipe_params pipe;
    double sigma;
};
AGG_PARAMS(extended_bucket_params)

struct percentiles_bucket_params {
    struct pipe_params pipe;
    const double *percents;
    uint32_t n_percents;
    bool keyed;
};
AGG_PARAMS(percentiles_bucket_params)

struct extreme_result { /* min_bucket, max_bucket */
    struct value_result single;
    struct str *keys;
    uint32_t n_keys;
};

AGG_RESULT(extreme_result)

struct list_result { /* percentiles_bucket */
    double *list;
    uint32_t n_list;
};

AGG_RESULT(list_result)

/* ---- definitions ----------------------------------------------------------------------------------------- */

static enum err parse_sibling(struct agg_parse *p, struct agg *a, const struct json *body)
{
    static const struct pipe_form form = {.called = ""};
    enum err e = pipe_parse_older(p, a, body, &form);
    return e == ERR_OK ? pipe_need_path(p, a) : e;
}

static bool extended_member(struct agg_parse *p, struct agg *a, const struct json_member *m, enum err *e)
{
    if (!str_is(m->key, "sigma") || m->value.type != JSON_NUMBER) {
        return false;
    }
    double sigma = json_double(&m->value);
    extended_bucket_params(a)->sigma = sigma;
    *e = sigma >= 0 ? ERR_OK : err_set(p->em, ERR_ILLEGAL_ARGUMENT, "sigma must be a non-negative double");
    return true;
}

static enum err parse_extended(struct agg_parse *p, struct agg *a, const struct json *body)
{
    static const struct pipe_form form = {.called = "", .member = extended_member};
    extended_bucket_params(a)->sigma = 2;
    enum err e = pipe_parse_older(p, a, body, &form);
    return e == ERR_OK ? pipe_need_path(p, a) : e;
}

static enum err bucket_percents(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct percentiles_bucket_params *given = percentiles_bucket_params(a);
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

static bool percentiles_member(struct agg_parse *p, struct agg *a, const struct json_member *m, enum err *e)
{
    if (str_is(m->key, "percents") && m->value.type == JSON_ARRAY) {
        *e = bucket_percents(p, a, &m->value);
        return true;
    }
    if (str_is(m->key, "keyed") && m->value.type == JSON_BOOL) {
        percentiles_bucket_params(a)->keyed = m->value.b;
        return true;
    }
    return false;
}

static enum err parse_percentiles(struct agg_parse *p, struct agg *a, const struct json *body)
{
    static const double defaults[] = {1, 5, 25, 50, 75, 95, 99};
    static const struct pipe_form form = {.called = "", .member = percentiles_member};
    struct percentiles_bucket_params *given = percentiles_bucket_params(a);
    given->keyed = true;
    given->percents = defaults;
    given->n_percents = ARRAY_LEN(defaults);
    enum err e = pipe_parse_older(p, a, body, &form);
    return e == ERR_OK ? pipe_need_path(p, a) : e;
}

/* ---- results --------------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static enum err bucket_percentiles(struct reduce *r, const struct agg *p, UNUSED const struct agg_result *of,
                                   struct gathered *g, struct agg_result *out)
{
    struct list_result *own = list_result(out);
    const struct percentiles_bucket_params *given = percentiles_bucket_params(p);
    own->n_list = given->n_percents;
    own->list = ARENA_ARRAY(r->arena, double, own->n_list);
    if (own->list == NULL) {
        return err_no_memory(r->em);
    }
    sort_items(g->v, g->n, sizeof(*g->v), by_value);
    for (uint32_t i = 0; i < own->n_list; i++) {
        uint32_t at = g->n == 0 ? 0 : (uint32_t)floor(given->percents[i] / 100.0 * (double)(g->n - 1) + 0.5);
        own->list[i] = g->n == 0 ? NAN : g->v[at];
    }
    return ERR_OK;
}

/* The names of the buckets that hold the extreme. */
static enum err extreme_keys(struct reduce *r, const struct agg_result *of, const struct gathered *g,
                             struct agg_result *out)
{
    struct extreme_result *own = extreme_result(out);
    own->keys = ARENA_ARRAY(r->arena, struct str, g->n);
    if (own->keys == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < g->n; i++) {
        struct buf b;
        if (g->v[i] != value_result(out)->value) {
            continue;
        }
        buf_init(&b, NULL, BUF_UNLIMITED);
        if (!bucket_key_text(of, &of->buckets[g->from[i]], &b) && of->agg->type->place_text != NULL) {
            of->agg->type->place_text(of->agg, g->from[i], &b);
        }
        struct str s = arena_str(r->arena, buf_view(&b));
        buf_fini(&b);
        if (s.p == NULL) {
            return err_no_memory(r->em);
        }
        own->keys[own->n_keys++] = s;
    }
    return ERR_OK;
}

static enum err avg_finish(UNUSED struct reduce *r, UNUSED const struct agg *p,
                           UNUSED const struct agg_result *of, struct gathered *g, struct agg_result *out)
{
    value_result(out)->value = g->n == 0 ? NAN : g->stats.sum / (double)g->stats.count;
    return ERR_OK;
}

static enum err sum_finish(UNUSED struct reduce *r, UNUSED const struct agg *p,
                           UNUSED const struct agg_result *of, struct gathered *g, struct agg_result *out)
{
    value_result(out)->value = g->stats.sum;
    return ERR_OK;
}

static enum err min_finish(struct reduce *r, UNUSED const struct agg *p, const struct agg_result *of,
                           struct gathered *g, struct agg_result *out)
{
    value_result(out)->value = g->stats.min;
    return extreme_keys(r, of, g, out);
}

static enum err max_finish(struct reduce *r, UNUSED const struct agg *p, const struct agg_result *of,
                           struct gathered *g, struct agg_result *out)
{
    value_result(out)->value = g->stats.max;
    return extreme_keys(r, of, g, out);
}

static enum err stats_finish(UNUSED struct reduce *r, UNUSED const struct agg *p,
                             UNUSED const struct agg_result *of, struct gathered *g, struct agg_result *out)
{
    *stats_result(out) = g->stats;
    return ERR_OK;
}

static void extreme_print(const struct agg_result *r, struct jsonw *w)
{
    const struct extreme_result *own = extreme_result(r);
    print_single(r, w);
    jw_karr(w, "keys");
    for (uint32_t i = 0; i < own->n_keys; i++) {
        jw_str(w, own->keys[i]);
    }
    jw_arr_end(w);
}

static enum err bucket_stats_by_name(const struct agg_result *r, struct str key, double *out,
                                     struct errmsg *em)
{
    return key.p != NULL && stats_value(stats_result(r), key, out) ? ERR_OK : value_unknown(r, key, out, em);
}

static enum err bucket_extended_by_name(const struct agg_result *r, struct str key, double *out,
                                        struct errmsg *em)
{
    bool known =
        key.p != NULL && extended_value(stats_result(r), extended_bucket_params(r->agg)->sigma, key, out);
    return known ? ERR_OK : value_unknown(r, key, out, em);
}

static void bucket_extended_print(const struct agg_result *r, struct jsonw *w)
{
    print_extended(r, extended_bucket_params(r->agg)->sigma, w);
}

static double bucket_percentile(const struct agg_result *r, uint32_t i)
{
    return list_result(r)->list[i];
}

static void bucket_percentiles_print(const struct agg_result *r, struct jsonw *w)
{
    const struct percentiles_bucket_params *p = percentiles_bucket_params(r->agg);
    print_percents(r, p->keyed, p->percents, p->n_percents, bucket_percentile, w);
}

const struct agg_type agg_avg_bucket = {
    .name = "avg_bucket",
    .class = CLASS_SIBLING,
    .params_size = sizeof(struct pipe_params),
    .result_size = sizeof(struct value_result),
    .parse = parse_sibling,
    .typed = {"simple_value"},
    .print = print_single,
    .number = pipe_number,
    .validate = check_sibling,
    .finish = avg_finish,
};

const struct agg_type agg_sum_bucket = {
    .name = "sum_bucket",
    .class = CLASS_SIBLING,
    .params_size = sizeof(struct pipe_params),
    .result_size = sizeof(struct value_result),
    .parse = parse_sibling,
    .typed = {"simple_value"},
    .print = print_single,
    .number = pipe_number,
    .validate = check_sibling,
    .finish = sum_finish,
};

const struct agg_type agg_min_bucket = {
    .name = "min_bucket",
    .class = CLASS_SIBLING,
    .params_size = sizeof(struct pipe_params),
    .result_size = sizeof(struct extreme_result),
    .parse = parse_sibling,
    .typed = {"bucket_metric_value"},
    .print = extreme_print,
    .number = pipe_number,
    .validate = check_sibling,
    .finish = min_finish,
};

const struct agg_type agg_max_bucket = {
    .name = "max_bucket",
    .class = CLASS_SIBLING,
    .params_size = sizeof(struct pipe_params),
    .result_size = sizeof(struct extreme_result),
    .parse = parse_sibling,
    .typed = {"bucket_metric_value"},
    .print = extreme_print,
    .number = pipe_number,
    .validate = check_sibling,
    .finish = max_finish,
};

const struct agg_type agg_stats_bucket = {
    .name = "stats_bucket",
    .class = CLASS_SIBLING,
    .params_size = sizeof(struct pipe_params),
    .result_size = sizeof(struct stats_result),
    .parse = parse_sibling,
    .print = print_stats,
    .value = bucket_stats_by_name,
    .validate = check_sibling,
    .finish = stats_finish,
};

const struct agg_type agg_extended_stats_bucket = {
    .name = "extended_stats_bucket",
    .class = CLASS_SIBLING,
    .params_size = sizeof(struct extended_bucket_params),
    .result_size = sizeof(struct stats_result),
    .parse = parse_extended,
    .print = bucket_extended_print,
    .value = bucket_extended_by_name,
    .validate = check_sibling,
    .finish = stats_finish,
};

const struct agg_type agg_percentiles_bucket = {
    .name = "percentiles_bucket",
    .class = CLASS_SIBLING,
    .params_size = sizeof(struct percentiles_bucket_params),
    .result_size = sizeof(struct list_result),
    .parse = parse_percentiles,
    .print = bucket_percentiles_print,
    .validate = check_sibling,
    .finish = bucket_percentiles,
};
