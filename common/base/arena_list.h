/* arena_list.h - growing arrays in an arena. */
#ifndef BASE_ARENA_LIST_H
#define BASE_ARENA_LIST_H

#include "common/base/arena.h"

/* The array `v` with room for one more element, arena_grow(); where there is no memory, as it is: `n` is not below *cap then. */
static inline void *arena_with_room(struct arena *a, void *v, size_t n, size_t *cap, size_t size)
{
    void *grown = arena_grow(a, v, n, cap, size);
    return grown != NULL ? grown : v;
}

/* Makes room for one more element in the array `list`. false: no memory, and nothing has changed. */
#define ARENA_ROOM(a, list, n, cap) \
    ((list) = arena_with_room((a), (list), (n), &(cap), sizeof(*(list))), (n) < (cap))

/* Puts an element, the last argument, behind the `n` of the array `list`, which has room for `cap` (a size_t). false: no memory,
 * and nothing has changed. */
#define ARENA_ADD(a, list, n, cap, ...) (ARENA_ROOM(a, list, n, cap) && ((list)[(n)++] = __VA_ARGS__, true))

#endif
