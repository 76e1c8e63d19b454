#include "common/base/arena.h"
#include "common/base/stop.h"

#include "common/base/memory_account.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>

#define CHUNK_MIN ((size_t)4 << 10)
#define CHUNK_MAX MIB
#define SPARE_MIN ((size_t)512 - sizeof(struct arena_chunk))
#define ALIGN     alignof(max_align_t)

struct arena_chunk {
    struct arena_chunk *next;
    const struct allocator *alloc; /* where it came from */
    size_t size;                   /* of data */
    alignas(max_align_t) char data[];
};

void arena_init(struct arena *a, const struct allocator *alloc, size_t bytes_max)
{
    *a = (struct arena){.alloc = alloc != NULL ? alloc : alloc_default(), .bytes_max = bytes_max};
}

struct arena_deferred {
    struct arena_deferred *next;
    void (*release)(void *p);
    void *p;
};

bool arena_defer(struct arena *a, void (*release)(void *p), void *p)
{
    struct arena_deferred *d = ARENA_NEW(a, struct arena_deferred);
    if (d == NULL) {
        release(p);
        return false;
    }
    *d = (struct arena_deferred){a->deferred, release, p};
    a->deferred = d;
    return true;
}

static void run_deferred(struct arena *a)
{
    while (a->deferred != NULL) {
        struct arena_deferred *d = a->deferred;
        a->deferred = d->next;
        d->release(d->p);
    }
}

static void free_chunks(const struct arena *a, const struct arena_chunk *keep)
{
    struct arena_chunk *c = a->chunks;
    while (c != NULL) {
        struct arena_chunk *next = c->next;
        if (c != keep) {
            alloc_put(c->alloc, c);
        }
        c = next;
    }
}

void arena_fini(struct arena *a)
{
    run_deferred(a);
    free_chunks(a, NULL);
    *a = (struct arena){.alloc = a->alloc, .bytes_max = a->bytes_max};
}

void arena_reset(struct arena *a)
{
    run_deferred(a);
    struct arena_chunk *keep = a->chunks;
    free_chunks(a, keep);
    arena_init(a, a->alloc, a->bytes_max);
    if (keep != NULL) {
        keep->next = NULL;
        a->chunks = keep;
        a->at = keep->data;
        a->end = keep->data + keep->size;
        a->bytes_used = keep->size;
    }
}

static struct arena_chunk *chunk_new(struct arena *a, const struct allocator *alloc, size_t size)
{
    struct arena_chunk *c = alloc_get(alloc, sizeof(*c) + size);
    if (c != NULL) {
        c->next = NULL;
        c->alloc = alloc;
        c->size = size;
        a->bytes_used += size;
    }
    return c;
}

static bool take_chunk(struct arena *a, const struct allocator *alloc, size_t size)
{
    struct arena_chunk *c = chunk_new(a, alloc, size);
    if (c == NULL) {
        return false;
    }
    c->next = a->chunks;
    a->chunks = c;
    a->at = c->data;
    a->end = c->data + size;
    return true;
}

bool arena_begin(struct arena *a, size_t n)
{
    size_t size = MAX_OF(n, 2 * sizeof(struct arena_chunk)) - sizeof(struct arena_chunk);
    return a->chunks != NULL || (size <= a->bytes_max && take_chunk(a, a->alloc, size));
}

static bool add_chunk(struct arena *a, size_t need)
{
    if (stop_now()) { /* whatever wants so much: it is wanted no more */
        return false;
    }
    /* With its head a chunk fills one of the allocator's sizes. */
    size_t last = a->chunks != NULL ? sizeof(struct arena_chunk) + a->chunks->size : CHUNK_MIN / 2;
    size_t size = MAX_OF(need, MIN_OF(last * 2, CHUNK_MAX) - sizeof(struct arena_chunk));
    if (size > a->bytes_max - MIN_OF(a->bytes_used, a->bytes_max)) {
        size = need;
        if (size > a->bytes_max - MIN_OF(a->bytes_used, a->bytes_max)) {
            memory_ceiling(a->alloc, a->bytes_used + size, a->bytes_max);
            return false;
        }
    }
    return take_chunk(a, a->alloc, size);
}

void *arena_alloc(struct arena *a, size_t n)
{
    if (n > SIZE_MAX / 2) {
        return NULL;
    }
    n = n == 0 ? ALIGN : (n + ALIGN - 1) & ~(ALIGN - 1);
    if ((size_t)(a->end - a->at) < n && !add_chunk(a, n)) {
        return NULL;
    }
    void *p = a->at;
    a->at += n;
    return p;
}

void *arena_spare(struct arena *a, size_t n)
{
    n = (n + ALIGN - 1) & ~(ALIGN - 1);
    if ((size_t)(a->end - a->at) >= n
        || (a->chunks == NULL && take_chunk(a, alloc_default(), MAX_OF(n, SPARE_MIN)))) {
        void *p = a->at;
        a->at += n;
        return p;
    }
    struct arena_chunk *c = a->chunks != NULL ? chunk_new(a, alloc_default(), n) : NULL;
    if (c == NULL) {
        return NULL;
    }
    c->next = a->chunks->next; /* the newest keeps its room */
    a->chunks->next = c;
    return c->data;
}

void *arena_zalloc(struct arena *a, size_t n)
{
    void *p = arena_alloc(a, n);
    return p != NULL ? memset(p, 0, n) : NULL;
}

void *arena_calloc(struct arena *a, size_t n, size_t size)
{
    return size != 0 && n > SIZE_MAX / size ? NULL : arena_zalloc(a, n * size);
}

struct str arena_str(struct arena *a, struct str s)
{
    char *p = arena_alloc(a, s.n + 1);
    if (p == NULL) {
        return STR_NULL;
    }
    if (s.n > 0) {
        memcpy(p, s.p, s.n);
    }
    p[s.n] = '\0';
    return str_mk(p, s.n);
}

/* Letters from `first` to `last` take the other case. */
static struct str in_case(struct arena *a, struct str s, char first, char last)
{
    char *p = arena_alloc(a, s.n + 1);
    if (p == NULL) {
        return STR_NULL;
    }
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        p[i] = c >= first && c <= last ? (char)(c ^ ('a' ^ 'A')) : c;
    }
    p[s.n] = '\0';
    return str_mk(p, s.n);
}

struct str arena_upper(struct arena *a, struct str s)
{
    return in_case(a, s, 'a', 'z');
}

struct str arena_lower(struct arena *a, struct str s)
{
    return in_case(a, s, 'A', 'Z');
}

struct str arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
    va_list copy;
    va_copy(copy, ap);
    int n = vsnprintf(NULL, 0, fmt, copy);
    va_end(copy);
    char *p = n >= 0 ? arena_alloc(a, (size_t)n + 1) : NULL;
    if (p == NULL) {
        return STR_NULL;
    }
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    return str_mk(p, (size_t)n);
}

struct str arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str s = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return s;
}

void *arena_grow(struct arena *a, void *p, size_t n, size_t *cap, size_t size)
{
    if (n < *cap) {
        return p;
    }
    size_t more = *cap == 0 ? 8 : *cap * 2;
    void *grown = more > SIZE_MAX / size ? NULL : arena_alloc(a, more * size);
    if (grown == NULL) {
        return NULL;
    }
    if (n > 0) {
        memcpy(grown, p, n * size);
    }
    *cap = more;
    return grown;
}
