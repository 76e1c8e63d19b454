/* Values of the index buffer by document, and points in their order. */
#include <stdlib.h>

#include "common/base/sort_items.h"
#include "engine/index/buffer_write.h"
#include "engine/index/stored_write.h"
#include "engine/index/term_sort.h"

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
        sort_items(a->values + from, n, sizeof(*a->values), compare_i64);
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

void buffer_write_bytes(struct writing *w, const struct value_stream *s, enum section_kind kind)
{
    struct bytes_stream values = {.pool = &w->b->pool, .s = s};
    buf_init(&values.v, NULL, BUF_UNLIMITED);
    bytes_column_write(w->out, &(struct bytes_source){&values, bytes_stream_rewind, bytes_stream_next}, kind,
                       w->b->n_docs, &w->meta);
    seg_out_check(w->out, &values.v);
    buf_fini(&values.v);
}

void buffer_write_ids(struct writing *w, const struct buffer_field *f)
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

void buffer_write_nums(struct writing *w, const struct buffer_field *f)
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

void buffer_write_sorted(struct writing *w, const struct buffer_field *f)
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

void buffer_write_ords(struct writing *w, const struct buffer_field *f)
{
    struct num_array a = {0};
    if (!read_ords(w, &f->ords, &a)) {
        seg_out_fail(w->out, err_no_memory(w->out->em));
    } else {
        write_nums(w, &a, SECTION_ORDS);
    }
    num_array_fini(&a);
}
