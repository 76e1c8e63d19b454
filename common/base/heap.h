/* heap.h - a binary heap in an array, the first of its order at the root. */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define HEAP_ITEM_MAX 96 /* bytes of an item */

/* Whether x stands above y. Of equal items neither does. */
typedef bool heap_above(const void *cx, const void *x, const void *y);

/* Moves the item at a place down to where it belongs. Inlined, with `above` and `size` known, it is a loop of its own type. */
static inline void heap_down(void *items, size_t n, size_t at, size_t size, heap_above *above, const void *cx)
{
    char *v = items;
    _Alignas(max_align_t) char x[HEAP_ITEM_MAX];
    assert(size <= sizeof(x));
    memcpy(x, v + at * size, size);
    for (size_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        child += child + 1 < n && above(cx, v + (child + 1) * size, v + child * size);
        if (!above(cx, v + child * size, x)) {
            break;
        }
        memcpy(v + at * size, v + child * size, size);
        at = child;
    }
    memcpy(v + at * size, x, size);
}

/* The same up. */
static inline void heap_up(void *items, size_t at, size_t size, heap_above *above, const void *cx)
{
    char *v = items;
    _Alignas(max_align_t) char x[HEAP_ITEM_MAX];
    assert(size <= sizeof(x));
    memcpy(x, v + at * size, size);
    for (; at > 0 && above(cx, x, v + (at - 1) / 2 * size); at = (at - 1) / 2) {
        memcpy(v + at * size, v + (at - 1) / 2 * size, size);
    }
    memcpy(v + at * size, x, size);
}

#endif
