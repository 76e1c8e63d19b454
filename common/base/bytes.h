/* bytes.h - integers in little-endian bytes, and one bounds-checked cursor for every decoder.
 *
 * Bytes from disk and from the network are hostile: `struct bytes_in` never reads outside its range; a short
 * read sets `bad`, returns zeroes from then on, and the decoder checks `bad` once at the end. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include "common/base/buf.h"

static inline uint16_t load_u16(const void *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof(v));
    return v; /* every supported machine is little-endian (asserted in bytes.c) */
}

static inline uint32_t load_u32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static inline uint64_t load_u64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static inline void store_u16(void *p, uint16_t v)
{
    memcpy(p, &v, sizeof(v));
}

static inline void store_u32(void *p, uint32_t v)
{
    memcpy(p, &v, sizeof(v));
}

static inline void store_u64(void *p, uint64_t v)
{
    memcpy(p, &v, sizeof(v));
}

/* Signed numbers as unsigned with small absolute values small. */
static inline uint64_t zigzag(int64_t v)
{
    return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

static inline int64_t unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

struct bytes_in {
    const uint8_t *at, *end;
    bool bad;
};

static inline struct bytes_in bytes_in(struct str s)
{
    return (struct bytes_in){(const uint8_t *)s.p, (const uint8_t *)s.p + s.n, false};
}

static inline size_t bytes_left(const struct bytes_in *in)
{
    return (size_t)(in->end - in->at);
}

uint8_t get_u8(struct bytes_in *in);
uint16_t get_u16(struct bytes_in *in);
uint32_t get_u32(struct bytes_in *in);
uint64_t get_u64(struct bytes_in *in);
float get_f32(struct bytes_in *in);
double get_f64(struct bytes_in *in);
bool get_bool(struct bytes_in *in);
/* LEB128, at most ten bytes. */
uint64_t get_varint(struct bytes_in *in);
int64_t get_zigzag(struct bytes_in *in);
/* A varint length and that many bytes, borrowed from the input. */
struct str get_str(struct bytes_in *in);
/* n bytes, borrowed; p == NULL when short. */
struct str get_raw(struct bytes_in *in, size_t n);
/* A varint count of things of at least `each` bytes: refuses counts that the rest cannot hold. */
size_t get_count(struct bytes_in *in, size_t each);

void put_u8(struct buf *b, uint8_t v);
void put_u16(struct buf *b, uint16_t v);
void put_u32(struct buf *b, uint32_t v);
void put_u64(struct buf *b, uint64_t v);
void put_f32(struct buf *b, float v);
void put_f64(struct buf *b, double v);
void put_bool(struct buf *b, bool v);
void put_varint(struct buf *b, uint64_t v);
void put_zigzag(struct buf *b, int64_t v);
void put_str(struct buf *b, struct str s);

#endif
