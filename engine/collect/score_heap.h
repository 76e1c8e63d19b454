/* score_heap.h - the k best (score, document) pairs of a search by score alone.
 *
 * A pair is one number: the score's bits, made to sort as the scores do, above the complement of the
 * document, so that a greater number is better and a tie goes to the lower document. The numbers are a heap
 * with the worst of the best at its root once there are k; before that they lie as they came. Scores are
 * never NaN. One thread. */
#ifndef ENGINE_COLLECT_SCORE_HEAP_H
#define ENGINE_COLLECT_SCORE_HEAP_H

#include "common/base/defs.h"

#include <math.h>
#include <string.h>

struct score_heap {
    uint64_t *v; /* k of them and, for sorting, k more */
    uint32_t n, k;
};

/* k > 0. false: no memory, and nothing to finish. */
bool score_heap_init(struct score_heap *h, uint32_t k);
void score_heap_fini(struct score_heap *h); /* all zeroes ok */

static inline uint64_t score_key(float score, uint32_t doc)
{
    uint32_t bits;
    score += 0.0F; /* one zero only */
    memcpy(&bits, &score, sizeof(bits));
    bits = bits >> 31 != 0 ? ~bits : bits | 0x80000000U;
    return (uint64_t)bits << 32 | (uint32_t)~doc;
}

static inline float score_key_score(uint64_t key)
{
    uint32_t bits = (uint32_t)(key >> 32);
    float score;
    bits = bits >> 31 != 0 ? bits & 0x7FFFFFFFU : ~bits;
    memcpy(&score, &bits, sizeof(score));
    return score;
}

static inline uint32_t score_key_doc(uint64_t key)
{
    return ~(uint32_t)key;
}

/* Puts a key in that is better than the root, or while there are less than k. */
void score_heap_put(struct score_heap *h, uint64_t key);

static inline void score_heap_add(struct score_heap *h, float score, uint32_t doc)
{
    uint64_t key = score_key(score, doc);
    if (h->n < h->k || key > h->v[0]) {
        score_heap_put(h, key);
    }
}

/* The score that a later document must exceed; -INFINITY while there is room. */
static inline float score_heap_min(const struct score_heap *h)
{
    return h->n < h->k ? -INFINITY : score_key_score(h->v[0]);
}

/* Best first; nothing can be added afterwards. */
void score_heap_sort(struct score_heap *h);

#endif
