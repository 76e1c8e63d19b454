/* Metrics of sums and extremes: bytes, merging, printing of their results, and their rows. */
#include "common/base/kahan.h"
#include "engine/aggs/metrics.h"
#include "engine/aggs/pipeline.h"

#include <math.h>

static enum err reduce_numbers(UNUSED struct reduce *r, UNUSED const struct agg *a,
                               struct agg_result *const *in, uint32_t n, struct agg_result *out)
{
    struct stats_result *own = stats_result(out);
    own->min = INFINITY;
    own->max = -INFINITY;
    for (uint32_t i = 0; i < n; i++) {
        const struct stats_result *part = stats_result(in[i]);
        own->count += part->count;
        kahan_add(&own->sum, &own->sum_error, part->sum);
        kahan_add(&own->squares, &own->squares_error, part->squares);
        own->min = fmin(own->min, part->min);
        own->max = fmax(own->max, part->max);
    }
    return ERR_OK;
}

static double variance(const struct stats_result *s, bool sampling)
{
    double n = (double)s->count, v = (s->squares - s->sum * s->sum / n) / (sampling ? n - 1 : n);
    return v < 0 ? 0 : v;
}

bool stats_value(const struct stats_result *s, struct str name, double *out)
{
    double n = (double)s->count;
    const struct {
        const char *name;
        double v;
    } all[] = {{"count", n}, {"min", s->min}, {"max", s->max}, {"avg", s->sum / n}, {"sum", s->sum}};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (str_is(name, all[i].name)) {
            *out = all[i].v;
            return true;
        }
    }
    return false;
}

bool extended_value(const struct stats_result *s, double sigma, struct str name, double *out)
{
    if (stats_value(s, name, out)) {
        return true;
    }
    bool sampling = str_ends(name, STR("_sampling"));
    if (str_is(name, "sum_of_squares")) {
        *out = s->squares;
    } else if (str_is(name, "variance") || str_is(name, "variance_population")
               || str_is(name, "variance_sampling")) {
        *out = variance(s, sampling);
    } else if (str_is(name, "std_deviation") || str_is(name, "std_deviation_population")
               || str_is(name, "std_deviation_sampling")) {
        *out = sqrt(variance(s, sampling));
    } else if (str_starts(name, STR("std_upper")) || str_starts(name, STR("std_lower"))) {
        bool plain = name.n == 9, population = str_ends(name, STR("_population"));
        double d = sigma * sqrt(variance(s, sampling));
        *out = s->sum / (double)s->count + (name.p[4] == 'u' ? d : -d);
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
    const struct stats_result *own = stats_result(r);
    bool any = own->count > 0;
    double avg = any ? own->sum / (double)own->count : NAN;
    jw_ki64(w, "count", own->count);
    /* a sum is no number where a value was none, or where both ends are endless */
    bool none = isnan(own->sum) && !(own->min < own->max && isinf(own->min) && isinf(own->max));
    print_number(w, "min", none ? NAN : own->min, any);
    print_number(w, "max", none ? NAN : own->max, any);
    print_number(w, "avg", avg, any);
    jw_k(w, "sum");
    jw_double(w, any ? own->sum : 0);
    if (any && result_shaped(r->shape)) {
        stats_as_string(w, r->shape, "min", own->min);
        stats_as_string(w, r->shape, "max", own->max);
        stats_as_string(w, r->shape, "avg", avg);
        stats_as_string(w, r->shape, "sum", own->sum);
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

/* NaN is a number that Jackson writes as text; only without any document there is null. */
static void print_named(const struct stats_result *s, double sigma, const char *key, const char *name,
                        struct jsonw *w)
{
    double v = NAN;
    extended_value(s, sigma, str_of(name), &v);
    print_number(w, key, v, s->count > 0);
}

static void print_texts(const struct agg_result *r, double sigma, struct jsonw *w)
{
    const struct stats_result *own = stats_result(r);
    double v;
    for (size_t i = 0; i < ARRAY_LEN(extended_names); i++) {
        extended_value(own, sigma, str_of(extended_names[i]), &v);
        if (str_starts(str_of(extended_names[i]), STR("std"))) {
            print_as_string(w, r->shape, extended_names[i], v);
        } else {
            stats_as_string(w, r->shape, extended_names[i], v);
        }
    }
    jw_kobj(w, "std_deviation_bounds_as_string");
    for (size_t i = 0; i < ARRAY_LEN(bound_names); i++) {
        struct buf b;
        extended_value(own, sigma, str_of(bound_names[i][1]), &v);
        buf_init(&b, NULL, BUF_UNLIMITED);
        value_shape_print(r->shape, v, &b);
        jw_k(w, bound_names[i][0]);
        jw_str(w, buf_view(&b));
        buf_fini(&b);
    }
    jw_obj_end(w);
}

void print_extended(const struct agg_result *r, double sigma, struct jsonw *w)
{
    const struct stats_result *own = stats_result(r);
    print_stats(r, w);
    for (size_t i = 0; i < ARRAY_LEN(extended_names); i++) {
        print_named(own, sigma, extended_names[i], extended_names[i], w);
    }
    jw_kobj(w, "std_deviation_bounds");
    for (size_t i = 0; i < ARRAY_LEN(bound_names); i++) {
        print_named(own, sigma, bound_names[i][0], bound_names[i][1], w);
    }
    jw_obj_end(w);
    if (own->count > 0 && result_shaped(r->shape)) {
        print_texts(r, sigma, w);
    }
}

static void numbers_put(struct buf *b, const struct agg_result *r)
{
    const struct stats_result *own = stats_result(r);
    put_varint(b, (uint64_t)own->count);
    put_f64(b, own->sum);
    put_f64(b, own->min);
    put_f64(b, own->max);
    put_f64(b, own->squares);
}

static enum err numbers_get(const struct result_reading *d, struct agg_result *r)
{
    struct stats_result *own = stats_result(r);
    own->count = get_size(d);
    own->sum = get_f64(d->in);
    own->min = get_f64(d->in);
    own->max = get_f64(d->in);
    own->squares = get_f64(d->in);
    return ERR_OK;
}

static double avg_number(const struct agg_result *r)
{
    const struct stats_result *own = stats_result(r);
    return own->count > 0 ? own->sum / (double)own->count : NAN;
}

static double sum_number(const struct agg_result *r)
{
    return stats_result(r)->sum;
}

static double min_number(const struct agg_result *r)
{
    const struct stats_result *own = stats_result(r);
    return own->count > 0 ? own->min : INFINITY;
}

static double max_number(const struct agg_result *r)
{
    const struct stats_result *own = stats_result(r);
    return own->count > 0 ? own->max : -INFINITY;
}

static double count_number(const struct agg_result *r)
{
    return (double)stats_result(r)->count;
}

static void avg_print(const struct agg_result *r, struct jsonw *w)
{
    print_value(r, avg_number(r), stats_result(r)->count > 0, w);
}

static void sum_print(const struct agg_result *r, struct jsonw *w)
{
    print_value(r, stats_result(r)->sum, true, w);
}

static void count_print(const struct agg_result *r, struct jsonw *w)
{
    jw_ki64(w, "value", stats_result(r)->count);
}

static enum err no_constant(const char *java, struct str key, struct errmsg *em)
{
    return err_set(em, ERR_ILLEGAL_ARGUMENT,
                   "No enum constant org.elasticsearch.search.aggregations.metrics.%s.Metrics.%.*s", java,
                   STR_ARG(key));
}

static enum err stats_by_name(const struct agg_result *r, struct str key, double *out, struct errmsg *em)
{
    return stats_value(stats_result(r), key, out) ? ERR_OK : no_constant("InternalStats", key, em);
}

static enum err extended_by_name(const struct agg_result *r, struct str key, double *out, struct errmsg *em)
{
    return extended_value(stats_result(r), stats_params(r->agg)->sigma, key, out)
               ? ERR_OK
               : no_constant("InternalExtendedStats", key, em);
}

static void extended_print(const struct agg_result *r, struct jsonw *w)
{
    print_extended(r, stats_params(r->agg)->sigma, w);
}

static bool stats_have(UNUSED const struct agg *a, struct str key)
{
    static const struct stats_result none = {0};
    double v;
    return stats_value(&none, key, &v);
}

static bool extended_has(UNUSED const struct agg *a, struct str key)
{
    static const struct stats_result none = {0};
    double v;
    return extended_value(&none, 0, key, &v);
}

const struct agg_type agg_avg = {
    .name = "avg",
    .class = CLASS_METRIC,
    .result_size = sizeof(struct stats_result),
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
    .result_size = sizeof(struct stats_result),
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
    .result_size = sizeof(struct stats_result),
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
    .result_size = sizeof(struct stats_result),
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
    .result_size = sizeof(struct stats_result),
    .parse = agg_parse_source,
    .collector = metric_new,
    .builder = "metrics.ValueCountAggregationBuilder",
    .put = numbers_put,
    .get = numbers_get,
    .reduce = reduce_numbers,
    .print = count_print,
    .number = count_number,
};

const struct agg_type agg_stats = {
    .name = "stats",
    .class = CLASS_METRIC,
    .result_size = sizeof(struct stats_result),
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
    .result_size = sizeof(struct stats_result),
    .parse = parse_stats,
    .collector = metric_new,
    .builder = "metrics.ExtendedStatsAggregationBuilder",
    .put = numbers_put,
    .get = numbers_get,
    .reduce = reduce_numbers,
    .print = extended_print,
    .has_value = extended_has,
    .value = extended_by_name,
};
