#include "common/base/date.h"
#include "common/base/num.h"

#include <stdio.h>

#define NANOS_PER_SECOND 1000000000

/* ---- the calendar (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms") ---- */

int64_t civil_to_days(int64_t year, int month, int day)
{
    year -= month <= 2 ? 1 : 0;
    int64_t era = floor_div(year, 400), of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

void civil_of_days(int64_t days, int64_t *year, int *month, int *day)
{
    days += 719468;
    int64_t era = floor_div(days, 146097), of_era = days - era * 146097;
    int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * y + y / 4 - y / 100);
    int m = (int)((5 * of_year + 2) / 153);
    *day = (int)(of_year - (153 * m + 2) / 5 + 1);
    *month = m < 10 ? m + 3 : m - 9;
    *year = y + era * 400 + (*month <= 2 ? 1 : 0);
}

bool civil_is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int civil_month_days(int64_t year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && civil_is_leap(year) ? 29 : days[month - 1];
}

int civil_weekday(int64_t days)
{
    return (int)(days + 3 - floor_div(days + 3, 7) * 7) + 1;
}

/* ---- moments ---- */

struct instant instant_of_ms(int64_t ms)
{
    int64_t s = floor_div(ms, 1000);
    int64_t rest = ms % 1000; /* not ms - s * 1000, which the first second of all does not have */
    return (struct instant){s, (int32_t)(rest < 0 ? rest + 1000 : rest) * 1000000};
}

int64_t instant_to_ms(struct instant t)
{
    if (t.seconds > INT64_MAX / 1000 - 1 || t.seconds < INT64_MIN / 1000 + 1) {
        return t.seconds > 0 ? INT64_MAX : INT64_MIN;
    }
    return t.seconds * 1000 + t.nanos / 1000000;
}

enum err instant_to_ms_exact(struct instant t, int64_t *out, struct errmsg *em)
{
    *out = instant_to_ms(t);
    bool last = t.seconds == INT64_MAX / 1000 && t.nanos / 1000000 <= INT64_MAX % 1000;
    bool first = t.seconds == INT64_MIN / 1000 - 1 && t.nanos / 1000000 == 1000 + INT64_MIN % 1000;
    if ((*out == INT64_MAX && !last) || (*out == INT64_MIN && !first)) {
        return err_set(em, ERR_ARITHMETIC, "long overflow");
    }
    return ERR_OK;
}

/* As Java writes it: 1969-07-20T00:00:00Z, with as many thousands of digits behind the second as there are. */
static void instant_text(struct instant t, char *out, size_t cap)
{
    int64_t days = floor_div(t.seconds, 86400), rest = t.seconds - days * 86400, year;
    int month, day, n;
    civil_of_days(days, &year, &month, &day);
    n = snprintf(out, cap, "%s%04lld-%02d-%02dT%02d:%02d:%02d",
                 year < 0      ? "-"
                 : year > 9999 ? "+"
                               : "",
                 (long long)(year < 0 ? -year : year), month, day, (int)(rest / 3600), (int)(rest / 60 % 60),
                 (int)(rest % 60));
    int digits = t.nanos == 0 ? 0 : t.nanos % 1000000 == 0 ? 3 : t.nanos % 1000 == 0 ? 6 : 9;
    int fraction = digits == 3 ? t.nanos / 1000000 : digits == 6 ? t.nanos / 1000 : t.nanos;
    if (digits > 0) {
        snprintf(out + n, cap - (size_t)n, ".%0*dZ", digits, fraction);
    } else {
        snprintf(out + n, cap - (size_t)n, "Z");
    }
}

enum err instant_to_nanos(struct instant t, int64_t *out, struct errmsg *em)
{
    char text[64];
    const int64_t last = INT64_MAX / NANOS_PER_SECOND;
    if (t.seconds < 0) {
        instant_text(t, text, sizeof(text));
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "date[%s] is before the epoch in 1970 and cannot be stored in nanosecond resolution",
                       text);
    }
    if (t.seconds > last || (t.seconds == last && t.nanos > INT64_MAX % NANOS_PER_SECOND)) {
        instant_text(t, text, sizeof(text));
        return err_set(
            em, ERR_ILLEGAL_ARGUMENT,
            "date[%s] is after 2262-04-11T23:47:16.854775807 and cannot be stored in nanosecond resolution",
            text);
    }
    *out = t.seconds * NANOS_PER_SECOND + t.nanos;
    return ERR_OK;
}

struct instant instant_of_nanos(int64_t nanos)
{
    int64_t s = floor_div(nanos, NANOS_PER_SECOND);
    return (struct instant){s, (int32_t)(nanos - s * NANOS_PER_SECOND)};
}

enum err date_parse_ms(const struct date_format *f, struct str text, const struct zone *zone, int64_t *out,
                       struct errmsg *em)
{
    struct instant t;
    enum err e = date_parse(f, text, zone, DATE_FILL_MIN, &t, em);
    return e == ERR_OK ? instant_to_ms_exact(t, out, em) : e;
}

bool date_print_ms(const struct date_format *f, int64_t ms, const struct zone *zone, struct buf *out)
{
    return date_print(f, instant_of_ms(ms), zone, out);
}
