/* bits.h - fixed-size bit sets in plain words. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include "common/base/defs.h"

static inline size_t bits_words(size_t n_bits)
{
    return (n_bits + 63) / 64;
}

static inline bool bits_test(const uint64_t *w, size_t i)
{
    return (w[i >> 6] >> (i & 63)) & 1;
}

static inline void bits_set(uint64_t *w, size_t i)
{
    w[i >> 6] |= (uint64_t)1 << (i & 63);
}

static inline void bits_clear(uint64_t *w, size_t i)
{
    w[i >> 6] &= ~((uint64_t)1 << (i & 63));
}

/* How many of the first n bits are set. */
static inline size_t bits_count(const uint64_t *w, size_t n)
{
    size_t sum = 0, whole = n >> 6;
    for (size_t i = 0; i < whole; i++) {
        sum += (size_t)__builtin_popcountll(w[i]);
    }
    if ((n & 63) != 0) {
        sum += (size_t)__builtin_popcountll(w[whole] & (((uint64_t)1 << (n & 63)) - 1));
    }
    return sum;
}

/* The first set bit at or after `from`, or n when there is none below n. */
static inline size_t bits_next(const uint64_t *w, size_t from, size_t n)
{
    if (from >= n) {
        return n;
    }
    size_t i = from >> 6;
    uint64_t word = w[i] & (~(uint64_t)0 << (from & 63));
    while (word == 0) {
        if (++i >= bits_words(n)) {
            return n;
        }
        word = w[i];
    }
    size_t at = (i << 6) + (size_t)__builtin_ctzll(word);
    return at < n ? at : n;
}

/* Bits needed to hold v; 0 for 0. */
static inline unsigned bits_width(uint64_t v)
{
    return v == 0 ? 0 : 64U - (unsigned)__builtin_clzll(v);
}

#endif
