/* time.h - moments, dates and times without a zone, and durations in scripts. Private to engine/script. */
#ifndef ENGINE_SCRIPT_TIME_H
#define ENGINE_SCRIPT_TIME_H

#include "engine/script/vm.h"

struct time_range {
    const char *name; /* as java.time names it */
    int64_t min, max;
};

/* Values in the run's memory. A local one is the wall clock's seconds since 1970, of which a date keeps whole days and a time
 * what is above them. ERR_DATE_TIME beyond Java's last year. */
enum err vm_date(struct script_run *m, enum sv_kind kind, struct instant t, const struct zone *zone,
                 struct sv *out);
enum err vm_local(struct script_run *m, enum sv_local form, struct instant t, struct sv *out);
enum err vm_duration(struct script_run *m, struct instant length, struct sv *out);

/* Arguments: ERR_DATE_TIME for one that is out of its range. A clock has hours, minutes, seconds and nanoseconds, of which the last
 * ones may be missing; a day has year, month and day of the month. */
enum err time_within(struct script_run *m, int64_t v, const struct time_range *r);
enum err time_clock(struct script_run *m, const struct sv *a, uint32_t n, struct instant *out);
enum err time_day(struct script_run *m, const struct sv *a, int64_t *days);
/* ERR_DATE_TIME where the month has no such day. */
enum err time_day_of_month(struct script_run *m, int64_t year, int64_t month, int64_t day, int64_t *days);
/* ERR_CLASS_CAST for what is no local value of this form. */
enum err time_arg(struct script_run *m, struct sv v, enum sv_local form, struct instant *out);
/* What a local time is in a zone. */
enum err time_in_zone(struct script_run *m, struct instant local, struct sv zone, struct sv *out);
/* ERR_UNSUPPORTED_TEMPORAL where a pattern asks for what a local value has not. */
enum err time_lacks(struct script_run *m, struct sv self, const struct date_format *f);
/* Makes what a parser of dates said the error of a script. */
enum err vm_unparsed(struct script_run *m, struct str text);

/* Methods of moments, of local values, of durations; those of moments with and without a zone. */
enum err methods_date(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                      struct sv *out, bool *found);
enum err methods_local(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                       struct sv *out, bool *found);
enum err methods_duration(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                          struct sv *out, bool *found);
enum err methods_moment(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                        struct sv *out, bool *found);
/* Constants of LocalTime and Duration (statics_time.c). */
bool time_constant(enum type_id type, struct str name, struct instant *out);
/* Moves a moment by n units (their place in ChronoUnit's table). */
enum err date_plus(struct script_run *m, struct sv self, size_t unit, int64_t n, struct sv *out);
/* DateTimeFormatter's constants: 0 for none; their format, for reading; and writing a moment with one. */
uint32_t iso_constant(struct str name);
enum err iso_format(struct script_run *m, uint32_t constant, struct sv *out);
enum err iso_print(struct script_run *m, uint32_t constant, struct sv v, struct sv *out);
/* A moment on its zone's wall clock. */
struct parts {
    int64_t year, days;
    int month, day;
    int64_t second_of_day;
    int32_t offset;
};

struct parts date_parts(const struct sv_date *d);
/* What getYear() and its like give; false: there is no such. */
bool date_getter(struct sv self, struct str name, struct sv *out);
/* ChronoField: the place of a field's name, -1 for none; get(ChronoField) of a moment. */
int date_field_index(struct str name);
enum err date_get_field(struct script_run *m, struct sv self, struct sv *a, uint32_t n, struct sv *out);

/* ChronoUnit: the place of a unit's name, -1 for none; whole units from one moment to another. */
int date_unit_index(struct str name);
struct str date_unit_name(int64_t unit);
enum err date_between(struct script_run *m, int64_t unit, struct sv x, struct sv y, struct sv *out);

#endif
