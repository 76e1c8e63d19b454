#include "engine/index/byte_pool.h"

#define LEVELS     11
#define LINK_BYTES 4
#define CHUNKS_MAX ((uint32_t)1 << (32 - POOL_SHIFT))

static uint32_t slice_bytes(uint32_t level)
{
    return (uint32_t)8 << level;
}

void byte_pool_init(struct byte_pool *p, const struct allocator *alloc)
{
    *p = (struct byte_pool){.alloc = alloc, .at = 8};
}

void byte_pool_fini(struct byte_pool *p)
{
    for (uint32_t i = 0; i < p->n_chunks; i++) {
        alloc_put(p->alloc, p->chunks[i]);
    }
    alloc_put(p->alloc, p->chunks);
    byte_pool_init(p, p->alloc);
}

size_t byte_pool_bytes(const struct byte_pool *p)
{
    return (size_t)p->at + (size_t)p->cap * sizeof(*p->chunks);
}

static bool add_chunk(struct byte_pool *p)
{
    if (p->n_chunks == CHUNKS_MAX) {
        return false;
    }
    if (p->n_chunks == p->cap) {
        uint32_t cap = MAX_OF(p->cap * 2, 16U);
        uint8_t **chunks = p->alloc->resize(p->alloc->self, p->chunks, cap * sizeof(*chunks));
        if (chunks == NULL) {
            return false;
        }
        p->chunks = chunks;
        p->cap = cap;
    }
    uint8_t *chunk = alloc_get(p->alloc, POOL_CHUNK);
    if (chunk == NULL) {
        return false;
    }
    p->chunks[p->n_chunks++] = chunk;
    return true;
}

uint32_t byte_pool_take(struct byte_pool *p, uint32_t n)
{
    assert(n <= POOL_CHUNK);
    uint64_t at = p->at;
    if (at >> POOL_SHIFT != (at + n - 1) >> POOL_SHIFT) {
        at = ((at >> POOL_SHIFT) + 1) << POOL_SHIFT;
    }
    if (at >> POOL_SHIFT >= p->n_chunks && !add_chunk(p)) {
        return 0;
    }
    p->at = at + n;
    return (uint32_t)at;
}

static bool stream_grow(struct byte_pool *p, struct stream *s)
{
    uint32_t level = s->first == 0 ? 0 : MIN_OF(s->level + 1, (uint32_t)LEVELS - 1);
    uint32_t slice = byte_pool_take(p, slice_bytes(level));
    if (slice == 0) {
        return false;
    }
    if (s->first == 0) {
        s->first = slice;
    } else {
        store_u32(byte_pool_at(p, s->end), slice);
    }
    s->level = level;
    s->at = slice;
    s->end = slice + slice_bytes(level) - LINK_BYTES;
    return true;
}

bool stream_put_slow(struct byte_pool *p, struct stream *s, const uint8_t *bytes, size_t n)
{
    while (n > 0) {
        if ((s->first == 0 || s->at == s->end) && !stream_grow(p, s)) {
            return false;
        }
        size_t some = MIN_OF(n, (size_t)(s->end - s->at));
        memcpy(byte_pool_at(p, s->at), bytes, some);
        s->at += (uint32_t)some;
        bytes += some;
        n -= some;
    }
    return true;
}

static void enter_slice(struct stream_in *in, uint32_t slice)
{
    in->link = slice + slice_bytes(in->level) - LINK_BYTES;
    in->last = in->stop >= slice && in->stop <= in->link;
    in->p = byte_pool_at(in->pool, slice);
    in->limit = in->p + ((in->last ? in->stop : in->link) - slice);
}

void stream_open(struct stream_in *in, const struct byte_pool *p, const struct stream *s)
{
    *in = (struct stream_in){.pool = p, .stop = s->at, .last = true};
    if (s->first != 0) {
        enter_slice(in, s->first);
    }
}

bool stream_more(struct stream_in *in)
{
    if (in->last) {
        return false;
    }
    in->level = MIN_OF(in->level + 1, (uint32_t)LEVELS - 1);
    enter_slice(in, load_u32(byte_pool_at(in->pool, in->link)));
    return in->p != in->limit;
}

void stream_bytes(struct stream_in *in, void *to, size_t n)
{
    uint8_t *at = to;
    while (n > 0 && !stream_end(in)) {
        size_t some = MIN_OF(n, (size_t)(in->limit - in->p));
        memcpy(at, in->p, some);
        in->p += some;
        at += some;
        n -= some;
    }
}
