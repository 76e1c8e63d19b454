/* The directory of a segment: what its last section says of every field. */
#include "engine/index/seg_int.h"

#define ALL_FLAGS (SEG_RANGES * 2 - 1)

struct section seg_get_section(const struct segment *s, struct bytes_in *in, enum section_kind kind)
{
    uint64_t number = get_varint(in);
    if (number == 0) {
        return (struct section){0};
    }
    if (number > s->n_sections || s->sections[number - 1].kind != (uint32_t)kind) {
        in->bad = true;
        return (struct section){0};
    }
    return s->sections[number - 1];
}

static bool read_terms(struct seg_field *f, struct field_impl *impl, struct bytes_in *in)
{
    const struct segment *s = f->segment;
    impl->terms = seg_get_section(s, in, SECTION_TERMS);
    impl->postings = seg_get_section(s, in, SECTION_POSTINGS);
    impl->positions = seg_get_section(s, in, SECTION_POSITIONS);
    impl->prefix = get_str(in);
    impl->n_blocks = f->n_terms / TERMS_BLOCK + (f->n_terms % TERMS_BLOCK != 0);
    if (in->bad || impl->n_blocks > impl->terms.n / 12) {
        return false;
    }
    impl->keys = impl->terms.p;
    impl->offsets = impl->keys + 8 * impl->n_blocks;
    impl->blocks = impl->offsets + 4 * impl->n_blocks;
    impl->blocks_n = impl->terms.n - (size_t)(12 * impl->n_blocks);
    return true;
}

static bool read_norms(struct seg_field *f, struct field_impl *impl, struct bytes_in *in)
{
    const struct segment *s = f->segment;
    struct section norms = seg_get_section(s, in, SECTION_NORMS);
    bool all = get_bool(in);
    size_t padded = ((size_t)s->doc_count + 7) & ~(size_t)7;
    if (in->bad || norms.n < padded + (all ? 0 : bits_words(s->doc_count) * 8)) {
        return false;
    }
    impl->norms_section = norms;
    impl->norms = norms.p;
    impl->norms_present = all ? NULL : (const uint64_t *)(const void *)(norms.p + padded);
    return true;
}

static bool read_field(struct seg_field *f, struct field_impl *impl, struct bytes_in *in)
{
    const struct segment *s = f->segment;
    f->name = get_str(in);
    f->has = (uint32_t)get_varint(in);
    uint64_t docs = get_varint(in);
    f->doc_count = (uint32_t)docs;
    f->sum_df = get_varint(in);
    f->sum_ttf = get_varint(in);
    f->n_terms = get_varint(in);
    f->impl = impl;
    if (in->bad || (f->has & ~(uint32_t)ALL_FLAGS) != 0 || docs > s->doc_count) {
        return false;
    }
    bool ok = true;
    if (f->has & (SEG_TERMS | SEG_ORDS)) {
        ok = ok && read_terms(f, impl, in);
    }
    if (f->has & SEG_NORMS) {
        ok = ok && read_norms(f, impl, in);
    }
    if (f->has & SEG_NUMS) {
        ok = ok && column_meta_read(&impl->nums, s, in, SECTION_NUMS);
    }
    if (f->has & SEG_ORDS) {
        ok = ok && column_meta_read(&impl->ords, s, in, SECTION_ORDS);
    }
    if (f->has & SEG_BYTES) {
        ok = ok && bytes_meta_read(&impl->bytes, s, in, SECTION_BYTES);
    }
    if (f->has & SEG_RANGES) {
        ok = ok && bytes_meta_read(&impl->ranges, s, in, SECTION_RANGES);
    }
    if (f->has & SEG_POINTS) {
        ok = ok && points_meta_read(&impl->points, s, in);
    }
    if (f->has & SEG_GEO) {
        ok = ok && geo_meta_read(&impl->geo, s, in);
    }
    if (f->has & SEG_COMPLETION) {
        impl->completion = seg_get_section(s, in, SECTION_COMPLETION);
    }
    return ok && !in->bad;
}

static const struct bytes_meta *bytes_of(const struct segment *s, struct str field)
{
    const struct seg_field *f = segment_field(s, field);
    return f != NULL && (f->has & SEG_BYTES) != 0 ? &impl_of(f)->bytes : NULL;
}

bool seg_read_directory(struct segment *s, struct bytes_in in)
{
    struct section roots = seg_get_section(s, &in, SECTION_ROOTS);
    if (roots.p != NULL) {
        if (roots.n < bits_words(s->doc_count) * 8 || !seg_check_section(s, &roots)) {
            return false;
        }
        s->roots = (const uint64_t *)(const void *)roots.p;
    }
    if (!stored_meta_read(&s->stored, s, &in) || !ids_meta_read(&s->ids, s, &in)) {
        return false;
    }
    s->n_fields = (uint32_t)get_count(&in, 6);
    s->fields = ARENA_ARRAY(&s->arena, struct seg_field, s->n_fields);
    s->impls = ARENA_ARRAY(&s->arena, struct field_impl, s->n_fields);
    if (in.bad || s->fields == NULL || s->impls == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < s->n_fields; i++) {
        s->fields[i].segment = s;
        if (!read_field(&s->fields[i], &s->impls[i], &in)
            || (i > 0 && str_cmp(s->fields[i - 1].name, s->fields[i].name) >= 0)) {
            return false;
        }
    }
    s->id_bytes = bytes_of(s, STR("_id"));
    s->routing_bytes = bytes_of(s, STR("_routing"));
    return true;
}
