/* date_math.h - "now-1d/d", "2021-03-05||+1M/d": Elasticsearch's date math. Pure; any thread. */
#ifndef BASE_DATE_MATH_H
#define BASE_DATE_MATH_H

#include "common/base/date.h"

#define DATE_WITHOUT_NOW INT64_MIN

/* A moment given as date math or as a plain date in format f. `zone` (NULL: UTC) is that of rounding and of
 * dates that name none. DATE_FILL_MAX makes "/unit" end on the unit's last millisecond and fills what a date
 * leaves out, as `gt` and `lte` want it. ERR_PARSE as Elasticsearch words it, caused by ERR_ILLEGAL_ARGUMENT
 * for a date that f refuses, and for "now" where now_ms is DATE_WITHOUT_NOW; ERR_DATE_TIME past the years of
 * java.time. */
enum err date_math(const struct date_format *f, struct str text, int64_t now_ms, const struct zone *zone,
                   enum date_fill fill, struct instant *out, struct errmsg *em) NODISCARD;

#endif
