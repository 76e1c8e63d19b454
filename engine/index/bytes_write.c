/* Binary columns: addresses, then bytes. */
#include "engine/index/column_write.h"

/* One pass over the values that writes, per document, where its first one is. */
static void write_starts(struct seg_out *o, const struct bytes_source *src, const struct index_gather *g)
{
    struct seg_bits bits = seg_bits(o);
    unsigned width = index_gather_width(g);
    uint64_t at = 0;
    doc_id doc, last = DOC_END;
    struct str v;
    src->rewind(src->self);
    while (src->next(src->self, &doc, &v)) {
        if (doc != last) {
            seg_bits_put(&bits, at, width);
            last = doc;
        }
        at++;
    }
    seg_bits_put(&bits, at, width);
    seg_bits_end(&bits);
}

static void write_addresses(struct seg_out *o, const struct bytes_source *src, unsigned width)
{
    struct seg_bits bits = seg_bits(o);
    uint64_t at = 0;
    doc_id doc;
    struct str v;
    src->rewind(src->self);
    while (src->next(src->self, &doc, &v)) {
        seg_bits_put(&bits, at, width);
        at += v.n;
    }
    seg_bits_put(&bits, at, width);
    seg_bits_end(&bits);
}

void bytes_column_write(struct seg_out *o, const struct bytes_source *src, enum section_kind kind,
                        uint32_t doc_count, struct buf *meta)
{
    struct index_gather g;
    if (index_gather_init(&g, o, doc_count) != ERR_OK) {
        return;
    }
    uint64_t total = 0;
    doc_id doc;
    struct str v;
    src->rewind(src->self);
    while (src->next(src->self, &doc, &v)) {
        index_gather_add(&g, doc, 1);
        total += v.n;
    }
    unsigned width = bits_field_width(bits_width(total));
    struct buf index_meta;
    buf_init(&index_meta, NULL, BUF_UNLIMITED);
    seg_out_begin(o, kind);
    index_gather_write(&g, &index_meta);
    if (g.multi) {
        write_starts(o, src, &g);
    }
    write_addresses(o, src, width);
    src->rewind(src->self);
    while (src->next(src->self, &doc, &v)) {
        seg_out_bytes(o, v.p, v.n);
    }
    put_varint(meta, seg_out_end(o));
    buf_add(meta, index_meta.p, index_meta.n);
    put_u8(meta, (uint8_t)width);
    put_varint(meta, total);
    seg_out_check(o, &index_meta);
    buf_fini(&index_meta);
    index_gather_fini(&g);
}
