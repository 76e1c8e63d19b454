#include "common/base/str.h"

int str_cmp(struct str a, struct str b)
{
    size_t n = MIN_OF(a.n, b.n);
    int c = n > 0 ? memcmp(a.p, b.p, n) : 0;
    if (c != 0) {
        return c;
    }
    return a.n < b.n ? -1 : a.n > b.n;
}

bool str_starts(struct str s, struct str prefix)
{
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

bool str_ends(struct str s, struct str suffix)
{
    return s.n >= suffix.n && (suffix.n == 0 || memcmp(s.p + (s.n - suffix.n), suffix.p, suffix.n) == 0);
}

size_t str_find(struct str s, char c, size_t from)
{
    if (from >= s.n) {
        return SIZE_MAX;
    }
    const char *hit = memchr(s.p + from, c, s.n - from);
    return hit != NULL ? (size_t)(hit - s.p) : SIZE_MAX;
}

#define MEMMEM_MIN 256 /* bytes; in less, the table that memmem() makes first costs more than it saves */

size_t str_rfind(struct str s, char c)
{
    size_t i = s.n;
    while (i > 0 && s.p[i - 1] != c) {
        i--;
    }
    return i > 0 ? i - 1 : SIZE_MAX;
}

size_t str_find_str(struct str s, struct str needle)
{
    if (needle.n == 0) {
        return 0;
    }
    if (s.n < needle.n) {
        return SIZE_MAX;
    }
    if (s.n <= MEMMEM_MIN) {
        for (size_t at = str_find(s, needle.p[0], 0); at <= s.n - needle.n;
             at = str_find(s, needle.p[0], at + 1)) {
            if (memcmp(s.p + at, needle.p, needle.n) == 0) {
                return at;
            }
        }
        return SIZE_MAX;
    }
    const char *hit = memmem(s.p, s.n, needle.p, needle.n);
    return hit != NULL ? (size_t)(hit - s.p) : SIZE_MAX;
}

struct str str_slice(struct str s, size_t from, size_t to)
{
    to = MIN_OF(to, s.n);
    from = MIN_OF(from, to);
    return s.p != NULL ? str_mk(s.p + from, to - from) : STR_NULL;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s)
{
    while (s.n > 0 && is_space(s.p[0])) {
        s = str_slice(s, 1, s.n);
    }
    while (s.n > 0 && is_space(s.p[s.n - 1])) {
        s.n--;
    }
    return s;
}

struct str str_cut(struct str s, char sep, struct str *rest)
{
    size_t at = str_find(s, sep, 0);
    if (at == SIZE_MAX) {
        *rest = STR_NULL;
        return s;
    }
    *rest = str_mk(s.p + at + 1, s.n - at - 1);
    return str_mk(s.p, at);
}

/* The text between two stars is matched at its first place: a later place would leave less text for the rest. */
bool str_glob(struct str pattern, struct str s)
{
    size_t star = str_find(pattern, '*', 0);
    if (star == SIZE_MAX) {
        return str_eq(pattern, s);
    }
    if (!str_starts(s, str_mk(pattern.p, star))) {
        return false;
    }
    s = str_slice(s, star, s.n);
    for (;;) {
        pattern = str_mk(pattern.p + star + 1, pattern.n - star - 1);
        star = str_find(pattern, '*', 0);
        if (star == SIZE_MAX) {
            return str_ends(s, pattern);
        }
        size_t at = str_find_str(s, str_mk(pattern.p, star));
        if (at == SIZE_MAX) {
            return false;
        }
        s = str_slice(s, at + star, s.n);
    }
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

bool str_eq_nocase(struct str a, struct str b)
{
    if (a.n != b.n) {
        return false;
    }
    for (size_t i = 0; i < a.n; i++) {
        if (a.p[i] != b.p[i] && lower(a.p[i]) != lower(b.p[i])) {
            return false;
        }
    }
    return true;
}

unsigned str_distance(struct str a, struct str b)
{
    unsigned row[STR_DISTANCE_MAX + 1];
    if (a.n > STR_DISTANCE_MAX || b.n > STR_DISTANCE_MAX) {
        return UINT32_MAX;
    }
    for (unsigned j = 0; j <= b.n; j++) {
        row[j] = j;
    }
    for (unsigned i = 1; i <= a.n; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= b.n; j++) {
            unsigned above = row[j], best = diagonal + (a.p[i - 1] != b.p[j - 1]);
            diagonal = above;
            row[j] = MIN_OF(best, MIN_OF(above, row[j - 1]) + 1);
        }
    }
    return row[b.n];
}
