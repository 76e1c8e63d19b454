#include "common/base/java_set.h"

#include "common/base/utf8.h"

/* java.util.HashMap spreads String.hashCode(), which is over UTF-16, by mixing in its high half. */
static uint32_t spread_hash(struct str s)
{
    uint32_t h = 0;
    size_t at = 0;
    while (at < s.n) {
        uint32_t c = utf8_next(s, &at);
        if (c >= 0x10000) {
            h = 31 * h + (0xD800 + ((c - 0x10000) >> 10));
            c = 0xDC00 + ((c - 0x10000) & 0x3FF);
        }
        h = 31 * h + c;
    }
    return h ^ h >> 16;
}

/* A table of 16 buckets doubles whenever it is more than three quarters full. */
static uint32_t buckets_of(uint32_t n)
{
    uint32_t size = 16;
    while (n > size / 4 * 3) {
        size *= 2;
    }
    return size;
}

void java_set_order(struct str *v, uint32_t n)
{
    uint32_t mask = buckets_of(n) - 1;
    for (uint32_t i = 1; i < n; i++) {
        struct str one = v[i];
        uint32_t bucket = spread_hash(one) & mask, k = i;
        for (; k > 0 && (spread_hash(v[k - 1]) & mask) > bucket; k--) {
            v[k] = v[k - 1];
        }
        v[k] = one;
    }
}
