/* Statics and constants of java.time: moments, dates and times without a zone, durations, formatters by name. */
#include "engine/script/allow.h"
#include "engine/script/classes.h"
#include "engine/script/time.h"

#include <stdio.h>

#define DAY     86400
#define BILLION 1000000000

/* ---- reading ---- */

static enum err parsed(struct script_run *m, enum sv_local form, struct sv *a, uint32_t n, struct sv *out)
{
    static const char *const patterns[] = {[LOCAL_DATE] = "uuuu-MM-dd",
                                           [LOCAL_TIME] = "HH:mm[:ss[.SSSSSSSSS][.SSSSSS][.SSS][.SS][.S]]",
                                           [LOCAL_DATE_TIME] =
                                               "uuuu-MM-dd'T'HH:mm[:ss[.SSSSSSSSS][.SSSSSS][.SSS][.SS][.S]]"};
    struct str text;
    const struct date_format *f = n > 1 && a[1].kind == SV_FORMATTER ? a[1].format : NULL;
    struct instant t = {0, 0};
    enum err e = vm_arg_str(m, a[0], &text);
    if (e != ERR_OK) {
        return e;
    }
    if (f == NULL) {
        e = date_format_new(&f, str_of(patterns[form]), &m->mem, m->em);
    }
    e = e == ERR_OK ? date_parse(f, text, NULL, DATE_FILL_MIN, &t, m->em) : e;
    return e == ERR_OK ? vm_local(m, form, t, out) : vm_unparsed(m, text);
}

/* What a parser of dates says of a text, without what Elasticsearch's own would put around it. */
enum err vm_unparsed(struct script_run *m, struct str text)
{
    const struct err_frame *last = err_innermost(m->em);
    if (last == NULL || last->code != ERR_DATE_TIME_PARSE) {
        return err_set(m->em, ERR_DATE_TIME_PARSE, "Text '%.*s' could not be parsed at index 0",
                       STR_ARG(text));
    }
    return err_set(m->em, ERR_DATE_TIME_PARSE, "%s", last->reason);
}

/* ---- statics ---- */

static enum err local_of(struct script_run *m, enum sv_local form, struct sv *a, uint32_t n, struct sv *out)
{
    struct instant date = {0, 0}, time = {0, 0};
    int64_t days = 0;
    uint32_t of_day = form == LOCAL_TIME ? 0 : 3;
    enum err e;
    if (n == 2 && form == LOCAL_DATE_TIME) {
        e = time_arg(m, a[0], LOCAL_DATE, &date);
        e = e == ERR_OK ? time_arg(m, a[1], LOCAL_TIME, &time) : e;
        days = date.seconds / DAY;
    } else {
        e = of_day > 0 ? time_day(m, a, &days) : ERR_OK;
        e = e == ERR_OK ? time_clock(m, a + of_day, n - of_day, &time) : e;
    }
    time.seconds += days * DAY;
    return e == ERR_OK ? vm_local(m, form, time, out) : e;
}

static enum err of_number(struct script_run *m, struct str name, struct sv *a, struct sv *out)
{
    static const struct time_range day = {"EpochDay", -365243219162LL, 365241780471LL},
                                   second = {"SecondOfDay", 0, DAY - 1},
                                   nano = {"NanoOfDay", 0, (int64_t)DAY * BILLION - 1};
    bool of_day = str_is(name, "ofEpochDay"), of_second = str_is(name, "ofSecondOfDay");
    int64_t v = 0;
    enum err e = vm_arg_i64(m, a[0], &v);
    e = e == ERR_OK ? time_within(m, v, of_day ? &day : of_second ? &second : &nano) : e;
    if (e != ERR_OK) {
        return e;
    }
    struct instant t = {of_day      ? v * DAY
                        : of_second ? v
                                    : v / BILLION,
                        of_day || of_second ? 0 : (int32_t)(v % BILLION)};
    return vm_local(m, of_day ? LOCAL_DATE : LOCAL_TIME, t, out);
}

static enum err of_year_day(struct script_run *m, struct sv *a, struct sv *out)
{
    static const struct time_range years = {"Year", -999999999, 999999999}, days = {"DayOfYear", 1, 366};
    int64_t year = 0, day = 0;
    enum err e = vm_arg_i64(m, a[0], &year);
    e = e == ERR_OK ? vm_arg_i64(m, a[1], &day) : e;
    e = e == ERR_OK ? time_within(m, year, &years) : e;
    e = e == ERR_OK ? time_within(m, day, &days) : e;
    if (e == ERR_OK && day == 366 && !civil_is_leap(year)) {
        return err_set(m->em, ERR_DATE_TIME, "Invalid date 'DayOfYear 366' as '%lld' is not a leap year",
                       (long long)year);
    }
    struct instant t = {e == ERR_OK ? (civil_to_days(year, 1, 1) + day - 1) * DAY : 0, 0};
    return e == ERR_OK ? vm_local(m, LOCAL_DATE, t, out) : e;
}

static enum err of_instant(struct script_run *m, struct sv *a, struct sv *out)
{
    if (a[0].kind != SV_INSTANT || a[1].kind != SV_ZONE) {
        return a[0].kind == SV_NULL || a[1].kind == SV_NULL
                   ? vm_null(m, "getRules()")
                   : vm_class_cast(m, a[0].kind != SV_INSTANT ? a[0] : a[1],
                                   a[0].kind != SV_INSTANT ? "java.time.Instant" : "java.time.ZoneId");
    }
    struct instant t = a[0].date->t;
    t.seconds += zone_offset(a[1].zone, instant_to_ms(t)) / 1000;
    return vm_local(m, LOCAL_DATE_TIME, t, out);
}

/* between, of(count, unit), ofSeconds(seconds, nanos), ofHours ...: made of a duration of nothing. */
static enum err duration_of(struct script_run *m, struct str name, struct sv *a, uint32_t n, struct sv *out,
                            bool *found)
{
    struct sv none;
    enum err e = vm_duration(m, (struct instant){0, 0}, &none);
    if (e != ERR_OK) {
        return e;
    }
    if (str_is(name, "between") && n == 2) {
        struct sv nanos;
        int64_t count = 0;
        *found = true;
        e = date_between(m, date_unit_index(STR("NANOS")), a[0], a[1], &nanos);
        e = e == ERR_OK ? vm_arg_i64(m, nanos, &count) : e;
        return e == ERR_OK ? methods_duration(m, none, STR("plusNanos"), &nanos, 1, out, found) : e;
    }
    if (str_is(name, "ofSeconds") && n == 2) {
        struct sv seconds;
        e = methods_duration(m, none, STR("plusSeconds"), a, 1, &seconds, found);
        return e == ERR_OK ? methods_duration(m, seconds, STR("plusNanos"), a + 1, 1, out, found) : e;
    }
    char plus[24];
    if (!str_starts(name, STR("of")) || name.n + 3 > sizeof(plus)) {
        return ERR_OK;
    }
    snprintf(plus, sizeof(plus), "plus%.*s", STR_ARG(str_slice(name, 2, name.n)));
    return methods_duration(m, none, str_of(plus), a, n, out, found);
}

enum err static_duration(struct script_run *m, enum type_id type, struct str name, struct sv *a, uint32_t n,
                         struct sv *out)
{
    bool found = false;
    enum err e = duration_of(m, name, a, n, out, &found);
    return found || e != ERR_OK ? e : vm_no_static(m, type, name, n);
}

enum err static_local(struct script_run *m, enum type_id type, struct str name, struct sv *a, uint32_t n,
                      struct sv *out)
{
    enum sv_local form = (enum sv_local)(type - TYPE_LOCAL_DATE);
    struct allowed ignored;
    if (!allow_find((struct type){.id = type}, ALLOW_STATIC, name, n, &ignored)) {
        return vm_no_static(m, type, name, n);
    }
    return str_is(name, "parse")       ? parsed(m, form, a, n, out)
           : str_is(name, "of")        ? local_of(m, form, a, n, out)
           : str_is(name, "ofYearDay") ? of_year_day(m, a, out)
           : str_is(name, "ofInstant") ? of_instant(m, a, out)
                                       : of_number(m, name, a, out);
}

enum err static_zone(struct script_run *m, enum type_id type, struct str name, struct sv *a, uint32_t n,
                     struct sv *out)
{
    if (n != 1 || !str_is(name, "of")) {
        return vm_no_static(m, type, name, n);
    }
    struct str id;
    const struct zone *z;
    enum err e = vm_arg_str(m, a[0], &id);
    e = e == ERR_OK ? zone_of(&z, id, &m->mem, m->em) : e;
    *out = (struct sv){.kind = SV_ZONE, .zone = e == ERR_OK ? z : NULL};
    return e == ERR_OK ? vm_spend(m, 2000) : e;
}

enum err static_moment(struct script_run *m, enum type_id type, struct str name, struct sv *a, uint32_t n,
                       struct sv *out)
{
    enum sv_kind kind = type == TYPE_DATE ? SV_DATE : SV_INSTANT;
    struct str text;
    int64_t i = 0;
    const struct date_format *f;
    struct instant t;
    enum err e;
    if (str_is(name, "parse") && n >= 1) {
        e = vm_arg_str(m, a[0], &text);
        if (e == ERR_OK && n > 1 && a[1].kind == SV_FORMATTER) {
            f = a[1].format;
        } else if (e == ERR_OK) {
            e = date_format_new(&f, STR("uuuu-MM-dd'T'HH:mm[:ss[.SSSSSSSSS][.SSSSSS][.SSS]]XXX['['VV']']"),
                                &m->mem, m->em);
        }
        e = e == ERR_OK ? date_parse(f, text, NULL, DATE_FILL_MIN, &t, m->em) : e;
        if (e != ERR_OK && e != ERR_NULL_POINTER && e != ERR_CLASS_CAST) {
            return vm_unparsed(m, text);
        }
        return e == ERR_OK ? vm_date(m, kind, t, &zone_utc, out) : e;
    }
    if (type == TYPE_INSTANT && n == 1 && (str_is(name, "ofEpochMilli") || str_is(name, "ofEpochSecond"))) {
        e = vm_arg_i64(m, a[0], &i);
        t = str_is(name, "ofEpochMilli") ? instant_of_ms(i) : (struct instant){i, 0};
        return e == ERR_OK ? vm_date(m, SV_INSTANT, t, &zone_utc, out) : e;
    }
    if (type == TYPE_DATE && n == 2 && str_is(name, "ofInstant")
        && (a[0].kind == SV_INSTANT || a[0].kind == SV_DATE) && a[1].kind == SV_ZONE) {
        return vm_date(m, SV_DATE, a[0].date->t, a[1].zone, out);
    }
    if (type == TYPE_DATE && n == 2 && str_is(name, "of")) {
        e = time_arg(m, a[0], LOCAL_DATE_TIME, &t);
        return e == ERR_OK ? time_in_zone(m, t, a[1], out) : e;
    }
    if (type == TYPE_DATE && n == 3 && str_is(name, "of")) {
        struct instant clock = {0, 0};
        e = time_arg(m, a[0], LOCAL_DATE, &t);
        e = e == ERR_OK ? time_arg(m, a[1], LOCAL_TIME, &clock) : e;
        clock.seconds += e == ERR_OK ? t.seconds : 0;
        return e == ERR_OK ? time_in_zone(m, clock, a[2], out) : e;
    }
    if (type == TYPE_DATE && n == 8 && str_is(name, "of") && a[7].kind == SV_ZONE) {
        int64_t v[7];
        for (int k = 0; k < 7; k++) {
            e = vm_arg_i64(m, a[k], &v[k]);
            if (e != ERR_OK) {
                return e;
            }
        }
        if (v[0] < -250000 || v[0] > 250000 || v[1] < 1 || v[1] > 12 || v[2] < 1
            || v[2] > civil_month_days(v[0], (int)v[1]) || v[3] < 0 || v[3] > 23 || v[4] < 0 || v[4] > 59
            || v[5] < 0 || v[5] > 59 || v[6] < 0 || v[6] > 999999999) {
            return err_set(m->em, ERR_DATE_TIME, "Invalid value for a date");
        }
        int64_t local =
            (civil_to_days(v[0], (int)v[1], (int)v[2]) * 86400 + (v[3] * 60 + v[4]) * 60 + v[5]) * 1000;
        t = instant_of_ms(zone_to_utc(a[7].zone, local));
        t.nanos = (int32_t)v[6];
        return vm_date(m, SV_DATE, t, a[7].zone, out);
    }
    return vm_no_static(m, type, name, n);
}

enum err static_formatter(struct script_run *m, enum type_id type, struct str name, struct sv *a, uint32_t n,
                          struct sv *out)
{
    struct str pattern;
    if (n < 1 || !str_is(name, "ofPattern")) {
        return vm_no_static(m, type, name, n);
    }
    enum err e = vm_arg_str(m, a[0], &pattern);
    const struct date_format *f = NULL;
    e = e == ERR_OK ? date_format_new(&f, pattern, &m->mem, m->em) : e;
    *out = (struct sv){.kind = SV_FORMATTER, .format = f};
    return e == ERR_OK ? vm_spend(m, 50) : e;
}

bool time_constant(enum type_id type, struct str name, struct instant *out)
{
    static const struct {
        enum type_id type;
        const char *name;
        struct instant t;
    } table[] = {{TYPE_LOCAL_TIME, "MIDNIGHT", {0, 0}},
                 {TYPE_LOCAL_TIME, "MIN", {0, 0}},
                 {TYPE_LOCAL_TIME, "NOON", {DAY / 2, 0}},
                 {TYPE_LOCAL_TIME, "MAX", {DAY - 1, BILLION - 1}},
                 {TYPE_DURATION, "ZERO", {0, 0}}};
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (table[i].type == type && str_is(name, table[i].name)) {
            *out = table[i].t;
            return true;
        }
    }
    return false;
}

/* ---- formatters ---- */

enum err time_lacks(struct script_run *m, struct sv self, const struct date_format *f)
{
    static const struct {
        const char *letters, *field;
        bool of_date, of_time;
    } table[] = {{"u", "Year", true, false},
                 {"y", "YearOfEra", true, false},
                 {"ML", "MonthOfYear", true, false},
                 {"d", "DayOfMonth", true, false},
                 {"D", "DayOfYear", true, false},
                 {"Eec", "DayOfWeek", true, false},
                 {"H", "HourOfDay", false, true},
                 {"k", "ClockHourOfDay", false, true},
                 {"K", "HourOfAmPm", false, true},
                 {"h", "ClockHourOfAmPm", false, true},
                 {"a", "AmPmOfDay", false, true},
                 {"m", "MinuteOfHour", false, true},
                 {"s", "SecondOfMinute", false, true},
                 {"Sn", "NanoOfSecond", false, true},
                 {"XxZO", "OffsetSeconds", false, false}};
    struct str pattern = date_format_pattern(f);
    bool date = self.aux != LOCAL_TIME, time = self.aux != LOCAL_DATE, quoted = false;
    for (size_t i = 0; i < pattern.n; i++) {
        quoted = quoted != (pattern.p[i] == '\'');
        for (size_t k = 0; !quoted && k < ARRAY_LEN(table); k++) {
            bool there = (table[k].of_date && date) || (table[k].of_time && time);
            if (!there && strchr(table[k].letters, pattern.p[i]) != NULL) {
                return err_set(m->em, ERR_UNSUPPORTED_TEMPORAL, "Unsupported field: %s", table[k].field);
            }
        }
    }
    return ERR_OK;
}

enum iso_part { ISO_DAY = 1, ISO_CLOCK = 2, ISO_ZONE = 4, ISO_ZONE_IF = 8, ISO_REGION = 16, ISO_GROUPS = 32 };

static const struct {
    const char *name, *day; /* how it writes a day */
    int parts;
} iso[] = {{"ISO_DATE", "uuuu-MM-dd", ISO_DAY | ISO_ZONE_IF},
           {"ISO_LOCAL_DATE", "uuuu-MM-dd", ISO_DAY},
           {"ISO_OFFSET_DATE", "uuuu-MM-dd", ISO_DAY | ISO_ZONE},
           {"BASIC_ISO_DATE", "uuuuMMdd", ISO_DAY | ISO_ZONE_IF},
           {"ISO_ORDINAL_DATE", "uuuu-DDD", ISO_DAY | ISO_ZONE_IF},
           {"ISO_TIME", "", ISO_CLOCK | ISO_ZONE_IF},
           {"ISO_LOCAL_TIME", "", ISO_CLOCK},
           {"ISO_OFFSET_TIME", "", ISO_CLOCK | ISO_ZONE},
           {"ISO_DATE_TIME", "uuuu-MM-dd", ISO_DAY | ISO_CLOCK | ISO_ZONE_IF | ISO_REGION},
           {"ISO_LOCAL_DATE_TIME", "uuuu-MM-dd", ISO_DAY | ISO_CLOCK},
           {"ISO_OFFSET_DATE_TIME", "uuuu-MM-dd", ISO_DAY | ISO_CLOCK | ISO_ZONE},
           {"ISO_ZONED_DATE_TIME", "uuuu-MM-dd", ISO_DAY | ISO_CLOCK | ISO_ZONE | ISO_REGION},
           {"ISO_INSTANT", "uuuu-MM-dd", ISO_DAY | ISO_CLOCK | ISO_ZONE | ISO_GROUPS}};

uint32_t iso_constant(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(iso); i++) {
        if (str_is(name, iso[i].name)) {
            return (uint32_t)i + 1;
        }
    }
    return 0;
}

/* The pattern of a constant: for reading with what may be there, for writing with what is. */
static enum err iso_pattern(struct script_run *m, uint32_t constant, const char *clock, const char *zone,
                            const struct date_format **out)
{
    int parts = iso[constant - 1].parts;
    bool both = (parts & ISO_DAY) != 0 && (parts & ISO_CLOCK) != 0;
    char pattern[128];
    snprintf(pattern, sizeof(pattern), "%s%s%s%s", iso[constant - 1].day, both ? "'T'" : "",
             (parts & ISO_CLOCK) != 0 ? clock : "", zone);
    return date_format_new(out, str_of(pattern), &m->mem, m->em);
}

enum err iso_format(struct script_run *m, uint32_t constant, struct sv *out)
{
    int parts = iso[constant - 1].parts;
    const struct date_format *f = NULL;
    enum err e = iso_pattern(m, constant, "HH:mm[:ss[.SSSSSSSSS][.SSSSSS][.SSS][.SS][.S]]",
                             (parts & ISO_REGION) != 0    ? "[XXX]['['VV']']"
                             : (parts & ISO_ZONE_IF) != 0 ? "[XXX]"
                             : (parts & ISO_ZONE) != 0    ? "XXX"
                                                          : "",
                             &f);
    *out = (struct sv){.kind = SV_FORMATTER, .aux = constant, .format = f};
    return e;
}

/* What the value has not. */
static const char *iso_lacks(int parts, struct sv v)
{
    bool local = v.kind == SV_LOCAL;
    return (parts & ISO_GROUPS) != 0 && local                         ? "InstantSeconds"
           : (parts & ISO_DAY) != 0 && local && v.aux == LOCAL_TIME   ? "Year"
           : (parts & ISO_CLOCK) != 0 && local && v.aux == LOCAL_DATE ? "HourOfDay"
           : (parts & ISO_ZONE) != 0 && local                         ? "OffsetSeconds"
                                                                      : NULL;
}

enum err iso_print(struct script_run *m, uint32_t constant, struct sv v, struct sv *out)
{
    int parts = iso[constant - 1].parts;
    const char *lacks = iso_lacks(parts, v);
    const struct date_format *f = NULL;
    char clock[32] = "HH:mm:ss";
    int digits = 9;
    if (lacks != NULL) {
        return err_set(m->em, ERR_UNSUPPORTED_TEMPORAL, "Unsupported field: %s", lacks);
    }
    for (int32_t nanos = v.date->t.nanos; digits > 0 && nanos % 10 == 0; digits--) {
        nanos /= 10;
    }
    if ((parts & ISO_GROUPS) != 0) { /* the moment in UTC, with digits in groups of three */
        digits = (digits + 2) / 3 * 3;
        enum err moved = vm_date(m, SV_DATE, v.date->t, &zone_utc, &v);
        if (moved != ERR_OK) {
            return moved;
        }
    }
    if (digits > 0) {
        snprintf(clock, sizeof(clock), "HH:mm:ss.%.*s", digits, "SSSSSSSSS");
    }
    struct str id = v.date->zone->id;
    bool zoned = v.kind == SV_DATE && (parts & (ISO_ZONE | ISO_ZONE_IF)) != 0;
    bool region = zoned && (parts & ISO_REGION) != 0 && id.p[0] >= 'A' && id.p[0] != 'Z';
    bool basic = str_starts(str_of(iso[constant - 1].name), STR("BASIC"));
    enum err e = iso_pattern(m, constant, clock,
                             region   ? "XXX'['VV']'"
                             : !zoned ? ""
                             : basic  ? "XX"
                                      : "XXX",
                             &f);
    struct sv formatter = {.kind = SV_FORMATTER, .format = f};
    return e == ERR_OK ? vm_method(m, v, STR("format"), &formatter, 1, out) : e;
}
