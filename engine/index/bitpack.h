/* bitpack.h - numbers in as few bits as their block needs.
 *
 * Two layouts. Vertical: exactly 128 values in four lanes (value i is in lane i % 4), so that four are
 * decoded by one vector instruction; b bits take 16 * b bytes. Horizontal: any count, value after value,
 * least significant bits first; any value is read alone in constant time.
 *
 * Readers of horizontal fields load eight bytes at a time and may touch up to seven bytes behind the last
 * value: a segment's sections are always followed by at least its footer. Pure functions. */
#ifndef INDEX_BITPACK_H
#define INDEX_BITPACK_H

#include "common/base/bits.h"
#include "common/base/bytes.h"

#define BITPACK_BLOCK 128

/* Bytes of a vertical block of width b (0 ... 32). */
static inline size_t bitpack_bytes(unsigned b)
{
    return (size_t)16 * b;
}

/* Packs 128 values, each below 2^b. Writes bitpack_bytes(b). */
void bitpack_pack(const uint32_t in[BITPACK_BLOCK], unsigned b, uint8_t *out);
/* The reverse; b <= 32. */
void bitpack_unpack(const uint8_t *in, unsigned b, uint32_t out[BITPACK_BLOCK]);
/* Unpacks gaps less one, and sums them up: out[i] = base + (i + 1) + in[0] + ... + in[i], modulo 2^32. */
void bitpack_unpack_gaps(const uint8_t *in, unsigned b, uint32_t base, uint32_t out[BITPACK_BLOCK]);
/* The width that the greatest of n values needs. */
unsigned bitpack_width(const uint32_t *in, size_t n);

/* Widths that horizontal fields may have: up to 57, so that one load reaches every value, or 64. */
static inline unsigned bits_field_width(unsigned w)
{
    return w > 57 ? 64 : w;
}

static inline uint64_t bits_mask(unsigned w)
{
    return w >= 64 ? UINT64_MAX : ((uint64_t)1 << w) - 1;
}

/* Bytes of n horizontal fields; SIZE_MAX when that overflows. */
static inline size_t bits_bytes(uint64_t n, unsigned w)
{
    return w != 0 && n > (UINT64_MAX - 7) / w ? SIZE_MAX : (size_t)((n * w + 7) / 8);
}

/* The i-th field of width w. */
static inline uint64_t bits_get(const uint8_t *p, uint64_t i, unsigned w, uint64_t mask)
{
    uint64_t at = i * w;
    return (load_u64(p + (at >> 3)) >> (at & 7)) & mask;
}

/* Unpacks n 32-bit fields (w <= 32). */
void bits_unpack32(const uint8_t *p, size_t n, unsigned w, uint32_t *out);

/* Packs n 32-bit fields (w <= 32, each below 2^w) and returns the bytes written; may touch seven bytes behind
 * them. */
size_t bits_pack32(uint8_t *to, const uint32_t *v, size_t n, unsigned w);

/* Writes horizontal fields one after the other into a buffer. */
struct bits_out {
    struct buf *to; /* borrowed */
    uint64_t word;
    unsigned used;
};

static inline struct bits_out bits_out(struct buf *to)
{
    return (struct bits_out){to, 0, 0};
}

void bits_put(struct bits_out *o, uint64_t v, unsigned w);
/* Writes what is left of the last byte. */
void bits_end(struct bits_out *o);

#endif
