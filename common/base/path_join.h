/* path_join.h - the path of a field inside of an object. */
#ifndef BASE_PATH_JOIN_H
#define BASE_PATH_JOIN_H

#include "common/base/arena.h"

#include <string.h>

/* "parent.name", byte for byte: names may hold NUL, at which printing would end. p == NULL: no memory. */
static inline struct str path_join(struct arena *arena, struct str parent, struct str name)
{
    size_t n = parent.n + 1 + name.n;
    char *p = arena_alloc(arena, n + 1);
    if (p == NULL) {
        return STR_NULL;
    }
    if (parent.n > 0) {
        memcpy(p, parent.p, parent.n);
    }
    p[parent.n] = '.';
    if (name.n > 0) {
        memcpy(p + parent.n + 1, name.p, name.n);
    }
    p[n] = '\0';
    return str_mk(p, n);
}

#endif
