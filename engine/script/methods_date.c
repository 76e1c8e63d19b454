/* Methods of dates (ZonedDateTime with the names of older versions beside) and instants. */
#include "engine/script/time.h"

/* ---- moving ---- */

static const struct {
    const char *name; /* plus..., minus...; ChronoUnit's names in upper case */
    char unit;        /* y M w d h m s, S milliseconds, n nanoseconds */
    int64_t nanos;    /* of one; 0 for calendar units */
} units[] = {{"Years", 'y', 0},
             {"Months", 'M', 0},
             {"Weeks", 'w', 0},
             {"Days", 'd', 0},
             {"Hours", 'h', 3600000000000LL},
             {"Minutes", 'm', 60000000000LL},
             {"Seconds", 's', 1000000000LL},
             {"Millis", 'S', 1000000},
             {"Micros", 'u', 1000},
             {"Nanos", 'n', 1}};

static enum err at_wall_clock(struct script_run *m, const struct sv_date *d, int64_t days,
                              int64_t second_of_day, struct sv *out)
{
    if (days > 100000000 || days < -100000000) {
        return err_set(m->em, ERR_DATE_TIME, "Invalid value for Year");
    }
    int64_t utc = zone_to_utc(d->zone, (days * 86400 + second_of_day) * 1000);
    struct instant t = instant_of_ms(utc);
    t.nanos = d->t.nanos;
    return vm_date(m, SV_DATE, t, d->zone, out);
}

enum err date_plus(struct script_run *m, struct sv self, size_t unit, int64_t n, struct sv *out)
{
    const struct sv_date *d = self.date;
    struct parts p = date_parts(d);
    if (n > 100000000000LL || n < -100000000000LL) {
        return err_set(m->em, ERR_ARITHMETIC, "long overflow");
    }
    if (units[unit].nanos > 0) {
        struct instant t = d->t;
        int64_t per_second = 1000000000 / units[unit].nanos;
        if (per_second > 0) {
            t.seconds += n / per_second;
            int64_t nanos = t.nanos + n % per_second * units[unit].nanos;
            t.seconds += nanos / 1000000000 - (nanos % 1000000000 < 0 ? 1 : 0);
            t.nanos = (int32_t)((nanos % 1000000000 + 1000000000) % 1000000000);
        } else {
            t.seconds += n * (units[unit].nanos / 1000000000);
        }
        return vm_date(m, self.kind, t, d->zone, out);
    }
    if (n > 100000000 || n < -100000000) {
        return err_set(m->em, ERR_DATE_TIME, "Invalid value for Year");
    }
    switch (units[unit].unit) {
    case 'w':
        return at_wall_clock(m, d, p.days + 7 * n, p.second_of_day, out);
    case 'd':
        return at_wall_clock(m, d, p.days + n, p.second_of_day, out);
    default: {
        int64_t months = p.year * 12 + p.month - 1 + n * (units[unit].unit == 'y' ? 12 : 1);
        int64_t year = months / 12 - (months % 12 < 0 ? 1 : 0);
        int month = (int)(months - year * 12) + 1;
        if (year > 250000 || year < -250000) {
            return err_set(m->em, ERR_DATE_TIME, "Invalid value for Year");
        }
        int day = MIN_OF(p.day, civil_month_days(year, month));
        return at_wall_clock(m, d, civil_to_days(year, month, day), p.second_of_day, out);
    }
    }
}

/* plusDays, minusHours ... *found as in vm_table. */
static enum err move(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                     struct sv *out, bool *found)
{
    bool minus = str_starts(name, STR("minus"));
    int64_t by = 0;
    *found = false;
    if (n != 1 || (!minus && !str_starts(name, STR("plus")))) {
        return ERR_OK;
    }
    struct str unit = str_slice(name, minus ? 5 : 4, name.n);
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (str_is(unit, units[i].name)) {
            *found = true;
            enum err e = vm_arg_i64(m, a[0], &by);
            return e == ERR_OK ? date_plus(m, self, i, minus ? -by : by, out) : e;
        }
    }
    return ERR_OK;
}

static enum err with_part(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                          struct sv *out, bool *found)
{
    static const struct {
        const char *name;
        struct time_range range;
    } table[] = {{"withYear", {"Year", -250000, 250000}},   {"withMonth", {"MonthOfYear", 1, 12}},
                 {"withDayOfMonth", {"DayOfMonth", 1, 31}}, {"withDayOfYear", {"DayOfYear", 1, 366}},
                 {"withHour", {"HourOfDay", 0, 23}},        {"withMinute", {"MinuteOfHour", 0, 59}},
                 {"withSecond", {"SecondOfMinute", 0, 59}}, {"withNano", {"NanoOfSecond", 0, 999999999}}};
    const struct sv_date *d = self.date;
    struct parts p = date_parts(d);
    int64_t v = 0;
    size_t i = 0;
    while (i < ARRAY_LEN(table) && !str_is(name, table[i].name)) {
        i++;
    }
    *found = i < ARRAY_LEN(table) && n == 1;
    if (!*found) {
        return ERR_OK;
    }
    enum err e = vm_arg_i64(m, a[0], &v);
    e = e == ERR_OK ? time_within(m, v, &table[i].range) : e;
    if (e != ERR_OK) {
        return e;
    }
    int64_t days = p.days, second = p.second_of_day;
    struct sv_date changed = *d;
    switch (i) {
    case 0:
        days = civil_to_days(v, p.month, MIN_OF(p.day, civil_month_days(v, p.month)));
        break;
    case 1:
        days = civil_to_days(p.year, (int)v, MIN_OF(p.day, civil_month_days(p.year, (int)v)));
        break;
    case 2:
        e = time_day_of_month(m, p.year, p.month, v, &days);
        break;
    case 3:
        days = civil_to_days(p.year, 1, 1) + v - 1;
        break;
    case 4:
        second = v * 3600 + second % 3600;
        break;
    case 5:
        second = second / 3600 * 3600 + v * 60 + second % 60;
        break;
    case 6:
        second = second / 60 * 60 + v;
        break;
    default:
        changed.t.nanos = (int32_t)v;
    }
    return e == ERR_OK ? at_wall_clock(m, &changed, days, second, out) : e;
}

/* ---- the rest ---- */

static enum err other_moment(struct script_run *m, struct sv v, const struct sv_date **out)
{
    if (v.kind != SV_DATE && v.kind != SV_INSTANT && v.kind != SV_LOCAL) {
        return v.kind == SV_NULL ? vm_null(m, "toInstant()") : vm_class_cast(m, v, "java.time.ZonedDateTime");
    }
    *out = v.date;
    return ERR_OK;
}

static enum err order(struct script_run *m, struct sv self, struct sv other, int *out)
{
    const struct sv_date *d;
    enum err e = other_moment(m, other, &d);
    bool local = self.kind == SV_LOCAL || other.kind == SV_LOCAL;
    if (e == ERR_OK && local && (self.kind != other.kind || self.aux != other.aux)) {
        const char *to = self.kind != SV_LOCAL         ? "java.time.chrono.ChronoZonedDateTime"
                         : self.aux == LOCAL_DATE      ? "java.time.chrono.ChronoLocalDate"
                         : self.aux == LOCAL_DATE_TIME ? "java.time.chrono.ChronoLocalDateTime"
                                                       : sv_class(self);
        return err_set(m->em, ERR_CLASS_CAST, "Cannot cast %s to %s", sv_class(other), to);
    }
    if (e == ERR_OK) {
        other.kind = self.kind;
        (void)sv_compare(self, other, out);
    }
    return e;
}

METHOD(is_before)
{
    int r = 0;
    enum err e = order(m, self, a[0], &r);
    *out = sv_bool(r < 0);
    return e;
}

METHOD(is_after)
{
    int r = 0;
    enum err e = order(m, self, a[0], &r);
    *out = sv_bool(r > 0);
    return e;
}

METHOD(is_equal)
{
    int r = 0;
    enum err e = order(m, self, a[0], &r);
    *out = sv_bool(r == 0);
    return e;
}

METHOD(compare_to)
{
    int r = 0;
    enum err e = order(m, self, a[0], &r);
    *out = sv_int(r);
    return e;
}

METHOD(to_instant)
{
    return vm_date(m, SV_INSTANT, self.date->t, &zone_utc, out);
}

static enum err print(struct script_run *m, struct sv self, const struct date_format *f, struct sv *out)
{
    struct buf b;
    buf_init(&b, NULL, 4096);
    bool ok = date_print(f, self.date->t, self.date->zone, &b);
    enum err e = ok ? vm_str(m, buf_view(&b), out)
                    : err_set(m->em, ERR_DATE_TIME, "the pattern asks for what the date has not");
    buf_fini(&b);
    return e;
}

METHOD(format)
{
    struct str pattern;
    const struct date_format *f;
    if (a[0].kind == SV_FORMATTER) {
        enum err lacking = a[0].aux == 0 && self.kind == SV_LOCAL ? time_lacks(m, self, a[0].format) : ERR_OK;
        return lacking != ERR_OK ? lacking
               : a[0].aux != 0   ? iso_print(m, a[0].aux, self, out)
                                 : print(m, self, a[0].format, out);
    }
    enum err e = vm_arg_str(m, a[0], &pattern);
    e = e == ERR_OK ? date_format_new(&f, pattern, &m->mem, m->em) : e;
    return e == ERR_OK ? print(m, self, f, out) : e;
}

METHOD(in_zone)
{
    if (a[0].kind != SV_ZONE) {
        return a[0].kind == SV_NULL ? vm_null(m, "getRules()") : vm_class_cast(m, a[0], "java.time.ZoneId");
    }
    return vm_date(m, SV_DATE, self.date->t, a[0].zone, out);
}

METHOD(get_long_field)
{
    enum err e = date_get_field(m, self, a, n, out);
    *out = e == ERR_OK ? sv_long(out->i) : *out;
    return e;
}

METHOD(get_zone)
{
    *out = (struct sv){.kind = SV_ZONE, .zone = self.date->zone};
    return ERR_OK;
}

/* ChronoUnit's constant has its place in `units` as the value's number. */
METHOD(truncated_to)
{
    struct parts p = date_parts(self.date);
    if (a[0].kind != SV_TYPE || a[0].aux != TYPE_CHRONO_UNIT || a[0].i < 3) {
        return err_set(m->em, ERR_DATE_TIME, "Unit is too large to be used for truncation");
    }
    struct sv_date d = *self.date;
    char unit = units[a[0].i].unit;
    int64_t step = unit == 'd' ? 86400 : unit == 'h' ? 3600 : unit == 'm' ? 60 : 1;
    d.t.nanos = unit == 'S'   ? d.t.nanos / 1000000 * 1000000
                : unit == 'u' ? d.t.nanos / 1000 * 1000
                : unit == 'n' ? d.t.nanos
                              : 0;
    d.zone = self.kind == SV_INSTANT ? &zone_utc : d.zone;
    enum err e = at_wall_clock(m, &d, p.days, p.second_of_day / step * step, out);
    out->kind = self.kind;
    return e;
}

enum err methods_date(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                      struct sv *out, bool *found)
{
    static const struct method table[] = {
        {"isBefore", 1, is_before},       {"isAfter", 1, is_after},
        {"isEqual", 1, is_equal},         {"compareTo", 1, compare_to},
        {"toInstant", 0, to_instant},     {"format", 1, format},
        {"toString", 1, format},          {"withZoneSameInstant", 1, in_zone},
        {"atZone", 1, in_zone},           {"getZone", 0, get_zone},
        {"truncatedTo", 1, truncated_to}, {"get", 1, date_get_field},
        {"getLong", 1, get_long_field}};
    if (n == 0 && date_getter(self, name, out)) {
        *found = true;
        return ERR_OK;
    }
    enum err e = methods_moment(m, self, name, a, n, out, found);
    if (e == ERR_OK && !*found) {
        e = move(m, self, name, a, n, out, found);
    }
    if (e == ERR_OK && !*found) {
        e = with_part(m, self, name, a, n, out, found);
    }
    return e == ERR_OK && !*found ? vm_table(m, table, ARRAY_LEN(table), self, name, a, n, out, found) : e;
}

/* ChronoUnit.X.between(a, b): whole units from a to b. */
static int64_t months_between(const struct sv_date *a, const struct sv_date *b)
{
    struct parts p = date_parts(a), q = date_parts(b);
    int64_t months = (q.year - p.year) * 12 + q.month - p.month;
    int64_t in_month = (q.day - p.day) * 86400LL + q.second_of_day - p.second_of_day;
    int64_t nanos = in_month != 0 ? in_month : b->t.nanos - a->t.nanos;
    return months > 0 && nanos < 0 ? months - 1 : months < 0 && nanos > 0 ? months + 1 : months;
}

enum err date_between(struct script_run *m, int64_t unit, struct sv x, struct sv y, struct sv *out)
{
    const struct sv_date *a = NULL, *b = NULL;
    enum err e = other_moment(m, x, &a);
    e = e == ERR_OK ? other_moment(m, y, &b) : e;
    if (e != ERR_OK || a == NULL || b == NULL) {
        return e;
    }
    struct sv_date local;
    if (x.kind == SV_LOCAL && y.kind == SV_DATE) { /* counts to what its clock shows */
        local = *b;
        local.t.seconds += zone_offset(b->zone, instant_to_ms(b->t)) / 1000;
        local.zone = &zone_utc;
        b = &local;
    }
    if (x.kind == SV_LOCAL && x.aux != LOCAL_DATE_TIME && y.kind == SV_DATE) {
        int64_t second = local.t.seconds % 86400 + (local.t.seconds % 86400 < 0 ? 86400 : 0);
        local.t.seconds = x.aux == LOCAL_TIME ? second : local.t.seconds - second;
    }
    if (unit < 2) {
        *out = sv_long(months_between(a, b) / (unit == 0 ? 12 : 1));
        return ERR_OK;
    }
    int64_t seconds = b->t.seconds - a->t.seconds, nanos = b->t.nanos - a->t.nanos;
    if (seconds > 0 && nanos < 0) {
        seconds--;
        nanos += 1000000000;
    } else if (seconds < 0 && nanos > 0) {
        seconds++;
        nanos -= 1000000000;
    }
    int64_t each = unit == 2 ? 7 * 86400 : unit == 3 ? 86400 : units[unit].nanos / 1000000000;
    *out = each > 0 ? sv_long(seconds / each)
                    : sv_long(seconds * (1000000000 / units[unit].nanos) + nanos / units[unit].nanos);
    return ERR_OK;
}

struct str date_unit_name(int64_t unit)
{
    return str_of(units[unit].name);
}

/* The place of a ChronoUnit's name ("DAYS"), or -1. */
int date_unit_index(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (str_eq_nocase(name, str_of(units[i].name))) {
            return (int)i;
        }
    }
    return -1;
}
