/* Dates and times without a zone, and durations: their methods, statics and constants. */
#include "engine/script/allow.h"
#include "engine/script/time.h"

__extension__ typedef __int128 wide; /* nanoseconds of any duration */

#define DAY         86400
#define BILLION     1000000000
#define SECONDS_MAX 31556889864403199LL /* of Java's last instant */

/* ---- making them ---- */

enum err vm_local(struct script_run *m, enum sv_local form, struct instant t, struct sv *out)
{
    int64_t second = t.seconds % DAY + (t.seconds % DAY < 0 ? DAY : 0);
    if (t.seconds > SECONDS_MAX || t.seconds < -SECONDS_MAX) {
        return err_set(m->em, ERR_DATE_TIME, "Invalid value for Year");
    }
    if (form == LOCAL_TIME) {
        t.seconds = second;
    } else if (form == LOCAL_DATE) {
        t = (struct instant){t.seconds - second, 0};
    }
    enum err e = vm_date(m, SV_LOCAL, t, &zone_utc, out);
    out->aux = form;
    return e;
}

enum err vm_duration(struct script_run *m, struct instant length, struct sv *out)
{
    return vm_date(m, SV_DURATION, length, &zone_utc, out);
}

/* What a moment shows on the clock of its zone. */
static struct instant on_clock(struct sv v)
{
    struct instant t = v.date->t;
    t.seconds += v.kind == SV_LOCAL ? 0 : zone_offset(v.date->zone, instant_to_ms(t)) / 1000;
    return t;
}

enum err time_in_zone(struct script_run *m, struct instant local, struct sv zone, struct sv *out)
{
    if (zone.kind != SV_ZONE) {
        return zone.kind == SV_NULL ? vm_null(m, "getRules()") : vm_class_cast(m, zone, "java.time.ZoneId");
    }
    struct instant t = instant_of_ms(zone_to_utc(zone.zone, local.seconds * 1000));
    t.nanos = local.nanos;
    return vm_date(m, SV_DATE, t, zone.zone, out);
}

/* Months and years differ in how many days they have. */
static const char *least_max(const struct time_range *r)
{
    return strcmp(r->name, "DayOfMonth") == 0 ? "28/" : strcmp(r->name, "DayOfYear") == 0 ? "365/" : "";
}

enum err time_within(struct script_run *m, int64_t v, const struct time_range *r)
{
    return v >= r->min && v <= r->max
               ? ERR_OK
               : err_set(m->em, ERR_DATE_TIME, "Invalid value for %s (valid values %lld - %s%lld): %lld",
                         r->name, (long long)r->min, least_max(r), (long long)r->max, (long long)v);
}

/* Hours, minutes, seconds and nanoseconds, of which the last ones may be missing. */
enum err time_clock(struct script_run *m, const struct sv *a, uint32_t n, struct instant *out)
{
    static const struct time_range ranges[] = {{"HourOfDay", 0, 23},
                                               {"MinuteOfHour", 0, 59},
                                               {"SecondOfMinute", 0, 59},
                                               {"NanoOfSecond", 0, BILLION - 1}};
    int64_t v[4] = {0};
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < n && i < 4; i++) {
        e = vm_arg_i64(m, a[i], &v[i]);
        e = e == ERR_OK ? time_within(m, v[i], &ranges[i]) : e;
    }
    *out = (struct instant){(v[0] * 60 + v[1]) * 60 + v[2], (int32_t)v[3]};
    return e;
}

enum err time_day_of_month(struct script_run *m, int64_t year, int64_t month, int64_t day, int64_t *days)
{
    static const char *const months[] = {"JANUARY",   "FEBRUARY", "MARCH",    "APRIL",
                                         "MAY",       "JUNE",     "JULY",     "AUGUST",
                                         "SEPTEMBER", "OCTOBER",  "NOVEMBER", "DECEMBER"};
    if (day > civil_month_days(year, (int)month)) {
        return day == 29 ? err_set(m->em, ERR_DATE_TIME,
                                   "Invalid date 'February 29' as '%lld' is not a leap year", (long long)year)
                         : err_set(m->em, ERR_DATE_TIME, "Invalid date '%s %lld'", months[month - 1],
                                   (long long)day);
    }
    *days = civil_to_days(year, (int)month, (int)day);
    return ERR_OK;
}

enum err time_day(struct script_run *m, const struct sv *a, int64_t *days)
{
    static const struct time_range ranges[] = {
        {"Year", -999999999, 999999999}, {"MonthOfYear", 1, 12}, {"DayOfMonth", 1, 31}};
    int64_t v[3];
    enum err e = ERR_OK;
    for (int i = 0; e == ERR_OK && i < 3; i++) {
        e = vm_arg_i64(m, a[i], &v[i]);
        e = e == ERR_OK ? time_within(m, v[i], &ranges[i]) : e;
    }
    return e == ERR_OK ? time_day_of_month(m, v[0], v[1], v[2], days) : e;
}

enum err time_arg(struct script_run *m, struct sv v, enum sv_local form, struct instant *out)
{
    struct type t = {.id = (enum type_id)(TYPE_LOCAL_DATE + (int)form)};
    if (v.kind != SV_LOCAL || v.aux != form) {
        return v.kind == SV_NULL ? vm_null(m, "toString()") : vm_class_cast(m, v, type_java(t).s);
    }
    *out = v.date->t;
    return ERR_OK;
}

/* ---- methods ---- */

METHOD(at_start_of_day)
{
    return n > 0 ? time_in_zone(m, self.date->t, a[0], out) : vm_local(m, LOCAL_DATE_TIME, self.date->t, out);
}

METHOD(at_time)
{
    struct instant time = {0, 0}, t = self.date->t;
    enum err e = n == 1 ? time_arg(m, a[0], LOCAL_TIME, &time) : time_clock(m, a, n, &time);
    t.seconds += time.seconds;
    t.nanos = time.nanos;
    return e == ERR_OK ? vm_local(m, LOCAL_DATE_TIME, t, out) : e;
}

METHOD(at_date)
{
    struct instant date = {0, 0};
    enum err e = time_arg(m, a[0], LOCAL_DATE, &date);
    date.seconds += self.date->t.seconds;
    date.nanos = self.date->t.nanos;
    return e == ERR_OK ? vm_local(m, LOCAL_DATE_TIME, date, out) : e;
}

METHOD(at_zone)
{
    return time_in_zone(m, self.date->t, a[0], out);
}

/* What both local and zoned moments give. */
METHOD(to_local_date)
{
    return vm_local(m, LOCAL_DATE, on_clock(self), out);
}

METHOD(to_local_time)
{
    return vm_local(m, LOCAL_TIME, on_clock(self), out);
}

METHOD(to_local_date_time)
{
    return vm_local(m, LOCAL_DATE_TIME, on_clock(self), out);
}

static int64_t civil_year(struct sv v, int *month)
{
    int64_t year;
    int day;
    civil_of_days(v.date->t.seconds / DAY - (v.date->t.seconds % DAY < 0 ? 1 : 0), &year, month, &day);
    return year;
}

METHOD(is_leap)
{
    int month;
    *out = sv_bool(civil_is_leap(civil_year(self, &month)));
    return ERR_OK;
}

METHOD(length_of_month)
{
    int month;
    int64_t year = civil_year(self, &month);
    *out = sv_int(civil_month_days(year, month));
    return ERR_OK;
}

METHOD(length_of_year)
{
    int month;
    *out = sv_int(civil_is_leap(civil_year(self, &month)) ? 366 : 365);
    return ERR_OK;
}

METHOD(to_epoch_day)
{
    *out = sv_long(self.date->t.seconds / DAY);
    return ERR_OK;
}

METHOD(to_second_of_day)
{
    *out = sv_int((int32_t)self.date->t.seconds);
    return ERR_OK;
}

METHOD(to_nano_of_day)
{
    *out = sv_long(self.date->t.seconds * BILLION + self.date->t.nanos);
    return ERR_OK;
}

enum err methods_local(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                       struct sv *out, bool *found)
{
    static const struct method table[] = {{"atStartOfDay", -1, at_start_of_day},
                                          {"atTime", -1, at_time},
                                          {"atDate", 1, at_date},
                                          {"atZone", 1, at_zone},
                                          {"toLocalDate", 0, to_local_date},
                                          {"toLocalTime", 0, to_local_time},
                                          {"isLeapYear", 0, is_leap},
                                          {"lengthOfMonth", 0, length_of_month},
                                          {"lengthOfYear", 0, length_of_year},
                                          {"toEpochDay", 0, to_epoch_day},
                                          {"toSecondOfDay", 0, to_second_of_day},
                                          {"toNanoOfDay", 0, to_nano_of_day}};
    struct type t = {.id = (enum type_id)(TYPE_LOCAL_DATE + (int)self.aux)};
    struct allowed ignored;
    if (!allow_find(t, ALLOW_METHOD, name, n, &ignored)) {
        return ERR_OK;
    }
    enum err e = vm_table(m, table, ARRAY_LEN(table), self, name, a, n, out, found);
    if (e != ERR_OK || *found) {
        return e;
    }
    e = methods_date(m, self, name, a, n, out, found);
    bool moved = e == ERR_OK && *found && (out->kind == SV_DATE || out->kind == SV_LOCAL);
    return moved ? vm_local(m, (enum sv_local)self.aux, out->date->t, out) : e;
}

/* ---- durations ---- */

static enum err overflow(struct script_run *m)
{
    return err_set(m->em, ERR_ARITHMETIC, "long overflow");
}

/* Seconds and any number of nanoseconds. */
static enum err length(struct script_run *m, wide nanos, struct sv *out)
{
    wide seconds = nanos / BILLION - (nanos % BILLION < 0 ? 1 : 0);
    if (seconds > INT64_MAX || seconds < INT64_MIN) {
        return overflow(m);
    }
    return vm_duration(m, (struct instant){(int64_t)seconds, (int32_t)(nanos - seconds * BILLION)}, out);
}

static wide nanos_of(struct instant t)
{
    return (wide)t.seconds * BILLION + t.nanos;
}

static const struct {
    const char *name;
    int64_t nanos;
} lengths[] = {{"Days", 86400000000000LL},
               {"Hours", 3600000000000LL},
               {"Minutes", 60000000000LL},
               {"Seconds", BILLION},
               {"Millis", 1000000},
               {"Micros", 1000},
               {"Nanos", 1}};

static int64_t length_named(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        if (str_eq_nocase(name, str_of(lengths[i].name))) {
            return lengths[i].nanos;
        }
    }
    return 0;
}

/* How long a ChronoUnit's constant is. */
static enum err unit_length(struct script_run *m, struct sv unit, int64_t *out)
{
    if (unit.kind != SV_TYPE || unit.aux != TYPE_CHRONO_UNIT) {
        return unit.kind == SV_NULL ? vm_null(m, "isDurationEstimated()")
                                    : vm_class_cast(m, unit, "java.time.temporal.TemporalUnit");
    }
    *out = length_named(date_unit_name(unit.i));
    return *out > 0 ? ERR_OK : err_set(m->em, ERR_DATE_TIME, "Unit must not have an estimated duration");
}

/* plusDays, minus(Duration), toHours, multipliedBy ... */
static enum err duration_moved(struct script_run *m, struct sv self, struct str unit, bool minus,
                               struct sv *a, uint32_t n, struct sv *out, bool *found)
{
    wide by = 0;
    int64_t count = 0, each = length_named(unit);
    enum err e;
    if (unit.n == 0 && n == 1) {
        *found = true;
        if (a[0].kind != SV_DURATION) {
            return a[0].kind == SV_NULL ? vm_null(m, "getSeconds()")
                                        : vm_class_cast(m, a[0], "java.time.Duration");
        }
        by = nanos_of(a[0].date->t);
    } else if ((unit.n == 0 && n == 2) || (each > 0 && n == 1)) {
        *found = true;
        e = vm_arg_i64(m, a[0], &count);
        e = e == ERR_OK && n == 2 ? unit_length(m, a[1], &each) : e;
        if (e != ERR_OK) {
            return e;
        }
        by = (wide)count * each;
    } else {
        return ERR_OK;
    }
    return length(m, nanos_of(self.date->t) + (minus ? -by : by), out);
}

METHOD(duration_times)
{
    int64_t by = 0;
    enum err e = vm_arg_i64(m, a[0], &by);
    wide all;
    if (e == ERR_OK && __builtin_mul_overflow(nanos_of(self.date->t), (wide)by, &all)) {
        return overflow(m);
    }
    return e == ERR_OK ? length(m, all, out) : e;
}

METHOD(duration_over)
{
    int64_t by = 0;
    enum err e = vm_arg_i64(m, a[0], &by);
    if (e == ERR_OK && by == 0) {
        return err_set(m->em, ERR_ARITHMETIC, "Cannot divide by zero");
    }
    return e == ERR_OK ? length(m, nanos_of(self.date->t) / by, out) : e;
}

METHOD(duration_negated)
{
    return length(m, -nanos_of(self.date->t), out);
}

METHOD(duration_abs)
{
    wide all = nanos_of(self.date->t);
    return length(m, all < 0 ? -all : all, out);
}

METHOD(duration_negative)
{
    *out = sv_bool(self.date->t.seconds < 0);
    return ERR_OK;
}

METHOD(duration_zero)
{
    *out = sv_bool(self.date->t.seconds == 0 && self.date->t.nanos == 0);
    return ERR_OK;
}

METHOD(duration_seconds)
{
    *out = sv_long(self.date->t.seconds);
    return ERR_OK;
}

METHOD(duration_nano)
{
    *out = sv_int(self.date->t.nanos);
    return ERR_OK;
}

/* toDays ... : whole units, those of a second and more of the seconds alone. */
static enum err duration_in(struct script_run *m, struct sv self, int64_t unit, struct sv *out)
{
    struct instant t = self.date->t;
    if (unit >= BILLION) {
        *out = sv_long(t.seconds / (unit / BILLION));
        return ERR_OK;
    }
    wide all = nanos_of(t);
    all = all / unit - (unit > 1 && all % unit < 0 ? 1 : 0);
    if (all > INT64_MAX || all < INT64_MIN) {
        return overflow(m);
    }
    *out = sv_long((int64_t)all);
    return ERR_OK;
}

enum err methods_duration(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                          struct sv *out, bool *found)
{
    static const struct method table[] = {
        {"multipliedBy", 1, duration_times}, {"dividedBy", 1, duration_over},
        {"negated", 0, duration_negated},    {"abs", 0, duration_abs},
        {"isZero", 0, duration_zero},        {"isNegative", 0, duration_negative},
        {"getSeconds", 0, duration_seconds}, {"getNano", 0, duration_nano}};
    struct allowed ignored;
    if (!allow_find((struct type){.id = TYPE_DURATION}, ALLOW_METHOD, name, n, &ignored)) {
        return ERR_OK;
    }
    if (str_starts(name, STR("plus"))) {
        return duration_moved(m, self, str_slice(name, 4, name.n), false, a, n, out, found);
    }
    if (str_starts(name, STR("minus"))) {
        return duration_moved(m, self, str_slice(name, 5, name.n), true, a, n, out, found);
    }
    if (str_starts(name, STR("to")) && length_named(str_slice(name, 2, name.n)) > 0) {
        *found = true;
        return duration_in(m, self, length_named(str_slice(name, 2, name.n)), out);
    }
    return vm_table(m, table, ARRAY_LEN(table), self, name, a, n, out, found);
}

/* ---- of both kinds of moments ---- */

/* plus and minus: a duration, or a number of units. */
static enum err shifted(struct script_run *m, struct sv self, struct sv *a, uint32_t n, bool minus,
                        struct sv *out)
{
    int64_t count = 0;
    if (n == 2) {
        enum err e = vm_arg_i64(m, a[0], &count);
        if (e == ERR_OK && (a[1].kind != SV_TYPE || a[1].aux != TYPE_CHRONO_UNIT)) {
            return a[1].kind == SV_NULL ? vm_null(m, "addTo(java.time.temporal.Temporal, long)")
                                        : vm_class_cast(m, a[1], "java.time.temporal.TemporalUnit");
        }
        e = e == ERR_OK ? date_plus(m, self, (size_t)a[1].i, minus ? -count : count, out) : e;
        out->kind = e == ERR_OK && self.kind == SV_INSTANT ? SV_INSTANT : out->kind;
        return e;
    }
    if (a[0].kind != SV_DURATION) {
        return a[0].kind == SV_NULL ? vm_null(m, "addTo(java.time.temporal.Temporal)")
                                    : vm_class_cast(m, a[0], "java.time.temporal.TemporalAmount");
    }
    if (self.kind == SV_LOCAL && self.aux == LOCAL_DATE) {
        return err_set(m->em, ERR_UNSUPPORTED_TEMPORAL, "Unsupported unit: Seconds");
    }
    wide by = nanos_of(a[0].date->t), all = nanos_of(self.date->t) + (minus ? -by : by);
    struct sv moved;
    enum err e = length(m, all, &moved);
    if (e != ERR_OK) {
        return e;
    }
    if (moved.date->t.seconds > SECONDS_MAX || moved.date->t.seconds < -SECONDS_MAX) {
        return err_set(m->em, ERR_DATE_TIME, "Instant exceeds minimum or maximum instant");
    }
    return vm_date(m, self.kind, moved.date->t, self.date->zone, out);
}

METHOD(plus_amount)
{
    return shifted(m, self, a, n, false, out);
}

METHOD(minus_amount)
{
    return shifted(m, self, a, n, true, out);
}

METHOD(until)
{
    if (a[1].kind != SV_TYPE || a[1].aux != TYPE_CHRONO_UNIT) {
        return vm_class_cast(m, a[1], "java.time.temporal.TemporalUnit");
    }
    return date_between(m, a[1].i, self, a[0], out);
}

enum err methods_moment(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                        struct sv *out, bool *found)
{
    static const struct method amounts[] = {{"plus", 1, plus_amount},
                                            {"plus", 2, plus_amount},
                                            {"minus", 1, minus_amount},
                                            {"minus", 2, minus_amount},
                                            {"until", 2, until}};
    static const struct method zoned[] = {{"toLocalDate", 0, to_local_date},
                                          {"toLocalTime", 0, to_local_time},
                                          {"toLocalDateTime", 0, to_local_date_time}};
    enum err e = vm_table(m, amounts, ARRAY_LEN(amounts), self, name, a, n, out, found);
    return e == ERR_OK && !*found && self.kind == SV_DATE
               ? vm_table(m, zoned, ARRAY_LEN(zoned), self, name, a, n, out, found)
               : e;
}
