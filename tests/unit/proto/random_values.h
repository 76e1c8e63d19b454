/* random_values.h - random numbers and texts for the structs that tests turn into bytes. Texts may hold any bytes. */
#ifndef TESTS_PROTO_RANDOM_VALUES_H
#define TESTS_PROTO_RANDOM_VALUES_H

#include "common/base/arena.h"
#include "common/base/rand.h"

static struct rng rng;
static struct arena arena; /* of what is sent */

static uint64_t below(uint64_t n)
{
    return rng_below(&rng, n);
}

static bool flip(void)
{
    return below(2) == 0;
}

static int64_t number(void)
{
    int64_t v = (int64_t)(rng_u64(&rng) >> below(64));
    return flip() ? v : -v;
}

static struct str text(void)
{
    size_t n = below(40);
    char *p = arena_alloc(&arena, n);
    for (size_t i = 0; i < n; i++) {
        p[i] = (char)rng_u64(&rng);
    }
    return str_mk(p, n);
}

static struct str opt_text(void)
{
    return flip() ? text() : STR_NULL;
}

#endif
