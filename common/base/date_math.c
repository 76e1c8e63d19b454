#include "common/base/date_math.h"

#include <inttypes.h>

#include "common/base/num.h"

/* A moment as java.time's ZonedDateTime carries it: the wall clock, and the offset that it keeps through an
 * overlap. Seconds, as a year of nine digits has more milliseconds than 64 bits hold. */
struct zoned {
    const struct zone *zone;
    int64_t local;
    int64_t offset;
    int32_t nanos;
};

#define DAY_S     86400LL
#define CYCLE_S   (146097 * DAY_S) /* 400 years: the calendar repeats */
#define YEAR_MAX  999999999        /* of java.time.Year; the days are those of its first and last one */
#define DAY_FIRST (-365243219162LL)
#define DAY_LAST  365241780471LL

/* Milliseconds in which the rules of a zone are the same as at a second: years far from any table are moved
 * near it by whole cycles. */
static int64_t rules_at(int64_t seconds)
{
    int64_t cycles = seconds / CYCLE_S;
    int64_t moved = cycles > 3 ? cycles - 3 : cycles < -3 ? cycles + 3 : 0;
    return (seconds - moved * CYCLE_S) * 1000;
}

static void on_wall_clock(struct zoned *t, int64_t local)
{
    int32_t offsets[2];
    int64_t at = rules_at(local);
    int n = zone_offsets_at_local(t->zone, at, offsets, NULL);
    t->local = local;
    if (n == 0) {
        int64_t utc = zone_to_utc(t->zone, at);
        int64_t offset = zone_offset(t->zone, utc);
        t->offset = offset / 1000;
        t->local = local + (utc + offset - at) / 1000;
    } else if (n == 1 || t->offset * 1000 != offsets[1]) {
        t->offset = offsets[0] / 1000;
    }
}

static void on_time_line(struct zoned *t, int64_t utc)
{
    t->offset = zone_offset(t->zone, rules_at(utc)) / 1000;
    t->local = utc + t->offset;
}

static int64_t day_of(int64_t local)
{
    return local / DAY_S - (local % DAY_S < 0 ? 1 : 0);
}

static enum err add_months(struct zoned *t, int64_t months, struct errmsg *em)
{
    int64_t days = day_of(t->local), year;
    int month, day;
    civil_of_days(days, &year, &month, &day);
    int64_t sum = year * 12 + month - 1 + months;
    year = sum / 12 - (sum % 12 < 0 ? 1 : 0);
    month = (int)(sum - year * 12) + 1;
    if (year < -YEAR_MAX || year > YEAR_MAX) {
        return err_set(em, ERR_DATE_TIME, "Invalid value for Year (valid values -%d - %d): %" PRId64,
                       YEAR_MAX, YEAR_MAX, year);
    }
    day = MIN_OF(day, civil_month_days(year, month));
    on_wall_clock(t, civil_to_days(year, month, day) * DAY_S + (t->local - days * DAY_S));
    return ERR_OK;
}

static enum err check_day(int64_t local, struct errmsg *em)
{
    int64_t day = day_of(local);
    if (day < DAY_FIRST || day > DAY_LAST) {
        return err_set(em, ERR_DATE_TIME, "Invalid value for EpochDay (valid values %lld - %lld): %" PRId64,
                       DAY_FIRST, DAY_LAST, day);
    }
    return ERR_OK;
}

static enum err add_days(struct zoned *t, int64_t days, struct errmsg *em)
{
    int64_t local = t->local + days * DAY_S;
    enum err e = check_day(local, em);
    if (e == ERR_OK) {
        on_wall_clock(t, local);
    }
    return e;
}

static enum err add_seconds(struct zoned *t, int64_t seconds, struct errmsg *em)
{
    enum err e = check_day(t->local + seconds, em);
    if (e == ERR_OK) {
        on_time_line(t, t->local - t->offset + seconds);
    }
    return e;
}

/* unit: one of "yMwdhHms"; n: of 32 bits. ERR_DATE_TIME past the years that java.time knows. */
static enum err date_math_add(struct zoned *t, char unit, int64_t n, struct errmsg *em)
{
    switch (unit) {
    case 'y':
        return add_months(t, n * 12, em);
    case 'M':
        return add_months(t, n, em);
    case 'w':
        return add_days(t, n * 7, em);
    case 'd':
        return add_days(t, n, em);
    case 'h':
    case 'H':
        return add_seconds(t, n * 3600, em);
    case 'm':
        return add_seconds(t, n * 60, em);
    default:
        return add_seconds(t, n, em);
    }
}

static int64_t floor_to(int64_t v, int64_t step)
{
    int64_t rest = v % step;
    return v - (rest < 0 ? rest + step : rest);
}

static void round_down(struct zoned *t, char unit)
{
    int64_t days = day_of(t->local), year;
    int month, day;
    civil_of_days(days, &year, &month, &day);
    t->nanos = 0;
    switch (unit) {
    case 'y':
        on_wall_clock(t, civil_to_days(year, 1, 1) * DAY_S);
        break;
    case 'M':
        on_wall_clock(t, civil_to_days(year, month, 1) * DAY_S);
        break;
    case 'w':
        on_wall_clock(t, (days - civil_weekday(days) + 1) * DAY_S);
        break;
    case 'd':
        on_wall_clock(t, days * DAY_S);
        break;
    case 'h':
    case 'H':
        on_wall_clock(t, floor_to(t->local, 3600));
        break;
    case 'm':
        on_wall_clock(t, floor_to(t->local, 60));
        break;
    default:
        on_wall_clock(t, t->local);
    }
}

/* One "/d" or "+12h" at *at. */
static enum err date_math_step(struct zoned *t, struct str math, size_t *at, enum date_fill fill,
                               struct errmsg *em)
{
    char op = math.p[(*at)++];
    if (op != '/' && op != '+' && op != '-') {
        return err_set(em, ERR_PARSE, "operator not supported for date math [%.*s]", STR_ARG(math));
    }
    size_t from = *at;
    while (*at < math.n && math.p[*at] >= '0' && math.p[*at] <= '9') {
        (*at)++;
    }
    if (*at >= math.n) {
        return err_set(em, ERR_PARSE, "truncated date math [%.*s]", STR_ARG(math));
    }
    int32_t n = 1;
    if (*at > from && !num_parse_i32(str_slice(math, from, *at), &n)) {
        return err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"",
                       STR_ARG(str_slice(math, from, *at)));
    }
    if (op == '/' && n != 1) {
        return err_set(em, ERR_PARSE, "rounding `/` can only be used on single unit types [%.*s]",
                       STR_ARG(math));
    }
    char unit = math.p[(*at)++];
    if (memchr("yMwdhHms", unit, 8) == NULL) {
        return err_set(em, ERR_PARSE, "unit [%c] not supported for date math [%.*s]", unit, STR_ARG(math));
    }
    if (op != '/') {
        return date_math_add(t, unit, op == '-' ? -(int64_t)n : n, em);
    }
    round_down(t, unit);
    enum err e = ERR_OK;
    if (fill == DATE_FILL_MAX && (e = date_math_add(t, unit, 1, em)) == ERR_OK) {
        on_time_line(t, t->local - t->offset - 1);
        t->nanos = 999000000;
    }
    return e;
}

static enum err plain(const struct date_format *f, struct str text, const struct zone *zone,
                      enum date_fill fill, struct instant *out, struct errmsg *em)
{
    if (text.n == 0) {
        return err_set(em, ERR_PARSE, "cannot parse empty date");
    }
    enum err e = date_parse(f, text, zone, fill, out, em);
    if (e == ERR_OK || e == ERR_NO_MEMORY || e == ERR_DATE_TIME) { /* the last: well formed, and no date */
        return e;
    }
    return err_wrap(em, ERR_PARSE, "failed to parse date field [%.*s] with format [%.*s]: [%s]",
                    STR_ARG(text), STR_ARG(date_format_pattern(f)), err_reason(em));
}

enum err date_math(const struct date_format *f, struct str text, int64_t now_ms, const struct zone *zone,
                   enum date_fill fill, struct instant *out, struct errmsg *em)
{
    struct str math;
    struct instant start;
    if (str_starts(text, STR("now"))) {
        if (now_ms == DATE_WITHOUT_NOW) {
            err_set(em, ERR_ILLEGAL_ARGUMENT, "now is not used at indexing time");
            return err_wrap(em, ERR_PARSE, "could not read the current timestamp");
        }
        start = instant_of_ms(now_ms);
        math = str_slice(text, 3, text.n);
    } else {
        size_t bar = str_find_str(text, STR("||"));
        if (bar == SIZE_MAX) {
            return plain(f, text, zone, fill, out, em);
        }
        enum err e = plain(f, str_slice(text, 0, bar), zone, DATE_FILL_MIN, &start, em);
        if (e != ERR_OK) {
            return e;
        }
        math = str_slice(text, bar + 2, text.n);
    }
    struct zoned t = {.zone = zone != NULL ? zone : &zone_utc, .nanos = start.nanos};
    on_time_line(&t, start.seconds);
    for (size_t at = 0; at < math.n;) {
        enum err e = date_math_step(&t, math, &at, fill, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    *out = (struct instant){t.local - t.offset, t.nanos};
    return ERR_OK;
}
