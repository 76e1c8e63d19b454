/* Escapes in texts that have halves of surrogate pairs. */
#include "common/base/json_int.h"

#include "common/base/utf8.h"

#include <string.h>

static unsigned hex4(const char *p)
{
    unsigned v = 0;
    for (int i = 0; i < 4; i++) {
        unsigned c = (unsigned char)p[i];
        v = v << 4 | (c <= '9' ? c - '0' : (c | 0x20U) - 'a' + 10);
    }
    return v;
}

bool json_decode_escapes(struct arena *arena, struct str raw, struct str *out)
{
    static const char letters[] = "b\bf\fn\nr\rt\t";
    char *to = arena_alloc(arena, raw.n);
    size_t n = 0;
    for (size_t i = 1; to != NULL && i < raw.n && raw.p[i] != '"'; i++) {
        if (raw.p[i] != '\\') {
            to[n++] = raw.p[i];
            continue;
        }
        i++;
        if (raw.p[i] != 'u') {
            const char *letter = strchr(letters, raw.p[i]);
            to[n++] = letter != NULL ? letter[1] : raw.p[i];
            continue;
        }
        unsigned c = hex4(raw.p + i + 1);
        i += 4;
        if ((c & 0xFC00) == 0xD800 && raw.p[i + 1] == '\\' && raw.p[i + 2] == 'u'
            && (hex4(raw.p + i + 3) & 0xFC00) == 0xDC00) {
            c = 0x10000 + ((c & 0x3FFU) << 10) + (hex4(raw.p + i + 3) & 0x3FFU);
            i += 6;
        }
        n += utf8_put(to + n, c);
    }
    *out = str_mk(to, n);
    return to != NULL;
}

bool json_has_surrogate(struct str raw)
{
    for (size_t i = 0; i + 3 < raw.n; i++) {
        if (raw.p[i] == '\\') {
            i++;
            if (raw.p[i] == 'u' && (raw.p[i + 1] | 0x20) == 'd' && raw.p[i + 2] >= '8') {
                return true;
            }
        }
    }
    return false;
}
