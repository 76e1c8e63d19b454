/* Moments, dates, times and durations as values: how they are written, compared and hashed. */
#include "engine/script/kinds.h"

#include "common/base/zone.h"

#include <stdio.h>

#define DAY 86400

/* A field's dates print milliseconds as Joda's did; ZonedDateTime and Instant leave out what is zero. */
static void put_moment(struct sv v, struct buf *out)
{
    struct arena scratch;
    const struct date_format *f;
    int32_t nanos = v.date->t.nanos;
    bool plain = v.kind == SV_DATE && v.aux != DATE_OF_DOC,
         no_seconds = plain && nanos == 0 && v.date->t.seconds % 60 == 0;
    bool milli = nanos % 1000000 == 0 && (nanos != 0 || (v.kind == SV_DATE && !plain));
    char pattern[64];
    snprintf(pattern, sizeof(pattern), "uuuu-MM-dd'T'HH:mm%s%sXXX", no_seconds ? "" : ":ss",
             milli               ? ".SSS"
             : nanos == 0        ? ""
             : nanos % 1000 == 0 ? ".SSSSSS"
                                 : ".SSSSSSSSS");
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    if (date_format_new(&f, str_of(pattern), &scratch, NULL) == ERR_OK) {
        (void)date_print(f, v.date->t, v.date->zone, out);
        if (plain && v.date->zone->id.p[0] >= 'A' && v.date->zone->id.p[0] != 'Z') {
            buf_printf(out, "[%.*s]", STR_ARG(v.date->zone->id));
        }
    }
    arena_fini(&scratch);
}

static int64_t day_of(int64_t second)
{
    return second / DAY - (second % DAY < 0 ? 1 : 0);
}

/* Seconds and their fraction, in groups of three digits. */
static void put_seconds(int64_t second, int32_t nanos, bool always, struct buf *out)
{
    if (always || second != 0 || nanos != 0) {
        buf_printf(out, ":%02d", (int)second);
    }
    if (nanos % 1000000 == 0 && (nanos != 0 || always)) {
        buf_printf(out, ".%03d", (int)(nanos / 1000000));
    } else if (nanos % 1000 == 0 && nanos != 0) {
        buf_printf(out, ".%06d", (int)(nanos / 1000));
    } else if (nanos != 0) {
        buf_printf(out, ".%09d", (int)nanos);
    }
}

static void put_day(int64_t days, struct buf *out)
{
    int64_t year;
    int month, day;
    civil_of_days(days, &year, &month, &day);
    buf_z(out, year > 9999 ? "+" : year < 0 ? "-" : "");
    buf_printf(out, "%04lld-%02d-%02d", (long long)(year < 0 ? -year : year), month, day);
}

static void put_local(struct sv v, bool whole, struct buf *out)
{
    int64_t days = day_of(v.date->t.seconds), second = v.date->t.seconds - days * DAY;
    if (v.aux != LOCAL_TIME) {
        put_day(days, out);
    }
    if (v.aux == LOCAL_DATE_TIME) {
        buf_char(out, 'T');
    }
    if (v.aux != LOCAL_DATE) {
        buf_printf(out, "%02d:%02d", (int)(second / 3600), (int)(second / 60 % 60));
        put_seconds(second % 60, v.date->t.nanos, whole, out);
    }
}

void sv_put_shown_local(struct sv v, struct buf *out)
{
    put_local(v, true, out);
    buf_z(out, v.aux == LOCAL_DATE_TIME ? "Z" : "");
}

/* PT8H6M12.345S: below zero each part has its own sign. */
static void put_duration(struct instant t, struct buf *out)
{
    int64_t whole = t.seconds + (t.seconds < 0 && t.nanos > 0 ? 1 : 0);
    int32_t nanos = t.seconds < 0 && t.nanos > 0 ? 1000000000 - t.nanos : t.nanos;
    int64_t hours = whole / 3600;
    int minutes = (int)(whole / 60 % 60), seconds = (int)(whole % 60);
    char digits[12];
    buf_z(out, "PT");
    if (hours != 0) {
        buf_printf(out, "%lldH", (long long)hours);
    }
    if (minutes != 0) {
        buf_printf(out, "%dM", minutes);
    }
    if (seconds == 0 && nanos == 0) {
        buf_z(out, hours == 0 && minutes == 0 ? "0S" : "");
        return;
    }
    buf_z(out, t.seconds < 0 && seconds == 0 ? "-" : "");
    buf_i64(out, seconds);
    if (nanos != 0) {
        int n = snprintf(digits, sizeof(digits), ".%09d", (int)nanos);
        while (n > 0 && digits[n - 1] == '0') {
            n--;
        }
        buf_str(out, str_mk(digits, (size_t)n));
    }
    buf_char(out, 'S');
}

bool text_date(struct sv v, struct buf *out, UNUSED unsigned depth)
{
    if (v.kind == SV_LOCAL) {
        put_local(v, false, out);
    } else if (v.kind == SV_DURATION) {
        put_duration(v.date->t, out);
    } else {
        put_moment(v, out);
    }
    return !out->failed;
}

int sv_compare_dates(struct sv a, struct sv b)
{
    struct instant x = a.date->t, y = b.date->t;
    int64_t day = day_of(x.seconds), other = day_of(y.seconds), year[2];
    if (a.kind == SV_LOCAL && a.aux != LOCAL_TIME
        && day != other) { /* by how much, of years, months or days */
        int month[2], of_month[2];
        civil_of_days(day, &year[0], &month[0], &of_month[0]);
        civil_of_days(other, &year[1], &month[1], &of_month[1]);
        return year[0] != year[1]     ? (int)(year[0] - year[1])
               : month[0] != month[1] ? month[0] - month[1]
                                      : of_month[0] - of_month[1];
    }
    if (x.seconds != y.seconds) {
        return x.seconds < y.seconds ? -1 : 1;
    }
    return a.kind == SV_DURATION ? x.nanos - y.nanos : (x.nanos > y.nanos) - (x.nanos < y.nanos);
}

static uint32_t fold(uint64_t v)
{
    return (uint32_t)(v ^ (v >> 32));
}

uint32_t hash_date(struct sv v, UNUSED uint32_t *left)
{
    struct instant t = v.date->t;
    if (v.kind != SV_LOCAL) {
        return fold((uint64_t)t.seconds) + 51 * (uint32_t)t.nanos;
    }
    int64_t days = day_of(t.seconds), year;
    int month, day;
    civil_of_days(days, &year, &month, &day);
    uint32_t of_date =
        ((uint32_t)year & 0xFFFFF800U) ^ (((uint32_t)year << 11) + ((uint32_t)month << 6) + (uint32_t)day);
    uint32_t of_time = fold((uint64_t)((t.seconds - days * DAY) * 1000000000 + t.nanos));
    return v.aux == LOCAL_DATE ? of_date : v.aux == LOCAL_TIME ? of_time : of_date ^ of_time;
}
