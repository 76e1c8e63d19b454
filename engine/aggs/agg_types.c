/* The table of aggregation types. */
#include "engine/aggs/agg_int.h"

const struct agg_type agg_type_root = {"root", AGG_ROOT, CLASS_SINGLE, NULL};

#define AGG_TYPES(X)                                                                 \
    X("filter", AGG_FILTER, CLASS_SINGLE, parse_filter)                              \
    X("missing", AGG_MISSING, CLASS_SINGLE, parse_missing)                           \
    X("global", AGG_GLOBAL, CLASS_SINGLE, parse_global)                              \
    X("nested", AGG_NESTED, CLASS_SINGLE, parse_nested)                              \
    X("reverse_nested", AGG_REVERSE_NESTED, CLASS_SINGLE, parse_nested)              \
    X("sampler", AGG_SAMPLER, CLASS_SINGLE, parse_sampler)                           \
    X("diversified_sampler", AGG_DIVERSIFIED, CLASS_SINGLE, parse_diversified)       \
    X("terms", AGG_TERMS, CLASS_MULTI, parse_terms)                                  \
    X("rare_terms", AGG_RARE_TERMS, CLASS_MULTI, parse_rare_terms)                   \
    X("significant_terms", AGG_SIGNIFICANT_TERMS, CLASS_MULTI, parse_significant)    \
    X("histogram", AGG_HISTOGRAM, CLASS_MULTI, parse_histogram)                      \
    X("date_histogram", AGG_DATE_HISTOGRAM, CLASS_MULTI, parse_date_histogram)       \
    X("auto_date_histogram", AGG_AUTO_DATE_HISTOGRAM, CLASS_MULTI, parse_auto_date)  \
    X("range", AGG_RANGE, CLASS_MULTI, parse_range)                                  \
    X("date_range", AGG_DATE_RANGE, CLASS_MULTI, parse_range)                        \
    X("ip_range", AGG_IP_RANGE, CLASS_MULTI, parse_range)                            \
    X("geo_distance", AGG_GEO_DISTANCE, CLASS_MULTI, parse_geo_distance)             \
    X("geohash_grid", AGG_GEOHASH_GRID, CLASS_MULTI, parse_grid)                     \
    X("geotile_grid", AGG_GEOTILE_GRID, CLASS_MULTI, parse_grid)                     \
    X("filters", AGG_FILTERS, CLASS_MULTI, parse_filters)                            \
    X("adjacency_matrix", AGG_ADJACENCY, CLASS_MULTI, parse_adjacency)               \
    X("composite", AGG_COMPOSITE, CLASS_MULTI, parse_composite)                      \
    X("avg", AGG_AVG, CLASS_METRIC, parse_metric)                                    \
    X("sum", AGG_SUM, CLASS_METRIC, parse_metric)                                    \
    X("min", AGG_MIN, CLASS_METRIC, parse_metric)                                    \
    X("max", AGG_MAX, CLASS_METRIC, parse_metric)                                    \
    X("stats", AGG_STATS, CLASS_METRIC, parse_metric)                                \
    X("extended_stats", AGG_EXTENDED_STATS, CLASS_METRIC, parse_stats)               \
    X("value_count", AGG_VALUE_COUNT, CLASS_METRIC, parse_metric)                    \
    X("cardinality", AGG_CARDINALITY, CLASS_METRIC, parse_cardinality)               \
    X("percentiles", AGG_PERCENTILES, CLASS_METRIC, parse_percentiles)               \
    X("percentile_ranks", AGG_PERCENTILE_RANKS, CLASS_METRIC, parse_percentiles)     \
    X("median_absolute_deviation", AGG_MAD, CLASS_METRIC, parse_percentiles)         \
    X("weighted_avg", AGG_WEIGHTED_AVG, CLASS_METRIC, parse_weighted)                \
    X("geo_bounds", AGG_GEO_BOUNDS, CLASS_METRIC, parse_geo_bounds)                  \
    X("geo_centroid", AGG_GEO_CENTROID, CLASS_METRIC, parse_metric)                  \
    X("top_hits", AGG_TOP_HITS, CLASS_METRIC, parse_top_hits)                        \
    X("avg_bucket", AGG_AVG_BUCKET, CLASS_SIBLING, parse_pipe)                       \
    X("sum_bucket", AGG_SUM_BUCKET, CLASS_SIBLING, parse_pipe)                       \
    X("min_bucket", AGG_MIN_BUCKET, CLASS_SIBLING, parse_pipe)                       \
    X("max_bucket", AGG_MAX_BUCKET, CLASS_SIBLING, parse_pipe)                       \
    X("stats_bucket", AGG_STATS_BUCKET, CLASS_SIBLING, parse_pipe)                   \
    X("extended_stats_bucket", AGG_EXTENDED_STATS_BUCKET, CLASS_SIBLING, parse_pipe) \
    X("percentiles_bucket", AGG_PERCENTILES_BUCKET, CLASS_SIBLING, parse_pipe)       \
    X("derivative", AGG_DERIVATIVE, CLASS_PARENT, parse_pipe)                        \
    X("cumulative_sum", AGG_CUMULATIVE_SUM, CLASS_PARENT, parse_pipe)                \
    X("moving_fn", AGG_MOVING_FN, CLASS_PARENT, parse_pipe)                          \
    X("moving_avg", AGG_MOVING_AVG, CLASS_PARENT, parse_pipe)                        \
    X("serial_diff", AGG_SERIAL_DIFF, CLASS_PARENT, parse_pipe)                      \
    X("bucket_script", AGG_BUCKET_SCRIPT, CLASS_PARENT, parse_pipe)                  \
    X("bucket_selector", AGG_BUCKET_SELECTOR, CLASS_PARENT, parse_pipe)              \
    X("bucket_sort", AGG_BUCKET_SORT, CLASS_PARENT, parse_pipe)

#define ROW(name, kind, class, parse) {name, kind, class, parse},
static const struct agg_type types[] = {AGG_TYPES(ROW)};
#undef ROW
#define NAME(name, kind, class, parse) name,
const char *const agg_type_names[] = {AGG_TYPES(NAME) "variable_width_histogram",
                                      "significant_text",
                                      "scripted_metric",
                                      "matrix_stats",
                                      "children",
                                      "parent",
                                      NULL};
#undef NAME

bool agg_type_known(struct str name)
{
    for (size_t i = 0; agg_type_names[i] != NULL; i++) {
        if (str_is(name, agg_type_names[i])) {
            return true;
        }
    }
    return false;
}

const struct agg_type *agg_type_find(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (str_is(name, types[i].name)) {
            return &types[i];
        }
    }
    return NULL;
}

const char *agg_java_class(enum agg_kind kind)
{
    static const struct {
        enum agg_kind kind;
        const char *name;
    } classes[] = {
        {AGG_AVG, "metrics.AvgAggregationBuilder"},
        {AGG_SUM, "metrics.SumAggregationBuilder"},
        {AGG_MIN, "metrics.MinAggregationBuilder"},
        {AGG_MAX, "metrics.MaxAggregationBuilder"},
        {AGG_STATS, "metrics.StatsAggregationBuilder"},
        {AGG_EXTENDED_STATS, "metrics.ExtendedStatsAggregationBuilder"},
        {AGG_VALUE_COUNT, "metrics.ValueCountAggregationBuilder"},
        {AGG_CARDINALITY, "metrics.CardinalityAggregationBuilder"},
        {AGG_PERCENTILES, "metrics.PercentilesAggregationBuilder"},
        {AGG_PERCENTILE_RANKS, "metrics.PercentileRanksAggregationBuilder"},
        {AGG_MAD, "metrics.MedianAbsoluteDeviationAggregationBuilder"},
        {AGG_WEIGHTED_AVG, "metrics.WeightedAvgAggregationBuilder"},
        {AGG_GEO_BOUNDS, "metrics.GeoBoundsAggregationBuilder"},
        {AGG_GEO_CENTROID, "metrics.GeoCentroidAggregationBuilder"},
        {AGG_TOP_HITS, "metrics.TopHitsAggregationBuilder"},
        {AGG_FILTER, "bucket.filter.FilterAggregationBuilder"},
        {AGG_MISSING, "bucket.missing.MissingAggregationBuilder"},
        {AGG_GLOBAL, "bucket.global.GlobalAggregationBuilder"},
        {AGG_NESTED, "bucket.nested.NestedAggregationBuilder"},
        {AGG_REVERSE_NESTED, "bucket.nested.ReverseNestedAggregationBuilder"},
        {AGG_SAMPLER, "bucket.sampler.SamplerAggregationBuilder"},
        {AGG_DIVERSIFIED, "bucket.sampler.DiversifiedAggregationBuilder"},
        {AGG_COMPOSITE, "bucket.composite.CompositeAggregationBuilder"},
    };
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        if (classes[i].kind == kind) {
            return classes[i].name;
        }
    }
    return "AggregationBuilder";
}

const char *agg_java_factory(enum agg_kind kind)
{
    static const struct {
        enum agg_kind kind;
        const char *name;
    } factories[] = {
        {AGG_TERMS, "TermsAggregatorFactory"},
        {AGG_HISTOGRAM, "HistogramAggregatorFactory"},
        {AGG_DATE_HISTOGRAM, "DateHistogramAggregatorFactory"},
        {AGG_AUTO_DATE_HISTOGRAM, "AutoDateHistogramAggregatorFactory"},
        {AGG_RANGE, "RangeAggregatorFactory"},
        {AGG_DATE_RANGE, "DateRangeAggregatorFactory"},
        {AGG_IP_RANGE, "BinaryRangeAggregatorFactory"},
        {AGG_GEO_DISTANCE, "GeoDistanceRangeAggregatorFactory"},
        {AGG_FILTER, "FilterAggregatorFactory"},
        {AGG_FILTERS, "FiltersAggregatorFactory"},
        {AGG_MISSING, "MissingAggregatorFactory"},
        {AGG_GLOBAL, "GlobalAggregatorFactory"},
        {AGG_REVERSE_NESTED, "ReverseNestedAggregatorFactory"},
        {AGG_SAMPLER, "SamplerAggregatorFactory"},
        {AGG_DIVERSIFIED, "DiversifiedAggregatorFactory"},
        {AGG_SIGNIFICANT_TERMS, "SignificantTermsAggregatorFactory"},
        {AGG_RARE_TERMS, "RareTermsAggregatorFactory"},
        {AGG_ADJACENCY, "AdjacencyMatrixAggregatorFactory"},
        {AGG_GEOHASH_GRID, "GeoHashGridAggregatorFactory"},
        {AGG_GEOTILE_GRID, "GeoTileGridAggregatorFactory"},
        {AGG_COMPOSITE, "CompositeAggregationFactory"},
    };
    for (size_t i = 0; i < ARRAY_LEN(factories); i++) {
        if (factories[i].kind == kind) {
            return factories[i].name;
        }
    }
    return "AggregatorFactory";
}
