/* histogram.h - declarations shared by the histograms, and with other aggregations: intervals, bounds, filling of gaps.
 * Internal. */
#ifndef ENGINE_AGGS_HISTOGRAM_H
#define ENGINE_AGGS_HISTOGRAM_H

#include "engine/aggs/collect.h"

struct histogram_params {
    double interval, offset;
    int64_t min_doc_count;
    bool keyed;
    double ext_min, ext_max, hard_min, hard_max; /* infinite: open */
    struct agg_orders orders;
};
AGG_PARAMS(histogram_params)

struct bound_spec { /* of a date histogram: a date, date math or a number */
    const struct json *min, *max;
    bool given;
};

struct date_histogram_params {
    bool has_interval, calendar;
    enum date_unit unit;
    int64_t fixed_ms;
    struct str bad_interval; /* p != NULL: what `interval` was, and nobody can read */
    int64_t offset_ms, min_doc_count;
    bool keyed;
    struct bound_spec extended, hard;
    struct agg_orders orders;
};
AGG_PARAMS(date_histogram_params)

struct histogram_result {
    bool has_bounds;
    double ext_min, ext_max; /* extended bounds in the keys' form */
};
AGG_RESULT(histogram_result)

/* "+6h", "-1d", "90m" or a number of milliseconds. */
enum err agg_offset_parse(const struct json *v, int64_t *out, struct errmsg *em);
enum err agg_calendar_interval(struct agg_parse *p, struct date_histogram_params *d, const struct json *v);
enum err agg_fixed_interval(struct agg_parse *p, struct date_histogram_params *d, const struct json *v);
enum err agg_old_interval(struct agg_parse *p, struct date_histogram_params *d, const struct json *v);
enum err date_rounding(struct rounding *out, const struct date_histogram_params *p, const struct zone *zone,
                       struct errmsg *em);

enum err parse_histogram(struct agg_parse *p, struct agg *a, const struct json *body);
enum err parse_date_histogram(struct agg_parse *p, struct agg *a, const struct json *body);
enum err histogram_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em);
enum err date_histogram_new(struct collector **out, struct agg_run *r, const struct agg *a,
                            struct errmsg *em);

/* ---- filling gaps (histogram_result.c) ---- */

struct filling {
    struct reduce *r;
    const struct agg *a;
    struct rounding rounding; /* dates */
    bool date;
    struct agg_result *empty; /* sub-results of a bucket without documents */
    struct agg_bucket *v;
    size_t cap;
    uint32_t n;
};
void filling_init(struct filling *f, struct reduce *r, const struct agg *a, struct agg_result *const *in,
                  uint32_t n);
/* Empty buckets from the lower bound to the upper one (NULL: no bounds), wherever there is none. */
enum err fill_gaps(struct filling *f, const struct agg_bucket *in, uint32_t n,
                   const struct histogram_result *bounds);
void histogram_print_bucket(const struct agg_result *r, const struct agg_bucket *b, bool keyed,
                            struct jsonw *w);

#endif
