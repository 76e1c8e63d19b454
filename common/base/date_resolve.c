/* From the parts that a text named to a moment: java.time.format.Parsed.resolve, then Elasticsearch's
 * DateFormatters.from, which fills what is missing. */
#include "common/base/date_int.h"

#define YEAR_MAX 999999999
#define DAY_SEC  86400
#define NANOS    1000000000LL

struct resolver {
    struct date_parts *p;
    bool strict, lenient;
    bool has_date, has_time;
    int64_t days;   /* has_date */
    int64_t nanos;  /* has_time: of the day */
    int extra_days; /* 24:00 */
};

static bool between(int64_t v, int64_t min, int64_t max)
{
    return v >= min && v <= max;
}

static void date_drop(struct date_parts *p, enum date_field f)
{
    p->has &= ~(1U << f);
}

/* Sets a field that follows from others; false: it was said otherwise. */
static bool derive(struct date_parts *p, enum date_field f, int64_t v)
{
    if (parts_has(p, f) && p->v[f] != v) {
        return false;
    }
    parts_set(p, f, v);
    return true;
}

/* ---- dates ---- */

static bool resolve_era(struct resolver *r)
{
    struct date_parts *p = r->p;
    if (!parts_has(p, FLD_YEAR_OF_ERA)) {
        return true;
    }
    int64_t yoe = p->v[FLD_YEAR_OF_ERA];
    if (!r->lenient && !between(yoe, 1, YEAR_MAX + 1)) {
        return false;
    }
    if (parts_has(p, FLD_ERA)) {
        bool ce = p->v[FLD_ERA] == 1;
        date_drop(p, FLD_YEAR_OF_ERA);
        date_drop(p, FLD_ERA);
        return derive(p, FLD_YEAR, ce ? yoe : 1 - yoe);
    }
    bool has_year = parts_has(p, FLD_YEAR);
    if (r->strict && !has_year) {
        return true; /* stays a year of an unknown era: no date comes of it here */
    }
    date_drop(p, FLD_YEAR_OF_ERA);
    return derive(p, FLD_YEAR, !has_year || p->v[FLD_YEAR] > 0 ? yoe : 1 - yoe);
}

static bool year_month_day(struct resolver *r)
{
    struct date_parts *p = r->p;
    int64_t y = p->v[FLD_YEAR], m = p->v[FLD_MONTH], d = p->v[FLD_DAY];
    if (r->lenient) {
        int64_t months = y * 12 + m - 1;
        int64_t year = months / 12 - (months % 12 < 0 ? 1 : 0);
        r->days = civil_to_days(year, (int)(months - year * 12) + 1, 1) + d - 1;
    } else {
        if (!between(m, 1, 12) || !between(d, 1, 31)) {
            return false;
        }
        int last = civil_month_days(y, (int)m);
        if (d > last && (r->strict || d > 31)) {
            return false;
        }
        r->days = civil_to_days(y, (int)m, (int)MIN_OF(d, (int64_t)last));
    }
    r->has_date = true;
    return true;
}

static int64_t iso_week_start(int64_t year)
{
    int64_t fourth = civil_to_days(year, 1, 4);
    return fourth - civil_weekday(fourth) + 1;
}

static int64_t iso_week_year(int64_t days)
{
    int64_t year;
    int month, day;
    civil_of_days(days, &year, &month, &day);
    return days < iso_week_start(year) ? year - 1 : days >= iso_week_start(year + 1) ? year + 1 : year;
}

static bool week_date(struct resolver *r)
{
    struct date_parts *p = r->p;
    int64_t year = p->v[FLD_WEEK_YEAR], week = p->v[FLD_WEEK], weekday = p->v[FLD_WEEKDAY];
    if (!between(year, -YEAR_MAX, YEAR_MAX) || !between(week, 1, 53) || !between(weekday, 1, 7)) {
        return false;
    }
    r->days = iso_week_start(year) + (week - 1) * 7 + weekday - 1;
    r->has_date = true;
    return !r->strict || week < 53 || iso_week_year(r->days - weekday + 4) == year;
}

/* What else was said must agree with the date. */
static bool cross_check(const struct resolver *r)
{
    const struct date_parts *p = r->p;
    int64_t year;
    int month, day;
    civil_of_days(r->days, &year, &month, &day);
    const int64_t first = civil_to_days(year, 1, 1), week_year = iso_week_year(r->days);
    const struct {
        enum date_field field;
        int64_t is;
    } facts[] = {{FLD_YEAR, year},
                 {FLD_MONTH, month},
                 {FLD_DAY_OF_YEAR, r->days - first + 1},
                 {FLD_QUARTER, (month - 1) / 3 + 1},
                 {FLD_WEEKDAY, civil_weekday(r->days)},
                 {FLD_WEEK_YEAR, week_year},
                 {FLD_WEEK, (r->days - iso_week_start(week_year)) / 7 + 1},
                 {FLD_ALIGNED_DAY, (day - 1) % 7 + 1}};
    for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
        if (parts_has(p, facts[i].field) && p->v[facts[i].field] != facts[i].is) {
            return false;
        }
    }
    /* a smart date may have moved back to the month's last day */
    return !parts_has(p, FLD_DAY) || p->v[FLD_DAY] == day
           || (!r->strict && p->v[FLD_DAY] > day && p->v[FLD_DAY] <= 31);
}

static bool resolve_date(struct resolver *r)
{
    struct date_parts *p = r->p;
    if (!resolve_era(r)) {
        return false;
    }
    if (parts_has(p, FLD_YEAR)) {
        int64_t year = p->v[FLD_YEAR];
        bool month_day = parts_has(p, FLD_MONTH) && parts_has(p, FLD_DAY);
        if ((month_day || parts_has(p, FLD_DAY_OF_YEAR)) && !between(year, -YEAR_MAX, YEAR_MAX)) {
            return false;
        }
        if (month_day) {
            if (!year_month_day(r)) {
                return false;
            }
        } else if (parts_has(p, FLD_DAY_OF_YEAR)) {
            int64_t day = p->v[FLD_DAY_OF_YEAR];
            if (!between(day, 1, civil_is_leap(year) ? 366 : 365)) {
                return false;
            }
            r->days = civil_to_days(year, 1, 1) + day - 1;
            r->has_date = true;
        }
    }
    if (!r->has_date && parts_has(p, FLD_WEEK_YEAR) && parts_has(p, FLD_WEEK) && parts_has(p, FLD_WEEKDAY)
        && !week_date(r)) {
        return false;
    }
    return !r->has_date || r->lenient || cross_check(r);
}

/* ---- times ---- */

/* The many ways to say an hour become the hour of the day. */
static bool resolve_hour(struct resolver *r)
{
    struct date_parts *p = r->p;
    if (parts_has(p, FLD_CLOCK_HOUR)) {
        int64_t h = p->v[FLD_CLOCK_HOUR];
        if (!between(h, r->strict ? 1 : 0, 24) || !derive(p, FLD_HOUR, h == 24 ? 0 : h)) {
            return false;
        }
    }
    if (parts_has(p, FLD_CLOCK_HOUR_AMPM)) {
        int64_t h = p->v[FLD_CLOCK_HOUR_AMPM];
        if (!between(h, r->strict ? 1 : 0, 12) || !derive(p, FLD_HOUR_AMPM, h == 12 ? 0 : h)) {
            return false;
        }
    }
    if (parts_has(p, FLD_AMPM) && parts_has(p, FLD_HOUR_AMPM)) {
        int64_t h = p->v[FLD_HOUR_AMPM];
        return between(h, 0, 11) && derive(p, FLD_HOUR, p->v[FLD_AMPM] * 12 + h);
    }
    return true;
}

static bool split_day(struct date_parts *p, int64_t nanos)
{
    return between(nanos, 0, DAY_SEC * NANOS - 1) && derive(p, FLD_HOUR, nanos / (3600 * NANOS))
           && derive(p, FLD_MINUTE, nanos / (60 * NANOS) % 60) && derive(p, FLD_SECOND, nanos / NANOS % 60)
           && derive(p, FLD_NANO, nanos % NANOS);
}

static bool resolve_time(struct resolver *r)
{
    struct date_parts *p = r->p;
    if (!resolve_hour(r) || (parts_has(p, FLD_NANO_OF_DAY) && !split_day(p, p->v[FLD_NANO_OF_DAY]))
        || (parts_has(p, FLD_MILLI_OF_DAY)
            && (!between(p->v[FLD_MILLI_OF_DAY], 0, DAY_SEC * 1000LL)
                || !split_day(p, p->v[FLD_MILLI_OF_DAY] * 1000000)))) {
        return false;
    }
    bool h = parts_has(p, FLD_HOUR), m = parts_has(p, FLD_MINUTE), s = parts_has(p, FLD_SECOND),
         n = parts_has(p, FLD_NANO);
    int64_t hour = h ? p->v[FLD_HOUR] : 0, minute = m ? p->v[FLD_MINUTE] : 0,
            second = s ? p->v[FLD_SECOND] : 0;
    int64_t nano = n ? p->v[FLD_NANO] : 0;
    bool holes = !h || (!m && (s || n)) || (m && !s && n); /* such times are left unresolved */
    if (!r->strict && !holes && hour == 24 && minute == 0 && second == 0 && nano == 0) {
        hour = 0;
        r->extra_days = 1;
    }
    if (!between(hour, 0, 23) || !between(minute, 0, 59) || !between(second, 0, 59)
        || !between(nano, 0, NANOS - 1)) {
        return false;
    }
    if (!holes) {
        r->has_time = true;
        r->nanos = ((hour * 60 + minute) * 60 + second) * NANOS + nano;
        r->days += r->extra_days;
    }
    return true;
}

/* ---- Elasticsearch's reading ---- */

static bool parts_year(const struct date_parts *p, int64_t *year)
{
    if (parts_has(p, FLD_YEAR_OF_ERA)) {
        *year = p->v[FLD_YEAR_OF_ERA];
        return true;
    }
    *year = p->v[FLD_YEAR];
    return parts_has(p, FLD_YEAR);
}

enum date_completeness { HAVE_NOT, HAVE, HAVE_BAD };

static enum date_completeness ymd(int64_t year, int64_t month, int64_t day, int64_t *days)
{
    if (!between(year, -YEAR_MAX, YEAR_MAX) || !between(month, 1, 12) || day < 1
        || day > civil_month_days(year, (int)month)) {
        return HAVE_BAD;
    }
    *days = civil_to_days(year, (int)month, (int)day);
    return HAVE;
}

/* A whole date, though java.time left it in parts. */
static enum date_completeness whole_date(const struct resolver *r, int64_t *days)
{
    const struct date_parts *p = r->p;
    int64_t year;
    if (r->has_date) {
        *days = r->days;
        return HAVE;
    }
    if (!parts_year(p, &year)) {
        return HAVE_NOT;
    }
    if (parts_has(p, FLD_DAY_OF_YEAR)) {
        int64_t day = p->v[FLD_DAY_OF_YEAR];
        *days = civil_to_days(year, 1, 1) + day - 1;
        return between(day, 1, civil_is_leap(year) ? 366 : 365) ? HAVE : HAVE_BAD;
    }
    if (parts_has(p, FLD_MONTH) && parts_has(p, FLD_DAY)) {
        return ymd(year, p->v[FLD_MONTH], p->v[FLD_DAY], days);
    }
    return HAVE_NOT;
}

/* The first day of the period that the parts name; HAVE_NOT: they name none. */
static enum date_completeness first_day(const struct resolver *r, bool with_time, int64_t *days)
{
    const struct date_parts *p = r->p;
    int64_t year;
    bool has_year = parts_year(p, &year);
    if (has_year && !(with_time && parts_has(p, FLD_WEEK_YEAR))) {
        return ymd(year, parts_has(p, FLD_MONTH) ? p->v[FLD_MONTH] : 1, 1, days);
    }
    if (parts_has(p, FLD_WEEK_YEAR) && (with_time || !parts_has(p, FLD_MONTH))) {
        int64_t week = parts_has(p, FLD_WEEK) ? p->v[FLD_WEEK] : 1;
        if (!between(p->v[FLD_WEEK_YEAR], -YEAR_MAX, YEAR_MAX) || !between(week, 1, 53)) {
            return HAVE_BAD;
        }
        *days = iso_week_start(p->v[FLD_WEEK_YEAR]) + (week - 1) * 7;
        return HAVE;
    }
    if (with_time || parts_has(p, FLD_MONTH)) { /* no year: that of the epoch */
        return ymd(1970, parts_has(p, FLD_MONTH) ? p->v[FLD_MONTH] : 1,
                   parts_has(p, FLD_DAY) ? p->v[FLD_DAY] : 1, days);
    }
    return HAVE_NOT;
}

static struct instant at_local(int64_t days, int64_t nanos, const struct date_parts *p,
                               const struct zone *zone)
{
    int64_t seconds = days * DAY_SEC + nanos / NANOS;
    int32_t rest = (int32_t)(nanos % NANOS);
    if (p->has_offset) {
        return (struct instant){seconds - p->offset_ms / 1000, rest};
    }
    if (zone != NULL && (zone->n > 0 || zone->first != 0) && seconds < INT64_MAX / 1000
        && seconds > INT64_MIN / 1000) {
        seconds = zone_to_utc(zone, seconds * 1000) / 1000;
    }
    return (struct instant){seconds, rest};
}

static enum resolved resolve_epoch(const struct date_parts *p, const struct zone *zone, enum date_fill fill,
                                   struct instant *out)
{
    struct instant t;
    if (parts_has(p, FLD_EPOCH_MS)) {
        if (p->v[FLD_EPOCH_MS] % 1000
            < 0) { /* no fraction of a second may be negative, and none is carried over */
            return RESOLVED_BAD_PARSE;
        }
        t = instant_of_ms(p->v[FLD_EPOCH_MS]);
        t.nanos += (int32_t)(parts_has(p, FLD_EPOCH_MS_NANOS) ? p->v[FLD_EPOCH_MS_NANOS]
                             : fill == DATE_FILL_MAX          ? 999999
                                                              : 0);
    } else {
        t = (struct instant){p->v[FLD_EPOCH_SECOND], fill == DATE_FILL_MAX ? (int32_t)NANOS - 1 : 0};
        if (parts_has(p, FLD_EPOCH_SECOND_NANOS)) {
            t.nanos = (int32_t)p->v[FLD_EPOCH_SECOND_NANOS];
        }
    }
    /* A zone moves even these: Elasticsearch takes the UTC wall clock to be the zone's. */
    *out = at_local(0, 0, p, NULL);
    out->seconds = t.seconds;
    if (zone != NULL && t.seconds < INT64_MAX / 1000 && t.seconds > INT64_MIN / 1000) {
        int64_t moved = zone_to_utc(zone, t.seconds * 1000);
        out->seconds = moved / 1000 - (moved % 1000 < 0 ? 1 : 0);
    }
    out->nanos = t.nanos;
    return RESOLVED;
}

static enum err bad_value(struct errmsg *em, const char *field, const char *valid, int64_t v)
{
    return err_set(em, ERR_DATE_TIME, "Invalid value for %s (valid values %s): %lld", field, valid,
                   (long long)v);
}

enum err date_no_such(const struct date_parts *p, struct str text, struct errmsg *em)
{
    static const char *const months[] = {"JANUARY",   "FEBRUARY", "MARCH",    "APRIL",
                                         "MAY",       "JUNE",     "JULY",     "AUGUST",
                                         "SEPTEMBER", "OCTOBER",  "NOVEMBER", "DECEMBER"};
    int64_t year = 1970, month = parts_has(p, FLD_MONTH) ? p->v[FLD_MONTH] : 1,
            day = parts_has(p, FLD_DAY) ? p->v[FLD_DAY] : 1;
    (void)parts_year(p, &year);
    if (!between(year, -YEAR_MAX, YEAR_MAX)) {
        return bad_value(em, "Year", "-999999999 - 999999999", year);
    }
    if (parts_has(p, FLD_DAY_OF_YEAR)) {
        day = p->v[FLD_DAY_OF_YEAR];
        return !between(day, 1, 366)
                   ? bad_value(em, "DayOfYear", "1 - 365/366", day)
                   : err_set(em, ERR_DATE_TIME, "Invalid date 'DayOfYear 366' as '%lld' is not a leap year",
                             (long long)year);
    }
    if (!between(month, 1, 12)) {
        return bad_value(em, "MonthOfYear", "1 - 12", month);
    }
    if (!between(day, 1, 31)) {
        return bad_value(em, "DayOfMonth", "1 - 28/31", day);
    }
    if (day <= civil_month_days(year, (int)month)) { /* a week's date */
        return err_set(em, ERR_DATE_TIME, "Invalid date '%.*s'", STR_ARG(text));
    }
    return day == 29
               ? err_set(em, ERR_DATE_TIME, "Invalid date 'February 29' as '%lld' is not a leap year",
                         (long long)year)
               : err_set(em, ERR_DATE_TIME, "Invalid date '%s %lld'", months[month - 1], (long long)day);
}

static void fill_up(struct date_parts *p)
{
    static const struct {
        enum date_field field;
        int64_t v;
    } fill[] = {{FLD_MONTH, 1},   {FLD_DAY, 1},     {FLD_HOUR, 23},
                {FLD_MINUTE, 59}, {FLD_SECOND, 59}, {FLD_NANO, NANOS - 1}};
    for (size_t i = 0; i < ARRAY_LEN(fill); i++) {
        if (!parts_has(p, fill[i].field)) {
            parts_set(p, fill[i].field, fill[i].v);
        }
    }
}

enum resolved date_resolve(const struct el_run *run, struct date_parts *p, const struct zone *zone,
                           enum date_fill fill, struct instant *out)
{
    if (run->is_epoch) {
        return resolve_epoch(p, zone, fill, out);
    }
    bool max = fill == DATE_FILL_MAX; /* round-up parsers are smart, whatever the format is */
    if (max) {
        fill_up(p);
    }
    struct resolver r = {.p = p, .strict = run->strict && !max, .lenient = run->lenient && !max};
    if (!resolve_date(&r) || !resolve_time(&r)) {
        return RESOLVED_BAD_PARSE;
    }
    int64_t days = 0;
    enum date_completeness have = whole_date(&r, &days);
    if (have == HAVE_NOT) {
        have = first_day(&r, r.has_time, &days);
    }
    if (have != HAVE) {
        return RESOLVED_BAD_DATE;
    }
    struct arena scratch;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    const struct zone *named = zone;
    if (p->region.p != NULL && zone_of(&named, p->region, &scratch, NULL) != ERR_OK) {
        named = zone;
    }
    *out = at_local(days, r.has_time ? r.nanos : 0, p, named);
    arena_fini(&scratch);
    return RESOLVED;
}
