/* From the index buffer to a segment: fields by name, terms by bytes, values by document. */
#include <stdlib.h>

#include "common/base/sort_items.h"
#include "engine/index/buffer_write.h"
#include "engine/index/postings_write.h"
#include "engine/index/stored_write.h"
#include "engine/index/term_sort.h"

/* ---- norms and terms ---- */

static void write_norms(struct writing *w, const struct buffer_field *f, uint8_t *norms)
{
    uint64_t *present = calloc(bits_words(w->b->n_docs) + 1, sizeof(*present));
    if (present == NULL) {
        seg_out_fail(w->out, err_no_memory(w->out->em));
        return;
    }
    struct stream_in in;
    doc_id doc = 0;
    stream_open(&in, &w->b->pool, &f->norms.s);
    while (!stream_end(&in)) {
        doc += (doc_id)stream_varint(&in);
        norms[doc] = stream_u8(&in);
        bits_set(present, doc);
    }
    norms_write(w->out, norms, present, w->b->n_docs, &w->meta);
    free(present);
}

/* The occurrences of one document, up to the 0 behind them or the stream's end. */
static void write_positions(struct postings_writer *pw, struct stream_in *in)
{
    uint32_t pos = 0, start = 0, len = 0;
    bool offsets = (pw->has & SEG_OFFSETS) != 0;
    while (!stream_end(in)) {
        uint64_t gap = stream_varint(in);
        if (gap == 0) {
            break;
        }
        pos += (uint32_t)gap - 1;
        if (offsets) {
            start += (uint32_t)stream_varint(in);
            len = (uint32_t)stream_varint(in);
        }
        postings_writer_pos(pw, pos, start, start + len);
    }
}

static uint32_t count_occurrences(struct stream_in *in)
{
    uint32_t n = 0;
    while (!stream_end(in)) {
        uint8_t kind = stream_u8(in);
        if (kind == 0) {
            break;
        }
        n += kind == SEVERAL_OCCURRENCES ? (uint32_t)stream_varint(in) : 1;
    }
    return n;
}

static void write_term(struct writing *w, struct postings_writer *pw, const struct term_head *t)
{
    struct stream_in in;
    doc_id doc = DOC_END; /* the first difference is one too great */
    stream_open(&in, &w->b->pool, &t->s);
    while (!stream_end(&in)) {
        doc += (doc_id)stream_varint(&in);
        if (pw->has & SEG_POSITIONS) {
            postings_writer_doc(pw, doc, 0);
            write_positions(pw, &in);
        } else {
            postings_writer_doc(pw, doc, pw->has & SEG_FREQS ? count_occurrences(&in) : 1);
        }
    }
    postings_writer_term(pw, term_text(w->b, t));
}

/* Terms in order of their bytes lie scattered: what the coming ones need is asked for early, a step for each
 * of them at every term, so that the waits overlap. */
#define AHEAD 8

static void look_ahead(const struct index_buffer *b, const uint32_t *order, uint32_t i, uint32_t n,
                       struct stream_ahead ring[AHEAD])
{
    if (i + 2 * AHEAD < n) {
        __builtin_prefetch(&b->terms[order[i + 2 * AHEAD]]);
    }
    for (uint32_t k = 0; k < AHEAD; k++) {
        stream_ahead_step(&ring[k], &b->pool);
    }
    if (i + AHEAD < n) {
        const struct term_head *t = &b->terms[order[i + AHEAD]];
        __builtin_prefetch(byte_pool_at(&b->pool, t->text));
        stream_ahead_begin(&ring[i % AHEAD], &b->pool, &t->s);
    }
}

static void write_terms(struct writing *w, const struct buffer_field *f, const uint8_t *norms,
                        struct directory_field *df)
{
    struct postings_writer *pw = malloc(sizeof(*pw));
    if (pw == NULL) {
        seg_out_fail(w->out, err_no_memory(w->out->em));
        return;
    }
    if (postings_writer_init(pw, w->out, f->has, norms, w->b->n_docs) == ERR_OK) {
        const uint32_t *order = w->field_terms[f - w->b->fields];
        struct stream_ahead ring[AHEAD] = {{0}};
        for (uint32_t i = 0; i < f->n_terms && w->out->err == ERR_OK; i++) {
            struct term_head *t = &w->b->terms[order[i]];
            look_ahead(w->b, order, i, f->n_terms, ring);
            t->ord = i;
            write_term(w, pw, t);
        }
        postings_writer_finish(pw, &w->meta, &df->doc_count);
        df->n_terms = pw->terms.n_terms;
        df->sum_df = pw->terms.sum_df;
        df->sum_ttf = pw->terms.sum_ttf;
    }
    postings_writer_fini(pw);
    free(pw);
}

/* ---- fields ---- */

static void write_completion(struct writing *w, struct buffer_field *f)
{
    struct buf section;
    buf_init(&section, NULL, BUF_UNLIMITED);
    seg_out_fail(w->out, completion_writer_finish(f->completion, &section, w->out->em));
    seg_out_begin(w->out, SECTION_COMPLETION);
    seg_out_bytes(w->out, section.p, section.n);
    put_varint(&w->meta, seg_out_end(w->out));
    buf_fini(&section);
}

/* In the order of read_field() in directory_read.c. */
static void write_field(struct writing *w, struct buffer_field *f)
{
    struct directory_field df = {.name = f->name, .has = f->has};
    uint8_t *norms = NULL;
    struct buf norms_meta;
    buf_reset(&w->meta);
    buf_init(&norms_meta, NULL, BUF_UNLIMITED);
    if (f->has & SEG_NORMS) {
        /* Before the terms: their impacts need the lengths. */
        norms = calloc((size_t)w->b->n_docs + 1, 1);
        if (norms == NULL) {
            seg_out_fail(w->out, err_no_memory(w->out->em));
        } else {
            write_norms(w, f, norms);
        }
        buf_add(&norms_meta, w->meta.p, w->meta.n);
        buf_reset(&w->meta);
    }
    if (f->has & (SEG_TERMS | SEG_ORDS)) {
        write_terms(w, f, norms, &df);
    }
    buf_add(&w->meta, norms_meta.p, norms_meta.n);
    if (f->has & SEG_NUMS) {
        buffer_write_nums(w, f);
    }
    if (f->has & SEG_ORDS) {
        buffer_write_ords(w, f);
    }
    if (f->has & SEG_BYTES) {
        buffer_write_bytes(w, &f->bytes, SECTION_BYTES);
    }
    if (f->has & SEG_RANGES) {
        buffer_write_bytes(w, &f->ranges, SECTION_RANGES);
    }
    if (f->has & (SEG_POINTS | SEG_GEO)) {
        buffer_write_sorted(w, f);
    }
    if (f->has & SEG_COMPLETION) {
        write_completion(w, f);
    }
    seg_out_check(w->out, &norms_meta);
    directory_add(&w->dir, &df, &w->meta);
    buf_fini(&norms_meta);
    free(norms);
}

static void write_documents(struct writing *w)
{
    const struct index_buffer *b = w->b;
    struct stored_writer stored;
    stored_writer_init(&stored, w->out);
    for (uint32_t i = 0; i < b->n_docs && w->out->err == ERR_OK; i++) {
        const struct buffer_doc *d = &b->docs[i];
        struct str record =
            d->blob != NULL ? str_mk(d->blob + d->id_n + d->routing_n, d->record_n) : STR_NULL;
        stored_writer_doc(&stored, i, record);
    }
    stored_writer_finish(&stored, &w->dir.stored);
    stored_writer_fini(&stored);
    if (b->nested) {
        seg_out_begin(w->out, SECTION_ROOTS);
        uint64_t word = 0;
        for (uint32_t i = 0; i < b->n_docs; i++) {
            word |= (uint64_t)b->docs[i].is_root << (i & 63);
            if ((i & 63) == 63 || i + 1 == b->n_docs) {
                seg_out_u64(w->out, word);
                word = 0;
            }
        }
        w->dir.roots = seg_out_end(w->out);
    }
}

static int compare_fields(const void *a, const void *b)
{
    return str_cmp((*(struct buffer_field *const *)a)->name, (*(struct buffer_field *const *)b)->name);
}

static void write_all(struct writing *w)
{
    struct index_buffer *b = w->b;
    struct buffer_field **fields = malloc((b->n_fields + (size_t)1) * sizeof(struct buffer_field *));
    w->order = malloc(((size_t)b->n_terms + 1) * sizeof(*w->order));
    w->field_terms = calloc(b->n_fields + (size_t)1, sizeof(*w->field_terms));
    if (fields == NULL || w->order == NULL || w->field_terms == NULL
        || !term_sort(b, w->order, w->field_terms)) {
        seg_out_fail(w->out, err_no_memory(w->out->em));
    } else {
        struct buffer_field *id = NULL;
        for (uint32_t i = 0; i < b->n_fields; i++) {
            fields[i] = &b->fields[i];
            id = str_is(b->fields[i].name, "_id") ? fields[i] : id;
        }
        sort_items(fields, b->n_fields, sizeof(struct buffer_field *), compare_fields);
        write_documents(w);
        buffer_write_ids(w, id);
        for (uint32_t i = 0; i < b->n_fields && w->out->err == ERR_OK; i++) {
            /* A field whose values were all empty leaves nothing to read. */
            if (fields[i]->has != 0) {
                write_field(w, fields[i]);
            }
        }
    }
    free(fields);
}

enum err index_buffer_write(struct index_buffer *b, struct buf *out, struct errmsg *em)
{
    struct seg_out o;
    struct writing w = {.b = b, .out = &o};
    seg_out_init(&o, NULL, NULL, out, em);
    directory_init(&w.dir, &o);
    buf_init(&w.meta, NULL, BUF_UNLIMITED);
    write_all(&w);
    enum err e = o.err == ERR_OK ? directory_finish(&w.dir, b->n_docs) : o.err;
    directory_fini(&w.dir);
    seg_out_fini(&o);
    buf_fini(&w.meta);
    free(w.order);
    free(w.field_terms);
    buffer_empty(b);
    return e;
}
