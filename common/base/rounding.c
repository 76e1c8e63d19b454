#include "common/base/rounding.h"

#include "common/base/date.h"
#include "common/base/num.h"

#define DAY_MS 86400000LL

bool date_unit_of(struct str text, enum date_unit *out)
{
    static const struct {
        const char *name, *sign;
        enum date_unit unit;
    } table[] = {{"second", "1s", UNIT_SECOND},   {"minute", "1m", UNIT_MINUTE}, {"hour", "1h", UNIT_HOUR},
                 {"day", "1d", UNIT_DAY},         {"week", "1w", UNIT_WEEK},     {"month", "1M", UNIT_MONTH},
                 {"quarter", "1q", UNIT_QUARTER}, {"year", "1y", UNIT_YEAR}};
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (str_is(text, table[i].name) || str_is(text, table[i].sign)) {
            *out = table[i].unit;
            return true;
        }
    }
    return false;
}

static enum err bad_interval(struct errmsg *em, struct str text, const char *name, const char *why)
{
    return err_set(em, ERR_ILLEGAL_ARGUMENT,
                   "failed to parse setting [%s] with value [%.*s] as a time value: %s", name, STR_ARG(text),
                   why);
}

enum err fixed_interval_parse(struct str text, const char *name, int64_t *out, struct errmsg *em)
{
    static const struct {
        const char *suffix;
        double ms; /* of one */
    } units[] = {{"nanos", 1e-6}, {"micros", 1e-3}, {"ms", 1},      {"s", 1000},
                 {"m", 60000},    {"h", 3600000},   {"d", 86400000}};
    struct str s = str_trim(text);
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        struct str suffix = str_of(units[i].suffix);
        /* TimeValue lowers the case of all but minutes: "1M" is no fixed interval */
        bool match = s.n >= suffix.n && str_eq_nocase(str_slice(s, s.n - suffix.n, s.n), suffix);
        if (!match || (suffix.n == 1 && s.p[s.n - 1] == 'M')) {
            continue;
        }
        int64_t v;
        if (!num_parse_i64(str_trim(str_slice(s, 0, s.n - suffix.n)), &v)) {
            double d;
            struct str digits = str_trim(str_slice(s, 0, s.n - suffix.n));
            bool fraction = num_parse_double(digits, &d);
            err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(digits));
            return err_wrap(em, ERR_ILLEGAL_ARGUMENT, "failed to parse [%.*s]%s", STR_ARG(text),
                            fraction ? ", fractional time values are not supported" : "");
        }
        double ms = (double)v * units[i].ms;
        if (ms > 9.2e18 || ms < -9.2e18) {
            return bad_interval(em, text, name,
                                "Values greater than 9223372036854775807 nanoseconds are not supported");
        }
        *out = units[i].ms >= 1 ? v * (int64_t)units[i].ms : (int64_t)ms;
        return ERR_OK;
    }
    int64_t bare;
    if (num_parse_i64(s, &bare) && (bare == 0 || bare == -1) && s.p[0] != '+') {
        *out = bare;
        return ERR_OK;
    }
    return bad_interval(em, text, name, "unit is missing or unrecognized");
}

struct rounding rounding_calendar(enum date_unit unit, const struct zone *zone, int64_t offset_ms)
{
    return (struct rounding){.calendar = true,
                             .unit = unit,
                             .offset = MAX_OF(offset_ms, -INT64_MAX),
                             .zone = zone != NULL ? zone : &zone_utc};
}

enum err rounding_fixed(struct rounding *out, int64_t interval_ms, const struct zone *zone, int64_t offset_ms,
                        struct errmsg *em)
{
    if (interval_ms < 1) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Zero or negative time interval not supported");
    }
    *out = (struct rounding){.interval = interval_ms,
                             .offset = MAX_OF(offset_ms, -INT64_MAX),
                             .zone = zone != NULL ? zone : &zone_utc};
    return ERR_OK;
}

/* ---- on a wall clock ---- */

static bool to_midnight(enum date_unit unit)
{
    return unit >= UNIT_DAY;
}

static int64_t unit_ms(enum date_unit unit)
{
    return unit == UNIT_SECOND ? 1000 : unit == UNIT_MINUTE ? 60000 : unit == UNIT_HOUR ? 3600000 : DAY_MS;
}

static int64_t round_local(enum date_unit unit, int64_t local)
{
    int64_t days = floor_div(local, DAY_MS), year;
    int month, day;
    switch (unit) {
    case UNIT_WEEK:
        return (floor_div(days + 3, 7) * 7 - 3) * DAY_MS; /* 1970-01-01 was a Thursday */
    case UNIT_MONTH:
    case UNIT_QUARTER:
    case UNIT_YEAR:
        civil_of_days(days, &year, &month, &day);
        month = unit == UNIT_MONTH ? month : unit == UNIT_QUARTER ? (month - 1) / 3 * 3 + 1 : 1;
        return civil_to_days(year, month, 1) * DAY_MS;
    case UNIT_SECOND:
    case UNIT_MINUTE:
    case UNIT_HOUR:
    case UNIT_DAY:
        break;
    }
    return floor_div(local, unit_ms(unit)) * unit_ms(unit);
}

/* The next local midnight that begins a unit; `local` begins one. */
static int64_t next_local(enum date_unit unit, int64_t local)
{
    int64_t days = floor_div(local, DAY_MS), year;
    int month, day;
    if (unit == UNIT_DAY || unit == UNIT_WEEK) {
        return local + (unit == UNIT_DAY ? 1 : 7) * DAY_MS;
    }
    civil_of_days(days, &year, &month, &day);
    month += unit == UNIT_MONTH ? 1 : unit == UNIT_QUARTER ? 3 : 12;
    year += (month - 1) / 12;
    return civil_to_days(year, (month - 1) % 12 + 1, 1) * DAY_MS;
}

/* The first moment of the day that `midnight` begins: after a gap the first that exists, in an overlap the
 * earlier. */
static int64_t first_moment(const struct zone *z, int64_t midnight)
{
    int32_t offsets[2];
    struct zone_change gap = {0, 0};
    if (z->n == 0) {
        return midnight - z->first;
    }
    return zone_offsets_at_local(z, midnight, offsets, &gap) > 0 ? midnight - offsets[0] : gap.at;
}

/* ---- calendar units ---- */

/* The wall clock's unit that holds utc, as the latest moment not after utc that showed its start; false: none
 * did. */
static bool truncate_local(const struct rounding *r, int64_t utc, int64_t *out)
{
    int32_t offsets[2];
    int64_t local = round_local(r->unit, zone_to_local(r->zone, utc));
    for (int i = zone_offsets_at_local(r->zone, local, offsets, NULL) - 1; i >= 0; i--) {
        if (local - offsets[i] <= utc) {
            *out = local - offsets[i];
            return true;
        }
    }
    return false;
}

/* Hours and less. A change of offset between the unit's start and utc would be jumped over: go back before
 * it. */
static int64_t round_small(const struct rounding *r, int64_t utc)
{
    for (;;) {
        int64_t start = 0;
        struct zone_change last;
        bool found = truncate_local(r, utc, &start);
        bool changed = zone_last_change(r->zone, utc - 1, &last);
        if (found && (!changed || last.at <= start)) {
            return start;
        }
        if (!changed) {
            return utc;
        }
        utc = last.at - 1;
    }
}

static int64_t calendar_round(const struct rounding *r, int64_t utc)
{
    const struct zone *z = r->zone;
    if (z->n == 0) {
        return round_local(r->unit, utc + z->first) - z->first;
    }
    if (to_midnight(r->unit)) {
        return first_moment(z, round_local(r->unit, zone_to_local(z, utc)));
    }
    return round_small(r, utc);
}

static int64_t calendar_next(const struct rounding *r, int64_t utc)
{
    if (to_midnight(r->unit)) {
        int64_t midnight = round_local(r->unit, zone_to_local(r->zone, utc));
        return first_moment(r->zone, next_local(r->unit, midnight));
    }
    int64_t step = unit_ms(r->unit), next = calendar_round(r, utc + step);
    return next > utc ? next : calendar_round(r, utc + 2 * step);
}

/* ---- fixed intervals ---- */

static int64_t interval_key(const struct rounding *r, int64_t local)
{
    return floor_div(local, r->interval) * r->interval;
}

static int64_t interval_round(const struct rounding *r, int64_t utc)
{
    const struct zone *z = r->zone;
    if (z->n == 0) {
        return interval_key(r, utc + z->first) - z->first;
    }
    for (;;) {
        int64_t key = interval_key(r, zone_to_local(z, utc));
        int32_t offsets[2];
        struct zone_change gap = {0, 0}, last;
        int n = zone_offsets_at_local(z, key, offsets, &gap);
        if (n == 0) {
            return gap.at; /* the interval begins inside a gap */
        }
        bool changed = zone_last_change(z, utc, &last), crossed = false;
        for (int i = n - 1; i >= 0 && !crossed; i--) {
            int64_t at = key - offsets[i];
            crossed = changed && at < last.at;
            if (!crossed && at <= utc) {
                return at;
            }
        }
        if (!crossed) {
            return key - offsets[0];
        }
        utc = last.at - 1; /* a change lies in between: its eve decides */
    }
}

static int64_t interval_next(const struct rounding *r, int64_t utc)
{
    int64_t next = interval_round(r, utc + r->interval);
    /* an hour gained on the way can leave it in the same interval: then count on the wall clock */
    return next > utc ? next : zone_to_utc(r->zone, zone_to_local(r->zone, utc) + r->interval);
}

/* The ends of time, from which no interval and no zone leads out of an int64_t. */
#define TIME_MAX (INT64_MAX - INT64_C(100000000000000))

static int64_t shifted(int64_t t, int64_t by)
{
    if (__builtin_add_overflow(t, by, &t)) {
        t = by > 0 ? TIME_MAX : -TIME_MAX;
    }
    return t > TIME_MAX ? TIME_MAX : t < -TIME_MAX ? -TIME_MAX : t;
}

int64_t rounding_round(const struct rounding *r, int64_t utc)
{
    int64_t t = shifted(utc, -r->offset);
    return shifted(r->calendar ? calendar_round(r, t) : interval_round(r, t), r->offset);
}

int64_t rounding_next(const struct rounding *r, int64_t rounded)
{
    int64_t t = shifted(rounded, -r->offset);
    return shifted(r->calendar ? calendar_next(r, t) : interval_next(r, t), r->offset);
}
