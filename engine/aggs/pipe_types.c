/* The rows of pipelines, and what becomes of the values of a sibling's buckets. */
#include "engine/aggs/agg_row.h"
#include "engine/aggs/pipeline.h"

#include "common/base/sort_items.h"

#include <math.h>

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

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static enum err bucket_percentiles(struct reduce *r, const struct agg *p, const struct agg_result *of,
                                   struct gathered *g, struct agg_result *out)
{
    struct list_result *own = list_result(out);
    const struct pipe_params *given = pipe_params(p);
    (void)of;
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

static double pipe_number(const struct agg_result *r)
{
    return value_result(r)->value;
}

static enum err avg_finish(struct reduce *r, const struct agg *p, const struct agg_result *of,
                           struct gathered *g, struct agg_result *out)
{
    (void)r;
    (void)p;
    (void)of;
    value_result(out)->value = g->n == 0 ? NAN : g->stats.sum / (double)g->stats.count;
    return ERR_OK;
}

static enum err sum_finish(struct reduce *r, const struct agg *p, const struct agg_result *of,
                           struct gathered *g, struct agg_result *out)
{
    (void)r;
    (void)p;
    (void)of;
    value_result(out)->value = g->stats.sum;
    return ERR_OK;
}

static enum err min_finish(struct reduce *r, const struct agg *p, const struct agg_result *of,
                           struct gathered *g, struct agg_result *out)
{
    (void)p;
    value_result(out)->value = g->stats.min;
    return extreme_keys(r, of, g, out);
}

static enum err max_finish(struct reduce *r, const struct agg *p, const struct agg_result *of,
                           struct gathered *g, struct agg_result *out)
{
    (void)p;
    value_result(out)->value = g->stats.max;
    return extreme_keys(r, of, g, out);
}

static enum err stats_finish(struct reduce *r, const struct agg *p, const struct agg_result *of,
                             struct gathered *g, struct agg_result *out)
{
    (void)r;
    (void)p;
    (void)of;
    *stats_result(out) = g->stats;
    return ERR_OK;
}

static void extreme_print(const struct agg_result *r, struct jsonw *w)
{
    const struct extreme_result *own = extreme_result(r);
    print_single(r, w);
    jw_k(w, "keys");
    jw_arr(w);
    for (uint32_t i = 0; i < own->n_keys; i++) {
        jw_str(w, own->keys[i]);
    }
    jw_arr_end(w);
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

static enum err bucket_stats_by_name(const struct agg_result *r, struct str key, double *out,
                                     struct errmsg *em)
{
    return key.p != NULL && stats_value(stats_result(r), key, out) ? ERR_OK : value_unknown(r, key, out, em);
}

static enum err bucket_extended_by_name(const struct agg_result *r, struct str key, double *out,
                                        struct errmsg *em)
{
    bool known = key.p != NULL && extended_value(stats_result(r), pipe_params(r->agg)->sigma, key, out);
    return known ? ERR_OK : value_unknown(r, key, out, em);
}

static void bucket_extended_print(const struct agg_result *r, struct jsonw *w)
{
    print_extended(r, pipe_params(r->agg)->sigma, w);
}

static double bucket_percentile(const struct agg_result *r, uint32_t i)
{
    return list_result(r)->list[i];
}

static void bucket_percentiles_print(const struct agg_result *r, struct jsonw *w)
{
    const struct pipe_params *p = pipe_params(r->agg);
    print_percents(r, p->keyed, p->percents, p->n_percents, bucket_percentile, w);
}

const struct agg_type agg_avg_bucket = {
    .name = "avg_bucket",
    .class = CLASS_SIBLING,
    .params_size = sizeof(struct pipe_params),
    .result_size = sizeof(struct value_result),
    .parse = parse_pipe,
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
    .parse = parse_pipe,
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
    .parse = parse_pipe,
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
    .parse = parse_pipe,
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
    .parse = parse_pipe,
    .print = print_stats,
    .value = bucket_stats_by_name,
    .validate = check_sibling,
    .finish = stats_finish,
};

const struct agg_type agg_extended_stats_bucket = {
    .name = "extended_stats_bucket",
    .class = CLASS_SIBLING,
    .params_size = sizeof(struct pipe_params),
    .result_size = sizeof(struct stats_result),
    .parse = parse_pipe,
    .print = bucket_extended_print,
    .value = bucket_extended_by_name,
    .validate = check_sibling,
    .finish = stats_finish,
};

const struct agg_type agg_percentiles_bucket = {
    .name = "percentiles_bucket",
    .class = CLASS_SIBLING,
    .params_size = sizeof(struct pipe_params),
    .result_size = sizeof(struct list_result),
    .parse = parse_pipe,
    .print = bucket_percentiles_print,
    .validate = check_sibling,
    .finish = bucket_percentiles,
};

const struct agg_type agg_derivative = {
    .name = "derivative",
    .class = CLASS_PARENT,
    .params_size = sizeof(struct pipe_params),
    .result_size = sizeof(struct derivative_result),
    .parse = parse_pipe,
    .print = derivative_print,
    .number = pipe_number,
    .value = derivative_by_name,
    .validate = check_sequential,
    .run = pipe_derivative,
};

const struct agg_type agg_cumulative_sum = {
    .name = "cumulative_sum",
    .class = CLASS_PARENT,
    .params_size = sizeof(struct pipe_params),
    .result_size = sizeof(struct value_result),
    .parse = parse_pipe,
    .typed = {"simple_value"},
    .print = print_single,
    .number = pipe_number,
    .validate = check_sequential,
    .run = pipe_cumulative,
};

const struct agg_type agg_moving_fn = {
    .name = "moving_fn",
    .class = CLASS_PARENT,
    .params_size = sizeof(struct pipe_params),
    .result_size = sizeof(struct value_result),
    .parse = parse_pipe,
    .typed = {"simple_value"},
    .print = print_single,
    .number = pipe_number,
    .validate = check_sequential,
    .run = pipe_script,
};

const struct agg_type agg_moving_avg = {
    .name = "moving_avg",
    .class = CLASS_PARENT,
    .params_size = sizeof(struct pipe_params),
    .result_size = sizeof(struct value_result),
    .parse = parse_pipe,
    .typed = {"simple_value"},
    .print = print_single,
    .number = pipe_number,
    .validate = check_sequential,
    .run = pipe_moving,
};

const struct agg_type agg_serial_diff = {
    .name = "serial_diff",
    .class = CLASS_PARENT,
    .params_size = sizeof(struct pipe_params),
    .result_size = sizeof(struct value_result),
    .parse = parse_pipe,
    .typed = {"simple_value"},
    .print = print_single,
    .number = pipe_number,
    .validate = check_sequential,
    .run = pipe_difference,
};

const struct agg_type agg_bucket_script = {
    .name = "bucket_script",
    .class = CLASS_PARENT,
    .params_size = sizeof(struct pipe_params),
    .result_size = sizeof(struct value_result),
    .parse = parse_pipe,
    .typed = {"simple_value"},
    .print = print_single,
    .number = pipe_number,
    .validate = check_scripted,
    .run = pipe_script,
};

const struct agg_type agg_bucket_selector = {
    .name = "bucket_selector",
    .class = CLASS_PARENT,
    .params_size = sizeof(struct pipe_params),
    .result_size = sizeof(struct value_result),
    .parse = parse_pipe,
    .print = print_single,
    .number = pipe_number,
    .validate = check_scripted,
    .run = pipe_script,
};

const struct agg_type agg_bucket_sort = {
    .name = "bucket_sort",
    .class = CLASS_PARENT,
    .params_size = sizeof(struct pipe_params),
    .result_size = sizeof(struct value_result),
    .parse = parse_pipe,
    .print = print_single,
    .number = pipe_number,
    .validate = check_bucket_sort,
    .run = pipe_bucket_sort,
};
