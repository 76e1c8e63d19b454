/* agg_list.h - the types of aggregations by name. */
#ifndef ENGINE_AGGS_AGG_LIST_H
#define ENGINE_AGGS_AGG_LIST_H

/* The only list of them, in Elasticsearch's order. */
#define AGG_TYPES(X)             \
    X(filter)                    \
    X(missing)                   \
    X(global)                    \
    X(nested)                    \
    X(reverse_nested)            \
    X(children)                  \
    X(parent)                    \
    X(sampler)                   \
    X(diversified_sampler)       \
    X(terms)                     \
    X(rare_terms)                \
    X(significant_terms)         \
    X(histogram)                 \
    X(date_histogram)            \
    X(auto_date_histogram)       \
    X(variable_width_histogram)  \
    X(range)                     \
    X(date_range)                \
    X(ip_range)                  \
    X(geo_distance)              \
    X(geohash_grid)              \
    X(geotile_grid)              \
    X(filters)                   \
    X(adjacency_matrix)          \
    X(composite)                 \
    X(avg)                       \
    X(sum)                       \
    X(min)                       \
    X(max)                       \
    X(stats)                     \
    X(extended_stats)            \
    X(value_count)               \
    X(cardinality)               \
    X(percentiles)               \
    X(percentile_ranks)          \
    X(median_absolute_deviation) \
    X(weighted_avg)              \
    X(geo_bounds)                \
    X(geo_centroid)              \
    X(top_hits)                  \
    X(matrix_stats)              \
    X(scripted_metric)           \
    X(avg_bucket)                \
    X(sum_bucket)                \
    X(min_bucket)                \
    X(max_bucket)                \
    X(stats_bucket)              \
    X(extended_stats_bucket)     \
    X(percentiles_bucket)        \
    X(derivative)                \
    X(cumulative_sum)            \
    X(moving_fn)                 \
    X(moving_avg)                \
    X(serial_diff)               \
    X(bucket_script)             \
    X(bucket_selector)           \
    X(bucket_sort)

/* Those that Elasticsearch has beside them. */
#define AGG_TYPES_ABSENT(X) X(significant_text)

#endif
