#include "common/base/utf8.h"

static bool is_tail(unsigned char c)
{
    return (c & 0xC0) == 0x80;
}

uint32_t utf8_next(struct str s, size_t *at)
{
    const unsigned char *p = (const unsigned char *)s.p + *at;
    size_t left = s.n - *at;
    uint32_t c = p[0];
    if (c < 0x80) {
        *at += 1;
        return c;
    }
    if (c >= 0xC2 && c < 0xE0 && left >= 2 && is_tail(p[1])) {
        *at += 2;
        return (c & 0x1F) << 6 | (p[1] & 0x3FU);
    }
    if (c >= 0xE0 && c < 0xF0 && left >= 3 && is_tail(p[1]) && is_tail(p[2])) {
        uint32_t v = (c & 0x0F) << 12 | (p[1] & 0x3FU) << 6 | (p[2] & 0x3FU);
        if (v >= 0x800 && (v < 0xD800 || v > 0xDFFF)) {
            *at += 3;
            return v;
        }
    } else if (c >= 0xF0 && c < 0xF5 && left >= 4 && is_tail(p[1]) && is_tail(p[2]) && is_tail(p[3])) {
        uint32_t v = (c & 0x07) << 18 | (p[1] & 0x3FU) << 12 | (p[2] & 0x3FU) << 6 | (p[3] & 0x3FU);
        if (v >= 0x10000 && v <= 0x10FFFF) {
            *at += 4;
            return v;
        }
    }
    *at += 1;
    return UTF8_REPLACEMENT;
}

uint32_t utf8_prev(struct str s, size_t *at)
{
    size_t start = *at - 1;
    while (start > 0 && *at - start < 4 && is_tail((unsigned char)s.p[start])) {
        start--;
    }
    size_t end = start;
    uint32_t c = utf8_next(s, &end);
    if (end != *at) { /* a torn character: step one byte */
        *at -= 1;
        return UTF8_REPLACEMENT;
    }
    *at = start;
    return c;
}

size_t utf8_put(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xC0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) {
        c = UTF8_REPLACEMENT;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xE0 | c >> 12);
        to[1] = (char)(0x80 | ((c >> 6) & 0x3F));
        to[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    to[0] = (char)(0xF0 | c >> 18);
    to[1] = (char)(0x80 | ((c >> 12) & 0x3F));
    to[2] = (char)(0x80 | ((c >> 6) & 0x3F));
    to[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

void buf_utf8(struct buf *b, uint32_t c)
{
    char bytes[4];
    buf_add(b, bytes, utf8_put(bytes, c));
}

/* Length of the character that begins with byte c, 0 where none does. */
static unsigned width_of(unsigned char c)
{
    if (c < 0x80) {
        return 1;
    }
    if (c < 0xC2 || c > 0xF4) {
        return 0;
    }
    return c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
}

/* The second byte of a character that begins with `first`: not so low that it is overlong, no surrogate, not past
 * U+10FFFF. */
static bool second_fits(unsigned char first, unsigned char second)
{
    unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    return second >= low && second <= high;
}

/* How many bytes at p, of the `left` that there are, belong to a well-formed character or its beginning. */
static unsigned good_bytes(const unsigned char *p, size_t left)
{
    unsigned width = width_of(p[0]), n = 1;
    if (width < 2 || left < 2 || !second_fits(p[0], p[1])) {
        return width > 0 ? 1 : 0;
    }
    while (n < width && n < left && is_tail(p[n])) {
        n++;
    }
    return n;
}

/* Moves over what is certainly well-formed and quick to see: runs of ASCII, and of characters of three bytes that begin with
 * neither E0 nor ED, as most of the world's others do. */
static size_t skip_plain(const unsigned char *p, size_t at, size_t n)
{
    for (;;) {
        uint64_t v[4];
        while (at + sizeof(v) <= n) {
            memcpy(v, p + at, sizeof(v));
            if (((v[0] | v[1] | v[2] | v[3]) & UINT64_C(0x8080808080808080)) != 0) {
                break;
            }
            at += sizeof(v);
        }
        while (at + sizeof(v[0]) <= n) {
            memcpy(v, p + at, sizeof(v[0]));
            if ((v[0] & UINT64_C(0x8080808080808080)) != 0) {
                break;
            }
            at += sizeof(v[0]);
        }
        while (at < n && p[at] < 0x80) {
            at++;
        }
        size_t from = at;
        while (at + 3 <= n && (p[at] & 0xF0) == 0xE0 && p[at] != 0xE0 && p[at] != 0xED && is_tail(p[at + 1])
               && is_tail(p[at + 2])) {
            at += 3;
        }
        if (at == from || at == n) {
            return at;
        }
    }
}

size_t utf8_bad(struct str s, size_t *wrong)
{
    const unsigned char *p = (const unsigned char *)s.p;
    for (size_t at = skip_plain(p, 0, s.n); at < s.n; at = skip_plain(p, at, s.n)) {
        unsigned width = width_of(p[at]), n = width == 1 ? 1 : good_bytes(p + at, s.n - at);
        if (width == 0 || n < width) {
            *wrong = at + n;
            return at;
        }
        at += width;
    }
    return SIZE_MAX;
}

bool utf8_valid(struct str s)
{
    size_t wrong;
    return utf8_bad(s, &wrong) == SIZE_MAX;
}

/* The bytes that java.nio's decoder takes for one malformed character. */
static size_t bad_bytes(const unsigned char *p, size_t left)
{
    if (p[0] == 0xED && left >= 3 && is_tail(p[1]) && is_tail(p[2])) {
        return 3; /* a surrogate */
    }
    unsigned n = good_bytes(p, left);
    return n > 0 ? n : 1;
}

size_t utf8_mend(char *to, struct str s)
{
    size_t n = 0, wrong, bad;
    while ((bad = utf8_bad(s, &wrong)) != SIZE_MAX) {
        memcpy(to + n, s.p, bad);
        n += bad + utf8_put(to + n + bad, UTF8_REPLACEMENT);
        s = str_slice(s, bad + bad_bytes((const unsigned char *)s.p + bad, s.n - bad), s.n);
    }
    memcpy(to + n, s.p, s.n);
    return n + s.n;
}

size_t utf8_length(struct str s)
{
    size_t n = 0;
    for (size_t at = 0; at < s.n; n++) {
        utf8_next(s, &at);
    }
    return n;
}

size_t utf16_length(struct str s)
{
    size_t n = 0;
    for (size_t at = 0; at < s.n;) {
        n += utf8_next(s, &at) >= 0x10000 ? 2 : 1;
    }
    return n;
}

size_t utf16_to_byte(struct str s, size_t units)
{
    size_t at = 0;
    while (at < s.n && units > 0) {
        size_t width = utf8_next(s, &at) >= 0x10000 ? 2 : 1;
        units -= MIN_OF(units, width);
    }
    return at;
}
