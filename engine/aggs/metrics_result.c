/* Metrics of sums and extremes: bytes, merging, printing of their results, and their rows. */
#include "common/base/kahan.h"
#include "engine/aggs/metrics.h"
#include "engine/aggs/pipeline.h"

#include <math.h>

static enum err reduce_numbers(struct reduce *r, const struct agg *a, struct agg_result *const *in,
                               uint32_t n, struct agg_result *out)
{
    (void)r;
    (void)a;
    out->min = INFINITY;
    out->max = -INFINITY;
    for (uint32_t i = 0; i < n; i++) {
        out->count += in[i]->count;
        kahan_add(&out->sum, &out->sum_error, in[i]->sum);
        kahan_add(&out->squares, &out->squares_error, in[i]->squares);
        out->min = fmin(out->min, in[i]->min);
        out->max = fmax(out->max, in[i]->max);
    }
    return ERR_OK;
}

static double variance(const struct agg_result *r, bool sampling)
{
    double n = (double)r->count, v = (r->squares - r->sum * r->sum / n) / (sampling ? n - 1 : n);
    return v < 0 ? 0 : v;
}

bool stats_value(const struct agg_result *r, struct str name, double *out)
{
    double n = (double)r->count;
    bool extended = r->agg->type == &agg_extended_stats || r->agg->type == &agg_extended_stats_bucket;
    double sigma =
        r->agg->type == &agg_extended_stats ? stats_params(r->agg)->sigma : pipe_params(r->agg)->sigma;
    if (str_is(name, "count")) {
        *out = n;
    } else if (str_is(name, "min")) {
        *out = r->min;
    } else if (str_is(name, "max")) {
        *out = r->max;
    } else if (str_is(name, "avg")) {
        *out = r->sum / n;
    } else if (str_is(name, "sum")) {
        *out = r->sum;
    } else if (!extended) {
        return false;
    } else if (str_is(name, "sum_of_squares")) {
        *out = r->squares;
    } else if (str_is(name, "variance") || str_is(name, "variance_population")) {
        *out = variance(r, false);
    } else if (str_is(name, "variance_sampling")) {
        *out = variance(r, true);
    } else if (str_is(name, "std_deviation") || str_is(name, "std_deviation_population")) {
        *out = sqrt(variance(r, false));
    } else if (str_is(name, "std_deviation_sampling")) {
        *out = sqrt(variance(r, true));
    } else if (str_starts(name, STR("std_upper")) || str_starts(name, STR("std_lower"))) {
        bool sampling = str_ends(name, STR("_sampling"));
        bool plain = name.n == 9, population = str_ends(name, STR("_population"));
        double d = sigma * sqrt(variance(r, sampling));
        *out = r->sum / n + (name.p[4] == 'u' ? d : -d);
        return plain || population || sampling;
    } else {
        return false;
    }
    return true;
}

/* Stats of a boolean field print it as JSON booleans. */
static void stats_as_string(struct jsonw *w, const struct value_shape *s, const char *name, double v)
{
    struct buf key;
    if (s->kind != FORMAT_BOOLEAN) {
        print_as_string(w, s, name, v);
        return;
    }
    buf_init(&key, NULL, KIB);
    buf_printf(&key, "%s_as_string", name);
    jw_key(w, buf_view(&key));
    jw_bool(w, v != 0);
    buf_fini(&key);
}

void print_stats(const struct agg_result *r, struct jsonw *w)
{
    bool any = r->count > 0;
    double avg = any ? r->sum / (double)r->count : NAN;
    jw_ki64(w, "count", r->count);
    /* a sum is no number where a value was none, or where both ends are endless */
    bool none = isnan(r->sum) && !(r->min < r->max && isinf(r->min) && isinf(r->max));
    print_number(w, "min", none ? NAN : r->min, any);
    print_number(w, "max", none ? NAN : r->max, any);
    print_number(w, "avg", avg, any);
    jw_k(w, "sum");
    jw_double(w, any ? r->sum : 0);
    if (any && result_shaped(r->shape)) {
        stats_as_string(w, r->shape, "min", r->min);
        stats_as_string(w, r->shape, "max", r->max);
        stats_as_string(w, r->shape, "avg", avg);
        stats_as_string(w, r->shape, "sum", r->sum);
    }
}

static const char *const extended_names[] = {"sum_of_squares",        "variance",
                                             "variance_population",   "variance_sampling",
                                             "std_deviation",         "std_deviation_population",
                                             "std_deviation_sampling"};

static const char *const bound_names[][2] = {{"upper", "std_upper"},
                                             {"lower", "std_lower"},
                                             {"upper_population", "std_upper_population"},
                                             {"lower_population", "std_lower_population"},
                                             {"upper_sampling", "std_upper_sampling"},
                                             {"lower_sampling", "std_lower_sampling"}};

static void extended_value(const struct agg_result *r, const char *name, double *v)
{
    *v = NAN;
    if (r->count > 0) {
        stats_value(r, str_of(name), v);
    }
}

/* NaN is a number that Jackson writes as text; only without any document there is null. */
static void extended_number(const struct agg_result *r, struct jsonw *w, const char *key, double v)
{
    print_number(w, key, v, r->count > 0);
}

void print_extended(const struct agg_result *r, struct jsonw *w)
{
    double v;
    print_stats(r, w);
    for (size_t i = 0; i < ARRAY_LEN(extended_names); i++) {
        extended_value(r, extended_names[i], &v);
        extended_number(r, w, extended_names[i], v);
    }
    jw_k(w, "std_deviation_bounds");
    jw_obj(w);
    for (size_t i = 0; i < ARRAY_LEN(bound_names); i++) {
        extended_value(r, bound_names[i][1], &v);
        extended_number(r, w, bound_names[i][0], v);
    }
    jw_obj_end(w);
    if (r->count == 0 || !result_shaped(r->shape)) {
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(extended_names); i++) {
        extended_value(r, extended_names[i], &v);
        if (str_starts(str_of(extended_names[i]), STR("std"))) {
            print_as_string(w, r->shape, extended_names[i], v);
        } else {
            stats_as_string(w, r->shape, extended_names[i], v);
        }
    }
    jw_k(w, "std_deviation_bounds_as_string");
    jw_obj(w);
    for (size_t i = 0; i < ARRAY_LEN(bound_names); i++) {
        struct buf b;
        extended_value(r, bound_names[i][1], &v);
        buf_init(&b, NULL, BUF_UNLIMITED);
        value_shape_print(r->shape, v, &b);
        jw_k(w, bound_names[i][0]);
        jw_str(w, buf_view(&b));
        buf_fini(&b);
    }
    jw_obj_end(w);
}

static void numbers_put(struct buf *b, const struct agg_result *r)
{
    put_varint(b, (uint64_t)r->count);
    put_f64(b, r->sum);
    put_f64(b, r->min);
    put_f64(b, r->max);
    put_f64(b, r->squares);
}

static enum err numbers_get(const struct result_reading *d, struct agg_result *r)
{
    r->count = get_size(d);
    r->sum = get_f64(d->in);
    r->min = get_f64(d->in);
    r->max = get_f64(d->in);
    r->squares = get_f64(d->in);
    return ERR_OK;
}

static double avg_number(const struct agg_result *r)
{
    return r->count > 0 ? r->sum / (double)r->count : NAN;
}

static double sum_number(const struct agg_result *r)
{
    return r->sum;
}

static double min_number(const struct agg_result *r)
{
    return r->count > 0 ? r->min : INFINITY;
}

static double max_number(const struct agg_result *r)
{
    return r->count > 0 ? r->max : -INFINITY;
}

static double count_number(const struct agg_result *r)
{
    return (double)r->count;
}

static void avg_print(const struct agg_result *r, struct jsonw *w)
{
    print_value(r, avg_number(r), r->count > 0, w);
}

static void sum_print(const struct agg_result *r, struct jsonw *w)
{
    print_value(r, r->sum, true, w);
}

static void count_print(const struct agg_result *r, struct jsonw *w)
{
    jw_ki64(w, "value", r->count);
}

static enum err stats_by_name(const struct agg_result *r, struct str key, double *out, struct errmsg *em)
{
    const char *java = r->agg->type == &agg_stats ? "InternalStats" : "InternalExtendedStats";
    return stats_value(r, key, out)
               ? ERR_OK
               : err_set(em, ERR_ILLEGAL_ARGUMENT,
                         "No enum constant org.elasticsearch.search.aggregations.metrics.%s.Metrics.%.*s",
                         java, STR_ARG(key));
}

const struct agg_type agg_avg = {
    .name = "avg",
    .class = CLASS_METRIC,
    .parse = agg_parse_source,
    .collector = metric_new,
    .builder = "metrics.AvgAggregationBuilder",
    .put = numbers_put,
    .get = numbers_get,
    .reduce = reduce_numbers,
    .print = avg_print,
    .number = avg_number,
};

const struct agg_type agg_sum = {
    .name = "sum",
    .class = CLASS_METRIC,
    .parse = agg_parse_source,
    .collector = metric_new,
    .builder = "metrics.SumAggregationBuilder",
    .put = numbers_put,
    .get = numbers_get,
    .reduce = reduce_numbers,
    .print = sum_print,
    .number = sum_number,
};

const struct agg_type agg_min = {
    .name = "min",
    .class = CLASS_METRIC,
    .parse = agg_parse_source,
    .collector = metric_new,
    .builder = "metrics.MinAggregationBuilder",
    .put = numbers_put,
    .get = numbers_get,
    .reduce = reduce_numbers,
    .print = print_single,
    .number = min_number,
};

const struct agg_type agg_max = {
    .name = "max",
    .class = CLASS_METRIC,
    .parse = agg_parse_source,
    .collector = metric_new,
    .builder = "metrics.MaxAggregationBuilder",
    .put = numbers_put,
    .get = numbers_get,
    .reduce = reduce_numbers,
    .print = print_single,
    .number = max_number,
};

const struct agg_type agg_value_count = {
    .name = "value_count",
    .class = CLASS_METRIC,
    .parse = agg_parse_source,
    .collector = metric_new,
    .builder = "metrics.ValueCountAggregationBuilder",
    .put = numbers_put,
    .get = numbers_get,
    .reduce = reduce_numbers,
    .print = count_print,
    .number = count_number,
};

static bool stats_have(const struct agg *a, struct str key)
{
    double v;
    return stats_value(&(struct agg_result){.agg = a}, key, &v);
}

const struct agg_type agg_stats = {
    .name = "stats",
    .class = CLASS_METRIC,
    .parse = agg_parse_source,
    .collector = metric_new,
    .builder = "metrics.StatsAggregationBuilder",
    .put = numbers_put,
    .get = numbers_get,
    .reduce = reduce_numbers,
    .print = print_stats,
    .has_value = stats_have,
    .value = stats_by_name,
};

const struct agg_type agg_extended_stats = {
    .name = "extended_stats",
    .class = CLASS_METRIC,
    .params_size = sizeof(struct stats_params),
    .parse = parse_stats,
    .collector = metric_new,
    .builder = "metrics.ExtendedStatsAggregationBuilder",
    .put = numbers_put,
    .get = numbers_get,
    .reduce = reduce_numbers,
    .print = print_extended,
    .has_value = stats_have,
    .value = stats_by_name,
};
