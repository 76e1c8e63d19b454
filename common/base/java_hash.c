#include "common/base/java_hash.h"

#include "common/base/utf8.h"

int32_t java_string_hash(struct str s)
{
    uint32_t h = 0;
    for (size_t at = 0; at < s.n;) {
        uint32_t c = utf8_next(s, &at);
        if (c >= 0x10000) {
            h = h * 31 + (0xD800 + ((c - 0x10000) >> 10));
            c = 0xDC00 + ((c - 0x10000) & 0x3FF);
        }
        h = h * 31 + c;
    }
    return (int32_t)h;
}

uint32_t java_map_buckets(size_t n)
{
    uint32_t size = 16;
    while (n > size - size / 4) { /* it doubles when it holds more than three quarters */
        size *= 2;
    }
    return size;
}

uint32_t java_map_bucket(struct str key, uint32_t buckets)
{
    return java_map_bucket_of(java_string_hash(key), buckets);
}

uint32_t java_map_bucket_of(int32_t hash, uint32_t buckets)
{
    uint32_t h = (uint32_t)hash;
    return (h ^ h >> 16) & (buckets - 1);
}
