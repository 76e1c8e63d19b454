#include "engine/index/seg_int.h"

#define LEVELS_MAX 16

bool geo_meta_read(struct geo_meta *m, const struct segment *s, struct bytes_in *meta)
{
    struct section section = seg_get_section(s, meta, SECTION_GEO);
    m->n = get_varint(meta);
    uint64_t data_n = get_varint(meta), leaves = m->n / POINTS_BLOCK + (m->n % POINTS_BLOCK != 0);
    if (meta->bad || section.p == NULL || data_n > section.n || leaves > section.n / 24) {
        return false;
    }
    size_t at = ((size_t)data_n + 7) & ~(size_t)7;
    m->n_leaves = (uint32_t)leaves;
    m->n_boxes = leaves;
    for (uint64_t n = leaves; n > 1; m->n_boxes += n) {
        n = (n + GEO_FAN - 1) / GEO_FAN;
    }
    if (at > section.n || section.n - at < 16 * m->n_boxes + 8 * leaves) {
        return false;
    }
    m->data = section.p;
    m->end = section.p + data_n;
    m->boxes = section.p + at;
    m->offsets = m->boxes + 16 * m->n_boxes;
    m->there = true;
    return true;
}

struct leaf_view {
    uint32_t n;
    uint32_t lat[POINTS_BLOCK], lon[POINTS_BLOCK], docs[POINTS_BLOCK];
};

static bool read_column(const uint8_t **p, size_t *left, uint32_t n, unsigned width, uint32_t low,
                        uint32_t *out)
{
    size_t bytes = n == POINTS_BLOCK ? bitpack_bytes(width) : bits_bytes(n, width);
    if (width > 32 || bytes > *left) {
        return false;
    }
    if (out != NULL) {
        if (n == POINTS_BLOCK) {
            bitpack_unpack(*p, width, out);
        } else {
            bits_unpack32(*p, n, width, out);
        }
        for (uint32_t i = 0; i < n; i++) {
            out[i] += low;
        }
    }
    *p += bytes;
    *left -= bytes;
    return true;
}

/* Decodes a leaf; only its documents unless `points`. */
static bool read_leaf(const struct segment *s, const struct geo_meta *m, uint32_t leaf, bool points,
                      struct leaf_view *v)
{
    uint32_t doc_count = s->doc_count;
    uint64_t at = load_u64(m->offsets + 8 * (size_t)leaf), all = (uint64_t)(m->end - m->data);
    if (at > all || all - at < 7) {
        return false;
    }
    const uint8_t *head = m->data + at, *p = head + 7, *box = m->boxes + 16 * (size_t)leaf;
    size_t left = (size_t)(all - at) - 7;
    if (!seg_check(s, head, 7)) {
        return false;
    }
    uint32_t low = load_u32(head + 3);
    v->n = (uint32_t)MIN_OF((uint64_t)POINTS_BLOCK, m->n - (uint64_t)leaf * POINTS_BLOCK);
    size_t bytes = 0;
    for (unsigned k = 0; k < 3; k++) {
        bytes += v->n == POINTS_BLOCK ? bitpack_bytes(head[k]) : bits_bytes(v->n, head[k]);
    }
    if (bytes > left || !seg_check(s, p, bytes)
        || !read_column(&p, &left, v->n, head[0], load_u32(box), points ? v->lat : NULL)
        || !read_column(&p, &left, v->n, head[1], load_u32(box + 8), points ? v->lon : NULL)
        || !read_column(&p, &left, v->n, head[2], 0, v->docs)) {
        return false;
    }
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

static bool open_leaf(const struct segment *s, const struct geo_meta *m, uint32_t leaf, bool points,
                      struct leaf_view *v)
{
    return read_leaf(s, m, leaf, points, v) || seg_broken(s, m->data);
}

/* The boxes of all levels, and the leaves' offsets. */
static bool check_boxes(const struct segment *s, const struct geo_meta *m)
{
    return seg_check(s, m->boxes, 16 * (size_t)m->n_boxes + 8 * (size_t)m->n_leaves);
}

struct visit {
    const struct segment *s;
    const struct geo_meta *m;
    const struct geo_visitor *visitor;
    uint64_t *bits;
    uint64_t begin[LEVELS_MAX], n[LEVELS_MAX]; /* of each level's boxes */
};

static void take_leaves(struct visit *x, uint64_t from, uint64_t to)
{
    for (uint64_t leaf = from; leaf < MIN_OF(to, (uint64_t)x->m->n_leaves); leaf++) {
        struct leaf_view v;
        if (open_leaf(x->s, x->m, (uint32_t)leaf, false, &v)) {
            for (uint32_t i = 0; i < v.n; i++) {
                bits_set(x->bits, v.docs[i]);
            }
        }
    }
}

static void test_leaf(struct visit *x, uint64_t leaf)
{
    struct leaf_view v;
    if (!open_leaf(x->s, x->m, (uint32_t)leaf, true, &v)) {
        return;
    }
    for (uint32_t i = 0; i < v.n; i++) {
        if (!bits_test(x->bits, v.docs[i])
            && x->visitor->point(x->visitor->self, (int32_t)v.lat[i], (int32_t)v.lon[i])) {
            bits_set(x->bits, v.docs[i]);
        }
    }
}

static void geo_visit(struct visit *x, unsigned level, uint64_t i)
{
    const uint8_t *box = x->m->boxes + 16 * (x->begin[level] + i);
    enum cell_relation r =
        x->visitor->cell(x->visitor->self, (int32_t)load_u32(box), (int32_t)load_u32(box + 4),
                         (int32_t)load_u32(box + 8), (int32_t)load_u32(box + 12));
    if (r == CELL_OUTSIDE) {
        return;
    }
    if (r == CELL_INSIDE) {
        take_leaves(x, i << (4 * level), (i + 1) << (4 * level));
    } else if (level == 0) {
        test_leaf(x, i);
    } else {
        for (uint64_t k = i * GEO_FAN; k < MIN_OF((i + 1) * GEO_FAN, x->n[level - 1]); k++) {
            geo_visit(x, level - 1, k);
        }
    }
}

void seg_geo_visit(const struct seg_field *f, const struct geo_visitor *v, uint64_t *bits)
{
    const struct geo_meta *m = &impl_of(f)->geo;
    if (!m->there || m->n_leaves == 0 || !check_boxes(f->segment, m)) {
        return;
    }
    struct visit x = {.s = f->segment, .m = m, .visitor = v, .bits = bits};
    unsigned top = 0;
    x.n[0] = m->n_leaves;
    while (x.n[top] > 1) {
        x.begin[top + 1] = x.begin[top] + x.n[top];
        x.n[top + 1] = (x.n[top] + GEO_FAN - 1) / GEO_FAN;
        top++;
    }
    geo_visit(&x, top, 0);
}

bool geo_iter_next(struct geo_iter *it, int32_t *lat, int32_t *lon, doc_id *doc)
{
    const struct geo_meta *m = &impl_of(it->field)->geo;
    if (it->at == it->n) {
        struct leaf_view v;
        if (it->leaf >= m->n_leaves || it->corrupt) {
            return false;
        }
        if (!check_boxes(it->field->segment, m) || !open_leaf(it->field->segment, m, it->leaf, true, &v)) {
            it->corrupt = true;
            return false;
        }
        memcpy(it->lat, v.lat, sizeof(v.lat));
        memcpy(it->lon, v.lon, sizeof(v.lon));
        memcpy(it->docs, v.docs, sizeof(v.docs));
        it->n = v.n;
        it->at = 0;
        it->leaf++;
    }
    *lat = (int32_t)it->lat[it->at];
    *lon = (int32_t)it->lon[it->at];
    *doc = it->docs[it->at++];
    return true;
}
