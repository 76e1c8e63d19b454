#include "common/base/zone.h"
#include "common/base/arena_list.h"
#include "common/base/num.h"

#include "common/base/utf8.h"

#include <string.h>
#include <unicode/ucal.h>

const struct zone zone_utc = {.id = {"Z", 1}, .cycle_at = INT64_MAX};

#define DAY_MS     86400000LL
#define TABLE_FROM (-5364662400000.0) /* 1800-01-01: before any zone's first change */
#define TABLE_TO   7258118400000LL    /* 2200-01-01 */

/* ---- what Java accepts as an id ---- */

static int two_digits(struct str s, size_t at)
{
    if (at + 2 > s.n || s.p[at] < '0' || s.p[at] > '9' || s.p[at + 1] < '0' || s.p[at + 1] > '9') {
        return -1;
    }
    return (s.p[at] - '0') * 10 + s.p[at + 1] - '0';
}

static enum err bad_offset(const char *why, struct str id, struct errmsg *em)
{
    return err_set(em, ERR_DATE_TIME, "Invalid ID for ZoneOffset, %s: %.*s", why, STR_ARG(id));
}

/* The sum in seconds, when each part lies in Java's bounds. */
static enum err offset_sum(const int part[3], int sign, int *seconds, struct errmsg *em)
{
    static const char *const names[] = {"hours", "minutes", "seconds"};
    for (int i = 0; i < 3; i++) {
        int most = i == 0 ? 18 : 59;
        if (part[i] > most) {
            return err_set(em, ERR_DATE_TIME,
                           "Zone offset %s not in valid range: value %d is not in the range -%d to %d",
                           names[i], sign * part[i], most, most);
        }
    }
    *seconds = part[0] * 3600 + part[1] * 60 + part[2];
    return *seconds > 18 * 3600
               ? err_set(em, ERR_DATE_TIME, "Zone offset not in valid range: -18:00 to +18:00")
               : ERR_OK;
}

/* ZoneOffset.of: a sign, then h, hh, hhmm, hh:mm, hhmmss, hh:mm:ss. Seconds, without the sign. */
static enum err offset_body(struct str id, int *seconds, struct errmsg *em)
{
    char padded[4] = {0};
    if (id.n == 2) {
        memcpy(padded, (char[]){id.p[0], '0', id.p[1]}, 3);
        id = str_mk(padded, 3);
    }
    size_t step = id.n == 6 || id.n == 9 ? 3 : 2;
    if (id.n != 3 && id.n != 5 && id.n != 6 && id.n != 7 && id.n != 9) {
        return bad_offset("invalid format", id, em);
    }
    int part[3] = {0, 0, 0};
    for (size_t i = 0; 1 + i * step < id.n; i++) {
        size_t at = 1 + i * step;
        if (step == 3 && i > 0 && id.p[at - 1] != ':') {
            return bad_offset("colon not found when expected", id, em);
        }
        part[i] = two_digits(id, at);
        if (part[i] < 0) {
            return bad_offset("non numeric characters found", id, em);
        }
    }
    return offset_sum(part, id.p[0] == '-' ? -1 : 1, seconds, em);
}

/* "+08:00" or "+08:00:30"; "Z" for none. */
static struct str offset_text(struct arena *a, const char *prefix, int seconds)
{
    int v = seconds < 0 ? -seconds : seconds;
    if (seconds == 0) {
        return arena_printf(a, "%s", prefix[0] != '\0' ? prefix : "Z");
    }
    if (v % 60 != 0) {
        return arena_printf(a, "%s%c%02d:%02d:%02d", prefix, seconds < 0 ? '-' : '+', v / 3600, v / 60 % 60,
                            v % 60);
    }
    return arena_printf(a, "%s%c%02d:%02d", prefix, seconds < 0 ? '-' : '+', v / 3600, v / 60 % 60);
}

static enum err fixed(const struct zone **out, struct arena *a, const char *prefix, int seconds,
                      struct errmsg *em)
{
    struct zone *z = ARENA_NEW(a, struct zone);
    if (z == NULL) {
        return err_no_memory(em);
    }
    z->id = offset_text(a, prefix, seconds);
    z->first = seconds * 1000;
    z->cycle_at = INT64_MAX;
    if (z->id.p == NULL) {
        return err_no_memory(em);
    }
    *out = z;
    return ERR_OK;
}

/* `text` is the sign and what follows it of `id`, behind a prefix if there is one. */
static enum err fixed_of(const struct zone **out, struct str text, const char *prefix, struct str id,
                         struct arena *a, struct errmsg *em)
{
    int seconds = 0;
    enum err e = offset_body(text, &seconds, em);
    if (e != ERR_OK) {
        return prefix[0] == '\0' || em == NULL
                   ? e
                   : err_wrap(em, ERR_DATE_TIME, "Invalid ID for offset-based ZoneId: %.*s", STR_ARG(id));
    }
    return fixed(out, a, prefix, text.p[0] == '-' ? -seconds : seconds, em);
}

static bool region_shape(struct str id)
{
    for (size_t i = 0; i < id.n; i++) {
        char c = id.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool other =
            (c >= '0' && c <= '9') || c == '~' || c == '/' || c == '.' || c == '_' || c == '+' || c == '-';
        if (!letter && (i == 0 || !other)) {
            return false;
        }
    }
    return id.n >= 2;
}

/* ICU knows three-letter names of its own ("PST") and what the JDK left out of its zone rules ("EST"). */
static bool java_knows(struct str id)
{
    static const char *const three[] = {"CET", "EET", "MET", "PRC", "ROC", "ROK", "UCT", "UTC", "WET", "GMT"};
    if (id.n != 3) {
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(three); i++) {
        if (str_is(id, three[i])) {
            return true;
        }
    }
    return false;
}

/* ---- IANA zones, from ICU ---- */

static int32_t icu_offset(UCalendar *cal, double utc, UErrorCode *status)
{
    ucal_setMillis(cal, utc, status);
    int32_t raw = ucal_get(cal, UCAL_ZONE_OFFSET, status);
    return raw + ucal_get(cal, UCAL_DST_OFFSET, status);
}

static enum err read_changes(struct zone *z, UCalendar *cal, struct arena *a, struct errmsg *em)
{
    UErrorCode status = U_ZERO_ERROR;
    size_t cap = 0;
    z->first = icu_offset(cal, TABLE_FROM, &status);
    int32_t last = z->first;
    UDate at = TABLE_FROM;
    for (;;) {
        UDate next;
        ucal_setMillis(cal, at, &status);
        if (!ucal_getTimeZoneTransitionDate(cal, UCAL_TZ_TRANSITION_NEXT, &next, &status) || U_FAILURE(status)
            || next >= (double)TABLE_TO || next <= at) {
            break;
        }
        at = next;
        int32_t offset = icu_offset(cal, at, &status);
        if (offset == last) {
            continue; /* only its name changed */
        }
        if (!ARENA_ADD(a, z->change, z->n, cap, (struct zone_change){(int64_t)at, offset})) {
            return err_no_memory(em);
        }
        last = offset;
    }
    /* A zone that still changes in the table's last years goes on with the same rule. */
    bool goes_on = z->n > 0 && z->change[z->n - 1].at > TABLE_TO - 2 * 366 * DAY_MS;
    z->cycle_at = goes_on ? TABLE_TO : INT64_MAX;
    return U_FAILURE(status) ? err_set(em, ERR_ZONE_RULES, "Unknown time-zone ID: %.*s", STR_ARG(z->id))
                             : ERR_OK;
}

static enum err region(const struct zone **out, struct str id, struct arena *a, struct errmsg *em)
{
    UChar name[64], canonical[64];
    if (!region_shape(id)) {
        return err_set(em, ERR_DATE_TIME, "Invalid ID for region-based ZoneId, invalid format: %.*s",
                       STR_ARG(id));
    }
    if (id.n >= ARRAY_LEN(name) || !java_knows(id)) {
        return err_set(em, ERR_ZONE_RULES, "Unknown time-zone ID: %.*s", STR_ARG(id));
    }
    for (size_t i = 0; i < id.n; i++) {
        name[i] = (UChar)(unsigned char)id.p[i];
    }
    UErrorCode status = U_ZERO_ERROR;
    UBool is_system = 0;
    ucal_getCanonicalTimeZoneID(name, (int32_t)id.n, canonical, ARRAY_LEN(canonical), &is_system, &status);
    if (U_FAILURE(status) || !is_system || str_starts(id, STR("Etc/Unknown"))) {
        return err_set(em, ERR_ZONE_RULES, "Unknown time-zone ID: %.*s", STR_ARG(id));
    }
    struct zone *z = ARENA_NEW(a, struct zone);
    if (z == NULL || (z->id = arena_str(a, id)).p == NULL) {
        return err_no_memory(em);
    }
    UCalendar *cal = ucal_open(name, (int32_t)id.n, "en", UCAL_GREGORIAN, &status);
    if (U_FAILURE(status)) {
        return err_set(em, ERR_ZONE_RULES, "Unknown time-zone ID: %.*s", STR_ARG(id));
    }
    enum err e = read_changes(z, cal, a, em);
    ucal_close(cal);
    if (e == ERR_OK) {
        *out = z;
    }
    return e;
}

enum err zone_of(const struct zone **out, struct str id, struct arena *arena, struct errmsg *em)
{
    static const char *const prefixes[] = {"UTC", "GMT", "UT"};
    if (str_is(id, "Z")) {
        *out = &zone_utc;
        return ERR_OK;
    }
    if (utf16_length(id) <= 1) {
        return bad_offset("invalid format", id, em);
    }
    if (id.p[0] == '+' || id.p[0] == '-') {
        return fixed_of(out, id, "", id, arena, em);
    }
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        struct str prefix = str_of(prefixes[i]);
        if (str_eq(id, prefix)) {
            return fixed(out, arena, prefixes[i], 0, em);
        }
        if (str_starts(id, prefix) && (id.p[prefix.n] == '+' || id.p[prefix.n] == '-')) {
            return fixed_of(out, str_slice(id, prefix.n, id.n), prefixes[i], id, arena, em);
        }
    }
    return region(out, id, arena, em);
}

/* ---- looking up ---- */

/* How far to move a time past the table back to a year of 2172 ... 2199 with the same calendar: within four
 * centuries any span of 28 years without an exceptional century has each of the fourteen kinds of year. */
static int64_t back_into_table(int64_t utc)
{
    const int64_t cycle = 146097 * DAY_MS; /* 400 years */
    int64_t moved = floor_div(utc - TABLE_TO, cycle) * cycle;
    int64_t t = utc - moved; /* in [2200, 2600) */
    int64_t year_start = TABLE_TO;
    for (int year = 2200; year < 2600; year++) {
        bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        int64_t next = year_start + (leap ? 366 : 365) * DAY_MS;
        if (t < next) {
            int64_t like = TABLE_TO;
            for (int y = 2199; y >= 2172; y--) {
                bool l = y % 4 == 0;
                like -= (l ? 366 : 365) * DAY_MS;
                if (l == leap && (year_start - like) / DAY_MS % 7 == 0) {
                    return moved + year_start - like;
                }
            }
        }
        year_start = next;
    }
    return 0;
}

/* Index of the first change after utc. */
static uint32_t change_after(const struct zone *z, int64_t utc)
{
    uint32_t lo = 0, hi = z->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (z->change[mid].at <= utc) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

static int32_t offset_before(const struct zone *z, uint32_t i)
{
    return i == 0 ? z->first : z->change[i - 1].offset;
}

int32_t zone_offset(const struct zone *z, int64_t utc)
{
    if (z->n == 0) {
        return z->first;
    }
    if (utc >= z->cycle_at) {
        utc -= back_into_table(utc);
    }
    return offset_before(z, change_after(z, utc));
}

int64_t zone_to_local(const struct zone *z, int64_t utc)
{
    return utc + zone_offset(z, utc);
}

bool zone_last_change(const struct zone *z, int64_t utc, struct zone_change *out)
{
    int64_t moved = z->n > 0 && utc >= z->cycle_at ? back_into_table(utc) : 0;
    uint32_t i = change_after(z, utc - moved);
    if (i == 0) {
        return false;
    }
    *out = (struct zone_change){z->change[i - 1].at + moved, z->change[i - 1].offset};
    return true;
}

int zone_offsets_at_local(const struct zone *z, int64_t local, int32_t offsets[2], struct zone_change *gap)
{
    int64_t moved = 0;
    if (z->n > 0 && local >= z->cycle_at) {
        moved = back_into_table(local);
        local -= moved;
    }
    /* Offsets stay within a day: only changes near by matter. */
    uint32_t i = change_after(z, local - DAY_MS), end = change_after(z, local + DAY_MS);
    int n = 0;
    int64_t from = INT64_MIN;
    for (;; i++) {
        int32_t offset = offset_before(z, i);
        int64_t utc = local - offset;
        bool last = i >= end;
        if (utc >= from && (last || utc < z->change[i].at) && n < 2) {
            offsets[n++] = offset;
        }
        if (last) {
            return n;
        }
        from = z->change[i].at;
        if (local - offset >= from && local - z->change[i].offset < from && gap != NULL) {
            *gap = (struct zone_change){from + moved, z->change[i].offset};
        }
    }
}

int64_t zone_to_utc(const struct zone *z, int64_t local)
{
    int32_t offsets[2];
    struct zone_change gap = {0, 0};
    if (z->n == 0) {
        return local - z->first;
    }
    if (zone_offsets_at_local(z, local, offsets, &gap) > 0) {
        return local - offsets[0];
    }
    /* Inside a gap: the offset before it, which lands as far behind the gap as the time lay inside. */
    return local - zone_offset(z, gap.at - 1);
}
