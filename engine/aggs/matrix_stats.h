/* matrix_stats.h - moments of several fields, and how each two of them go together, over the documents that have values of all. Internal.
 *
 * Sums are kept and merged in Elasticsearch's order, so that numbers agree to their last digits. */
#ifndef ENGINE_AGGS_MATRIX_STATS_H
#define ENGINE_AGGS_MATRIX_STATS_H

#include "engine/aggs/agg_row.h"
#include "engine/query/score_functions.h"

struct matrix_params {
    struct source_spec *fields; /* each name once, in the order of the request */
    uint32_t n;
    enum multi_value_mode mode;
};
AGG_PARAMS(matrix_params)

struct matrix_moments {
    double count, sum, mean, squares, cubes, fourths; /* the last three: of distances from the mean */
};

struct matrix_result {
    double count;       /* documents */
    uint32_t n;         /* fields that are mapped */
    const uint32_t *at; /* their places among the parameters, in the order of Java's map */
    struct matrix_moments *of;
    double *pairs; /* products of distances, of each two fields: pair_place() */
};
AGG_RESULT(matrix_result)

/* How many pairs n fields have. */
static inline size_t pair_count(size_t n)
{
    return n == 0 ? 0 : n * (n - 1) / 2;
}

enum err parse_matrix(struct agg_parse *p, struct agg *a, const struct json *body);
enum err matrix_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em);

#endif
