/* str.h - a borrowed run of bytes: pointer and length, no terminator.
 *
 * A str owns nothing; whoever hands one out says how long its bytes live. Text is UTF-8 unless a
 * function says otherwise. The empty string may have p == NULL. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include "common/base/defs.h"

#include <string.h>

struct str {
    const char *p;
    size_t n;
};

#define STR(literal) ((struct str){(literal), sizeof(literal) - 1})
#define STR_NULL     ((struct str){NULL, 0})
/* For printf's "%.*s". */
#define STR_ARG(s) (int)(s).n, (s).n > 0 ? (s).p : ""

static inline struct str str_of(const char *z)
{
    return (struct str){z, z != NULL ? strlen(z) : 0};
}

static inline struct str str_mk(const void *p, size_t n)
{
    return (struct str){p, n};
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Compares with a C string literal. */
static inline bool str_is(struct str a, const char *z)
{
    size_t n = strlen(z);
    return a.n == n && (n == 0 || memcmp(a.p, z, n) == 0);
}

/* Byte order (that of UTF-8 terms): negative, zero, positive. */
int str_cmp(struct str a, struct str b);

bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);
/* Index of the first byte c at or after `from`, or SIZE_MAX. */
size_t str_find(struct str s, char c, size_t from);
/* Index of the last byte c, or SIZE_MAX. */
size_t str_rfind(struct str s, char c);
/* Index of the first occurrence of `needle`, or SIZE_MAX. */
size_t str_find_str(struct str s, struct str needle);
/* Bytes [from, to) of s; both are clamped to its length. */
struct str str_slice(struct str s, size_t from, size_t to);
/* Without ASCII white space at both ends. */
struct str str_trim(struct str s);
/* Cuts s at the first `sep`: returns what is before it and moves *rest behind it; without one, returns all
 * and sets *rest to STR_NULL (p == NULL tells the end from an empty last part). */
struct str str_cut(struct str s, char sep, struct str *rest);
/* Elasticsearch's simple patterns: `*` matches any run, everything else itself. */
bool str_glob(struct str pattern, struct str s);
/* ASCII case is ignored. */
bool str_eq_nocase(struct str a, struct str b);

/* Levenshtein's, in bytes; UINT32_MAX for what is longer than STR_DISTANCE_MAX. */
#define STR_DISTANCE_MAX 128
unsigned str_distance(struct str a, struct str b);

#endif
