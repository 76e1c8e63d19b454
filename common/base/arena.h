/* arena.h - memory that is freed all at once: a request's, a parse's, a segment build's.
 *
 * Chunks double up to 1 MiB. An arena has a ceiling in bytes: past it, or when the allocator refuses,
 * allocation returns NULL, which callers turn into ERR_NO_MEMORY (429 on the wire). Not thread-safe: one
 * owner at a time. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "common/base/alloc.h"
#include "common/base/str.h"

#include <stdarg.h>

struct arena_chunk;
struct arena_deferred;

struct arena {
    const struct allocator *alloc; /* borrowed */
    struct arena_chunk *chunks;    /* newest first */
    char *at, *end;                /* free room of the newest chunk */
    size_t bytes_used;             /* sum of the chunks' sizes */
    size_t bytes_max;
    struct arena_deferred *deferred; /* newest first */
};

#define ARENA_UNLIMITED SIZE_MAX

/* Allocates nothing yet. alloc NULL means the default. */
void arena_init(struct arena *a, const struct allocator *alloc, size_t bytes_max);
/* Of one that will hold little, and is one of many: the first chunk takes n bytes of memory, the next twice that, and so on. Does
 * nothing when there is a chunk already. false: no memory. */
bool arena_begin(struct arena *a, size_t n);
/* Frees everything that came from it; the arena may be used again. Nothing to do for one that is all zeros. */
void arena_fini(struct arena *a);
/* Like arena_fini, but keeps one chunk for the next round. */
void arena_reset(struct arena *a);

/* n bytes aligned for any type, uninitialised; n == 0 gives a valid pointer. NULL when there is no room. */
void *arena_alloc(struct arena *a, size_t n) NODISCARD;
/* n bytes for the words of an error: past the ceiling and whatever the arena's allocator says, for why there is no memory must be said
 * as well. Of an arena that is all zeros, too. NULL: the heap has none. */
void *arena_spare(struct arena *a, size_t n) NODISCARD;
/* Zeroed. */
void *arena_zalloc(struct arena *a, size_t n) NODISCARD;
/* n elements of `size` bytes, zeroed; NULL also when n * size overflows. */
void *arena_calloc(struct arena *a, size_t n, size_t size) NODISCARD;
/* A copy with a terminating NUL behind it (not counted in n). p == NULL on failure. */
struct str arena_str(struct arena *a, struct str s) NODISCARD;
/* Copies in ASCII capitals and small letters; p == NULL on failure. */
struct str arena_upper(struct arena *a, struct str s) NODISCARD;
struct str arena_lower(struct arena *a, struct str s) NODISCARD;
/* printf into the arena; p == NULL on failure. */
struct str arena_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3) NODISCARD;
struct str arena_vprintf(struct arena *a, const char *fmt, va_list ap) PRINTF_LIKE(2, 0) NODISCARD;

/* Makes room for one more element in a growing array: *cap elements of `size` bytes at p, n in use. Returns
 * the (possibly moved) array, or NULL with the old one untouched. Growth doubles. */
void *arena_grow(struct arena *a, void *p, size_t n, size_t *cap, size_t size) NODISCARD;

/* Has release(p) called when the arena is finished or reset, newest first: for what lives elsewhere and
 * belongs to something in the arena. false: no memory, and release was called already. */
bool arena_defer(struct arena *a, void (*release)(void *p), void *p) NODISCARD;

#define ARENA_NEW(a, type)      ((type *)arena_zalloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_calloc((a), (n), sizeof(type)))

#endif
