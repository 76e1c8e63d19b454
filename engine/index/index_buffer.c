#include "common/base/hash.h"
#include "engine/index/buffer_int.h"
#include "engine/index/completion_int.h"
#include "engine/index/format.h"
#include "engine/index/stored_write.h"

enum err index_buffer_new(struct index_buffer **out, const struct allocator *alloc, struct errmsg *em)
{
    alloc = alloc != NULL ? alloc : alloc_default();
    struct index_buffer *b = alloc_get(alloc, sizeof(*b));
    *out = b;
    if (b == NULL) {
        return err_no_memory(em);
    }
    *b = (struct index_buffer){.alloc = alloc};
    byte_pool_init(&b->pool, alloc);
    arena_init(&b->arena, alloc, ARENA_UNLIMITED);
    buf_init(&b->record, alloc, BUF_UNLIMITED);
    return ERR_OK;
}

void index_buffer_count_terms(struct index_buffer *b, bool counts)
{
    b->counts = counts;
}

static void empty(struct index_buffer *b)
{
    for (uint32_t i = 0; i < b->n_fields; i++) {
        completion_writer_free(b->fields[i].completion);
    }
    alloc_put(b->alloc, b->terms);
    alloc_put(b->alloc, b->slots);
    alloc_put(b->alloc, b->fields);
    alloc_put(b->alloc, b->field_slots);
    alloc_put(b->alloc, b->docs);
    alloc_put(b->alloc, b->term_undo);
    alloc_put(b->alloc, b->field_undo);
    byte_pool_fini(&b->pool);
    arena_fini(&b->arena);
    buf_fini(&b->record);
}

void index_buffer_free(struct index_buffer *b)
{
    if (b != NULL) {
        empty(b);
        alloc_put(b->alloc, b);
    }
}

void buffer_empty(struct index_buffer *b)
{
    const struct allocator *alloc = b->alloc;
    empty(b);
    *b = (struct index_buffer){.alloc = alloc};
    byte_pool_init(&b->pool, alloc);
    arena_init(&b->arena, alloc, ARENA_UNLIMITED);
    buf_init(&b->record, alloc, BUF_UNLIMITED);
}

bool buffer_room(struct index_buffer *b, void **array, uint32_t n, uint32_t *cap, size_t size)
{
    if (n < *cap) {
        return true;
    }
    uint32_t more = MAX_OF(*cap + *cap / 2, 16U);
    void *p = more < *cap ? NULL : b->alloc->resize(b->alloc->self, *array, more * size);
    if (p == NULL) {
        return false;
    }
    *array = p;
    *cap = more;
    return true;
}

static struct buffer_field *new_field(struct index_buffer *b, struct str name, uint32_t hash)
{
    struct str copy = arena_str(&b->arena, name);
    if (copy.p == NULL
        || !buffer_room(b, (void **)&b->fields, b->n_fields, &b->fields_cap, sizeof(*b->fields))) {
        return NULL;
    }
    struct buffer_field *f = &b->fields[b->n_fields++];
    *f = (struct buffer_field){.name = copy, .hash = hash, .touched = b->serial};
    return f;
}

/* Keeps what the field was before this addition. */
static bool log_field(struct index_buffer *b, struct buffer_field *f)
{
    if (f->touched == b->serial) {
        return true;
    }
    if (!buffer_room(b, (void **)&b->field_undo, b->n_field_undo, &b->field_undo_cap,
                     sizeof(*b->field_undo))) {
        return false;
    }
    size_t bytes = f->completion != NULL ? completion_writer_bytes(f->completion) : 0;
    b->field_undo[b->n_field_undo++] = (struct field_undo){(uint32_t)(f - b->fields), bytes, *f};
    f->touched = b->serial;
    return true;
}

/* Puts every field anew into a table that is at most half full. */
static bool index_fields(struct index_buffer *b)
{
    uint32_t n = MAX_OF(b->n_field_slots, 32U);
    while (n < 2 * (b->n_fields + 1)) {
        n *= 2;
    }
    if (n > b->n_field_slots) {
        uint32_t *slots = b->alloc->resize(b->alloc->self, b->field_slots, n * sizeof(*slots));
        if (slots == NULL) {
            return false;
        }
        b->field_slots = slots;
        b->n_field_slots = n;
    }
    memset(b->field_slots, 0, n * sizeof(*b->field_slots));
    for (uint32_t i = 0; i < b->n_fields; i++) {
        uint32_t at = b->fields[i].hash & (n - 1);
        while (b->field_slots[at] != 0) {
            at = (at + 1) & (n - 1);
        }
        b->field_slots[at] = i + 1;
    }
    return true;
}

struct buffer_field *buffer_field(struct index_buffer *b, struct str name)
{
    uint32_t hash = (uint32_t)hash_str(name);
    if (2 * (b->n_fields + 1) > b->n_field_slots && !index_fields(b)) {
        return NULL;
    }
    uint32_t mask = b->n_field_slots - 1, at = hash & mask;
    for (; b->field_slots[at] != 0; at = (at + 1) & mask) {
        struct buffer_field *f = &b->fields[b->field_slots[at] - 1];
        if (f->hash == hash && str_eq(f->name, name)) {
            return log_field(b, f) ? f : NULL;
        }
    }
    struct buffer_field *f = new_field(b, name, hash);
    if (f != NULL) {
        b->field_slots[at] = b->n_fields;
    }
    return f;
}

static enum err add_part(struct index_buffer *b, const struct doc_part *part, const struct doc_meta *meta,
                         doc_id doc, struct errmsg *em)
{
    enum err e = buffer_add_num(b, STR("_seq_no"), meta->seq_no, doc, em);
    e = e == ERR_OK ? buffer_add_num(b, STR("_primary_term"), meta->primary_term, doc, em) : e;
    e = e == ERR_OK ? buffer_add_num(b, STR("_version"), meta->version, doc, em) : e;
    if (e == ERR_OK && part->nested != NULL) {
        e = buffer_add_term(b, STR("_nested_path"), part->nested->path, doc, em);
    }
    for (size_t i = 0; i < part->n && e == ERR_OK; i++) {
        e = buffer_add_value(b, &part->values[i], doc, em);
    }
    for (size_t i = 0; i < part->n && e == ERR_OK; i++) {
        e = buffer_end_field(b, &part->values[i], doc, em);
    }
    return e;
}

static void put_stored(struct buf *to, const struct doc_value *v)
{
    struct str name = v->field->path;
    if (v->stored.p != NULL) {
        stored_record_bytes(to, name, v->stored);
        return;
    }
    switch (v->kind) {
    case DOC_TEXT:
        stored_record_bytes(to, name, v->text.raw);
        break;
    case DOC_NUM:
        stored_record_num(to, name, v->num);
        break;
    case DOC_GEO:
        stored_record_num(to, name, (int64_t)((uint64_t)(uint32_t)v->geo.lat << 32 | (uint32_t)v->geo.lon));
        break;
    case DOC_COMPLETION:
        stored_record_bytes(to, name, v->completion.input);
        break;
    case DOC_TERM:
    case DOC_BYTES:
        stored_record_bytes(to, name, v->bytes);
        break;
    case DOC_FEATURE: /* nothing of it is stored */
        break;
    case DOC_RANGE: {
        uint8_t both[16];
        store_u64(both, (uint64_t)v->range.from);
        store_u64(both + 8, (uint64_t)v->range.to);
        stored_record_bytes(to, name, str_mk(both, sizeof(both)));
        break;
    }
    }
}

static size_t count_stored(const struct doc_part *part)
{
    size_t n = 0;
    for (size_t i = 0; i < part->n; i++) {
        n += part->values[i].to_store;
    }
    return n;
}

/* What is stored with a document: id, routing and source with the root alone, values with each. */
static enum err add_blob(struct index_buffer *b, const struct parsed_doc *doc, const struct doc_part *part,
                         struct buffer_doc *d, struct errmsg *em)
{
    static const struct parsed_doc nothing;
    d->is_root = part->nested == NULL;
    if (!d->is_root) {
        if (count_stored(part) == 0) {
            return ERR_OK;
        }
        doc = &nothing;
    }
    buf_reset(&b->record);
    buf_str(&b->record, doc->id);
    buf_str(&b->record, doc->routing);
    size_t head = b->record.n;
    stored_record_source(&b->record, doc->source.n > 0 ? doc->source : STR_NULL);
    stored_record_begin_values(&b->record, count_stored(part));
    for (size_t i = 0; i < part->n; i++) {
        if (part->values[i].to_store) {
            put_stored(&b->record, &part->values[i]);
        }
    }
    struct str blob = b->record.failed ? STR_NULL : arena_str(&b->arena, buf_view(&b->record));
    if (blob.p == NULL) {
        return err_no_memory(em);
    }
    d->blob = blob.p;
    d->id_n = (uint32_t)doc->id.n;
    d->routing_n = (uint32_t)doc->routing.n;
    d->has_routing = doc->routing.p != NULL;
    d->record_n = blob.n - head;
    return ERR_OK;
}

static enum err add_root(struct index_buffer *b, const struct parsed_doc *doc, doc_id root, struct errmsg *em)
{
    enum err e = ERR_OK;
    if (doc->id.n > 0) {
        e = buffer_add_bytes(b, STR("_id"), doc->id, root, em);
    }
    if (e == ERR_OK && doc->routing.p != NULL) {
        e = buffer_add_bytes(b, STR("_routing"), doc->routing, root, em);
    }
    for (size_t i = 0; i < doc->n_ignored && e == ERR_OK; i++) {
        e = buffer_add_term(b, STR("_ignored"), doc->ignored[i], root, em);
    }
    return e;
}

static void undo(struct index_buffer *b)
{
    bool fewer = b->n_fields > b->fields_before;
    inverter_undo(b);
    while (b->n_fields > b->fields_before) {
        completion_writer_free(b->fields[--b->n_fields].completion);
    }
    while (b->n_field_undo > 0) {
        const struct field_undo *u = &b->field_undo[--b->n_field_undo];
        struct buffer_field *f = &b->fields[u->i];
        struct completion_writer *completion = f->completion;
        if (completion != NULL) {
            completion_writer_cut(completion, u->completion_bytes);
        }
        *f = u->was;
        f->completion = completion;
    }
    if (fewer) {
        index_fields(b); /* nothing has to grow */
    }
    b->n_docs = b->docs_before;
    b->pool.at = b->pool_before;
}

static enum err buffer_add_document(struct index_buffer *b, const struct parsed_doc *doc,
                                    const struct doc_meta *meta, bool tombstone, doc_id *root,
                                    struct errmsg *em)
{
    enum err e = ERR_OK;
    b->serial++;
    b->n_term_undo = b->n_field_undo = 0;
    b->docs_before = b->n_docs;
    b->terms_before = b->n_terms;
    b->fields_before = b->n_fields;
    b->pool_before = b->pool.at;
    if (doc->n_parts == 0 || doc->n_parts > SEG_DOCS_MAX - b->n_docs) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "number of documents in the shard cannot exceed %u",
                       SEG_DOCS_MAX);
    }
    for (size_t i = 0; i < doc->n_parts && e == ERR_OK; i++) {
        if (!buffer_room(b, (void **)&b->docs, b->n_docs, &b->docs_cap, sizeof(*b->docs))) {
            e = err_no_memory(em);
            break;
        }
        b->docs[b->n_docs] = (struct buffer_doc){.meta = *meta};
        e = add_part(b, &doc->parts[i], meta, b->n_docs, em);
        e = e == ERR_OK ? add_blob(b, doc, &doc->parts[i], &b->docs[b->n_docs], em) : e;
        b->n_docs++;
    }
    if (e == ERR_OK) {
        *root = b->n_docs - 1;
        e = add_root(b, doc, *root, em);
    }
    if (e == ERR_OK && tombstone) {
        e = buffer_add_num(b, STR("_tombstone"), 1, *root, em);
    }
    if (e != ERR_OK) {
        undo(b);
        return e;
    }
    b->nested |= doc->n_parts > 1;
    return ERR_OK;
}

enum err index_buffer_add(struct index_buffer *b, const struct parsed_doc *doc, const struct doc_meta *meta,
                          doc_id *root, struct errmsg *em)
{
    return buffer_add_document(b, doc, meta, false, root, em);
}

enum err index_buffer_add_tombstone(struct index_buffer *b, struct str id, const struct doc_meta *meta,
                                    doc_id *root, struct errmsg *em)
{
    struct doc_part part = {0};
    return buffer_add_document(b, &(struct parsed_doc){.id = id, .parts = &part, .n_parts = 1}, meta, true,
                               root, em);
}

uint32_t index_buffer_docs(const struct index_buffer *b)
{
    return b->n_docs;
}

size_t index_buffer_bytes(const struct index_buffer *b)
{
    size_t n = sizeof(*b) + byte_pool_bytes(&b->pool) + b->arena.bytes_used + b->record.cap;
    n += b->terms_cap * sizeof(*b->terms) + b->n_slots * sizeof(*b->slots)
         + b->fields_cap * sizeof(*b->fields);
    n += b->n_field_slots * sizeof(*b->field_slots);
    n += b->docs_cap * sizeof(*b->docs) + b->term_undo_cap * sizeof(*b->term_undo);
    n += b->field_undo_cap * sizeof(*b->field_undo);
    for (uint32_t i = 0; i < b->n_fields; i++) {
        n += b->fields[i].completion != NULL ? completion_writer_bytes(b->fields[i].completion) : 0;
    }
    return n;
}

bool index_buffer_stored(const struct index_buffer *b, doc_id root, struct str *source, struct str *routing)
{
    if (root >= b->n_docs || !b->docs[root].is_root) {
        return false;
    }
    const struct buffer_doc *d = &b->docs[root];
    size_t head = (size_t)d->id_n + d->routing_n;
    struct bytes_in in = bytes_in(str_mk(d->blob + head, d->record_n));
    uint64_t n = get_varint(&in);
    *source = n > 0 ? get_raw(&in, (size_t)n - 1) : STR_NULL;
    *routing = d->has_routing ? str_mk(d->blob + d->id_n, d->routing_n) : STR_NULL;
    return true;
}

const struct doc_meta *index_buffer_meta(const struct index_buffer *b, doc_id root)
{
    return root < b->n_docs ? &b->docs[root].meta : NULL;
}
