#include "common/base/base64.h"

int base64_digit(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

bool base64_decode(struct str text, char *to, size_t *n)
{
    uint32_t bits = 0;
    unsigned have = 0;
    size_t out = 0;
    while (text.n > 0 && text.p[text.n - 1] == '=') {
        text.n--;
    }
    for (size_t i = 0; i < text.n; i++) {
        int d = base64_digit(text.p[i]);
        if (d < 0) {
            *n = i;
            return false;
        }
        bits = bits << 6 | (uint32_t)d;
        have += 6;
        if (have >= 8) {
            have -= 8;
            to[out++] = (char)(bits >> have & 0xFF);
        }
    }
    *n = out;
    return true;
}

void base64_put(struct str bytes, struct buf *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes.n; i += 3) {
        uint32_t three = 0;
        size_t n = MIN_OF(bytes.n - i, (size_t)3);
        for (size_t k = 0; k < 3; k++) {
            three = three << 8 | (k < n ? (uint8_t)bytes.p[i + k] : 0U);
        }
        for (size_t k = 0; k <= n; k++) {
            buf_char(out, digits[three >> (18 - 6 * k) & 63]);
        }
    }
}
