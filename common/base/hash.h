/* hash.h - hashes and checksums. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "common/base/str.h"

/* MurmurHash3_x86_32 (Austin Appleby, public domain algorithm). */
uint32_t hash_murmur3_32(const void *p, size_t n, uint32_t seed);
/* Elasticsearch's routing hash: murmur3_x86_32 with seed 0 over the UTF-16LE form of UTF-8 text. */
int32_t hash_routing(struct str utf8);
/* XXH3, 64 bits: in-memory tables and on-disk checksums alike. */
uint64_t hash_bytes(const void *p, size_t n, uint64_t seed);
/* The same of b after a. */
uint64_t hash_two(struct str a, struct str b, uint64_t seed);

static inline uint64_t hash_str(struct str s)
{
    return hash_bytes(s.p, s.n, 0);
}

/* The finaliser of its 32-bit form. */
static inline uint32_t hash_mix32(uint32_t k)
{
    k = (k ^ (k >> 16)) * 0x85EBCA6BU;
    k = (k ^ (k >> 13)) * 0xC2B2AE35U;
    return k ^ (k >> 16);
}

/* A good mix of one word (the finaliser of MurmurHash3's 64-bit form). */
static inline uint64_t hash_u64(uint64_t v)
{
    v ^= v >> 33;
    v *= 0xFF51AFD7ED558CCDULL;
    v ^= v >> 33;
    v *= 0xC4CEB9FE1A85EC53ULL;
    return v ^ (v >> 33);
}

#endif
