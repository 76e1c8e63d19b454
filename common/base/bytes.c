#include "common/base/bytes.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "files and frames are little-endian as the machine is");

struct str get_raw(struct bytes_in *in, size_t n)
{
    if (bytes_left(in) < n) {
        in->bad = true;
        in->at = in->end;
        return STR_NULL;
    }
    struct str s = str_mk(in->at, n);
    in->at += n;
    return s;
}

uint8_t get_u8(struct bytes_in *in)
{
    struct str s = get_raw(in, 1);
    return s.p != NULL ? (uint8_t)s.p[0] : 0;
}

uint16_t get_u16(struct bytes_in *in)
{
    struct str s = get_raw(in, 2);
    return s.p != NULL ? load_u16(s.p) : 0;
}

uint32_t get_u32(struct bytes_in *in)
{
    struct str s = get_raw(in, 4);
    return s.p != NULL ? load_u32(s.p) : 0;
}

uint64_t get_u64(struct bytes_in *in)
{
    struct str s = get_raw(in, 8);
    return s.p != NULL ? load_u64(s.p) : 0;
}

float get_f32(struct bytes_in *in)
{
    uint32_t bits = get_u32(in);
    float v;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

double get_f64(struct bytes_in *in)
{
    uint64_t bits = get_u64(in);
    double v;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

bool get_bool(struct bytes_in *in)
{
    uint8_t v = get_u8(in);
    in->bad |= v > 1;
    return v == 1;
}

uint64_t get_varint(struct bytes_in *in)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t b = get_u8(in);
        v |= (uint64_t)(b & 0x7F) << shift;
        if (b < 0x80) {
            in->bad |= shift == 63 && b > 1;
            return v;
        }
    }
    in->bad = true;
    return 0;
}

int64_t get_zigzag(struct bytes_in *in)
{
    return unzigzag(get_varint(in));
}

struct str get_str(struct bytes_in *in)
{
    uint64_t n = get_varint(in);
    if (n > bytes_left(in)) {
        in->bad = true;
        in->at = in->end;
        return STR_NULL;
    }
    return get_raw(in, (size_t)n);
}

size_t get_count(struct bytes_in *in, size_t each)
{
    uint64_t n = get_varint(in);
    if (n > bytes_left(in) / MAX_OF(each, (size_t)1)) {
        in->bad = true;
        in->at = in->end;
        return 0;
    }
    return (size_t)n;
}

void put_u8(struct buf *b, uint8_t v)
{
    buf_add(b, &v, 1);
}

void put_u16(struct buf *b, uint16_t v)
{
    buf_add(b, &v, sizeof(v));
}

void put_u32(struct buf *b, uint32_t v)
{
    buf_add(b, &v, sizeof(v));
}

void put_u64(struct buf *b, uint64_t v)
{
    buf_add(b, &v, sizeof(v));
}

void put_f32(struct buf *b, float v)
{
    buf_add(b, &v, sizeof(v));
}

void put_f64(struct buf *b, double v)
{
    buf_add(b, &v, sizeof(v));
}

void put_bool(struct buf *b, bool v)
{
    put_u8(b, v ? 1 : 0);
}

void put_varint(struct buf *b, uint64_t v)
{
    uint8_t bytes[10];
    size_t n = 0;
    while (v >= 0x80) {
        bytes[n++] = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    bytes[n++] = (uint8_t)v;
    buf_add(b, bytes, n);
}

void put_zigzag(struct buf *b, int64_t v)
{
    put_varint(b, zigzag(v));
}

void put_str(struct buf *b, struct str s)
{
    put_varint(b, s.n);
    buf_str(b, s);
}
