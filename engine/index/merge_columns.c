/* Values by document, source after source. */
#include <stdlib.h>

#include "engine/index/merge_int.h"
#include "engine/index/stored_write.h"

void merge_norms(struct merge_field *f, uint8_t *norms)
{
    struct merging *m = f->m;
    uint64_t *present = merge_alloc(m, (bits_words(m->doc_count) + 1) * sizeof(*present));
    if (present == NULL) {
        return;
    }
    for (size_t i = 0; i < m->n; i++) {
        const uint8_t *from = f->in[i] != NULL ? seg_norms(f->in[i]) : NULL;
        const uint64_t *has = from != NULL ? seg_norms_present(f->in[i]) : NULL;
        for (doc_id d = 0; from != NULL && d < m->sources[i].segment->doc_count; d++) {
            doc_id to = m->remap[i][d];
            if (to != DOC_END && (has == NULL || bits_test(has, d))) {
                norms[to] = from[d];
                bits_set(present, to);
            }
        }
    }
    norms_write(&m->out, norms, present, m->doc_count, &m->meta);
    free(present);
}

struct merged_nums {
    struct merge_field *f;
    bool ordinals;
    size_t source;
    doc_id doc;
    struct num_column c;
    uint32_t docs; /* of the source, 0 before it is entered */
    int64_t *v;
    uint32_t cap;
};

static void nums_rewind(void *self)
{
    struct merged_nums *s = self;
    s->source = 0;
    s->doc = s->docs = 0;
    s->c = (struct num_column){0};
}

/* Opens the next source's column; false: there is none. */
static bool nums_enter(struct merged_nums *s)
{
    struct merging *m = s->f->m;
    if (s->docs > 0) {
        s->source++;
    }
    for (; s->source < m->n; s->source++) {
        const struct seg_field *in = s->f->in[s->source];
        if (in != NULL) {
            column_init(&s->c, in, s->ordinals ? &impl_of(in)->ords : &impl_of(in)->nums);
            s->docs = m->sources[s->source].segment->doc_count;
            s->doc = 0;
            if (s->c.field != NULL && s->docs > 0) {
                return true;
            }
        }
    }
    return false;
}

static bool nums_room(struct merged_nums *s, uint32_t n)
{
    if (n <= s->cap) {
        return true;
    }
    int64_t *v = realloc(s->v, (size_t)n * 2 * sizeof(*v));
    if (v == NULL) {
        seg_out_fail(&s->f->m->out, err_no_memory(s->f->m->em));
        return false;
    }
    s->v = v;
    s->cap = n * 2;
    return true;
}

static void nums_read(struct merged_nums *s, uint64_t first, uint32_t n)
{
    const struct seg_field *in = s->f->in[s->source];
    for (uint32_t i = 0; i < n; i++) {
        s->v[i] = num_column_value(&s->c, first + i);
        if (s->ordinals) {
            uint64_t ord = (uint64_t)s->v[i];
            s->v[i] = ord < in->n_terms ? s->f->ords[s->source][ord] : 0;
        }
    }
}

static bool nums_next(void *self, doc_id *doc, const int64_t **v, uint32_t *n)
{
    struct merged_nums *s = self;
    struct merging *m = s->f->m;
    for (;;) {
        if (s->doc >= s->docs && !nums_enter(s)) {
            return false;
        }
        if (s->c.present != NULL) {
            s->doc = (doc_id)bits_next(s->c.present, s->doc, s->docs);
            if (s->doc >= s->docs) {
                continue;
            }
        }
        doc_id d = s->doc++;
        uint64_t first;
        if (m->remap[s->source][d] == DOC_END) {
            continue;
        }
        *n = num_column_seek(&s->c, d, &first);
        if (*n > 0) {
            if (!nums_room(s, *n) || merge_stopped(m)) {
                return false;
            }
            nums_read(s, first, *n);
            *doc = m->remap[s->source][d];
            *v = s->v;
            return true;
        }
    }
}

static void merge_column(struct merge_field *f, bool ordinals)
{
    struct merged_nums s = {.f = f, .ordinals = ordinals};
    struct num_source src = {&s, nums_rewind, nums_next};
    if (f->m->out.err == ERR_OK) {
        num_column_write(&f->m->out, &src, ordinals ? SECTION_ORDS : SECTION_NUMS, f->m->doc_count,
                         &f->m->meta);
    }
    free(s.v);
}

void merge_nums(struct merge_field *f)
{
    merge_column(f, false);
}

void merge_ordinals(struct merge_field *f)
{
    merge_column(f, true);
}

struct merged_bytes {
    struct merging *m;
    const struct bytes_meta **in; /* a source each; NULL: none */
    size_t source;
    doc_id doc;
    uint32_t value;
};

static void bytes_rewind(void *self)
{
    struct merged_bytes *s = self;
    s->source = 0;
    s->doc = s->value = 0;
}

static bool bytes_next(void *self, doc_id *doc, struct str *v)
{
    struct merged_bytes *s = self;
    for (; s->source < s->m->n; s->source++, s->doc = 0) {
        const struct bytes_meta *in = s->in[s->source];
        const struct segment *segment = s->m->sources[s->source].segment;
        uint32_t docs = segment->doc_count;
        for (; in != NULL && s->doc < docs; s->doc++, s->value = 0) {
            doc_id to = s->m->remap[s->source][s->doc];
            if (to != DOC_END && bytes_meta_value(segment, in, s->doc, s->value, v)) {
                s->value++;
                *doc = to;
                return !merge_stopped(s->m);
            }
        }
    }
    return false;
}

static void write_bytes(struct merging *m, const struct bytes_meta **in, bool ids, bool ranges)
{
    struct merged_bytes s = {.m = m, .in = in};
    struct bytes_source src = {&s, bytes_rewind, bytes_next};
    if (!ids) {
        bytes_column_write(&m->out, &src, ranges ? SECTION_RANGES : SECTION_BYTES, m->doc_count, &m->meta);
        return;
    }
    uint32_t n = 0;
    doc_id doc;
    struct str id;
    bytes_rewind(&s);
    while (bytes_next(&s, &doc, &id)) {
        n++;
    }
    ids_write(&m->out, &src, n, &m->dir.ids);
}

void merge_bytes(struct merge_field *f, bool ranges)
{
    struct merging *m = f->m;
    const struct bytes_meta **in = merge_alloc(m, m->n * sizeof(struct bytes_meta *));
    for (size_t i = 0; in != NULL && i < m->n; i++) {
        if (f->in[i] != NULL) {
            in[i] = ranges ? &impl_of(f->in[i])->ranges : &impl_of(f->in[i])->bytes;
        }
    }
    if (in != NULL && m->out.err == ERR_OK) {
        write_bytes(m, in, false, ranges);
    }
    free(in);
}

void merge_ids(struct merging *m)
{
    const struct bytes_meta **in = merge_alloc(m, m->n * sizeof(struct bytes_meta *));
    for (size_t i = 0; in != NULL && i < m->n; i++) {
        in[i] = m->sources[i].segment->id_bytes;
    }
    if (in != NULL && m->out.err == ERR_OK) {
        write_bytes(m, in, true, false);
    }
    free(in);
}
