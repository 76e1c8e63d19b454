#include "engine/index/seg_int.h"

bool points_meta_read(struct points_meta *m, const struct segment *s, struct bytes_in *meta)
{
    struct section section = seg_get_section(s, meta, SECTION_POINTS);
    m->n = get_varint(meta);
    uint64_t data_n = get_varint(meta);
    m->single = get_bool(meta);
    m->min = (int64_t)get_zigzag(meta);
    m->max = (int64_t)get_zigzag(meta);
    uint64_t blocks = m->n / POINTS_BLOCK + (m->n % POINTS_BLOCK != 0);
    if (meta->bad || section.p == NULL || data_n > section.n || blocks > UINT32_MAX) {
        return false;
    }
    size_t at = ((size_t)data_n + 7) & ~(size_t)7;
    if (at > section.n || blocks > (section.n - at) / 16) {
        return false;
    }
    m->n_blocks = (uint32_t)blocks;
    m->data = section.p;
    m->end = section.p + data_n;
    m->firsts = section.p + at;
    m->offsets = m->firsts + 8 * (size_t)blocks;
    m->there = true;
    return true;
}

static int64_t first_of(const struct points_meta *m, uint32_t block)
{
    return (int64_t)load_u64(m->firsts + 8 * (size_t)block);
}

/* Blocks whose first value is below v (or, with `equal`, at most v). */
static uint32_t blocks_below(const struct points_meta *m, int64_t v, bool equal)
{
    uint32_t lo = 0, hi = m->n_blocks;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int64_t first = first_of(m, mid);
        if (first < v || (equal && first == v)) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

/* The blocks [*from, *to) that may hold values of [lo, hi]. */
static void span(const struct points_meta *m, int64_t lo, int64_t hi, uint32_t *from, uint32_t *to)
{
    uint32_t below = blocks_below(m, lo, false);
    *from = below > 0 ? below - 1 : 0;
    *to = hi >= lo ? blocks_below(m, hi, true) : 0;
    if (m->n_blocks > 0 && (lo > m->max || hi < m->min)) {
        *to = *from;
    }
}

struct block_view {
    uint32_t n;
    unsigned width; /* of values */
    const uint8_t *values;
    uint32_t docs[POINTS_BLOCK];
};

static bool read_block(const struct segment *s, const struct points_meta *m, uint32_t block,
                       struct block_view *v)
{
    uint32_t doc_count = s->doc_count;
    uint64_t at = load_u64(m->offsets + 8 * (size_t)block);
    if (at > (uint64_t)(m->end - m->data) || (uint64_t)(m->end - m->data) - at < 6) {
        return false;
    }
    const uint8_t *p = m->data + at;
    if (!seg_check(s, p, 6)) {
        return false;
    }
    v->n = (uint32_t)MIN_OF((uint64_t)POINTS_BLOCK, m->n - (uint64_t)block * POINTS_BLOCK);
    v->width = p[0];
    unsigned doc_width = p[1];
    uint32_t low = load_u32(p + 2);
    p += 6;
    size_t bytes = v->n == POINTS_BLOCK ? bitpack_bytes(doc_width) : bits_bytes(v->n, doc_width);
    if (doc_width > 32 || bits_field_width(v->width) != v->width || v->width > 64
        || (size_t)(m->end - p) < bytes + bits_bytes(v->n, v->width)
        || !seg_check(s, p, bytes + bits_bytes(v->n, v->width))) {
        return false;
    }
    if (v->n == POINTS_BLOCK) {
        bitpack_unpack(p, doc_width, v->docs);
    } else {
        bits_unpack32(p, v->n, doc_width, v->docs);
    }
    v->values = p + bytes;
    uint32_t max = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        max = MAX_OF(max, v->docs[i]);
    }
    if (low >= doc_count || max >= doc_count - low) {
        return false;
    }
    for (uint32_t i = 0; i < v->n; i++) {
        v->docs[i] += low;
    }
    return true;
}

static bool open_block(const struct segment *s, const struct points_meta *m, uint32_t block,
                       struct block_view *v)
{
    return read_block(s, m, block, v) || seg_broken(s, m->data);
}

/* Firsts and offsets of all blocks. */
static bool check_rows(const struct segment *s, const struct points_meta *m)
{
    return seg_check(s, m->firsts, 16 * (size_t)m->n_blocks);
}

static void set_some(const struct block_view *v, int64_t first, int64_t lo, int64_t hi, uint64_t *bits)
{
    uint64_t mask = bits_mask(v->width);
    for (uint32_t i = 0; i < v->n; i++) {
        int64_t value = (int64_t)((uint64_t)first + bits_get(v->values, i, v->width, mask));
        if (value >= lo && value <= hi) {
            bits_set(bits, v->docs[i]);
        }
    }
}

static void set_all(uint64_t *bits, uint32_t n)
{
    size_t whole = n >> 6;
    memset(bits, 0xFF, whole * 8);
    if ((n & 63) != 0) {
        bits[whole] |= ((uint64_t)1 << (n & 63)) - 1;
    }
}

void seg_points_range(const struct seg_field *f, int64_t lo, int64_t hi, uint64_t *bits)
{
    const struct points_meta *m = &impl_of(f)->points;
    uint32_t from, to, docs = f->segment->doc_count;
    if (!m->there || m->n == 0) {
        return;
    }
    if (lo <= m->min && hi >= m->max && m->single && m->n == docs) {
        set_all(bits, docs);
        return;
    }
    if (!check_rows(f->segment, m)) {
        return;
    }
    span(m, lo, hi, &from, &to);
    for (uint32_t block = from; block < to; block++) {
        struct block_view v;
        if (!open_block(f->segment, m, block, &v)) {
            continue;
        }
        int64_t first = first_of(m, block), last = block + 1 < m->n_blocks ? first_of(m, block + 1) : m->max;
        if (first >= lo && last <= hi) {
            for (uint32_t i = 0; i < v.n; i++) {
                bits_set(bits, v.docs[i]);
            }
        } else {
            set_some(&v, first, lo, hi, bits);
        }
    }
}

uint64_t seg_points_count(const struct seg_field *f, int64_t lo, int64_t hi)
{
    const struct points_meta *m = &impl_of(f)->points;
    uint32_t from, to;
    if (!m->there || m->n == 0 || !check_rows(f->segment, m)) {
        return 0;
    }
    span(m, lo, hi, &from, &to);
    return from < to ? MIN_OF((uint64_t)(to - from) * POINTS_BLOCK, m->n) : 0;
}

bool seg_points_bounds(const struct seg_field *f, int64_t *min, int64_t *max)
{
    const struct points_meta *m = &impl_of(f)->points;
    *min = m->min;
    *max = m->max;
    return m->there && m->n > 0;
}

bool points_iter_next(struct points_iter *it, int64_t *value, doc_id *doc)
{
    const struct points_meta *m = &impl_of(it->field)->points;
    if (it->at == it->n) {
        struct block_view v;
        if (it->block >= m->n_blocks || it->corrupt) {
            return false;
        }
        if (!check_rows(it->field->segment, m) || !open_block(it->field->segment, m, it->block, &v)) {
            it->corrupt = true;
            return false;
        }
        uint64_t mask = bits_mask(v.width);
        for (uint32_t i = 0; i < v.n; i++) {
            it->docs[i] = v.docs[i];
            it->values[i] =
                (int64_t)((uint64_t)first_of(m, it->block) + bits_get(v.values, i, v.width, mask));
        }
        it->n = v.n;
        it->at = 0;
        it->block++;
    }
    *value = it->values[it->at];
    *doc = it->docs[it->at++];
    return true;
}
