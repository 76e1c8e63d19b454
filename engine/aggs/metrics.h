/* metrics.h - what metrics of sums and extremes share. Internal. */
#ifndef ENGINE_AGGS_METRICS_H
#define ENGINE_AGGS_METRICS_H

#include "engine/aggs/agg_row.h"

/* extended_stats */
struct stats_params {
    double sigma;
};
AGG_PARAMS(stats_params)

enum err parse_stats(struct agg_parse *p, struct agg *a, const struct json *body);
enum err metric_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em);

#endif
