/* Values by document. Every index that comes out of a file is clamped to what its section holds. */
#include "engine/index/seg_int.h"

/* n horizontal fields of width w from the body, padded to eight bytes. */
static const uint8_t *take_fields(struct bytes_in *body, uint64_t n, unsigned w)
{
    size_t bytes = bits_bytes(n, w);
    if (bytes > bytes_left(body)) {
        body->bad = true;
        return NULL;
    }
    return (const uint8_t *)get_raw(body, MIN_OF((bytes + 7) & ~(size_t)7, bytes_left(body))).p;
}

static bool value_index_read(struct value_index *x, const struct segment *s, struct bytes_in *meta,
                             struct bytes_in *body)
{
    uint64_t docs = get_varint(meta);
    x->n_values = get_varint(meta);
    uint8_t flags = get_u8(meta);
    if (meta->bad || docs > s->doc_count || x->n_values < docs || flags > 3
        || ((flags & 1) == 0 && x->n_values != docs) || ((flags & 2) != 0 && docs != s->doc_count)) {
        return false;
    }
    x->doc_count = (uint32_t)docs;
    if (!(flags & 2)) {
        size_t words = bits_words(s->doc_count);
        x->present = (const uint64_t *)(const void *)get_raw(body, words * 8).p;
        x->ranks = (const uint32_t *)(const void *)get_raw(body, (words * 4 + 7) & ~(size_t)7).p;
    }
    if (flags & 1) {
        x->start_width = (uint8_t)bits_field_width(bits_width(x->n_values));
        x->starts = take_fields(body, docs + 1, x->start_width);
    }
    return !body->bad;
}

uint32_t value_index_seek(const struct value_index *x, doc_id doc, uint64_t *first)
{
    uint64_t at = doc;
    if (x->present != NULL) {
        uint64_t word = x->present[doc >> 6], bit = (uint64_t)1 << (doc & 63);
        if (!(word & bit)) {
            return 0;
        }
        at = x->ranks[doc >> 6] + (uint64_t)popcount64(word & (bit - 1));
    }
    if (at >= x->doc_count) {
        return 0;
    }
    *first = at;
    if (x->starts == NULL) {
        return 1;
    }
    uint64_t mask = bits_mask(x->start_width);
    uint64_t from = bits_get(x->starts, at, x->start_width, mask);
    uint64_t to = bits_get(x->starts, at + 1, x->start_width, mask);
    if (from > to || to > x->n_values) {
        return 0;
    }
    *first = from;
    return (uint32_t)(to - from);
}

bool column_meta_read(struct column_meta *c, const struct segment *s, struct bytes_in *meta,
                      enum section_kind kind)
{
    struct section section = seg_get_section(s, meta, kind);
    struct bytes_in body = {section.p, section.p + section.n, section.p == NULL};
    if (!value_index_read(&c->index, s, meta, &body)) {
        return false;
    }
    c->section = section;
    c->min = get_zigzag(meta);
    c->max = get_zigzag(meta);
    uint8_t encoding = get_u8(meta);
    c->width = get_u8(meta);
    c->gcd = get_varint(meta);
    if (meta->bad || encoding > NUM_TABLE || c->width > 64 || (c->width > 57 && c->width < 64)) {
        return false;
    }
    if (encoding == NUM_TABLE) {
        c->table = c->width <= 8 ? (const uint8_t *)get_raw(&body, (size_t)8 << c->width).p : NULL;
        if (c->table == NULL) {
            return false;
        }
    }
    c->data = take_fields(&body, c->index.n_values, c->width);
    c->there = true;
    return !body.bad;
}

void column_init(struct num_column *c, const struct seg_field *f, const struct column_meta *m)
{
    *c = (struct num_column){0};
    if (f == NULL || !m->there) {
        return;
    }
    c->field = f;
    c->multi = m->index.starts != NULL;
    c->dense = !c->multi && m->index.present == NULL;
    c->min = m->min;
    c->max = m->max;
    c->doc_count = m->index.doc_count;
    c->data = m->data;
    c->starts = m->index.starts;
    c->present = m->index.present;
    c->ranks = m->index.ranks;
    c->table = m->table;
    c->n_values = m->index.n_values;
    c->base = (uint64_t)m->min;
    c->gcd = m->gcd;
    c->mask = bits_mask(m->width);
    c->width = m->width;
    c->start_width = m->index.start_width;
}

void num_column_place(struct num_column *c, const struct seg_field *f)
{
    column_init(c, f, f != NULL ? &impl_of(f)->nums : NULL);
}

bool num_column_check(const struct num_column *c)
{
    return c->field == NULL || seg_check_section(c->field->segment, &impl_of(c->field)->nums.section);
}

void num_column_init(struct num_column *c, const struct seg_field *f)
{
    num_column_place(c, f);
    num_column_check(c);
}

uint32_t num_column_seek(const struct num_column *c, doc_id doc, uint64_t *first)
{
    if (c->dense) {
        *first = doc;
        return 1;
    }
    if (c->field == NULL) {
        return 0;
    }
    struct value_index x = {c->present, c->ranks, c->starts, c->start_width, c->doc_count, c->n_values};
    return value_index_seek(&x, doc, first);
}

bool num_column_first(const struct num_column *c, doc_id doc, int64_t *out)
{
    uint64_t first;
    if (c->dense) {
        *out = num_column_value(c, doc);
        return true;
    }
    if (num_column_seek(c, doc, &first) == 0) {
        return false;
    }
    *out = num_column_value(c, first);
    return true;
}

const uint64_t *num_column_present(const struct num_column *c)
{
    return c->present;
}

void ord_column_init(struct ord_column *c, const struct seg_field *f)
{
    column_init(&c->nums, f, f != NULL ? &impl_of(f)->ords : NULL);
    c->field = c->nums.field;
    if (c->field != NULL) {
        seg_check_section(f->segment, &impl_of(f)->ords.section);
    }
    c->multi = c->nums.multi;
    c->dense = c->nums.dense;
    c->doc_count = c->nums.doc_count;
    c->n_ords = c->field != NULL ? f->n_terms : 0;
    c->lo = c->hi = 0;
    if (c->field != NULL && f->prefix.n > 0) {
        c->dense = false;
        c->lo = f->ord_lo;
        c->hi = f->ord_hi;
    }
}

/* The ordinals of a document ascend: those of a view stand together. */
static uint32_t within(const struct ord_column *c, uint64_t *first, uint32_t n)
{
    uint32_t in = 0;
    while (n > 0 && ord_column_value(c, *first) < c->lo) {
        ++*first;
        n--;
    }
    while (in < n && ord_column_value(c, *first + in) < c->hi) {
        in++;
    }
    return in;
}

uint32_t ord_column_seek(const struct ord_column *c, doc_id doc, uint64_t *first)
{
    uint32_t n = num_column_seek(&c->nums, doc, first);
    return c->hi == 0 ? n : within(c, first, n);
}

bool bytes_meta_read(struct bytes_meta *b, const struct segment *s, struct bytes_in *meta,
                     enum section_kind kind)
{
    struct section section = seg_get_section(s, meta, kind);
    struct bytes_in body = {section.p, section.p + section.n, section.p == NULL};
    if (!value_index_read(&b->index, s, meta, &body)) {
        return false;
    }
    b->head = str_mk(section.p, (size_t)(body.at - section.p));
    b->width = get_u8(meta);
    b->data_n = get_varint(meta);
    if (meta->bad || b->width > 64 || (b->width > 57 && b->width < 64)) {
        return false;
    }
    b->addresses = take_fields(&body, b->index.n_values + 1, b->width);
    b->data = body.at;
    b->there = true;
    return !body.bad && b->data_n <= bytes_left(&body);
}

bool bytes_meta_value(const struct segment *s, const struct bytes_meta *b, doc_id doc, uint32_t i,
                      struct str *out)
{
    uint64_t first;
    if (!b->there || !seg_check(s, b->head.p, b->head.n) || i >= value_index_seek(&b->index, doc, &first)) {
        return false;
    }
    uint64_t mask = bits_mask(b->width), at = (first + i) * b->width / 8;
    if (!seg_check(s, b->addresses + at, (size_t)((first + i + 2) * b->width + 7) / 8 - (size_t)at)) {
        return false;
    }
    uint64_t from = bits_get(b->addresses, first + i, b->width, mask);
    uint64_t to = bits_get(b->addresses, first + i + 1, b->width, mask);
    if (from > to || to > b->data_n) {
        return false;
    }
    *out = str_mk(b->data + from, (size_t)(to - from));
    return seg_check(s, out->p, out->n);
}

bool seg_bytes_value(const struct seg_field *f, doc_id doc, uint32_t i, struct str *out)
{
    return bytes_meta_value(f->segment, &impl_of(f)->bytes, doc, i, out);
}

bool seg_range_value(const struct seg_field *f, doc_id doc, uint32_t i, struct str *from, struct str *to)
{
    struct str both;
    if (!bytes_meta_value(f->segment, &impl_of(f)->ranges, doc, i, &both) || (both.n != 16 && both.n != 32)) {
        return false;
    }
    *from = str_slice(both, 0, both.n / 2);
    *to = str_slice(both, both.n / 2, both.n);
    return true;
}

struct str seg_completion_bytes(const struct seg_field *f)
{
    if (!seg_check_section(f->segment, &impl_of(f)->completion)) {
        return STR_NULL;
    }
    return str_mk(impl_of(f)->completion.p, impl_of(f)->completion.n);
}
