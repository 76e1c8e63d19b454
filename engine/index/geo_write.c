/* Geo points: leaves of 128 neighbours on a Hilbert curve, and a tree of boxes over them, each level a
 * sixteenth of the one below (a packed R-tree; Kamel and Faloutsos 1993). Points sorted so can be merged as a
 * stream, which a k-d tree's cannot. */
#include "engine/index/column_write.h"

uint64_t geo_curve(int32_t lat, int32_t lon)
{
    uint32_t x = (uint32_t)lon ^ 0x80000000U, y = (uint32_t)lat ^ 0x80000000U;
    uint64_t d = 0;
    for (uint32_t s = 0x80000000U; s > 0; s >>= 1) {
        uint32_t rx = (x & s) != 0, ry = (y & s) != 0;
        d = d << 2 | ((3 * rx) ^ ry);
        if (ry == 0) {
            uint32_t flip = rx != 0 ? UINT32_MAX : 0, t = x ^ flip;
            x = y ^ flip;
            y = t;
        }
    }
    return d;
}

struct box {
    int32_t lat_lo, lat_hi, lon_lo, lon_hi;
};

static void box_add(struct box *b, const struct box *more)
{
    b->lat_lo = MIN_OF(b->lat_lo, more->lat_lo);
    b->lat_hi = MAX_OF(b->lat_hi, more->lat_hi);
    b->lon_lo = MIN_OF(b->lon_lo, more->lon_lo);
    b->lon_hi = MAX_OF(b->lon_hi, more->lon_hi);
}

static void put_box(struct buf *to, const struct box *b)
{
    put_u32(to, (uint32_t)b->lat_lo);
    put_u32(to, (uint32_t)b->lat_hi);
    put_u32(to, (uint32_t)b->lon_lo);
    put_u32(to, (uint32_t)b->lon_hi);
}

static struct box get_box(const struct buf *from, size_t i)
{
    const char *p = from->p + 16 * i;
    return (struct box){(int32_t)load_u32(p), (int32_t)load_u32(p + 4), (int32_t)load_u32(p + 8),
                        (int32_t)load_u32(p + 12)};
}

static void put_column(struct buf *to, uint32_t v[POINTS_BLOCK], uint32_t n, uint32_t low, unsigned width)
{
    struct bits_out bits = bits_out(to);
    for (uint32_t i = 0; i < n; i++) {
        v[i] -= low;
    }
    if (n < POINTS_BLOCK) {
        for (uint32_t i = 0; i < n; i++) {
            bits_put(&bits, v[i], width);
        }
        bits_end(&bits);
        return;
    }
    uint8_t *p = (uint8_t *)buf_reserve(to, bitpack_bytes(width));
    if (p != NULL) {
        bitpack_pack(v, width, p);
        to->n += bitpack_bytes(width);
    }
}

static struct box write_leaf(struct buf *to, const struct geo_entry *e, uint32_t n)
{
    struct box all = {e[0].lat, e[0].lat, e[0].lon, e[0].lon};
    uint32_t v[3][POINTS_BLOCK], doc_lo = e[0].doc, doc_hi = e[0].doc;
    for (uint32_t i = 0; i < n; i++) {
        box_add(&all, &(struct box){e[i].lat, e[i].lat, e[i].lon, e[i].lon});
        doc_lo = MIN_OF(doc_lo, e[i].doc);
        doc_hi = MAX_OF(doc_hi, e[i].doc);
        v[0][i] = (uint32_t)e[i].lat;
        v[1][i] = (uint32_t)e[i].lon;
        v[2][i] = e[i].doc;
    }
    unsigned lat_width = bits_width((uint32_t)all.lat_hi - (uint32_t)all.lat_lo);
    unsigned lon_width = bits_width((uint32_t)all.lon_hi - (uint32_t)all.lon_lo);
    unsigned doc_width = bits_width(doc_hi - doc_lo);
    put_u8(to, (uint8_t)lat_width);
    put_u8(to, (uint8_t)lon_width);
    put_u8(to, (uint8_t)doc_width);
    put_u32(to, doc_lo);
    put_column(to, v[0], n, (uint32_t)all.lat_lo, lat_width);
    put_column(to, v[1], n, (uint32_t)all.lon_lo, lon_width);
    put_column(to, v[2], n, doc_lo, doc_width);
    return all;
}

/* Appends the levels above the leaves' boxes, up to a single one. */
static void put_levels(struct buf *boxes)
{
    size_t begin = 0, n = boxes->n / 16;
    while (n > 1 && !boxes->failed) {
        size_t above = (n + GEO_FAN - 1) / GEO_FAN;
        for (size_t i = 0; i < above; i++) {
            struct box b = get_box(boxes, begin + i * GEO_FAN);
            for (size_t k = 1; k < GEO_FAN && i * GEO_FAN + k < n; k++) {
                struct box more = get_box(boxes, begin + i * GEO_FAN + k);
                box_add(&b, &more);
            }
            put_box(boxes, &b);
        }
        begin += n;
        n = above;
    }
}

void geo_write(struct seg_out *o, const struct geo_source *src, struct buf *meta)
{
    struct buf boxes, offsets, leaf;
    buf_init(&boxes, NULL, BUF_UNLIMITED);
    buf_init(&offsets, NULL, BUF_UNLIMITED);
    buf_init(&leaf, NULL, BUF_UNLIMITED);
    struct geo_entry e[POINTS_BLOCK];
    uint32_t n = 0;
    uint64_t total = 0;
    seg_out_begin(o, SECTION_GEO);
    for (bool more = true; more;) {
        more = src->next(src->self, &e[n]);
        n += more;
        total += more;
        if (n == POINTS_BLOCK || (!more && n > 0)) {
            put_u64(&offsets, seg_out_at(o));
            struct box b = write_leaf(&leaf, e, n);
            put_box(&boxes, &b);
            seg_out_bytes(o, leaf.p, leaf.n);
            seg_out_check(o, &leaf);
            buf_reset(&leaf);
            n = 0;
        }
    }
    put_levels(&boxes);
    uint64_t data_n = seg_out_at(o);
    seg_out_align(o, 8);
    seg_out_bytes(o, boxes.p, boxes.n);
    seg_out_bytes(o, offsets.p, offsets.n);
    put_varint(meta, seg_out_end(o));
    put_varint(meta, total);
    put_varint(meta, data_n);
    seg_out_check(o, &boxes);
    seg_out_check(o, &offsets);
    buf_fini(&boxes);
    buf_fini(&offsets);
    buf_fini(&leaf);
}
