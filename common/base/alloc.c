#include "common/base/alloc.h"

#include "common/base/memory_account.h"

#include <stdlib.h>

static void *heap_resize(UNUSED void *self, void *p, size_t n)
{
    return n >= MEMORY_BLOCK_SMALL && !memory_guard_allows(n) ? NULL : realloc(p, n);
}

static void heap_release(UNUSED void *self, void *p)
{
    free(p);
}

const struct allocator *alloc_default(void)
{
    static const struct allocator heap = {NULL, heap_resize, heap_release};
    return &heap;
}

void *alloc_array(const struct allocator *a, size_t n, size_t size)
{
    return size != 0 && n > SIZE_MAX / size ? NULL : alloc_get(a, MAX_OF(n * size, (size_t)1));
}

static void *failing_resize(void *self, void *p, size_t n)
{
    struct alloc_failing *f = self;
    if (f->countdown == 0) {
        f->fired = true;
        return NULL;
    }
    f->countdown--;
    return realloc(p, n);
}

void alloc_failing_init(struct alloc_failing *f, uint64_t nth)
{
    assert(nth > 0);
    *f = (struct alloc_failing){.base = {f, failing_resize, heap_release}, .countdown = nth - 1};
}
