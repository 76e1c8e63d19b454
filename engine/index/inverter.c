/* From tokens to postings in memory. */
#include "common/base/hash.h"
#include "engine/index/buffer_int.h"
#include "engine/index/format.h"

#define POSITION_MAX (INT32_MAX - 128)

static bool grow_slots(struct index_buffer *b)
{
    uint32_t n = MAX_OF(b->n_slots * 2, 256U);
    if (n < b->n_slots) {
        return false;
    }
    uint64_t *slots = alloc_get(b->alloc, (size_t)n * sizeof(*slots));
    if (slots == NULL) {
        return false;
    }
    memset(slots, 0, (size_t)n * sizeof(*slots));
    /* In the order of insertion: the newest terms can then be taken out again by clearing their slots. */
    for (uint32_t i = 0; i < b->n_terms; i++) {
        uint32_t at = b->terms[i].hash & (n - 1);
        while (slots[at] != 0) {
            at = (at + 1) & (n - 1);
        }
        slots[at] = (uint64_t)b->terms[i].hash << 32 | (i + 1);
    }
    alloc_put(b->alloc, b->slots);
    b->slots = slots;
    b->n_slots = n;
    return true;
}

/* Two multiplications for the short terms that nearly all are. */
static inline uint32_t term_hash(struct str s, uint32_t field)
{
    const uint8_t *p = (const uint8_t *)s.p;
    uint64_t a = 0, b = 0;
    if (s.n > 16) {
        return (uint32_t)hash_bytes(s.p, s.n, field);
    }
    if (s.n >= 8) {
        a = load_u64(p);
        b = load_u64(p + s.n - 8);
    } else if (s.n >= 4) {
        a = load_u32(p);
        b = load_u32(p + s.n - 4);
    } else if (s.n > 0) {
        a = (uint64_t)p[0] | (uint64_t)p[s.n / 2] << 8 | (uint64_t)p[s.n - 1] << 16;
    }
    uint64_t h = (a ^ s.n) * 0x9E3779B97F4A7C15ULL;
    h = ((h ^ h >> 32) ^ b ^ ((uint64_t)field + 1) << 40) * 0xD6E8FEB86659FD93ULL;
    return (uint32_t)(h >> 32 ^ h);
}

static inline bool same_bytes(const uint8_t *a, const uint8_t *b, size_t n)
{
    if (n > 16) {
        return memcmp(a, b, n) == 0;
    }
    if (n >= 8) {
        return load_u64(a) == load_u64(b) && load_u64(a + n - 8) == load_u64(b + n - 8);
    }
    if (n >= 4) {
        return load_u32(a) == load_u32(b) && load_u32(a + n - 4) == load_u32(b + n - 4);
    }
    return n == 0 || (a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1]);
}

static inline bool same_text(const struct index_buffer *b, const struct term_head *t, struct str text)
{
    const uint8_t *p = byte_pool_at(&b->pool, t->text);
    return load_u16(p) == text.n && same_bytes(p + 2, (const uint8_t *)text.p, text.n);
}

static uint32_t new_term(struct index_buffer *b, struct buffer_field *f, struct str text, uint32_t hash,
                         uint32_t at)
{
    if (b->n_terms == UINT32_MAX - 1
        || !buffer_room(b, (void **)&b->terms, b->n_terms, &b->terms_cap, sizeof(*b->terms))) {
        return UINT32_MAX;
    }
    uint32_t address = byte_pool_take(&b->pool, (uint32_t)text.n + 2);
    if (address == 0) {
        return UINT32_MAX;
    }
    uint8_t *p = byte_pool_at(&b->pool, address);
    store_u16(p, (uint16_t)text.n);
    if (text.n > 0) {
        memcpy(p + 2, text.p, text.n);
    }
    b->terms[b->n_terms] =
        (struct term_head){.text = address, .hash = hash, .field = (uint32_t)(f - b->fields)};
    b->slots[at] = (uint64_t)hash << 32 | (b->n_terms + 1);
    f->n_terms++;
    return b->n_terms++;
}

static uint32_t find_term(struct index_buffer *b, struct buffer_field *f, struct str text, uint32_t hash)
{
    if (b->n_terms >= b->n_slots / 2 && !grow_slots(b)) {
        return UINT32_MAX;
    }
    uint32_t field = (uint32_t)(f - b->fields), mask = b->n_slots - 1, at = hash & mask;
    for (uint64_t slot; (slot = b->slots[at]) != 0; at = (at + 1) & mask) {
        if (slot >> 32 == hash) {
            uint32_t i = (uint32_t)slot - 1;
            if (b->terms[i].field == field && same_text(b, &b->terms[i], text)) {
                return i;
            }
        }
    }
    return new_term(b, f, text, hash, at);
}

/* Keeps what a term was before this addition. */
static bool log_term(struct index_buffer *b, uint32_t i)
{
    if (i >= b->terms_before || b->terms[i].last_doc > b->docs_before) {
        return true;
    }
    if (!buffer_room(b, (void **)&b->term_undo, b->n_term_undo, &b->term_undo_cap, sizeof(*b->term_undo))) {
        return false;
    }
    b->term_undo[b->n_term_undo++] = (struct term_undo){i, b->terms[i]};
    return true;
}

static uint32_t add_hashed(struct index_buffer *b, struct buffer_field *f, struct str text, uint32_t hash,
                           enum index_options options, doc_id doc, uint32_t pos, uint32_t start, uint32_t end,
                           uint32_t occurrences)
{
    uint32_t i = find_term(b, f, text, hash);
    uint8_t bytes[40];
    size_t n = 0;
    if (i == UINT32_MAX || !log_term(b, i)) {
        return UINT32_MAX;
    }
    struct term_head *t = &b->terms[i];
    if (t->last_doc != doc + 1) {
        if (t->last_doc != 0 && options > INDEX_DOCS) {
            bytes[n++] = 0;
        }
        f->unique++;
        n = varint_to(bytes, n, doc + 1 - t->last_doc);
        t->last_doc = doc + 1;
        t->last_pos = t->last_start = 0;
    }
    if (options >= INDEX_POSITIONS) {
        n = varint_to(bytes, n, pos - t->last_pos + 1);
        t->last_pos = pos;
        if (options == INDEX_OFFSETS) {
            n = varint_to(bytes, n, start - t->last_start);
            n = varint_to(bytes, n, end - start);
            t->last_start = start;
        }
    } else if (options == INDEX_FREQS) {
        bytes[n++] = occurrences > 1 ? SEVERAL_OCCURRENCES : ONE_OCCURRENCE;
        n = occurrences > 1 ? varint_to(bytes, n, occurrences) : n;
    }
    return stream_put(&b->pool, &t->s, bytes, n) ? i : UINT32_MAX;
}

uint32_t inverter_add(struct index_buffer *b, struct buffer_field *f, struct str text,
                      enum index_options options, doc_id doc, uint32_t pos, uint32_t start, uint32_t end)
{
    return add_hashed(b, f, text, term_hash(text, (uint32_t)(f - b->fields)), options, doc, pos, start, end,
                      1);
}

void inverter_undo(struct index_buffer *b)
{
    while (b->n_terms > b->terms_before) {
        const struct term_head *t = &b->terms[--b->n_terms];
        uint32_t at = t->hash & (b->n_slots - 1);
        while ((uint32_t)b->slots[at] != b->n_terms + 1) {
            at = (at + 1) & (b->n_slots - 1);
        }
        b->slots[at] = 0;
    }
    while (b->n_term_undo > 0) {
        const struct term_undo *u = &b->term_undo[--b->n_term_undo];
        b->terms[u->i] = u->was;
    }
}

static enum err immense(const struct buffer_field *f, struct str text, struct errmsg *em)
{
    char prefix[200];
    struct buf to = {.p = prefix, .cap = sizeof(prefix), .bytes_max = sizeof(prefix) - 1};
    for (size_t i = 0; i < 30; i++) {
        buf_printf(&to, i == 0 ? "%d" : ", %d", (int)(signed char)text.p[i]);
    }
    err_set(em, ERR_MAX_BYTES, "bytes can be at most %d in length; got %zu", SEG_TERM_BYTES_MAX, text.n);
    return err_wrap(
        em, ERR_ILLEGAL_ARGUMENT,
        "Document contains at least one immense term in field=\"%.*s\" (whose UTF8 encoding is longer "
        "than the max length %d), all of which were skipped.  Please correct the analyzer to not produce "
        "such terms.  The prefix of the first immense term is: '[%.*s]...', original message: bytes can "
        "be at most %d in length; got %zu",
        STR_ARG(f->name), SEG_TERM_BYTES_MAX, (int)to.n, prefix, SEG_TERM_BYTES_MAX, text.n);
}

static enum err bad_position(const struct buffer_field *f, int32_t inc, struct errmsg *em)
{
    if (f->position >= f->last_position) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "position %lld is too large for field '%.*s': max allowed position is %d",
                       (long long)f->position, STR_ARG(f->name), POSITION_MAX);
    }
    if (inc == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "first position increment must be > 0 (got 0) for field '%.*s'", STR_ARG(f->name));
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "position increment must be >= 0 (got %d) for field '%.*s'",
                   (int)inc, STR_ARG(f->name));
}

/* How many tokens are looked up side by side. */
#define AHEAD 32

/* Terms lie scattered: what the next tokens will touch (slot, head, text and the end of the stream) is asked
 * for, for all of them, before the first is added, so that the waits overlap. */
static void look_ahead(const struct index_buffer *b, uint32_t field, const struct token *t, uint32_t n,
                       uint32_t hashes[AHEAD])
{
    uint32_t mask = b->n_slots - 1, heads[AHEAD];
    for (uint32_t i = 0; i < n; i++) {
        hashes[i] = term_hash(t[i].text, field);
        if (b->n_slots > 0) {
            __builtin_prefetch(&b->slots[hashes[i] & mask]);
        }
    }
    for (uint32_t i = 0; b->n_slots > 0 && i < n; i++) {
        heads[i] = (uint32_t)b->slots[hashes[i] & mask];
        if (heads[i] != 0) {
            __builtin_prefetch(&b->terms[heads[i] - 1]);
        }
    }
    for (uint32_t i = 0; b->n_slots > 0 && i < n; i++) {
        if (heads[i] != 0) {
            const struct term_head *head = &b->terms[heads[i] - 1];
            __builtin_prefetch(byte_pool_at(&b->pool, head->text));
            __builtin_prefetch(byte_pool_at(&b->pool, head->s.at), 1);
        }
    }
}

/* Places a token as Lucene's DefaultIndexingChain.PerField.invert() does. */
static enum err place_token(struct buffer_field *f, const struct token *t, struct errmsg *em)
{
    f->position += t->pos_inc;
    if (f->position < f->last_position || f->position > POSITION_MAX) {
        return bad_position(f, t->pos_inc, em);
    }
    f->last_position = f->position;
    int64_t start = f->offset + t->start, end = f->offset + t->end;
    if (start < f->last_start || end < start || end > INT32_MAX) {
        return err_set(
            em, ERR_ILLEGAL_ARGUMENT,
            "startOffset must be non-negative, and endOffset must be >= startOffset, and offsets must "
            "not go backwards startOffset=%lld,endOffset=%lld,lastStartOffset=%lld for field '%.*s'",
            (long long)start, (long long)end, (long long)f->last_start, STR_ARG(f->name));
    }
    f->last_start = start;
    return t->text.n > SEG_TERM_BYTES_MAX ? immense(f, t->text, em) : ERR_OK;
}

/* One more term in the document's column. */
static bool put_ord(struct index_buffer *b, struct buffer_field *f, doc_id doc, uint32_t term)
{
    uint8_t bytes[20];
    size_t n = varint_to(bytes, 0, doc - f->ords.last_doc);
    n = varint_to(bytes, n, term);
    f->ords.last_doc = doc;
    return stream_put(&b->pool, &f->ords.s, bytes, n);
}

enum err inverter_text(struct index_buffer *b, struct buffer_field *f, const struct doc_value *v, doc_id doc,
                       struct errmsg *em)
{
    const struct field *field = v->field;
    uint32_t hashes[AHEAD];
    for (uint32_t i = 0; i < v->text.n; i++) {
        const struct token *t = &v->text.v[i];
        if (i % AHEAD == 0) {
            look_ahead(b, (uint32_t)(f - b->fields), t, MIN_OF(v->text.n - i, (uint32_t)AHEAD), hashes);
        }
        enum err e = place_token(f, t, em);
        if (e != ERR_OK) {
            return e;
        }
        f->length += t->pos_inc != 0 || !field->similarity.discount_overlaps;
        uint32_t start = (uint32_t)f->last_start, unique = f->unique;
        uint32_t term = add_hashed(b, f, t->text, hashes[i % AHEAD], field->options, doc,
                                   (uint32_t)f->position, start, start + (t->end - t->start), 1);
        if (term == UINT32_MAX || (field->fielddata && f->unique != unique && !put_ord(b, f, doc, term))) {
            return err_no_memory(em);
        }
    }
    /* Positions and offsets go on over the values of a field. */
    f->position += v->text.end_pos_inc;
    f->offset += v->text.end_offset;
    f->position += field->position_increment_gap;
    f->offset += 1;
    return ERR_OK;
}

enum err inverter_paths(struct index_buffer *b, struct buffer_field *f, const struct doc_value *v, doc_id doc,
                        struct errmsg *em)
{
    for (uint32_t i = 0; i < v->completion.n_paths; i++) {
        struct str path = v->completion.paths[i];
        if (path.n > SEG_TERM_BYTES_MAX) {
            return immense(f, path, em);
        }
        if (inverter_add(b, f, path, INDEX_FREQS, doc, 0, 0, 0) == UINT32_MAX) {
            return err_no_memory(em);
        }
        f->length += i == 0 || !v->field->similarity.discount_overlaps;
    }
    return ERR_OK;
}

enum err inverter_feature(struct index_buffer *b, struct buffer_field *f, const struct doc_value *v,
                          doc_id doc, struct errmsg *em)
{
    struct str name = v->feature.name;
    if (name.n > SEG_TERM_BYTES_MAX) {
        return immense(f, name, em);
    }
    uint32_t term = add_hashed(b, f, name, term_hash(name, (uint32_t)(f - b->fields)), INDEX_FREQS, doc, 0, 0,
                               0, v->feature.freq);
    return term != UINT32_MAX ? ERR_OK : err_no_memory(em);
}

enum err inverter_term(struct index_buffer *b, struct buffer_field *f, const struct doc_value *v, doc_id doc,
                       struct errmsg *em)
{
    if (v->bytes.n > SEG_TERM_BYTES_MAX) {
        return v->to_index
                   ? immense(f, v->bytes, em)
                   : err_set(em, ERR_ILLEGAL_ARGUMENT, "DocValuesField \"%.*s\" is too large, must be <= %d",
                             STR_ARG(f->name), SEG_TERM_BYTES_MAX);
    }
    enum index_options options = b->counts ? INDEX_FREQS : MIN_OF(v->field->options, INDEX_FREQS);
    uint32_t i = inverter_add(b, f, v->bytes, options, doc, 0, 0, 0);
    if (i == UINT32_MAX) {
        return err_no_memory(em);
    }
    f->length++;
    return !v->to_column || put_ord(b, f, doc, i) ? ERR_OK : err_no_memory(em);
}
