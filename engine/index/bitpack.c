#include "engine/index/bitpack.h"

/* Four lanes; compilers map it to SSE2, NEON or plain words. */
typedef uint32_t lanes __attribute__((vector_size(16)));

#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE lanes load_lanes(const uint8_t *p)
{
    lanes v;
    memcpy(&v, p, sizeof(v));
    return v;
}

ALWAYS_INLINE void store_lanes(void *p, lanes v)
{
    memcpy(p, &v, sizeof(v));
}

ALWAYS_INLINE lanes same(uint32_t v)
{
    return (lanes){v, v, v, v};
}

/* Row `row` (values 4 * row ... 4 * row + 3) of a block of width b. With both constant this is at most two
 * loads, two shifts, an or and an and. */
ALWAYS_INLINE lanes unpack_row(const uint8_t *in, unsigned row, unsigned b)
{
    unsigned word = row * b / 32, shift = row * b % 32;
    lanes v = load_lanes(in + (size_t)16 * word) >> shift;
    if (shift + b > 32) {
        v |= load_lanes(in + (size_t)16 * (word + 1)) << ((32 - shift) & 31);
    }
    return b < 32 ? v & same(((uint32_t)1 << (b & 31)) - 1) : v;
}

/* Running sums of four gaps (each less one) behind `last`, whose lanes all hold the value before. */
ALWAYS_INLINE lanes sum_gaps(lanes v, lanes last)
{
    const lanes zero = {0, 0, 0, 0};
    v += same(1);
    v += __builtin_shufflevector(zero, v, 0, 4, 5, 6);
    v += __builtin_shufflevector(zero, v, 0, 1, 4, 5);
    return v + last;
}

ALWAYS_INLINE lanes last_lane(lanes v)
{
    return __builtin_shufflevector(v, v, 3, 3, 3, 3);
}

/* clang-format off */
#define ROWS(X, b) \
    X(0, b) X(1, b) X(2, b) X(3, b) X(4, b) X(5, b) X(6, b) X(7, b) X(8, b) X(9, b) X(10, b) X(11, b) \
    X(12, b) X(13, b) X(14, b) X(15, b) X(16, b) X(17, b) X(18, b) X(19, b) X(20, b) X(21, b) X(22, b) \
    X(23, b) X(24, b) X(25, b) X(26, b) X(27, b) X(28, b) X(29, b) X(30, b) X(31, b)

#define WIDTHS(X) \
    X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) \
    X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31) X(32)
/* clang-format on */

#define PLAIN_ROW(row, b) store_lanes(out + 4 * (row), unpack_row(in, row, b));
#define GAPS_ROW(row, b)                           \
    last = sum_gaps(unpack_row(in, row, b), last); \
    store_lanes(out + 4 * (row), last);            \
    last = last_lane(last);

#define UNPACKER(b)                                                              \
    static void unpack_##b(const uint8_t *in, uint32_t *out)                     \
    {                                                                            \
        ROWS(PLAIN_ROW, b)                                                       \
    }                                                                            \
    static void unpack_gaps_##b(const uint8_t *in, uint32_t base, uint32_t *out) \
    {                                                                            \
        lanes last = same(base);                                                 \
        ROWS(GAPS_ROW, b)                                                        \
    }
WIDTHS(UNPACKER)

static void unpack_0(UNUSED const uint8_t *in, uint32_t *out)
{
    memset(out, 0, BITPACK_BLOCK * sizeof(*out));
}

static void unpack_gaps_0(UNUSED const uint8_t *in, uint32_t base, uint32_t *out)
{
    for (uint32_t i = 0; i < BITPACK_BLOCK; i++) {
        out[i] = base + i + 1;
    }
}

#define PLAIN_ENTRY(b) , unpack_##b
#define GAPS_ENTRY(b)  , unpack_gaps_##b

void bitpack_unpack(const uint8_t *in, unsigned b, uint32_t out[BITPACK_BLOCK])
{
    static void (*const by_width[])(const uint8_t *, uint32_t *) = {unpack_0 WIDTHS(PLAIN_ENTRY)};
    by_width[b](in, out);
}

void bitpack_unpack_gaps(const uint8_t *in, unsigned b, uint32_t base, uint32_t out[BITPACK_BLOCK])
{
    static void (*const by_width[])(const uint8_t *, uint32_t,
                                    uint32_t *) = {unpack_gaps_0 WIDTHS(GAPS_ENTRY)};
    by_width[b](in, base, out);
}

void bitpack_pack(const uint32_t in[BITPACK_BLOCK], unsigned b, uint8_t *out)
{
    lanes word = same(0);
    unsigned used = 0;
    if (b == 0) {
        return;
    }
    for (unsigned row = 0; row < BITPACK_BLOCK / 4; row++) {
        lanes v = load_lanes((const uint8_t *)(in + (size_t)4 * row));
        word |= v << used;
        used += b;
        if (used >= 32) {
            store_lanes(out, word);
            out += 16;
            used -= 32;
            word = used > 0 ? v >> (b - used) : same(0);
        }
    }
}

unsigned bitpack_width(const uint32_t *in, size_t n)
{
    uint32_t all = 0;
    for (size_t i = 0; i < n; i++) {
        all |= in[i];
    }
    return bits_width(all);
}

void bits_unpack32(const uint8_t *p, size_t n, unsigned w, uint32_t *out)
{
    uint64_t mask = bits_mask(w);
    for (size_t i = 0; i < n; i++) {
        out[i] = (uint32_t)bits_get(p, i, w, mask);
    }
}

size_t bits_pack32(uint8_t *to, const uint32_t *v, size_t n, unsigned w)
{
    uint64_t word = 0;
    unsigned used = 0;
    uint8_t *begin = to;
    for (size_t i = 0; i < n; i++) {
        word |= (uint64_t)v[i] << used;
        used += w;
        if (used >= 32) {
            store_u32(to, (uint32_t)word);
            to += 4;
            word >>= 32;
            used -= 32;
        }
    }
    store_u32(to, (uint32_t)word);
    return (size_t)(to - begin) + (used + 7) / 8;
}

void bits_put(struct bits_out *o, uint64_t v, unsigned w)
{
    o->word |= v << o->used;
    o->used += w;
    if (o->used >= 64) {
        put_u64(o->to, o->word);
        o->used -= 64;
        o->word = o->used > 0 ? v >> (w - o->used) : 0;
    }
}

void bits_end(struct bits_out *o)
{
    if (o->used > 0) {
        uint8_t bytes[8];
        store_u64(bytes, o->word);
        buf_add(o->to, bytes, (o->used + 7) / 8);
    }
    o->word = 0;
    o->used = 0;
}
