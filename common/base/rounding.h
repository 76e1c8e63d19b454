/* rounding.h - rounding moments down to calendar units or fixed intervals in a zone: date_histogram's
 * buckets.
 *
 * Follows Elasticsearch's Rounding: a bucket's key is the first UTC millisecond of its local interval,
 * through gaps and overlaps of daylight saving. Plain values; any thread. */
#ifndef BASE_ROUNDING_H
#define BASE_ROUNDING_H

#include "common/base/zone.h"

enum date_unit {
    UNIT_SECOND,
    UNIT_MINUTE,
    UNIT_HOUR,
    UNIT_DAY,
    UNIT_WEEK,
    UNIT_MONTH,
    UNIT_QUARTER,
    UNIT_YEAR
};

/* "month", "1M", "1q" ...; false: it is none. */
bool date_unit_of(struct str text, enum date_unit *out);
/* A fixed interval "90m", "30d", "1.5h" is refused, in milliseconds: ERR_ILLEGAL_ARGUMENT "failed to parse
 * setting [name] with value [..] as a time value: ..". Zero and negative values pass: rounding_fixed refuses
 * them. */
enum err fixed_interval_parse(struct str text, const char *name, int64_t *out, struct errmsg *em) NODISCARD;

struct rounding {
    bool calendar;
    enum date_unit unit; /* calendar */
    int64_t interval;    /* fixed: milliseconds, > 0 */
    int64_t offset; /* milliseconds that every boundary is moved by; there is a number for as many back */
    const struct zone *zone;
};

/* zone NULL: UTC; borrowed. */
struct rounding rounding_calendar(enum date_unit unit, const struct zone *zone, int64_t offset_ms);
/* ERR_ILLEGAL_ARGUMENT "Zero or negative time interval not supported". */
enum err rounding_fixed(struct rounding *out, int64_t interval_ms, const struct zone *zone, int64_t offset_ms,
                        struct errmsg *em) NODISCARD;

/* The start of the bucket that holds utc. */
int64_t rounding_round(const struct rounding *r, int64_t utc);
/* The start of the next bucket; `rounded` came from rounding_round. */
int64_t rounding_next(const struct rounding *r, int64_t rounded);

#endif
