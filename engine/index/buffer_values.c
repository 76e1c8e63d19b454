/* One value of one document into the index buffer's streams. */
#include "engine/index/buffer_int.h"
#include "engine/index/format.h"
#include "engine/mapping/field_class.h"

/* Appends (document, value) with the value as its difference to the one before. */
static bool put_num(struct index_buffer *b, struct value_stream *s, doc_id doc, int64_t v)
{
    uint8_t bytes[20];
    size_t n = varint_to(bytes, 0, doc - s->last_doc);
    n = varint_to(bytes, n, zigzag((int64_t)((uint64_t)v - s->last_value)));
    s->last_doc = doc;
    s->last_value = (uint64_t)v;
    return stream_put(&b->pool, &s->s, bytes, n);
}

static bool put_bytes(struct index_buffer *b, struct value_stream *s, doc_id doc, struct str v)
{
    uint8_t bytes[20];
    size_t n = varint_to(bytes, 0, doc - s->last_doc);
    n = varint_to(bytes, n, v.n);
    s->last_doc = doc;
    return stream_put(&b->pool, &s->s, bytes, n) && stream_put(&b->pool, &s->s, (const uint8_t *)v.p, v.n);
}

static enum err add_num(struct index_buffer *b, struct buffer_field *f, const struct doc_value *v, doc_id doc,
                        int64_t num, uint32_t index_flag, struct errmsg *em)
{
    f->has |= (v->to_index ? index_flag : 0) | (v->to_column ? (uint32_t)SEG_NUMS : 0);
    if (!v->to_index && !v->to_column) {
        return ERR_OK;
    }
    f->multi_points |= f->nums.s.first != 0 && f->nums.last_doc == doc;
    return put_num(b, &f->nums, doc, num) ? ERR_OK : err_no_memory(em);
}

static enum err add_range(struct index_buffer *b, struct buffer_field *f, const struct doc_value *v,
                          doc_id doc, struct errmsg *em)
{
    uint8_t both[32];
    bool ip = v->field->class->ends->kind == VALUE_ADDRESS;
    if (ip) {
        memcpy(both, v->range.ip_from, 16);
        memcpy(both + 16, v->range.ip_to, 16);
    } else {
        store_u64(both, (uint64_t)v->range.from);
        store_u64(both + 8, (uint64_t)v->range.to);
    }
    if (!v->to_index && !v->to_column) {
        return ERR_OK;
    }
    f->has |= SEG_RANGES;
    return put_bytes(b, &f->ranges, doc, str_mk(both, ip ? 32 : 16)) ? ERR_OK : err_no_memory(em);
}

static enum err add_completion(struct index_buffer *b, struct buffer_field *f, const struct doc_value *v,
                               doc_id doc, struct errmsg *em)
{
    enum err e = ERR_OK;
    if (v->completion.n_paths == 0) {
        return ERR_OK;
    }
    /* Searched as any other field too, so that there are terms and lengths beside what suggests. */
    f->has |= SEG_COMPLETION | SEG_TERMS | SEG_FREQS | SEG_NORMS;
    f->counted = true;
    if (f->completion == NULL) {
        e = completion_writer_new(&f->completion, b->alloc, em);
    }
    for (uint32_t i = 0; i < v->completion.n_paths && e == ERR_OK; i++) {
        struct completion_entry entry = {v->completion.paths[i], v->completion.input, v->completion.weight,
                                         doc};
        e = completion_writer_add(f->completion, &entry, em);
    }
    return e == ERR_OK ? inverter_paths(b, f, v, doc, em) : e;
}

enum err buffer_add_term(struct index_buffer *b, struct str field, struct str term, doc_id doc,
                         struct errmsg *em)
{
    if (term.n > SEG_TERM_BYTES_MAX) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "%.*s is too long: %zu bytes", STR_ARG(field), term.n);
    }
    struct buffer_field *f = buffer_field(b, field);
    if (f == NULL) {
        return err_no_memory(em);
    }
    f->has |= SEG_TERMS;
    return inverter_add(b, f, term, INDEX_DOCS, doc, 0, 0, 0) != UINT32_MAX ? ERR_OK : err_no_memory(em);
}

enum err buffer_add_num(struct index_buffer *b, struct str field, int64_t v, doc_id doc, struct errmsg *em)
{
    struct buffer_field *f = buffer_field(b, field);
    if (f == NULL) {
        return err_no_memory(em);
    }
    f->has |= SEG_NUMS;
    return put_num(b, &f->nums, doc, v) ? ERR_OK : err_no_memory(em);
}

enum err buffer_add_bytes(struct index_buffer *b, struct str field, struct str v, doc_id doc,
                          struct errmsg *em)
{
    enum err e = buffer_add_term(b, field, v, doc, em);
    if (e != ERR_OK) {
        return e;
    }
    struct buffer_field *f = buffer_field(b, field);
    f->has |= SEG_BYTES;
    return put_bytes(b, &f->bytes, doc, v) ? ERR_OK : err_no_memory(em);
}

static uint32_t text_flags(enum index_options options)
{
    return SEG_TERMS | (options >= INDEX_FREQS ? SEG_FREQS : 0U)
           | (options >= INDEX_POSITIONS ? SEG_POSITIONS : 0U)
           | (options >= INDEX_OFFSETS ? SEG_OFFSETS : 0U);
}

/* A field's first value in this document. */
static void begin_field(struct buffer_field *f, const struct field *field, doc_id doc)
{
    f->doc = doc + 1;
    f->field = field;
    f->position = -1;
    f->last_position = f->offset = f->last_start = 0;
    f->length = f->unique = 0;
    f->counted = false;
}

enum err buffer_add_value(struct index_buffer *b, const struct doc_value *v, doc_id doc, struct errmsg *em)
{
    struct buffer_field *f = buffer_field(b, v->field->path);
    if (f == NULL) {
        return err_no_memory(em);
    }
    if (f->doc != doc + 1) {
        begin_field(f, v->field, doc);
    }
    switch (v->kind) {
    case DOC_TEXT:
        if (!v->to_index) {
            return ERR_OK;
        }
        f->has |= text_flags(v->field->options) | (v->field->norms ? (uint32_t)SEG_NORMS : 0);
        f->has |= v->field->fielddata ? (uint32_t)SEG_ORDS : 0;
        f->counted = v->field->norms;
        return inverter_text(b, f, v, doc, em);
    case DOC_TERM:
        if (!v->to_index && !v->to_column) {
            return ERR_OK;
        }
        if (v->to_index) {
            f->has |= text_flags(b->counts ? INDEX_FREQS : MIN_OF(v->field->options, INDEX_FREQS))
                      | (v->field->norms ? (uint32_t)SEG_NORMS : 0);
            f->counted = v->field->norms;
        }
        f->has |= v->to_column ? (uint32_t)SEG_ORDS : 0;
        return inverter_term(b, f, v, doc, em);
    case DOC_NUM:
        return add_num(b, f, v, doc, v->num, SEG_POINTS, em);
    case DOC_GEO:
        return add_num(b, f, v, doc, (int64_t)((uint64_t)(uint32_t)v->geo.lat << 32 | (uint32_t)v->geo.lon),
                       SEG_GEO, em);
    case DOC_BYTES:
        if (!v->to_column) {
            return ERR_OK;
        }
        f->has |= SEG_BYTES;
        return put_bytes(b, &f->bytes, doc, v->bytes) ? ERR_OK : err_no_memory(em);
    case DOC_COMPLETION:
        return add_completion(b, f, v, doc, em);
    case DOC_FEATURE:
        f->has |= SEG_TERMS | SEG_FREQS;
        return inverter_feature(b, f, v, doc, em);
    case DOC_RANGE:
        return add_range(b, f, v, doc, em);
    }
    return ERR_OK;
}

/* Lengths of the fields that this document had, and the names of those that nothing else tells of. */
enum err buffer_end_field(struct index_buffer *b, const struct doc_value *v, doc_id doc, struct errmsg *em)
{
    const struct field *field = v->field;
    struct buffer_field *f = buffer_field(b, field->path);
    if (f == NULL) {
        return err_no_memory(em);
    }
    if (f->counted) {
        uint8_t bytes[10];
        size_t n = varint_to(bytes, 0, doc - f->norms.last_doc);
        /* Where frequencies are not kept, a length is how many terms there are (as in Lucene since 8.0). */
        bytes[n++] = norm_encode(f->field->options == INDEX_DOCS ? f->unique : f->length);
        f->norms.last_doc = doc;
        f->counted = false;
        if (!stream_put(&b->pool, &f->norms.s, bytes, n)) {
            return err_no_memory(em);
        }
    }
    if ((v->to_index || v->to_store) && v->kind != DOC_FEATURE && !v->to_column && !field->doc_values
        && f->named != doc + 1 && !field->class->is_metadata && !field->is_hidden
        && !(v->to_index && field->norms)) {
        f->named = doc + 1;
        return buffer_add_term(b, STR("_field_names"), field->path, doc, em);
    }
    return ERR_OK;
}
