/* alloc.h - the source of memory.
 *
 * Everything that allocates takes a `const struct allocator *` at its init or uses the default one. Tests
 * swap in an allocator that fails the nth request, so that every out-of-memory path is run. */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include "common/base/defs.h"

struct allocator {
    void *self;
    /* Like realloc(p, n) for n > 0: p may be NULL; NULL on failure with p untouched. */
    void *(*resize)(void *self, void *p, size_t n);
    void (*release)(void *self, void *p); /* like free(); NULL ok */
};

/* The process's heap; never NULL. */
const struct allocator *alloc_default(void);

static inline void *alloc_get(const struct allocator *a, size_t n)
{
    return a->resize(a->self, NULL, n);
}

static inline void alloc_put(const struct allocator *a, void *p)
{
    a->release(a->self, p);
}

/* n elements of `size` bytes, not set; NULL when there is no room, and when n * size overflows. n == 0 gives a valid pointer. */
void *alloc_array(const struct allocator *a, size_t n, size_t size);

/* An allocator that fails its nth request (1-based) and every later one; for tests. */
struct alloc_failing {
    struct allocator base; /* hand &f->base to the code under test */
    uint64_t countdown;    /* requests that still succeed */
    bool fired;            /* a request was refused */
};

void alloc_failing_init(struct alloc_failing *f, uint64_t nth);

#endif
