/* auto_date.h - the roundings that auto_date_histogram chooses from. Internal. */
#ifndef ENGINE_AGGS_AUTO_DATE_H
#define ENGINE_AGGS_AUTO_DATE_H

#include "engine/aggs/agg_int.h"

#define AUTO_UNITS 6

struct auto_unit {
    enum date_unit unit;
    const char *suffix;
    int64_t rough_ms;
    int inner[6]; /* multiples that buckets may be merged to; 0: no more */
    int inner_max;
};
extern const struct auto_unit auto_units[AUTO_UNITS];
/* The unit that a set of keys needs, from `unit` on: n buckets between min and max for a target. */
bool auto_unit_fits(int unit, int64_t n, int64_t min, int64_t max, int32_t target);
enum err date_rounding(struct rounding *out, const struct date_histogram_params *p, const struct zone *zone,
                       struct errmsg *em);

#endif
