#include "common/base/rand.h"

static uint64_t rotl(uint64_t v, unsigned by)
{
    return (v << by) | (v >> (64 - by));
}

void rng_seed(struct rng *r, uint64_t seed)
{
    for (unsigned i = 0; i < 4; i++) { /* splitmix64, as the authors advise */
        seed += 0x9E3779B97F4A7C15ULL;
        uint64_t z = seed;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        r->s[i] = z ^ (z >> 31);
    }
}

uint64_t rng_u64(struct rng *r)
{
    uint64_t *s = r->s, result = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
    assert(n > 0);
    uint64_t limit = UINT64_MAX - UINT64_MAX % n, v;
    do {
        v = rng_u64(r);
    } while (v >= limit);
    return v % n;
}

double rng_double(struct rng *r)
{
    return (double)(rng_u64(r) >> 11) * 0x1.0p-53;
}
