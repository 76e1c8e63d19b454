/* buffer_int.h - the inside of the index buffer: documents inverted into streams of a byte pool.
 *
 * A term's stream holds, per document: varint(document - last document), then per occurrence varint(position
 * - last + 1) and with offsets varint(start - last start), varint(length); a 0 stands between documents. With
 * frequencies only an occurrence is a byte 1, and several at once are a byte 2 and a varint; with documents only there is nothing but the differences. The
 * columns' streams hold varint(document - last document) and the value. */
#ifndef INDEX_BUFFER_INT_H
#define INDEX_BUFFER_INT_H

#include "engine/index/byte_pool.h"
#include "engine/index/completion.h"
#include "engine/index/segment_writer.h"

#define ONE_OCCURRENCE      1
#define SEVERAL_OCCURRENCES 2

struct term_head {
    uint32_t text; /* pool address: u16 length, bytes */
    uint32_t hash;
    uint32_t field;
    uint32_t last_doc; /* plus one; 0: none */
    uint32_t last_pos, last_start;
    uint32_t ord; /* within the field, once sorted */
    struct stream s;
};

struct value_stream {
    struct stream s;
    doc_id last_doc;
    uint64_t last_value;
};

struct buffer_field {
    struct str name; /* in the buffer's arena */
    uint32_t hash;
    uint32_t has;
    uint64_t touched; /* serial of the last addition that changed it */
    uint32_t n_terms;
    bool multi_points;
    struct value_stream norms, nums, ords, bytes, ranges;
    struct completion_writer *completion;
    /* of the document at hand (number plus one) */
    uint32_t doc, named;
    const struct field *field;
    int64_t position, last_position, offset, last_start;
    uint32_t length, unique; /* tokens, different terms */
    bool counted;            /* has text or terms with a length */
};

struct buffer_doc {
    struct doc_meta meta;
    const char *blob; /* id, routing, record; NULL: a nested document without stored values */
    bool is_root;
    size_t record_n;
    uint32_t id_n, routing_n;
    bool has_routing;
};

struct term_undo {
    uint32_t i;
    struct term_head was;
};

struct field_undo {
    uint32_t i;
    size_t completion_bytes;
    struct buffer_field was;
};

struct index_buffer {
    const struct allocator *alloc;
    struct byte_pool pool;
    struct arena arena; /* names, ids, records */
    struct term_head *terms;
    uint32_t n_terms, terms_cap;
    uint64_t *slots; /* hash << 32 | term number + 1 */
    uint32_t n_slots;
    struct buffer_field *fields;
    uint32_t n_fields, fields_cap;
    uint32_t *field_slots; /* field number + 1, by hash of the name */
    uint32_t n_field_slots;
    struct buffer_doc *docs;
    uint32_t n_docs, docs_cap;
    bool nested; /* some document is not a root */
    bool counts; /* exact terms have frequencies */
    struct buf record;
    /* the addition at hand, to take it back */
    uint64_t serial;
    uint32_t docs_before, terms_before, fields_before;
    uint64_t pool_before;
    struct term_undo *term_undo;
    uint32_t n_term_undo, term_undo_cap;
    struct field_undo *field_undo;
    uint32_t n_field_undo, field_undo_cap;
};

/* Room for one more element of `size` in an array of the buffer. */
bool buffer_room(struct index_buffer *b, void **array, uint32_t n, uint32_t *cap, size_t size);
/* The slot of a field by name, made when missing, ready to be changed by this addition; NULL: no memory. */
struct buffer_field *buffer_field(struct index_buffer *b, struct str name);

/* Everything out of it. */
void buffer_empty(struct index_buffer *b);

/* buffer_values.c: a value of a document; then, once all of it are in, each again to end its field. */
enum err buffer_add_value(struct index_buffer *b, const struct doc_value *v, doc_id doc, struct errmsg *em);
enum err buffer_end_field(struct index_buffer *b, const struct doc_value *v, doc_id doc, struct errmsg *em);
/* Values of metadata fields; bytes are a term and a binary value. */
enum err buffer_add_term(struct index_buffer *b, struct str field, struct str term, doc_id doc,
                         struct errmsg *em);
enum err buffer_add_num(struct index_buffer *b, struct str field, int64_t v, doc_id doc, struct errmsg *em);
enum err buffer_add_bytes(struct index_buffer *b, struct str field, struct str v, doc_id doc,
                          struct errmsg *em);

/* inverter.c: adds to the postings of (field, text) an occurrence in `doc`. `options` decide what is kept of
 * it. Returns the term's number, UINT32_MAX: no memory. */
uint32_t inverter_add(struct index_buffer *b, struct buffer_field *f, struct str text,
                      enum index_options options, doc_id doc, uint32_t pos, uint32_t start, uint32_t end);
enum err inverter_text(struct index_buffer *b, struct buffer_field *f, const struct doc_value *v, doc_id doc,
                       struct errmsg *em);
/* The paths of one completion input: terms at one position, with frequencies. */
enum err inverter_paths(struct index_buffer *b, struct buffer_field *f, const struct doc_value *v, doc_id doc,
                        struct errmsg *em);
enum err inverter_term(struct index_buffer *b, struct buffer_field *f, const struct doc_value *v, doc_id doc,
                       struct errmsg *em);
/* A term that occurs so often as the value says. */
enum err inverter_feature(struct index_buffer *b, struct buffer_field *f, const struct doc_value *v,
                          doc_id doc, struct errmsg *em);
/* Forgets the terms made since the addition began, restores the others. */
void inverter_undo(struct index_buffer *b);

static inline struct str term_text(const struct index_buffer *b, const struct term_head *t)
{
    const uint8_t *p = byte_pool_at(&b->pool, t->text);
    return str_mk(p + 2, load_u16(p));
}

#endif
