#include "common/base/hash.h"

#include "common/base/bytes.h"
#include "common/base/utf8.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define MURMUR_C1 0xCC9E2D51U
#define MURMUR_C2 0x1B873593U

static uint32_t rotl32(uint32_t v, unsigned by)
{
    return (v << by) | (v >> (32 - by));
}

static uint32_t murmur_mix(uint32_t h, uint32_t k)
{
    h ^= rotl32(k * MURMUR_C1, 15) * MURMUR_C2;
    return rotl32(h, 13) * 5 + 0xE6546B64U;
}

static uint32_t murmur_final(uint32_t h, uint32_t n)
{
    h ^= n;
    h ^= h >> 16;
    h *= 0x85EBCA6BU;
    h ^= h >> 13;
    h *= 0xC2B2AE35U;
    return h ^ (h >> 16);
}

uint32_t hash_murmur3_32(const void *p, size_t n, uint32_t seed)
{
    const uint8_t *at = p;
    uint32_t h = seed;
    size_t left = n;
    for (; left >= 4; left -= 4, at += 4) {
        h = murmur_mix(h, load_u32(at));
    }
    uint32_t k = 0;
    for (size_t i = left; i > 0; i--) {
        k = (k << 8) | at[i - 1];
    }
    h ^= rotl32(k * MURMUR_C1, 15) * MURMUR_C2;
    return murmur_final(h, (uint32_t)n);
}

/* Streams code units in pairs, so that no UTF-16 copy of the text is made. */
int32_t hash_routing(struct str utf8)
{
    uint32_t h = 0, pending = 0, units = 0;
    for (size_t at = 0; at < utf8.n;) {
        uint32_t c = utf8_next(utf8, &at);
        uint32_t pair[2] = {c, 0};
        unsigned n = 1;
        if (c >= 0x10000) {
            pair[0] = 0xD800 + ((c - 0x10000) >> 10);
            pair[1] = 0xDC00 + ((c - 0x10000) & 0x3FF);
            n = 2;
        }
        for (unsigned i = 0; i < n; i++) {
            if (units++ % 2 == 0) {
                pending = pair[i];
            } else {
                h = murmur_mix(h, pending | (pair[i] << 16));
            }
        }
    }
    if (units % 2 != 0) {
        h ^= rotl32(pending * MURMUR_C1, 15) * MURMUR_C2;
    }
    return (int32_t)murmur_final(h, units * 2);
}

uint64_t hash_bytes(const void *p, size_t n, uint64_t seed)
{
    return XXH3_64bits_withSeed(n > 0 ? p : "", n, seed);
}

uint64_t hash_two(struct str a, struct str b, uint64_t seed)
{
    XXH3_state_t state;
    state.seed = 0; /* what resetting looks at */
    state.extSecret = NULL;
    XXH3_64bits_reset_withSeed(&state, seed);
    XXH3_64bits_update(&state, a.n > 0 ? a.p : "", a.n);
    XXH3_64bits_update(&state, b.n > 0 ? b.p : "", b.n);
    return XXH3_64bits_digest(&state);
}
