/* byte_pool.h - many growing runs of bytes in a few big chunks.
 *
 * A stream is a chain of slices, each twice as long as the one before, linked by the address in its last four
 * bytes: a rare term costs eight bytes, a frequent one is read almost sequentially. Addresses are 32 bits; 0
 * means none. The pool can be cut back to an earlier length, which undoes what was taken since. One thread.
 */
#ifndef INDEX_BYTE_POOL_H
#define INDEX_BYTE_POOL_H

#include "common/base/alloc.h"
#include "common/base/bytes.h"

#define POOL_SHIFT 18
#define POOL_CHUNK ((uint32_t)1 << POOL_SHIFT)

struct byte_pool {
    const struct allocator *alloc; /* borrowed */
    uint8_t **chunks;
    uint32_t n_chunks, cap;
    uint64_t at; /* next free address; below 2^32 */
};

void byte_pool_init(struct byte_pool *p, const struct allocator *alloc);
void byte_pool_fini(struct byte_pool *p);
/* The bytes in use: chunks are big, and the system provides memory only as it is touched. */
size_t byte_pool_bytes(const struct byte_pool *p);
/* n contiguous bytes (at most POOL_CHUNK); 0: no memory, or 4 GiB are full. */
uint32_t byte_pool_take(struct byte_pool *p, uint32_t n);

static inline uint8_t *byte_pool_at(const struct byte_pool *p, uint32_t address)
{
    return p->chunks[address >> POOL_SHIFT] + (address & (POOL_CHUNK - 1));
}

struct stream {
    uint32_t first, at, end; /* end: where the link of the last slice is */
    uint32_t level;
};

/* false: no memory; the stream may have got a part. */
bool stream_put_slow(struct byte_pool *p, struct stream *s, const uint8_t *bytes, size_t n);

static inline bool stream_put(struct byte_pool *p, struct stream *s, const uint8_t *bytes, size_t n)
{
    if (LIKELY(n <= s->end - s->at && s->first != 0)) {
        uint8_t *to = byte_pool_at(p, s->at);
        for (size_t i = 0; i < n; i++) {
            to[i] = bytes[i];
        }
        s->at += (uint32_t)n;
        return true;
    }
    return stream_put_slow(p, s, bytes, n);
}

/* Appends a varint to a small array; returns the new length. */
static inline size_t varint_to(uint8_t *to, size_t n, uint64_t v)
{
    while (v >= 0x80) {
        to[n++] = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    to[n++] = (uint8_t)v;
    return n;
}

struct stream_in {
    const struct byte_pool *pool;
    const uint8_t *p, *limit;
    uint32_t link, stop, level;
    bool last;
};

void stream_open(struct stream_in *in, const struct byte_pool *p, const struct stream *s);
/* Goes on to the next slice; false: the end. */
bool stream_more(struct stream_in *in);

static inline bool stream_end(struct stream_in *in)
{
    return in->p == in->limit && !stream_more(in);
}

static inline uint8_t stream_u8(struct stream_in *in)
{
    return stream_end(in) ? 0 : *in->p++;
}

static inline uint64_t stream_varint(struct stream_in *in)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t b = stream_u8(in);
        v |= (uint64_t)(b & 0x7F) << shift;
        if (b < 0x80) {
            return v;
        }
    }
}

void stream_bytes(struct stream_in *in, void *to, size_t n);

/* Asks for slices of a stream before it is read: each call for the next one of its first few. */
struct stream_ahead {
    uint32_t link, stop, level; /* link 0: nothing more to ask for */
};

static inline void stream_ahead_begin(struct stream_ahead *a, const struct byte_pool *p,
                                      const struct stream *s)
{
    *a = (struct stream_ahead){0};
    if (s->first != 0) {
        __builtin_prefetch(byte_pool_at(p, s->first));
        *a = (struct stream_ahead){s->first + 4, s->at, 0};
    }
}

static inline void stream_ahead_step(struct stream_ahead *a, const struct byte_pool *p)
{
    uint32_t size = (uint32_t)8 << a->level, begin = a->link + 4 - size;
    if (a->link == 0 || (a->stop >= begin && a->stop <= a->link) || a->level > 3) {
        a->link = 0;
        return;
    }
    uint32_t next = load_u32(byte_pool_at(p, a->link));
    __builtin_prefetch(byte_pool_at(p, next));
    a->level++;
    a->link = next + 2 * size - 4;
    if (2 * size > 64) {
        __builtin_prefetch(byte_pool_at(p, a->link));
    }
}

#endif
