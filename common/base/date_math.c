#include "common/base/date_math.h"

#include "common/base/num.h"

/* A moment as java.time's ZonedDateTime carries it: the wall clock, and the offset that it keeps through an
 * overlap. */
struct zoned {
    const struct zone *zone;
    int64_t local;  /* milliseconds */
    int32_t offset; /* milliseconds */
    int32_t nanos;  /* below the millisecond */
};

static void on_wall_clock(struct zoned *t, int64_t local)
{
    int32_t offsets[2];
    int n = zone_offsets_at_local(t->zone, local, offsets, NULL);
    t->local = local;
    if (n == 0) {
        int64_t utc = zone_to_utc(t->zone, local);
        t->offset = zone_offset(t->zone, utc);
        t->local = utc + t->offset;
    } else if (n == 1 || t->offset != offsets[1]) {
        t->offset = offsets[0];
    }
}

static void on_time_line(struct zoned *t, int64_t utc)
{
    t->offset = zone_offset(t->zone, utc);
    t->local = utc + t->offset;
}

#define DAY_MS 86400000LL

static int64_t day_of(int64_t local)
{
    return local / DAY_MS - (local % DAY_MS < 0 ? 1 : 0);
}

static void add_months(struct zoned *t, int64_t months)
{
    int64_t days = day_of(t->local), year;
    int month, day;
    civil_of_days(days, &year, &month, &day);
    int64_t sum = year * 12 + month - 1 + months;
    year = sum / 12 - (sum % 12 < 0 ? 1 : 0);
    month = (int)(sum - year * 12) + 1;
    day = MIN_OF(day, civil_month_days(year, month));
    on_wall_clock(t, civil_to_days(year, month, day) * DAY_MS + (t->local - days * DAY_MS));
}

static bool add(struct zoned *t, char unit, int64_t n)
{
    switch (unit) {
    case 'y':
        add_months(t, n * 12);
        break;
    case 'M':
        add_months(t, n);
        break;
    case 'w':
        on_wall_clock(t, t->local + n * 7 * DAY_MS);
        break;
    case 'd':
        on_wall_clock(t, t->local + n * DAY_MS);
        break;
    case 'h':
    case 'H':
        on_time_line(t, t->local - t->offset + n * 3600000);
        break;
    case 'm':
        on_time_line(t, t->local - t->offset + n * 60000);
        break;
    case 's':
        on_time_line(t, t->local - t->offset + n * 1000);
        break;
    default:
        return false;
    }
    return true;
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
        on_wall_clock(t, civil_to_days(year, 1, 1) * DAY_MS);
        break;
    case 'M':
        on_wall_clock(t, civil_to_days(year, month, 1) * DAY_MS);
        break;
    case 'w':
        on_wall_clock(t, (days - civil_weekday(days) + 1) * DAY_MS);
        break;
    case 'd':
        on_wall_clock(t, days * DAY_MS);
        break;
    case 'h':
    case 'H':
        on_wall_clock(t, floor_to(t->local, 3600000));
        break;
    case 'm':
        on_wall_clock(t, floor_to(t->local, 60000));
        break;
    default:
        on_wall_clock(t, floor_to(t->local, 1000));
    }
}

/* One "/d" or "+12h" at *at. */
static enum err step(struct zoned *t, struct str math, size_t *at, enum date_fill fill, struct errmsg *em)
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
        (void)add(t, unit, op == '-' ? -(int64_t)n : n);
        return ERR_OK;
    }
    round_down(t, unit);
    if (fill == DATE_FILL_MAX) {
        (void)add(t, unit, 1);
        on_time_line(t, t->local - t->offset - 1);
    }
    return ERR_OK;
}

static enum err plain(const struct date_format *f, struct str text, const struct zone *zone,
                      enum date_fill fill, struct instant *out, struct errmsg *em)
{
    if (text.n == 0) {
        return err_set(em, ERR_PARSE, "cannot parse empty date");
    }
    enum err e = date_parse(f, text, zone, fill, out, em);
    if (e == ERR_OK || e == ERR_NO_MEMORY) {
        return e;
    }
    return err_wrap(em, ERR_PARSE, "failed to parse date field [%.*s] with format [%.*s]: [%s]",
                    STR_ARG(text), STR_ARG(date_format_pattern(f)),
                    em != NULL && em->n > 0 ? em->frame[0].reason : "");
}

enum err date_math(const struct date_format *f, struct str text, int64_t now_ms, const struct zone *zone,
                   enum date_fill fill, struct instant *out, struct errmsg *em)
{
    struct str math;
    struct instant start;
    if (str_starts(text, STR("now"))) {
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
    struct zoned t = {.zone = zone != NULL ? zone : &zone_utc, .nanos = start.nanos % 1000000};
    on_time_line(&t, instant_to_ms(start));
    for (size_t at = 0; at < math.n;) {
        enum err e = step(&t, math, &at, fill, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    *out = instant_of_ms(t.local - t.offset);
    out->nanos += t.nanos;
    return ERR_OK;
}
