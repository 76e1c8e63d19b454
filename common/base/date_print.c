/* Printing moments through a format's elements, and the English names that text elements use. */
#include "common/base/date_int.h"

#include <unicode/ucal.h>
#include <unicode/ustring.h>

static const char *const months[] = {"January", "February", "March",     "April",   "May",      "June",
                                     "July",    "August",   "September", "October", "November", "December"};
static const char *const months_short[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                           "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
static const char *const days[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                   "Friday", "Saturday", "Sunday"};
static const char *const days_short[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
static const char *const letters_of_months[] = {"J", "F", "M", "A", "M", "J", "J", "A", "S", "O", "N", "D"};
static const char *const letters_of_days[] = {"M", "T", "W", "T", "F", "S", "S"};
static const char *const quarters[] = {"1st quarter", "2nd quarter", "3rd quarter", "4th quarter"};
static const char *const quarters_short[] = {"Q1", "Q2", "Q3", "Q4"};
static const char *const quarters_narrow[] = {"1", "2", "3", "4"};
static const char *const halves[] = {"AM", "PM"};
static const char *const eras[] = {"BC", "AD"};
static const char *const eras_full[] = {"Before Christ", "Anno Domini"};
static const char *const eras_narrow[] = {"B", "A"};

static const char *pick(const char *const *names, int64_t n, int64_t i)
{
    return i >= 0 && i < n ? names[i] : NULL;
}

const char *date_text(enum date_field field, enum el_text style, int64_t v)
{
    static const struct {
        const char *const *full, *const *shorter, *const *narrow;
        int n;
    } names[FLD_COUNT] = {
        [FLD_MONTH] = {months, months_short, letters_of_months, 12},
        [FLD_WEEKDAY] = {days, days_short, letters_of_days, 7},
        [FLD_QUARTER] = {quarters, quarters_short, quarters_narrow, 4},
        [FLD_AMPM] = {halves, halves, halves, 2},
        [FLD_ERA] = {eras_full, eras, eras_narrow, 2},
    };
    if (names[field].n == 0) {
        return NULL;
    }
    bool from_one = field == FLD_MONTH || field == FLD_WEEKDAY || field == FLD_QUARTER;
    return pick(style == TEXT_FULL    ? names[field].full
                : style == TEXT_SHORT ? names[field].shorter
                                      : names[field].narrow,
                names[field].n, from_one ? v - 1 : v);
}

/* A moment taken apart in its zone. */
struct printer {
    struct buf *out;
    const struct zone *zone;
    struct instant t;
    int32_t offset; /* seconds */
    int64_t year, days;
    int month, day;
    int32_t second_of_day;
    bool failed;
};

static int64_t week_start(int64_t year)
{
    int64_t fourth = civil_to_days(year, 1, 4);
    return fourth - civil_weekday(fourth) + 1;
}

static int64_t week_year(const struct printer *p)
{
    return p->days < week_start(p->year)        ? p->year - 1
           : p->days >= week_start(p->year + 1) ? p->year + 1
                                                : p->year;
}

/* Weeks that begin on Monday; those with fewer than four days of the month count to the month before. */
static int64_t week_of_month(const struct printer *p)
{
    int first_weekday = civil_weekday(p->days - p->day + 1);
    int lead = first_weekday - 1; /* days of the first week that belong to the month before */
    int week = (p->day - 1 + lead) / 7;
    return lead > 3 ? week : week + 1;
}

static int64_t field_value(struct printer *p, enum date_field f)
{
    int32_t hour = p->second_of_day / 3600;
    switch (f) {
    case FLD_YEAR:
        return p->year;
    case FLD_YEAR_OF_ERA:
        return p->year > 0 ? p->year : 1 - p->year;
    case FLD_ERA:
        return p->year > 0;
    case FLD_QUARTER:
        return (p->month - 1) / 3 + 1;
    case FLD_MONTH:
        return p->month;
    case FLD_DAY:
        return p->day;
    case FLD_DAY_OF_YEAR:
        return p->days - civil_to_days(p->year, 1, 1) + 1;
    case FLD_WEEK_YEAR:
        return week_year(p);
    case FLD_WEEK:
        return (p->days - week_start(week_year(p))) / 7 + 1;
    case FLD_WEEK_OF_MONTH:
        return week_of_month(p);
    case FLD_WEEKDAY:
        return civil_weekday(p->days);
    case FLD_ALIGNED_DAY:
        return (p->day - 1) % 7 + 1;
    case FLD_AMPM:
        return hour / 12;
    case FLD_HOUR:
        return hour;
    case FLD_HOUR_AMPM:
        return hour % 12;
    case FLD_CLOCK_HOUR:
        return hour == 0 ? 24 : hour;
    case FLD_CLOCK_HOUR_AMPM:
        return hour % 12 == 0 ? 12 : hour % 12;
    case FLD_MINUTE:
        return p->second_of_day / 60 % 60;
    case FLD_SECOND:
        return p->second_of_day % 60;
    case FLD_NANO:
        return p->t.nanos;
    case FLD_MILLI_OF_DAY:
        return (int64_t)p->second_of_day * 1000 + p->t.nanos / 1000000;
    case FLD_NANO_OF_DAY:
        return (int64_t)p->second_of_day * 1000000000 + p->t.nanos;
    case FLD_EPOCH_MS:
        return instant_to_ms(p->t);
    case FLD_EPOCH_MS_NANOS:
        return p->t.nanos % 1000000;
    case FLD_EPOCH_SECOND:
        return p->t.seconds;
    case FLD_EPOCH_SECOND_NANOS:
        return p->t.nanos;
    case FLD_NONE:
    case FLD_COUNT:
        break;
    }
    p->failed = true;
    return 0;
}

static size_t digits_of(uint64_t v)
{
    size_t n = 1;
    while (v > 9) {
        v /= 10;
        n++;
    }
    return n;
}

/* The last `n` digits of v, zeros before them. */
static void put_digits(struct buf *out, uint64_t v, size_t n)
{
    char *to = buf_reserve(out, n);
    if (to == NULL) {
        return;
    }
    out->n += n;
    to[n] = '\0';
    while (n > 0) {
        to[--n] = (char)('0' + v % 10);
        v /= 10;
    }
}

static void print_number(struct printer *p, const struct el *el)
{
    int64_t v = field_value(p, el->field);
    uint64_t abs = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    if (el->reduced) {
        put_digits(p->out, abs % 100, 2);
        return;
    }
    size_t n = digits_of(abs);
    if (n > el->max || (v < 0 && el->sign == SIGN_NOT_NEGATIVE)) {
        p->failed = true; /* java.time refuses to print it */
        return;
    }
    if (v < 0 && el->sign != SIGN_NEVER) {
        buf_char(p->out, '-');
    } else if (v >= 0 && el->sign == SIGN_EXCEEDS_PAD && el->min < 19 && n > el->min) {
        buf_char(p->out, '+');
    }
    put_digits(p->out, abs, MAX_OF(n, (size_t)el->min));
}

static void print_fraction(struct printer *p, const struct el *el)
{
    int n = el->field == FLD_EPOCH_MS_NANOS ? 6 : 9;
    int64_t v = field_value(p, el->field);
    for (; n > el->min && v % 10 == 0; n--) {
        v /= 10;
    }
    for (; n > el->max; n--) {
        v /= 10;
    }
    if (n > 0 && el->point) {
        buf_char(p->out, '.');
    }
    put_digits(p->out, (uint64_t)v, (size_t)n);
}

static void print_offset(struct printer *p, const char *form, struct str zero)
{
    int v = p->offset < 0 ? -p->offset : p->offset;
    int hours = v / 3600, minutes = v / 60 % 60, seconds = v % 60;
    bool colon = strchr(form, ':') != NULL, minutes_always = form[3] == 'M' || (colon && form[4] == 'M');
    if (v == 0 || (hours == 0 && minutes == 0 && strchr(form, 's') == NULL)) {
        buf_str(p->out, zero);
        return;
    }
    buf_printf(p->out, "%c%02d", p->offset < 0 ? '-' : '+', hours);
    bool has_seconds = strchr(form, 's') != NULL && seconds > 0;
    if (minutes_always || minutes > 0 || has_seconds) {
        buf_printf(p->out, "%s%02d", colon ? ":" : "", minutes);
    }
    if (has_seconds) {
        buf_printf(p->out, "%s%02d", colon ? ":" : "", seconds);
    }
}

static void print_local_offset(struct printer *p, const struct el *el)
{
    int v = p->offset < 0 ? -p->offset : p->offset;
    buf_z(p->out, "GMT");
    if (v == 0) {
        return;
    }
    buf_char(p->out, p->offset < 0 ? '-' : '+');
    if (el->style == TEXT_FULL) {
        buf_printf(p->out, "%02d:%02d", v / 3600, v / 60 % 60);
    } else if (v / 60 % 60 == 0) {
        buf_printf(p->out, "%d", v / 3600);
    } else {
        buf_printf(p->out, "%d:%02d", v / 3600, v / 60 % 60);
    }
    if (v % 60 != 0) {
        buf_printf(p->out, ":%02d", v % 60);
    }
}

/* z: the zone's name in English where it is a region, its id otherwise. */
static void print_zone_name(struct printer *p, const struct el *el)
{
    UChar id[64], name[128];
    char utf8[256];
    if (p->zone->n == 0) {
        buf_str(p->out, el->style == TEXT_FULL && str_is(p->zone->id, "UTC")
                            ? STR("Coordinated Universal Time")
                            : p->zone->id);
        return;
    }
    UErrorCode status = U_ZERO_ERROR;
    size_t n = MIN_OF(p->zone->id.n, ARRAY_LEN(id));
    for (size_t i = 0; i < n; i++) {
        id[i] = (UChar)(unsigned char)p->zone->id.p[i];
    }
    UCalendar *cal = ucal_open(id, (int32_t)n, "en_US", UCAL_GREGORIAN, &status);
    if (U_FAILURE(status)) {
        buf_str(p->out, p->zone->id);
        return;
    }
    ucal_setMillis(cal, (double)instant_to_ms(p->t), &status);
    bool dst = ucal_get(cal, UCAL_DST_OFFSET, &status) != 0;
    UCalendarDisplayNameType type = el->style == TEXT_FULL ? (dst ? UCAL_DST : UCAL_STANDARD)
                                                           : (dst ? UCAL_SHORT_DST : UCAL_SHORT_STANDARD);
    int32_t len = ucal_getTimeZoneDisplayName(cal, type, "en_US", name, ARRAY_LEN(name), &status);
    ucal_close(cal);
    int32_t bytes = 0;
    u_strToUTF8(utf8, sizeof(utf8), &bytes, name, MIN_OF(len, (int32_t)ARRAY_LEN(name)), &status);
    buf_str(p->out,
            U_SUCCESS(status) ? str_mk(utf8, (size_t)MIN_OF(bytes, (int32_t)sizeof(utf8))) : p->zone->id);
}

static void print_text(struct printer *p, const struct el *el)
{
    const char *name = date_text(el->field, el->style, field_value(p, el->field));
    if (name == NULL) {
        p->failed = true;
        return;
    }
    buf_z(p->out, name);
}

static void print_run(struct printer *p, const struct el_run *run);

static void print_one(struct printer *p, const struct el *el)
{
    switch (el->kind) {
    case EL_NUMBER:
        print_number(p, el);
        break;
    case EL_FRACTION:
        print_fraction(p, el);
        break;
    case EL_TEXT:
        print_text(p, el);
        break;
    case EL_LITERAL:
        buf_str(p->out, el->text);
        break;
    case EL_OFFSET:
        print_offset(p, el->offset, el->text);
        break;
    case EL_LOCAL_OFFSET:
        print_local_offset(p, el);
        break;
    case EL_ZONE:
        buf_str(p->out, p->zone->id);
        break;
    case EL_ZONE_NAME:
        print_zone_name(p, el);
        break;
    case EL_OPTION: /* a whole moment has every part: sections print as if they were not optional */
    case EL_PAD:
    case EL_CASELESS:
        break;
    }
}

static void print_run(struct printer *p, const struct el_run *run)
{
    for (uint32_t i = 0; i < run->n; i++) {
        if (run->el[i].kind != EL_PAD) {
            print_one(p, &run->el[i]);
            continue;
        }
        size_t width = run->el[i].max, start = p->out->n;
        if (++i == run->n) {
            break;
        }
        print_one(p, &run->el[i]);
        size_t n = p->out->n - start;
        if (n > width) {
            p->failed = true;
        } else if (buf_reserve(p->out, width) != NULL) {
            memmove(p->out->p + start + width - n, p->out->p + start, n);
            memset(p->out->p + start, ' ', width - n);
            p->out->n = start + width;
        }
    }
}

bool date_print(const struct date_format *f, struct instant t, const struct zone *zone, struct buf *out)
{
    struct printer p = {.out = out, .zone = zone != NULL && !f->printer.utc ? zone : &zone_utc, .t = t};
    int64_t ms = instant_to_ms(t);
    p.offset = zone_offset(p.zone, ms) / 1000;
    int64_t local = t.seconds + p.offset;
    p.days = local / 86400 - (local % 86400 < 0 ? 1 : 0);
    p.second_of_day = (int32_t)(local - p.days * 86400);
    civil_of_days(p.days, &p.year, &p.month, &p.day);
    print_run(&p, &f->printer);
    return !p.failed && !out->failed;
}
