#include "common/base/utf8.h"
#include "engine/analysis/pinyin_int.h"

#include <unicode/uchar.h>
#include <unicode/ustring.h>

static bool room_for(struct pinyin_work *w, size_t units)
{
    if (w->units_cap >= units && w->units != NULL) {
        return true;
    }
    size_t cap = MAX_OF(MAX_OF(units, w->units_cap * 2), 64);
    w->units = ARENA_ARRAY(w->arena, uint16_t, cap);
    w->at = ARENA_ARRAY(w->arena, uint32_t, cap + 1);
    w->readings = ARENA_ARRAY(w->arena, struct str, cap);
    w->units_cap = cap;
    return w->units != NULL && w->at != NULL && w->readings != NULL;
}

static void split_units(struct pinyin_work *w)
{
    w->n = 0;
    w->blank = true;
    for (size_t at = 0; at < w->source.n;) {
        w->at[w->n] = (uint32_t)at;
        uint32_t c = utf8_next(w->source, &at);
        w->blank = w->blank && u_isWhitespace((UChar32)c);
        if (c >= 0x10000) {
            w->units[w->n++] = (uint16_t)(0xD800 + ((c - 0x10000) >> 10));
            w->at[w->n] = (uint32_t)at;
            c = 0xDC00 + ((c - 0x10000) & 0x3FF);
        }
        w->units[w->n++] = (uint16_t)c;
    }
    w->at[w->n] = (uint32_t)w->source.n;
}

bool pinyin_read(struct pinyin_work *w)
{
    if (!room_for(w, w->source.n)) { /* a text has no more units than bytes */
        return false;
    }
    split_units(w);
    for (size_t i = 0; i < w->n && !w->blank;) {
        struct str readings;
        size_t n = pinyin_match_phrase(w->dict, w->units + i, w->n - i, &readings);
        if (n == 0) {
            w->readings[i] = pinyin_of_character(w->dict, w->units[i]);
            i++;
            continue;
        }
        for (size_t end = i + n; i < end; i++) {
            w->readings[i] = str_cut(readings, ' ', &readings);
        }
    }
    return true;
}

/* Two capitals whose small form Java does not find letter by letter: I with a dot (becomes two characters)
 * and sigma (depends on what follows). */
static bool needs_context(uint32_t c)
{
    return c == 0x130 || c == 0x3A3;
}

static struct str lowercase_in_context(struct str s, struct arena *arena)
{
    UErrorCode status = U_ZERO_ERROR;
    int32_t n = 0, m = 0;
    if (s.n > INT32_MAX / 8) {
        return STR_NULL;
    }
    int32_t room = (int32_t)s.n * 3 + 1;
    UChar *wide = ARENA_ARRAY(arena, UChar, (size_t)room), *small = ARENA_ARRAY(arena, UChar, (size_t)room);
    char *out = arena_alloc(arena, (size_t)room * 3);
    if (wide == NULL || small == NULL || out == NULL) {
        return STR_NULL;
    }
    u_strFromUTF8WithSub(wide, room, &n, s.p, (int32_t)s.n, UTF8_REPLACEMENT, NULL, &status);
    n = u_strToLower(small, room, wide, n, "", &status);
    u_strToUTF8(out, room * 3, &m, small, n, &status);
    return U_SUCCESS(status) ? str_mk(out, (size_t)m) : STR_NULL;
}

struct str pinyin_lowercase(struct str s, struct arena *arena)
{
    bool changes = false;
    size_t at = 0;
    while (at < s.n && (unsigned char)s.p[at] < 0x80 && !(s.p[at] >= 'A' && s.p[at] <= 'Z')) {
        at++;
    }
    while (at < s.n) {
        uint32_t c = utf8_next(s, &at);
        if (needs_context(c)) {
            return lowercase_in_context(s, arena);
        }
        changes = changes || (uint32_t)u_tolower((UChar32)c) != c;
    }
    if (!changes) {
        return s.p != NULL ? s : STR("");
    }
    char *p = arena_alloc(arena, s.n * 3); /* a malformed byte becomes three */
    if (p == NULL) {
        return STR_NULL;
    }
    size_t n = 0;
    for (at = 0; at < s.n;) {
        n += utf8_put(p + n, (uint32_t)u_tolower((UChar32)utf8_next(s, &at)));
    }
    return str_mk(p, n);
}
