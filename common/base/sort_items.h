/* sort_items.h - the one way to sort an array: none at all may be empty, and then stands at no address. */
#ifndef BASE_SORT_ITEMS_H
#define BASE_SORT_ITEMS_H

#include <stdlib.h>

/* Sorts n items of `size` bytes as qsort(3) does. With fewer than two, `v` is not looked at and may be NULL, which qsort
 * does not take. */
static inline void sort_items(void *v, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    if (n > 1) {
        qsort(v, n, size, compare);
    }
}

#endif
