/* metrics.h - declarations shared by metrics of sums and extremes. Internal. */
#ifndef ENGINE_AGGS_METRICS_H
#define ENGINE_AGGS_METRICS_H

#include "engine/aggs/agg_row.h"

/* extended_stats */
struct stats_params {
    double sigma;
};
AGG_PARAMS(stats_params)

/* What all of them report; avg and the like print one number out of it. */
struct stats_result {
    int64_t count;
    double sum, sum_error, min, max, squares, squares_error;
};
AGG_RESULT(stats_result)

/* Numbers by their names: of stats, and what extended stats have beside them. false: no such name. */
bool stats_value(const struct stats_result *s, struct str name, double *out);
bool extended_value(const struct stats_result *s, double sigma, struct str name, double *out);
void print_stats(const struct agg_result *r, struct jsonw *w);
void print_extended(const struct agg_result *r, double sigma, struct jsonw *w);

enum err parse_stats(struct agg_parse *p, struct agg *a, const struct json *body);
enum err metric_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em);

#endif
