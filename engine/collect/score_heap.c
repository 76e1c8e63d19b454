#include "engine/collect/score_heap.h"

#include "common/base/alloc.h"

#include <stdlib.h>

bool score_heap_init(struct score_heap *h, uint32_t k)
{
    *h = (struct score_heap){.v = alloc_array(alloc_default(), 2 * (size_t)k, sizeof(uint64_t)), .k = k};
    return h->v != NULL;
}

void score_heap_fini(struct score_heap *h)
{
    free(h->v);
    h->v = NULL;
}

/* Sinks `key` from the hole at `at`. */
static void sink(uint64_t *v, uint32_t n, uint32_t at, uint64_t key)
{
    for (size_t kid; (kid = 2 * (size_t)at + 1) < n; at = (uint32_t)kid) {
        kid += kid + 1 < n && v[kid + 1] < v[kid] ? 1 : 0;
        if (key <= v[kid]) {
            break;
        }
        v[at] = v[kid];
    }
    v[at] = key;
}

void score_heap_put(struct score_heap *h, uint64_t key)
{
    if (h->n == h->k) {
        sink(h->v, h->n, 0, key);
        return;
    }
    h->v[h->n++] = key;
    for (uint32_t i = h->n / 2; h->n == h->k && i-- > 0;) {
        sink(h->v, h->n, i, h->v[i]);
    }
}

#define RADIX_MIN 256U /* below it, insertion */

static void insertion_sort(uint64_t *v, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        uint64_t key = v[i];
        uint32_t k = i;
        for (; k > 0 && v[k - 1] < key; k--) {
            v[k] = v[k - 1];
        }
        v[k] = key;
    }
}

/* By byte, the lowest first, into `other` and back; a byte that all share is passed over. Returns where the
 * result is. */
static uint64_t *radix_sort(uint64_t *v, uint64_t *other, uint32_t n)
{
    uint32_t counts[8][256] = {{0}};
    for (uint32_t i = 0; i < n; i++) {
        for (unsigned b = 0; b < 8; b++) {
            counts[b][(v[i] >> (8 * b)) & 255]++;
        }
    }
    for (unsigned b = 0; b < 8; b++) {
        uint32_t *count = counts[b], at = 0;
        if (count[(v[0] >> (8 * b)) & 255] == n) {
            continue;
        }
        for (unsigned i = 256; i-- > 0;) { /* the greatest first */
            uint32_t here = count[i];
            count[i] = at;
            at += here;
        }
        for (uint32_t i = 0; i < n; i++) {
            other[count[(v[i] >> (8 * b)) & 255]++] = v[i];
        }
        uint64_t *swap = v;
        v = other;
        other = swap;
    }
    return v;
}

void score_heap_sort(struct score_heap *h)
{
    if (h->n < RADIX_MIN) {
        insertion_sort(h->v, h->n);
        return;
    }
    const uint64_t *sorted = radix_sort(h->v, h->v + h->k, h->n);
    if (sorted != h->v) {
        memcpy(h->v, sorted, h->n * sizeof(*sorted));
    }
}
