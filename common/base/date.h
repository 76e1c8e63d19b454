/* date.h - dates as text: Elasticsearch 7's named formats and java.time patterns, joined by "||".
 *
 * A format is compiled once into an arena and immutable from then on: any thread may use it. Parsing and
 * resolution follow java.time.format (lenient forms, optional sections, adjacent numbers, STRICT for named
 * formats and SMART for patterns), then Elasticsearch's rules for what is missing. Text is English
 * (Locale.ROOT). Date math is in date_math.h, rounding for histograms in rounding.h. */
#ifndef BASE_DATE_H
#define BASE_DATE_H

#include "common/base/buf.h"
#include "common/base/zone.h"

/* A moment since 1970 UTC; nanos in [0, 1e9). */
struct instant {
    int64_t seconds;
    int32_t nanos;
};

struct date_format;

#define DATE_FORMAT_DEFAULT "strict_date_optional_time||epoch_millis"

/* ERR_ILLEGAL_ARGUMENT "Invalid format: [..]: .." for an unknown name or a malformed pattern. */
enum err date_format_new(const struct date_format **out, struct str pattern, struct arena *arena,
                         struct errmsg *em) NODISCARD;
/* The pattern that it was made from. */
struct str date_format_pattern(const struct date_format *f);
/* Whether a language decides how it reads: names of months and days, zones by name, weeks that begin on some day. */
bool date_format_is_local(const struct date_format *f);

/* What becomes of parts that the text leaves out. */
enum date_fill {
    DATE_FILL_MIN, /* the first moment: a document's value, `gte`, `lt` */
    DATE_FILL_MAX  /* Elasticsearch's round-up parser, `lte`, `gt`: only the time of day is filled up */
};

/* A value. `zone` (NULL: UTC) applies where the text names none. ERR_ILLEGAL_ARGUMENT "failed to parse date
 * field [..] with format [..]", caused by ERR_DATE_TIME_PARSE where Elasticsearch says so; "cannot parse
 * empty date". */
enum err date_parse(const struct date_format *f, struct str text, const struct zone *zone,
                    enum date_fill fill, struct instant *out, struct errmsg *em) NODISCARD;
/* As date_parse with DATE_FILL_MIN, in whole milliseconds (rounded down). */
enum err date_parse_ms(const struct date_format *f, struct str text, const struct zone *zone, int64_t *out,
                       struct errmsg *em) NODISCARD;
/* Prints with the first of the joined formats. false: the format asks for what a date does not have. */
bool date_print(const struct date_format *f, struct instant t, const struct zone *zone, struct buf *out);
bool date_print_ms(const struct date_format *f, int64_t ms, const struct zone *zone, struct buf *out);

/* Java's Instant.ofEpochMilli and toEpochMilli (rounds down). */
struct instant instant_of_ms(int64_t ms);
int64_t instant_to_ms(struct instant t); /* the nearest that there is */
/* ERR_ARITHMETIC where 64 bits do not hold it. */
enum err instant_to_ms_exact(struct instant t, int64_t *out, struct errmsg *em) NODISCARD;
/* date_nanos: nanoseconds since 1970. ERR_ILLEGAL_ARGUMENT before 1970 and past
 * 2262-04-11T23:47:16.854775807Z. */
enum err instant_to_nanos(struct instant t, int64_t *out, struct errmsg *em) NODISCARD;
struct instant instant_of_nanos(int64_t nanos);

/* Proleptic Gregorian calendar: days since 1970-01-01 and back; month and day count from 1. */
int64_t civil_to_days(int64_t year, int month, int day);
void civil_of_days(int64_t days, int64_t *year, int *month, int *day);
bool civil_is_leap(int64_t year);
int civil_month_days(int64_t year, int month);
/* 1 Monday ... 7 Sunday. */
int civil_weekday(int64_t days);

#endif
