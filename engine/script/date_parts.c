/* The calendar and clock fields of a moment, by the names of getters and of ChronoField. */
#include "engine/script/time.h"

struct parts date_parts(const struct sv_date *d)
{
    struct parts p;
    p.offset = zone_offset(d->zone, instant_to_ms(d->t)) / 1000;
    int64_t local = d->t.seconds + p.offset;
    p.days = local / 86400 - (local % 86400 < 0 ? 1 : 0);
    p.second_of_day = local - p.days * 86400;
    civil_of_days(p.days, &p.year, &p.month, &p.day);
    return p;
}

static int64_t iso_week_start(int64_t year)
{
    int64_t fourth = civil_to_days(year, 1, 4);
    return fourth - civil_weekday(fourth) + 1;
}

static int64_t week_year(const struct parts *p)
{
    return p->days < iso_week_start(p->year)        ? p->year - 1
           : p->days >= iso_week_start(p->year + 1) ? p->year + 1
                                                    : p->year;
}

enum part {
    PART_YEAR,
    PART_MONTH,
    PART_MONTH_ENUM,
    PART_DAY,
    PART_DAY_OF_YEAR,
    PART_WEEKDAY,
    PART_WEEKDAY_ENUM,
    PART_HOUR,
    PART_MINUTE,
    PART_SECOND,
    PART_NANO,
    PART_MILLI,
    PART_MINUTE_OF_DAY,
    PART_SECOND_OF_DAY,
    PART_MILLI_OF_DAY,
    PART_WEEK,
    PART_WEEK_YEAR,
    PART_CENTURY,
    PART_YEAR_OF_CENTURY,
    PART_ERA,
    PART_MILLIS,
    PART_EPOCH_SECOND
};

static const struct {
    const char *name;
    enum part part;
} getters[] = {{"getYear", PART_YEAR},
               {"getYearOfEra", PART_YEAR},
               {"getMonthValue", PART_MONTH},
               {"getMonthOfYear", PART_MONTH},
               {"getMonth", PART_MONTH_ENUM},
               {"getDayOfMonth", PART_DAY},
               {"getDayOfYear", PART_DAY_OF_YEAR},
               {"getDayOfWeek", PART_WEEKDAY},
               {"getDayOfWeekEnum", PART_WEEKDAY_ENUM},
               {"getHour", PART_HOUR},
               {"getHourOfDay", PART_HOUR},
               {"getMinute", PART_MINUTE},
               {"getMinuteOfHour", PART_MINUTE},
               {"getSecond", PART_SECOND},
               {"getSecondOfMinute", PART_SECOND},
               {"getNano", PART_NANO},
               {"getMillisOfSecond", PART_MILLI},
               {"getMinuteOfDay", PART_MINUTE_OF_DAY},
               {"getSecondOfDay", PART_SECOND_OF_DAY},
               {"getMillisOfDay", PART_MILLI_OF_DAY},
               {"getWeekOfWeekyear", PART_WEEK},
               {"getWeekyear", PART_WEEK_YEAR},
               {"getCenturyOfEra", PART_CENTURY},
               {"getYearOfCentury", PART_YEAR_OF_CENTURY},
               {"getEra", PART_ERA},
               {"getMillis", PART_MILLIS},
               {"toEpochMilli", PART_MILLIS},
               {"toEpochSecond", PART_EPOCH_SECOND},
               {"getEpochSecond", PART_EPOCH_SECOND}};

static struct sv part_value(const struct sv_date *d, enum part part)
{
    struct parts p = date_parts(d);
    int64_t v = 0;
    switch (part) {
    case PART_MONTH_ENUM:
        return (struct sv){.kind = SV_ENUM, .aux = ENUM_MONTH, .i = p.month};
    case PART_WEEKDAY_ENUM:
        return (struct sv){.kind = SV_ENUM, .aux = ENUM_WEEKDAY, .i = civil_weekday(p.days)};
    case PART_MILLIS:
        return sv_long(instant_to_ms(d->t));
    case PART_EPOCH_SECOND:
        return sv_long(d->t.seconds);
    case PART_YEAR:
        v = p.year;
        break;
    case PART_MONTH:
        v = p.month;
        break;
    case PART_DAY:
        v = p.day;
        break;
    case PART_DAY_OF_YEAR:
        v = p.days - civil_to_days(p.year, 1, 1) + 1;
        break;
    case PART_WEEKDAY:
        v = civil_weekday(p.days);
        break;
    case PART_HOUR:
        v = p.second_of_day / 3600;
        break;
    case PART_MINUTE:
        v = p.second_of_day / 60 % 60;
        break;
    case PART_SECOND:
        v = p.second_of_day % 60;
        break;
    case PART_NANO:
        v = d->t.nanos;
        break;
    case PART_MILLI:
        v = d->t.nanos / 1000000;
        break;
    case PART_MINUTE_OF_DAY:
        v = p.second_of_day / 60;
        break;
    case PART_SECOND_OF_DAY:
        v = p.second_of_day;
        break;
    case PART_MILLI_OF_DAY:
        v = p.second_of_day * 1000 + d->t.nanos / 1000000;
        break;
    case PART_WEEK:
        v = (p.days - iso_week_start(week_year(&p))) / 7 + 1;
        break;
    case PART_WEEK_YEAR:
        v = week_year(&p);
        break;
    case PART_CENTURY:
        v = p.year / 100;
        break;
    case PART_YEAR_OF_CENTURY:
        v = p.year % 100;
        break;
    case PART_ERA:
        v = p.year > 0;
        break;
    }
    return sv_int((int32_t)v);
}

bool date_getter(struct sv self, struct str name, struct sv *out)
{
    for (size_t i = 0; i < ARRAY_LEN(getters); i++) {
        if (str_is(name, getters[i].name)) {
            enum part part = getters[i].part;
            bool plain = self.kind != SV_DATE || self.aux != DATE_OF_DOC;
            *out = part_value(self.date, part == PART_WEEKDAY && plain ? PART_WEEKDAY_ENUM : part);
            return true;
        }
    }
    return false;
}

/* ---- ChronoField ---- */

static const struct {
    const char *name;
    enum part part;
} fields[] = {{"YEAR", PART_YEAR},
              {"MONTH_OF_YEAR", PART_MONTH},
              {"DAY_OF_MONTH", PART_DAY},
              {"DAY_OF_YEAR", PART_DAY_OF_YEAR},
              {"DAY_OF_WEEK", PART_WEEKDAY},
              {"HOUR_OF_DAY", PART_HOUR},
              {"MINUTE_OF_HOUR", PART_MINUTE},
              {"SECOND_OF_MINUTE", PART_SECOND},
              {"NANO_OF_SECOND", PART_NANO},
              {"MILLI_OF_SECOND", PART_MILLI},
              {"MINUTE_OF_DAY", PART_MINUTE_OF_DAY},
              {"SECOND_OF_DAY", PART_SECOND_OF_DAY},
              {"MILLI_OF_DAY", PART_MILLI_OF_DAY}};

int date_field_index(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        if (str_is(name, fields[i].name)) {
            return (int)i;
        }
    }
    return -1;
}

static const char *field_words(int64_t field)
{
    static const char *const words[] = {"Year",         "MonthOfYear",   "DayOfMonth",   "DayOfYear",
                                        "DayOfWeek",    "HourOfDay",     "MinuteOfHour", "SecondOfMinute",
                                        "NanoOfSecond", "MilliOfSecond", "MinuteOfDay",  "SecondOfDay",
                                        "MilliOfDay"};
    return words[field];
}

/* get(ChronoField) */
enum err date_get_field(struct script_run *m, struct sv self, struct sv *a, UNUSED uint32_t n, struct sv *out)
{
    if (a[0].kind != SV_TYPE || a[0].aux != TYPE_CHRONO_FIELD) {
        return a[0].kind == SV_NULL ? vm_null(m, "getFrom(java.time.temporal.TemporalAccessor)")
                                    : vm_class_cast(m, a[0], "java.time.temporal.TemporalField");
    }
    enum part part = fields[a[0].i].part;
    bool of_date = part <= PART_WEEKDAY_ENUM, below = part == PART_NANO || part == PART_MILLI;
    bool lacking = self.kind == SV_INSTANT
                       ? !below
                       : self.kind == SV_LOCAL && (of_date ? self.aux == LOCAL_TIME : self.aux == LOCAL_DATE);
    if (lacking) {
        return err_set(m->em, ERR_UNSUPPORTED_TEMPORAL, "Unsupported field: %s", field_words(a[0].i));
    }
    *out = part_value(self.date, part);
    return ERR_OK;
}
