/* hll.h - counting distinct values: exactly while they are few, by HyperLogLog++ beyond.
 *
 * As Elasticsearch does it: up to a number given by the precision, 25-bit prefixes of hashes are kept in a
 * set and counted linearly; then the set becomes 2^p registers. Hashes are those of Elasticsearch, so that
 * few values collide where they do there. Merging does not depend on the order. One thread. */
#ifndef ENGINE_AGGS_HLL_H
#define ENGINE_AGGS_HLL_H

#include "common/base/arena.h"
#include "common/base/bytes.h"

struct hll {
    struct arena *arena;
    int p;
    uint32_t *set; /* open addressing, 0: free; NULL once there are registers */
    uint32_t slots, n, n_max;
    uint8_t *registers;
    bool failed; /* no memory: sticky */
};

int hll_precision(int64_t threshold); /* -1: the default of 3000 */
struct hll *hll_new(struct arena *arena, int precision);
void hll_add(struct hll *h, uint64_t hash);
void hll_merge(struct hll *h, const struct hll *other);
int64_t hll_count(const struct hll *h);
void hll_encode(const struct hll *h, struct buf *out);
struct hll *hll_decode(struct bytes_in *in, struct arena *arena);

uint64_t hll_hash_i64(int64_t v);
uint64_t hll_hash_double(double v);
uint64_t hll_hash_bytes(struct str s); /* MurmurHash3 x64, the first of its two words */

#endif
