#include "common/base/buf.h"

#include "common/base/memory_account.h"

#include <stdarg.h>
#include <stdio.h>

void buf_init(struct buf *b, const struct allocator *alloc, size_t bytes_max)
{
    *b = (struct buf){.alloc = alloc != NULL ? alloc : alloc_default(), .bytes_max = bytes_max};
}

void buf_fini(struct buf *b)
{
    if (b->alloc != NULL) {
        alloc_put(b->alloc, b->p);
        buf_init(b, b->alloc, b->bytes_max);
    }
}

void buf_reset(struct buf *b)
{
    b->n = 0;
    b->failed = false;
    if (b->p != NULL) {
        b->p[0] = '\0';
    }
}

char *buf_grow(struct buf *b, size_t more)
{
    if (b->failed) {
        return NULL;
    }
    if (more > b->bytes_max || b->n > b->bytes_max - more) {
        memory_ceiling(b->alloc, b->n + more, b->bytes_max);
        b->failed = true;
        return NULL;
    }
    size_t need = b->n + more + 1;
    if (need > b->cap) {
        size_t cap = MAX_OF(b->cap * 2, (size_t)64);
        cap = MAX_OF(MIN_OF(cap, b->bytes_max + 1), need);
        char *p = b->alloc->resize(b->alloc->self, b->p, cap);
        if (p == NULL) {
            b->failed = true;
            return NULL;
        }
        b->p = p;
        b->cap = cap;
    }
    return b->p + b->n;
}

void buf_add(struct buf *b, const void *p, size_t n)
{
    char *to = buf_reserve(b, n);
    if (to != NULL) {
        if (n > 0) {
            memcpy(to, p, n);
        }
        b->n += n;
        b->p[b->n] = '\0';
    }
}

void buf_str(struct buf *b, struct str s)
{
    buf_add(b, s.p, s.n);
}

void buf_z(struct buf *b, const char *z)
{
    buf_add(b, z, strlen(z));
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *to = n >= 0 ? buf_reserve(b, (size_t)n) : NULL;
    if (to == NULL) {
        b->failed = true;
        return;
    }
    va_start(ap, fmt);
    vsnprintf(to, (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->n += (size_t)n;
}

void buf_u64(struct buf *b, uint64_t v)
{
    char digits[20];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + v % 10);
        v /= 10;
    } while (v > 0);
    buf_add(b, digits + at, sizeof(digits) - at);
}

void buf_i64(struct buf *b, int64_t v)
{
    if (v < 0) {
        buf_char(b, '-');
        buf_u64(b, (uint64_t)0 - (uint64_t)v);
    } else {
        buf_u64(b, (uint64_t)v);
    }
}

void buf_truncate(struct buf *b, size_t n)
{
    assert(n <= b->n);
    b->n = n;
    if (b->p != NULL) {
        b->p[n] = '\0';
    }
}

char *buf_take(struct buf *b, size_t *n)
{
    char *p = NULL;
    *n = 0;
    if (!b->failed && b->p != NULL) {
        p = b->p;
        *n = b->n;
        b->p = NULL;
    }
    buf_fini(b);
    return p;
}
