/* date_int.h - the inside of date formats, shared by the files date_*.c only.
 *
 * A format is a list of alternatives; each is a run of elements, as java.time's DateTimeFormatterBuilder
 * chains its printer-parsers. */
#ifndef BASE_DATE_INT_H
#define BASE_DATE_INT_H

#include "common/base/date.h"

enum date_field {
    FLD_NONE,
    FLD_YEAR,
    FLD_YEAR_OF_ERA,
    FLD_ERA,
    FLD_QUARTER,
    FLD_MONTH,
    FLD_DAY,
    FLD_DAY_OF_YEAR,
    FLD_WEEK_YEAR,
    FLD_WEEK, /* of the week-based year; weeks begin on Monday and the first has four days, as ISO has it */
    FLD_WEEK_OF_MONTH,
    FLD_WEEKDAY,
    FLD_ALIGNED_DAY, /* F: (day of month - 1) % 7 + 1 */
    FLD_AMPM,
    FLD_HOUR,
    FLD_HOUR_AMPM,       /* K: 0-11 */
    FLD_CLOCK_HOUR,      /* k: 1-24 */
    FLD_CLOCK_HOUR_AMPM, /* h: 1-12 */
    FLD_MINUTE,
    FLD_SECOND,
    FLD_NANO,
    FLD_MILLI_OF_DAY,
    FLD_NANO_OF_DAY,
    FLD_EPOCH_MS,
    FLD_EPOCH_MS_NANOS, /* nanoseconds of the millisecond */
    FLD_EPOCH_SECOND,
    FLD_EPOCH_SECOND_NANOS,
    FLD_COUNT
};

enum el_kind {
    EL_NUMBER,
    EL_FRACTION,
    EL_TEXT,    /* names: months, weekdays ... */
    EL_LITERAL, /* one or more bytes */
    EL_OPTION,  /* what follows up to `end` may be missing */
    EL_OFFSET,
    EL_LOCAL_OFFSET, /* GMT+8 */
    EL_ZONE,         /* a region or an offset */
    EL_ZONE_NAME,    /* z: a short or long name */
    EL_PAD,          /* the next element, padded to `max` bytes */
    EL_CASELESS      /* letters match in any case from here on */
};

enum el_sign { SIGN_NORMAL, SIGN_EXCEEDS_PAD, SIGN_NOT_NEGATIVE, SIGN_NEVER };
enum el_text { TEXT_SHORT, TEXT_FULL, TEXT_NARROW };

struct el {
    enum el_kind kind;
    enum date_field field;
    uint8_t min, max;
    enum el_sign sign;
    int subsequent; /* digits that later numbers of fixed width need; -1: this one is of fixed width */
    bool point;     /* EL_FRACTION: begins with '.' */
    bool reduced;   /* EL_NUMBER: two digits of a year from 2000 */
    enum el_text style;
    struct str text;    /* EL_LITERAL; EL_OFFSET: what stands for zero */
    const char *offset; /* EL_OFFSET: "+HH:MM" ... */
    uint32_t end;       /* EL_OPTION: index behind its last element */
};

struct el_run {
    struct el *el;
    uint32_t n;
    size_t cap;
    bool strict;   /* ResolverStyle.STRICT; else SMART */
    bool lenient;  /* ResolverStyle.LENIENT */
    bool is_epoch; /* filled up by nanoseconds only */
    bool utc;      /* prints in UTC, whatever the zone */
    bool local;    /* has letters that a language decides about */
};

struct date_format {
    struct str pattern;
    struct el_run printer;
    struct el_run *parsers;
    uint32_t n;
    size_t cap;
};

/* A named format: how it prints, and how it parses, in the notation of date_names.c. */
struct date_name {
    const char *name;
    const char *printer;
    const char *parsers[4];
};
/* NULL: no such name. */
const struct date_name *date_name_find(struct str name);

/* What a text said. */
struct date_parts {
    int64_t v[FLD_COUNT];
    uint32_t has;    /* bit 1 << field */
    bool has_offset; /* an offset was named */
    int32_t offset_ms;
    struct str region; /* p != NULL: a region was named */
};

static inline bool parts_has(const struct date_parts *p, enum date_field f)
{
    return (p->has >> f & 1) != 0;
}

static inline void parts_set(struct date_parts *p, enum date_field f, int64_t v)
{
    p->v[f] = v;
    p->has |= 1U << f;
}

enum resolved { RESOLVED, RESOLVED_BAD_PARSE, RESOLVED_BAD_DATE };
/* A moment from the parts: as java.time resolves them, then as Elasticsearch fills what is missing. Bad
 * parse: the formatter itself fails (the next alternative is tried); bad date: only Elasticsearch's reading
 * of it does. */
enum resolved date_resolve(const struct el_run *run, struct date_parts *p, const struct zone *zone,
                           enum date_fill fill, struct instant *out);
/* Why there is no such date, in Java's words, after RESOLVED_BAD_DATE; returns ERR_DATE_TIME. */
enum err date_no_such(const struct date_parts *p, struct str text, struct errmsg *em);

/* English names: months 1-12, weekdays 1-7 (Monday first), quarters, AM and PM, eras. NULL: out of range. */
const char *date_text(enum date_field field, enum el_text style, int64_t v);

#endif
