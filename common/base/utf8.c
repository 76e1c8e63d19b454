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

bool utf8_valid(struct str s)
{
    for (size_t at = 0; at < s.n;) {
        size_t from = at;
        if (utf8_next(s, &at) == UTF8_REPLACEMENT && at - from == 1) {
            return false;
        }
    }
    return true;
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
