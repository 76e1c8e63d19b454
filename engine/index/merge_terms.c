/* Terms of all sources side by side; a term's documents go over in the order of the sources, which is that of
 * their new numbers. */
#include <stdlib.h>

#include "engine/index/merge_int.h"
#include "engine/index/postings_write.h"

struct term_merge {
    struct merge_field *f;
    struct postings_writer *w;
    struct term_iter *iters; /* a source each */
    struct merge_heap heap;
    uint32_t *same; /* sources that have the term at hand */
    struct postings postings;
    struct positions positions;
};

static int compare_terms(void *self, uint32_t a, uint32_t b)
{
    const struct term_merge *t = self;
    return str_cmp(t->iters[a].term, t->iters[b].term);
}

/* A term of one document needs no cursor. */
static bool copy_single(struct term_merge *t, uint32_t source)
{
    const struct seg_field *f = t->f->in[source];
    const struct term_info *info = &t->iters[source].info;
    if (info->doc_freq != 1 || (t->f->has & SEG_POSITIONS) || info->postings_at >= f->segment->doc_count) {
        return false;
    }
    doc_id doc = t->f->m->remap[source][info->postings_at];
    if (doc != DOC_END) {
        bool freqs = (t->f->has & SEG_FREQS) != 0;
        postings_writer_doc(t->w, doc, freqs ? (uint32_t)MIN_OF(info->total_freq, (uint64_t)INT32_MAX) : 1);
    }
    return true;
}

static void copy_positions(struct term_merge *t)
{
    struct positions *ps = &t->positions;
    uint32_t n = positions_read(ps), freq = postings_freq(&t->postings);
    bool offsets = ps->want_offsets;
    if (n != freq) {
        merge_corrupt(t->f->m);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        postings_writer_pos(t->w, ps->pos[i], offsets ? ps->start[i] : 0, offsets ? ps->end[i] : 0);
    }
}

static void copy_postings(struct term_merge *t, uint32_t source)
{
    struct postings *p = &t->postings;
    uint32_t has = t->f->has;
    const doc_id *remap = t->f->m->remap[source];
    if (copy_single(t, source)) {
        return;
    }
    postings_init(p, t->f->in[source], &t->iters[source].info, (has & SEG_FREQS) != 0);
    positions_reopen(&t->positions, p, (has & SEG_OFFSETS) != 0);
    for (doc_id d = postings_next(p); d != DOC_END && t->f->m->out.err == ERR_OK; d = postings_next(p)) {
        if (remap[d] != DOC_END) {
            if (has & SEG_POSITIONS) {
                postings_writer_doc(t->w, remap[d], 0);
                copy_positions(t);
            } else {
                postings_writer_doc(t->w, remap[d], has & SEG_FREQS ? postings_freq(p) : 1);
            }
        }
    }
    if (p->corrupt) {
        merge_corrupt(t->f->m);
    }
}

/* The least term of all, with everything that has it. */
static void merge_term(struct term_merge *t)
{
    struct merge_field *f = t->f;
    struct str term = t->iters[t->heap.v[0]].term;
    uint32_t n = 0;
    while (t->heap.n > 0 && str_eq(t->iters[t->heap.v[0]].term, term)) {
        t->same[n++] = t->heap.v[0];
        merge_heap_pop(&t->heap);
    }
    for (uint32_t i = 0; i < n; i++) {
        copy_postings(t, t->same[i]);
    }
    if (t->w->doc_freq > 0) {
        for (uint32_t i = 0; i < n && f->ords != NULL; i++) {
            uint64_t old = t->iters[t->same[i]].info.ord;
            if (f->ords[t->same[i]] != NULL && old < f->in[t->same[i]]->n_terms) {
                f->ords[t->same[i]][old] = (uint32_t)t->w->terms.n_terms;
            }
        }
        postings_writer_term(t->w, term);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (term_iter_next(&t->iters[t->same[i]])) {
            merge_heap_push(&t->heap, t->same[i]);
        }
    }
}

static bool make_ords(struct merge_field *f)
{
    struct merging *m = f->m;
    f->ords = merge_alloc(m, m->n * sizeof(*f->ords));
    for (size_t i = 0; i < m->n && f->ords != NULL; i++) {
        if (f->in[i] != NULL && (f->in[i]->has & SEG_ORDS)) {
            if (f->in[i]->n_terms > UINT32_MAX) {
                merge_corrupt(m);
                return false;
            }
            f->ords[i] = merge_alloc(m, (size_t)f->in[i]->n_terms * sizeof(uint32_t));
        }
    }
    return m->out.err == ERR_OK;
}

static void walk_terms(struct term_merge *t)
{
    struct merge_field *f = t->f;
    struct merging *m = f->m;
    for (uint32_t i = 0; i < m->n; i++) {
        if (f->in[i] != NULL) {
            term_iter_init(&t->iters[i], f->in[i]);
            if ((f->in[i]->has & (SEG_TERMS | SEG_ORDS)) && term_iter_next(&t->iters[i])) {
                merge_heap_push(&t->heap, i);
            }
        }
    }
    while (t->heap.n > 0 && !merge_stopped(m)) {
        merge_term(t);
    }
    for (uint32_t i = 0; i < m->n; i++) {
        if (f->in[i] != NULL) {
            term_iter_fini(&t->iters[i]);
        }
    }
}

void merge_terms(struct merge_field *f, struct directory_field *df)
{
    struct merging *m = f->m;
    struct term_merge *t = merge_alloc(m, sizeof(*t));
    struct postings_writer *w = merge_alloc(m, sizeof(*w));
    if (t != NULL && w != NULL) {
        t->f = f;
        t->w = w;
        t->iters = merge_alloc(m, m->n * sizeof(*t->iters));
        t->heap = (struct merge_heap){t, compare_terms, merge_alloc(m, m->n * sizeof(uint32_t)), 0};
        t->same = merge_alloc(m, m->n * sizeof(uint32_t));
        if (m->out.err == ERR_OK && (!(f->has & SEG_ORDS) || make_ords(f))
            && postings_writer_init(w, &m->out, f->has, f->norms, m->doc_count) == ERR_OK) {
            walk_terms(t);
            postings_writer_finish(w, &m->meta, &df->doc_count);
            df->n_terms = w->terms.n_terms;
            df->sum_df = w->terms.sum_df;
            df->sum_ttf = w->terms.sum_ttf;
        }
        if (w->out != NULL) {
            postings_writer_fini(w);
        }
        free(t->iters);
        free(t->heap.v);
        free(t->same);
        positions_fini(&t->positions);
    }
    free(t);
    free(w);
}
