/* arena_list.h - growing arrays in an arena. */
#ifndef BASE_ARENA_LIST_H
#define BASE_ARENA_LIST_H

#include "common/base/arena.h"

/* Makes room for one more element in *list: arena_grow() in place. false: no memory, and nothing has changed. */
static inline bool arena_room(struct arena *a, void **list, size_t n, size_t *cap, size_t size)
{
    void *v = arena_grow(a, *list, n, cap, size);
    *list = v != NULL ? v : *list;
    return v != NULL;
}

#define ARENA_ROOM(a, list, n, cap) arena_room((a), (void **)(void *)&(list), (n), &(cap), sizeof(*(list)))

/* Puts an element, the last argument, behind the `n` of the array `list`, which has room for `cap` (a size_t). false: no memory,
 * and nothing has changed. */
#define ARENA_ADD(a, list, n, cap, ...) (ARENA_ROOM(a, list, n, cap) && ((list)[(n)++] = __VA_ARGS__, true))

#endif
