/* From the index buffer to a segment: fields by name, terms by bytes, values by document. */
#include <stdlib.h>

#include "engine/index/buffer_int.h"
#include "engine/index/column_write.h"
#include "engine/index/directory_write.h"
#include "engine/index/postings_write.h"
#include "engine/index/stored_write.h"
#include "engine/index/term_sort.h"

struct writing {
    struct index_buffer *b;
    struct seg_out *out;
    struct directory dir;
    struct buf meta; /* of the field at hand */
    uint32_t *order; /* term numbers, by field, then by bytes */
    const uint32_t **field_terms; /* by field number: where its run of `order` begins */
};

/* ---- numbers ---- */

struct num_array {
    doc_id *docs;
    uint32_t *starts; /* n_docs + 1 */
    int64_t *values;
    uint32_t n_docs, at;
    uint64_t n_values;
};

static void num_array_fini(struct num_array *a)
{
    free(a->docs);
    free(a->starts);
    free(a->values);
}

static int compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool num_array_init(struct num_array *a, uint64_t n)
{
    *a = (struct num_array){0};
    a->docs = malloc(MAX_OF(n, (uint64_t)1) * sizeof(*a->docs));
    a->starts = malloc((n + 1) * sizeof(*a->starts));
    a->values = malloc(MAX_OF(n, (uint64_t)1) * sizeof(*a->values));
    return a->docs != NULL && a->starts != NULL && a->values != NULL;
}

static void num_array_add(struct num_array *a, doc_id doc, int64_t v)
{
    if (a->n_docs == 0 || a->docs[a->n_docs - 1] != doc) {
        a->docs[a->n_docs] = doc;
        a->starts[a->n_docs++] = (uint32_t)a->n_values;
    }
    a->values[a->n_values++] = v;
}

/* Sorts each document's values; `distinct` drops duplicates. */
static void num_array_end(struct num_array *a, bool distinct)
{
    uint64_t to = 0;
    a->starts[a->n_docs] = (uint32_t)a->n_values;
    for (uint32_t i = 0; i < a->n_docs; i++) {
        uint32_t from = a->starts[i], n = a->starts[i + 1] - from;
        if (n > 1) {
            qsort(a->values + from, n, sizeof(*a->values), compare_i64);
        }
        a->starts[i] = (uint32_t)to;
        for (uint32_t k = from; k < from + n; k++) {
            if (!distinct || k == from || a->values[k] != a->values[k - 1]) {
                /* Writes never overtake reads; equal neighbours compare before they are overwritten. */
                a->values[to++] = a->values[k];
            }
        }
    }
    a->starts[a->n_docs] = (uint32_t)to;
    a->n_values = to;
}

static void num_array_rewind(void *self)
{
    ((struct num_array *)self)->at = 0;
}

static bool num_array_next(void *self, doc_id *doc, const int64_t **v, uint32_t *n)
{
    struct num_array *a = self;
    if (a->at == a->n_docs) {
        return false;
    }
    *doc = a->docs[a->at];
    *v = a->values + a->starts[a->at];
    *n = a->starts[a->at + 1] - a->starts[a->at];
    a->at++;
    return true;
}

/* Upper bound of how many (document, value) pairs a stream holds: each takes two bytes at least. */
static uint64_t count_pairs(const struct writing *w, const struct value_stream *s)
{
    struct stream_in in;
    uint64_t bytes = 0;
    stream_open(&in, &w->b->pool, &s->s);
    while (!stream_end(&in)) {
        bytes += (uint64_t)(in.limit - in.p);
        in.p = in.limit;
    }
    return bytes / 2;
}

static bool read_nums(const struct writing *w, const struct value_stream *s, struct num_array *a)
{
    struct stream_in in;
    doc_id doc = 0;
    uint64_t v = 0;
    if (!num_array_init(a, count_pairs(w, s))) {
        return false;
    }
    stream_open(&in, &w->b->pool, &s->s);
    while (!stream_end(&in)) {
        doc += (doc_id)stream_varint(&in);
        v += (uint64_t)unzigzag(stream_varint(&in));
        num_array_add(a, doc, (int64_t)v);
    }
    num_array_end(a, false);
    return true;
}

static bool read_ords(const struct writing *w, const struct value_stream *s, struct num_array *a)
{
    struct stream_in in;
    doc_id doc = 0;
    if (!num_array_init(a, count_pairs(w, s))) {
        return false;
    }
    stream_open(&in, &w->b->pool, &s->s);
    while (!stream_end(&in)) {
        doc += (doc_id)stream_varint(&in);
        num_array_add(a, doc, w->b->terms[stream_varint(&in)].ord);
    }
    num_array_end(a, true);
    return true;
}

static void write_nums(struct writing *w, struct num_array *a, enum section_kind kind)
{
    struct num_source src = {a, num_array_rewind, num_array_next};
    num_column_write(w->out, &src, kind, w->b->n_docs, &w->meta);
}

/* ---- points ---- */

struct point_array {
    struct point_sort *v;
    uint64_t n, at;
};

static bool point_array_next(void *self, int64_t *value, doc_id *doc)
{
    struct point_array *a = self;
    if (a->at == a->n) {
        return false;
    }
    *value = (int64_t)(a->v[a->at].key ^ (uint64_t)1 << 63);
    *doc = a->v[a->at++].doc;
    return true;
}

/* One entry a value, with the key that it sorts by. */
static struct point_sort *make_points(struct writing *w, const struct num_array *a, bool geo)
{
    struct point_sort *v = malloc(MAX_OF(a->n_values, (uint64_t)1) * sizeof(*v));
    if (v == NULL) {
        seg_out_fail(w->out, err_no_memory(w->out->em));
        return NULL;
    }
    for (uint32_t i = 0; i < a->n_docs; i++) {
        for (uint32_t k = a->starts[i]; k < a->starts[i + 1]; k++) {
            uint64_t value = (uint64_t)a->values[k];
            int32_t lat = (int32_t)(uint32_t)(value >> 32), lon = (int32_t)(uint32_t)value;
            v[k] = (struct point_sort){geo ? geo_curve(lat, lon) : value ^ (uint64_t)1 << 63, a->docs[i], k};
        }
    }
    if (!point_sort(v, a->n_values)) {
        seg_out_fail(w->out, err_no_memory(w->out->em));
    }
    return v;
}

static void write_points(struct writing *w, const struct buffer_field *f, const struct num_array *a)
{
    struct point_sort *v = make_points(w, a, false);
    if (v != NULL) {
        struct point_array points = {v, a->n_values, 0};
        points_write(w->out, &(struct point_source){&points, point_array_next}, !f->multi_points, &w->meta);
    }
    free(v);
}

struct geo_array {
    const struct point_sort *v;
    const struct num_array *values;
    uint64_t at;
};

static bool geo_array_next(void *self, struct geo_entry *e)
{
    struct geo_array *a = self;
    if (a->at == a->values->n_values) {
        return false;
    }
    const struct point_sort *p = &a->v[a->at++];
    uint64_t value = (uint64_t)a->values->values[p->place];
    *e = (struct geo_entry){(int32_t)(uint32_t)(value >> 32), (int32_t)(uint32_t)value, p->doc};
    return true;
}

static void write_geo(struct writing *w, const struct num_array *a)
{
    struct point_sort *v = make_points(w, a, true);
    if (v != NULL) {
        struct geo_array points = {v, a, 0};
        geo_write(w->out, &(struct geo_source){&points, geo_array_next}, &w->meta);
    }
    free(v);
}

/* ---- bytes ---- */

struct bytes_stream {
    const struct byte_pool *pool;
    const struct value_stream *s;
    struct stream_in in;
    doc_id doc;
    struct buf v;
};

static void bytes_stream_rewind(void *self)
{
    struct bytes_stream *s = self;
    stream_open(&s->in, s->pool, &s->s->s);
    s->doc = 0;
}

static bool bytes_stream_next(void *self, doc_id *doc, struct str *v)
{
    struct bytes_stream *s = self;
    if (stream_end(&s->in)) {
        return false;
    }
    s->doc += (doc_id)stream_varint(&s->in);
    size_t n = (size_t)stream_varint(&s->in);
    buf_reset(&s->v);
    char *to = buf_reserve(&s->v, n);
    if (to == NULL) {
        return false;
    }
    stream_bytes(&s->in, to, n);
    *doc = s->doc;
    *v = str_mk(to, n);
    return true;
}

static void write_bytes(struct writing *w, const struct value_stream *s, enum section_kind kind)
{
    struct bytes_stream values = {.pool = &w->b->pool, .s = s};
    buf_init(&values.v, NULL, BUF_UNLIMITED);
    bytes_column_write(w->out, &(struct bytes_source){&values, bytes_stream_rewind, bytes_stream_next}, kind,
                       w->b->n_docs, &w->meta);
    seg_out_check(w->out, &values.v);
    buf_fini(&values.v);
}

static void write_ids(struct writing *w, const struct buffer_field *f)
{
    const struct value_stream none = {.last_doc = 0};
    struct bytes_stream values = {.pool = &w->b->pool, .s = f != NULL ? &f->bytes : &none};
    struct bytes_source src = {&values, bytes_stream_rewind, bytes_stream_next};
    uint32_t n = 0;
    doc_id doc;
    struct str id;
    buf_init(&values.v, NULL, BUF_UNLIMITED);
    src.rewind(src.self);
    while (src.next(src.self, &doc, &id)) {
        n++;
    }
    ids_write(w->out, &src, n, &w->dir.ids);
    seg_out_check(w->out, &values.v);
    buf_fini(&values.v);
}

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
    while (!stream_end(in) && stream_u8(in) != 0) {
        n++;
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

/* Terms in order of their bytes lie scattered: what the coming ones need is asked for early. */
static void look_ahead(const struct index_buffer *b, const uint32_t *order, uint32_t i, uint32_t n)
{
    if (i + 16 < n) {
        __builtin_prefetch(&b->terms[order[i + 16]]);
    }
    if (i + 8 < n) {
        const struct term_head *t = &b->terms[order[i + 8]];
        __builtin_prefetch(byte_pool_at(&b->pool, t->s.first));
        __builtin_prefetch(byte_pool_at(&b->pool, t->text));
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
        for (uint32_t i = 0; i < f->n_terms && w->out->err == ERR_OK; i++) {
            struct term_head *t = &w->b->terms[order[i]];
            look_ahead(w->b, order, i, f->n_terms);
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

static void write_numbers(struct writing *w, const struct buffer_field *f)
{
    struct num_array a = {0};
    if (!read_nums(w, &f->nums, &a)) {
        seg_out_fail(w->out, err_no_memory(w->out->em));
    } else {
        if (f->has & SEG_NUMS) {
            write_nums(w, &a, SECTION_NUMS);
        }
    }
    num_array_fini(&a);
}

static void write_sorted(struct writing *w, const struct buffer_field *f)
{
    struct num_array a = {0};
    if (!read_nums(w, &f->nums, &a)) {
        seg_out_fail(w->out, err_no_memory(w->out->em));
    } else {
        if (f->has & SEG_POINTS) {
            write_points(w, f, &a);
        }
        if (f->has & SEG_GEO) {
            write_geo(w, &a);
        }
    }
    num_array_fini(&a);
}

static void write_ordinals(struct writing *w, const struct buffer_field *f)
{
    struct num_array a = {0};
    if (!read_ords(w, &f->ords, &a)) {
        seg_out_fail(w->out, err_no_memory(w->out->em));
    } else {
        write_nums(w, &a, SECTION_ORDS);
    }
    num_array_fini(&a);
}

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
        write_numbers(w, f);
    }
    if (f->has & SEG_ORDS) {
        write_ordinals(w, f);
    }
    if (f->has & SEG_BYTES) {
        write_bytes(w, &f->bytes, SECTION_BYTES);
    }
    if (f->has & SEG_RANGES) {
        write_bytes(w, &f->ranges, SECTION_RANGES);
    }
    if (f->has & (SEG_POINTS | SEG_GEO)) {
        write_sorted(w, f);
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
        struct str record = d->blob != NULL ? str_mk(d->blob + d->id_n + d->routing_n, d->record_n) : STR_NULL;
        stored_writer_doc(&stored, i, record);
    }
    stored_writer_finish(&stored, &w->dir.stored);
    stored_writer_fini(&stored);
    if (b->nested) {
        seg_out_begin(w->out, SECTION_ROOTS);
        uint64_t word = 0;
        for (uint32_t i = 0; i < b->n_docs; i++) {
            word |= (uint64_t)(b->docs[i].blob != NULL) << (i & 63);
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
        qsort(fields, b->n_fields, sizeof(struct buffer_field *), compare_fields);
        write_documents(w);
        write_ids(w, id);
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
