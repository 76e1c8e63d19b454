#include <lz4.h>

#include "common/base/hash.h"
#include "engine/index/seg_int.h"
#include "engine/index/stored_int.h"

#define BLOCK_BYTES_MAX ((uint32_t)INT32_MAX)
#define BLOCKS_SCANNED  16384 /* their places are 128 KiB */

static size_t block_max(const struct stored_meta *m)
{
    size_t max = m->n_blocks > 0 ? m->data_n / m->n_blocks : 0;
    for (uint32_t i = 0; m->n_blocks <= BLOCKS_SCANNED && i < m->n_blocks; i++) {
        uint64_t from = load_u64(m->offsets + 8 * (size_t)i), to = load_u64(m->offsets + 8 * (size_t)(i + 1));
        max = MAX_OF(max, to > from ? (size_t)(to - from) : 0);
    }
    return max;
}

bool stored_meta_read(struct stored_meta *m, const struct segment *s, struct bytes_in *meta)
{
    m->section = seg_get_section(s, meta, SECTION_STORED);
    uint64_t n_blocks = get_varint(meta), dictionary_n = get_varint(meta), data_n = get_varint(meta);
    if (m->section.p == NULL || meta->bad || data_n > m->section.n || dictionary_n > data_n) {
        return false;
    }
    size_t at = ((size_t)data_n + 7) & ~(size_t)7;
    if (at + 8 > m->section.n || n_blocks > (m->section.n - at - 8) / 12) {
        return false;
    }
    m->n_blocks = (uint32_t)n_blocks;
    m->dictionary = str_mk(m->section.p, (size_t)dictionary_n);
    m->data = m->section.p;
    m->data_n = (size_t)data_n;
    m->offsets = m->section.p + at;
    m->first_docs = m->offsets + 8 * (n_blocks + 1);
    m->block_max = block_max(m);
    return true;
}

size_t segment_stored_max(const struct segment *s)
{
    return s->stored.block_max;
}

bool ids_meta_read(struct ids_meta *m, const struct segment *s, struct bytes_in *meta)
{
    struct section section = seg_get_section(s, meta, SECTION_IDS);
    uint64_t n_slots = get_varint(meta);
    if (meta->bad || n_slots > section.n / 5 || n_slots > UINT32_MAX) {
        return false;
    }
    m->n_slots = (uint32_t)n_slots;
    m->tags = section.p;
    m->docs = section.p != NULL ? section.p + n_slots : NULL;
    return true;
}

bool seg_find_id(const struct segment *s, struct str id, const uint64_t *live, doc_id *out)
{
    const struct ids_meta *m = &s->ids;
    if (m->n_slots == 0 || s->id_bytes == NULL) {
        return false;
    }
    uint64_t hash = hash_str(id), slot = (hash & UINT32_MAX) * m->n_slots >> 32;
    uint8_t tag = (uint8_t)MAX_OF(hash >> 56, (uint64_t)1);
    for (uint32_t probes = 0; probes < m->n_slots && seg_check(s, m->tags + slot, 1) && m->tags[slot] != 0;
         probes++) {
        if (m->tags[slot] == tag && seg_check(s, m->docs + 4 * slot, 4)) {
            doc_id doc = load_u32(m->docs + 4 * slot);
            struct str have;
            if (doc < s->doc_count && (live == NULL || bits_test(live, doc))
                && bytes_meta_value(s, s->id_bytes, doc, 0, &have) && str_eq(have, id)) {
                *out = doc;
                return true;
            }
        }
        slot = slot + 1 < m->n_slots ? slot + 1 : 0;
    }
    return false;
}

void stored_reader_init(struct stored_reader *r, const struct segment *s)
{
    r->segment = s;
    r->block = UINT64_MAX;
    buf_init(&r->bytes, NULL, BUF_UNLIMITED);
}

void stored_reader_fini(struct stored_reader *r)
{
    buf_fini(&r->bytes);
}

static enum err corrupt(const struct segment *s, struct errmsg *em)
{
    seg_broken(s, s->stored.data);
    return segment_damage(s, em);
}

/* The block that holds a document. */
static uint32_t block_of(const struct stored_meta *m, doc_id doc)
{
    uint32_t lo = 0, hi = m->n_blocks;
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (load_u32(m->first_docs + 4 * (size_t)mid) <= doc) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return lo;
}

static enum err load_block(struct stored_reader *r, uint32_t block, struct errmsg *em)
{
    const struct stored_meta *m = &r->segment->stored;
    uint64_t from = load_u64(m->offsets + 8 * (size_t)block),
             to = load_u64(m->offsets + 8 * (size_t)(block + 1));
    if (from > to || to > m->data_n || to - from < 4
        || !seg_check(r->segment, m->dictionary.p, m->dictionary.n)
        || !seg_check(r->segment, m->data + from, (size_t)(to - from))) {
        return corrupt(r->segment, em);
    }
    uint32_t raw_n = load_u32(m->data + from);
    size_t packed_n = (size_t)(to - from) - 4;
    const char *packed = (const char *)m->data + from + 4;
    /* LZ4 makes at most 255 bytes of one. */
    if (raw_n > BLOCK_BYTES_MAX || packed_n > BLOCK_BYTES_MAX || raw_n / 255 > packed_n) {
        return corrupt(r->segment, em);
    }
    r->block = UINT64_MAX;
    buf_reset(&r->bytes);
    char *raw = buf_reserve(&r->bytes, raw_n);
    if (raw == NULL) {
        return err_no_memory(em);
    }
    if (packed_n == raw_n) {
        memcpy(raw, packed, raw_n);
    } else if (LZ4_decompress_safe_usingDict(packed, raw, (int)packed_n, (int)raw_n, m->dictionary.p,
                                             (int)m->dictionary.n)
               != (int)raw_n) {
        return corrupt(r->segment, em);
    }
    r->bytes.n = raw_n;
    r->block = block;
    return ERR_OK;
}

size_t stored_bytes(const struct segment *s, doc_id doc)
{
    const struct stored_meta *m = &s->stored;
    size_t index_n = m->section.n - (size_t)(m->offsets - m->section.p);
    if (m->n_blocks == 0 || doc >= s->doc_count || !seg_check(s, m->offsets, index_n)) {
        return 0; /* who reads it says what is wrong */
    }
    uint64_t from = load_u64(m->offsets + 8 * (size_t)block_of(m, doc));
    return from + 4 <= m->data_n && seg_check(s, m->data + from, 4) ? load_u32(m->data + from) : 0;
}

enum err stored_record(struct stored_reader *r, doc_id doc, struct str *record, struct errmsg *em)
{
    const struct stored_meta *m = &r->segment->stored;
    size_t index_n = m->section.n - (size_t)(m->offsets - m->section.p);
    if (m->n_blocks == 0 || doc >= r->segment->doc_count || !seg_check(r->segment, m->offsets, index_n)) {
        return corrupt(r->segment, em);
    }
    uint32_t block = block_of(m, doc);
    if (r->block != block) {
        enum err e = load_block(r, block, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    struct bytes_in in = bytes_in(buf_view(&r->bytes));
    for (doc_id i = load_u32(m->first_docs + 4 * (size_t)block); i < doc && !in.bad; i++) {
        get_str(&in);
    }
    *record = get_str(&in);
    return in.bad ? corrupt(r->segment, em) : ERR_OK;
}

static uint32_t field_index(const struct segment *s, struct str name)
{
    const struct seg_field *f = segment_field(s, name);
    return f != NULL ? (uint32_t)(f - s->fields) : UINT32_MAX;
}

static enum err read_values(const struct segment *s, struct bytes_in *in, struct arena *arena,
                            struct stored_doc *out, struct errmsg *em)
{
    size_t n = get_count(in, 3);
    out->values = ARENA_ARRAY(arena, struct stored_value, n);
    if (out->values == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < n; i++) {
        struct stored_value *v = &out->values[i];
        struct str name = get_str(in);
        v->is_num = get_bool(in);
        struct str bytes = STR_NULL;
        if (v->is_num) {
            v->num = get_zigzag(in);
        } else {
            bytes = get_str(in);
        }
        if (in->bad) {
            return corrupt(s, em);
        }
        v->field = field_index(s, name);
        v->name = arena_str(arena, name);
        v->bytes = v->is_num ? STR_NULL : arena_str(arena, bytes);
        if (v->name.p == NULL || (!v->is_num && v->bytes.p == NULL)) {
            return err_no_memory(em);
        }
    }
    out->n_values = n;
    return ERR_OK;
}

static enum err copy_bytes(const struct segment *s, const struct bytes_meta *m, doc_id doc,
                           struct arena *arena, struct str *out, struct errmsg *em)
{
    struct str v;
    if (m != NULL && bytes_meta_value(s, m, doc, 0, &v)) {
        *out = arena_str(arena, v);
        return out->p != NULL ? ERR_OK : err_no_memory(em);
    }
    return segment_damage(s, em);
}

enum err stored_read(struct stored_reader *r, doc_id doc, unsigned want, struct arena *arena,
                     struct stored_doc *out, struct errmsg *em)
{
    const struct segment *s = r->segment;
    enum err e = ERR_OK;
    *out = (struct stored_doc){0};
    if (doc >= s->doc_count) {
        return corrupt(s, em);
    }
    if (want & STORED_ID) {
        e = copy_bytes(s, s->id_bytes, doc, arena, &out->id, em);
        e = e == ERR_OK ? copy_bytes(s, s->routing_bytes, doc, arena, &out->routing, em) : e;
    }
    struct str record = STR_NULL;
    if (e == ERR_OK && (want & (STORED_SOURCE | STORED_VALUES))) {
        e = stored_record(r, doc, &record, em);
    }
    if (e != ERR_OK || record.n == 0) {
        return e;
    }
    struct bytes_in in = bytes_in(record);
    uint64_t n = get_varint(&in);
    if (n > 0) {
        struct str source = get_raw(&in, (size_t)n - 1);
        if (in.bad) {
            return corrupt(s, em);
        }
        if (want & STORED_SOURCE) {
            out->source = arena_str(arena, source);
            if (out->source.p == NULL) {
                return err_no_memory(em);
            }
        }
    }
    return want & STORED_VALUES ? read_values(s, &in, arena, out, em) : in.bad ? corrupt(s, em) : ERR_OK;
}
