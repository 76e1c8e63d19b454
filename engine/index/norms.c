/* Lengths in one byte, as Lucene's SmallFloat: exact below 24 + 16, then four significant bits. */
#include "engine/index/seg_int.h"

#define FREE_VALUES \
    24 /* numbers that need no rounding in front of the float-like part: 255 - longToInt4(2^31 - 1) */

static uint32_t to_int4(uint32_t v)
{
    unsigned bits = bits_width(v);
    if (bits < 4) {
        return v;
    }
    unsigned shift = bits - 4;
    return ((v >> shift) & 7) | (shift + 1) << 3;
}

static uint32_t of_int4(uint32_t v)
{
    uint32_t bits = v & 7, shift = v >> 3;
    return shift == 0 ? bits : (bits | 8) << (shift - 1);
}

uint8_t norm_encode(uint32_t length)
{
    length = MIN_OF(length, (uint32_t)INT32_MAX);
    return (uint8_t)(length < FREE_VALUES ? length : FREE_VALUES + to_int4(length - FREE_VALUES));
}

uint32_t norm_decode(uint8_t norm)
{
    return norm < FREE_VALUES ? norm : FREE_VALUES + of_int4(norm - (uint32_t)FREE_VALUES);
}

const uint8_t *seg_norms(const struct seg_field *f)
{
    seg_check_section(f->segment, &impl_of(f)->norms_section);
    return impl_of(f)->norms;
}

const uint64_t *seg_norms_present(const struct seg_field *f)
{
    return impl_of(f)->norms_present;
}
