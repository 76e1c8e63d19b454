/* rand.h - seeded random numbers (xoshiro256**, Blackman and Vigna 2018): the same seed, the same run. */
#ifndef BASE_RAND_H
#define BASE_RAND_H

#include "common/base/defs.h"

struct rng {
    uint64_t s[4];
};

void rng_seed(struct rng *r, uint64_t seed);
uint64_t rng_u64(struct rng *r);
/* Uniform in [0, n); n > 0. */
uint64_t rng_below(struct rng *r, uint64_t n);
/* Uniform in [0, 1). */
double rng_double(struct rng *r);

#endif
