/* buf.h - a growing run of bytes with a mandatory ceiling.
 *
 * Errors stick: once an append is refused (ceiling, allocator), later appends do nothing and `failed` stays
 * set, so writers append freely and check once at the end. The bytes always end in a NUL that is not
 * counted. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "common/base/alloc.h"
#include "common/base/str.h"

struct buf {
    char *p;
    size_t n, cap;
    size_t bytes_max;
    const struct allocator *alloc; /* borrowed */
    bool failed;
};

#define BUF_UNLIMITED (SIZE_MAX / 4)

/* alloc NULL means the default. Allocates nothing yet. */
void buf_init(struct buf *b, const struct allocator *alloc, size_t bytes_max);
void buf_fini(struct buf *b);
/* Empties it and forgets a failure; keeps the memory. */
void buf_reset(struct buf *b);

/* buf_reserve() where there is no room yet. */
char *buf_grow(struct buf *b, size_t more);
/* Makes room for `more` bytes and returns where they go (then add to b->n), or NULL. */
static inline char *buf_reserve(struct buf *b, size_t more)
{
    return LIKELY(!b->failed && more < b->cap - b->n) ? b->p + b->n : buf_grow(b, more);
}
void buf_add(struct buf *b, const void *p, size_t n);
void buf_str(struct buf *b, struct str s);
void buf_z(struct buf *b, const char *z);
static inline void buf_char(struct buf *b, char c)
{
    char *to = buf_reserve(b, 1);
    if (LIKELY(to != NULL)) {
        to[0] = c;
        to[1] = '\0';
        b->n++;
    }
}
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_i64(struct buf *b, int64_t v);
void buf_u64(struct buf *b, uint64_t v);
/* Cuts it down to n bytes. */
void buf_truncate(struct buf *b, size_t n);
/* Borrowed view of what is in it. */
static inline struct str buf_view(const struct buf *b)
{
    return str_mk(b->p, b->n);
}
/* Hands the memory (NUL-terminated, *n bytes; free with the buffer's allocator) to the caller and leaves an
 * empty buffer; NULL if the buffer had failed or is empty. */
char *buf_take(struct buf *b, size_t *n);

#endif
