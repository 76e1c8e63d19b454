/* Sorted numbers with their documents, in blocks. */
#include "engine/index/column_write.h"

/* n numbers, vertical when they fill a block. */
static void put_docs(struct buf *to, const uint32_t *v, uint32_t n, unsigned width)
{
    if (n == POINTS_BLOCK) {
        uint8_t *p = (uint8_t *)buf_reserve(to, bitpack_bytes(width));
        if (p != NULL) {
            bitpack_pack(v, width, p);
            to->n += bitpack_bytes(width);
        }
        return;
    }
    struct bits_out bits = bits_out(to);
    for (uint32_t i = 0; i < n; i++) {
        bits_put(&bits, v[i], width);
    }
    bits_end(&bits);
}

static void write_block(struct buf *to, const int64_t *values, const doc_id *docs, uint32_t n)
{
    uint32_t rel[POINTS_BLOCK], low = docs[0];
    for (uint32_t i = 1; i < n; i++) {
        low = MIN_OF(low, docs[i]);
    }
    for (uint32_t i = 0; i < n; i++) {
        rel[i] = docs[i] - low;
    }
    unsigned value_width = bits_field_width(bits_width((uint64_t)values[n - 1] - (uint64_t)values[0]));
    unsigned doc_width = bitpack_width(rel, n);
    put_u8(to, (uint8_t)value_width);
    put_u8(to, (uint8_t)doc_width);
    put_u32(to, low);
    put_docs(to, rel, n, doc_width);
    struct bits_out bits = bits_out(to);
    for (uint32_t i = 0; i < n; i++) {
        bits_put(&bits, (uint64_t)values[i] - (uint64_t)values[0], value_width);
    }
    bits_end(&bits);
}

void points_write(struct seg_out *o, const struct point_source *src, bool single, struct buf *meta)
{
    struct buf firsts, offsets, block;
    buf_init(&firsts, NULL, BUF_UNLIMITED);
    buf_init(&offsets, NULL, BUF_UNLIMITED);
    buf_init(&block, NULL, BUF_UNLIMITED);
    int64_t values[POINTS_BLOCK], min = 0, max = 0;
    doc_id docs[POINTS_BLOCK];
    uint32_t n = 0;
    uint64_t total = 0;
    seg_out_begin(o, SECTION_POINTS);
    for (bool more = true; more;) {
        more = src->next(src->self, &values[n], &docs[n]);
        if (more) {
            min = total == 0 ? values[n] : min;
            max = values[n++];
            total++;
        }
        if (n == POINTS_BLOCK || (!more && n > 0)) {
            put_u64(&firsts, (uint64_t)values[0]);
            put_u64(&offsets, seg_out_at(o));
            write_block(&block, values, docs, n);
            seg_out_bytes(o, block.p, block.n);
            seg_out_check(o, &block);
            buf_reset(&block);
            n = 0;
        }
    }
    uint64_t data_n = seg_out_at(o);
    seg_out_align(o, 8);
    seg_out_bytes(o, firsts.p, firsts.n);
    seg_out_bytes(o, offsets.p, offsets.n);
    put_varint(meta, seg_out_end(o));
    put_varint(meta, total);
    put_varint(meta, data_n);
    put_bool(meta, single);
    put_zigzag(meta, min);
    put_zigzag(meta, max);
    seg_out_check(o, &firsts);
    seg_out_check(o, &offsets);
    buf_fini(&firsts);
    buf_fini(&offsets);
    buf_fini(&block);
}
