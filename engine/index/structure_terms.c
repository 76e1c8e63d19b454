/* Terms and what hangs on them. */
#include "engine/index/structure_int.h"

#include <stdlib.h>

/* What the directory says of a field, counted. */
struct term_counts {
    uint64_t terms, sum_df, sum_ttf;
};

static uint8_t norm_of(const struct seg_field *f, doc_id doc)
{
    const uint8_t *norms = f->has & SEG_NORMS ? impl_of(f)->norms : NULL;
    return norms != NULL ? norms[doc] : 1;
}

static bool beaten(const struct impact *v, unsigned n, uint32_t freq, uint8_t norm)
{
    for (unsigned i = 0; i < n; i++) {
        if (v[i].freq >= freq && v[i].norm <= norm) {
            return true;
        }
    }
    return false;
}

/* ---- one document of a term ---- */

static bool check_positions(struct structure *x, const struct seg_field *f, struct positions *ps,
                            uint32_t freq)
{
    if (!(f->has & SEG_POSITIONS)) {
        return true;
    }
    uint32_t n = positions_read(ps);
    if (n != freq) {
        return structure_ok(x)
               && structure_wrong(x, "[%u] positions, and a frequency of [%u] in document [%u]", n, freq,
                                  ps->postings->doc);
    }
    for (uint32_t i = 1; i < n; i++) {
        if (ps->pos[i] < ps->pos[i - 1]) {
            return structure_wrong(x, "positions of document [%u] do not ascend", ps->postings->doc);
        }
    }
    for (uint32_t i = 0; i < n && (f->has & SEG_OFFSETS) != 0; i++) {
        if (ps->start[i] > ps->end[i] || (i > 0 && ps->start[i] < ps->start[i - 1])) {
            return structure_wrong(x, "offsets of document [%u] do not ascend", ps->postings->doc);
        }
    }
    return true;
}

struct bounds { /* what the term's impacts, and those of the block at hand, promise */
    struct impact all[IMPACTS_MAX], block[IMPACTS_MAX];
    unsigned n_all, n_block;
    uint32_t of_block;
};

static bool check_impacts(struct structure *x, const struct seg_field *f, struct postings *p,
                          struct bounds *b)
{
    if (!(f->has & SEG_FREQS)) {
        return true;
    }
    if (p->block != b->of_block) {
        if (postings_shallow(p, p->doc) == DOC_END) {
            return structure_wrong(x, "no block to skip by has document [%u]", p->doc);
        }
        b->n_block = postings_block_impacts(p, b->block);
        b->of_block = p->block;
    }
    uint32_t freq = postings_freq(p);
    uint8_t norm = norm_of(f, p->doc);
    return (beaten(b->all, b->n_all, freq, norm) && beaten(b->block, b->n_block, freq, norm))
           || structure_wrong(x, "document [%u] has a frequency of [%u], more than its block's bound", p->doc,
                              freq);
}

static bool check_posting(struct structure *x, const struct seg_field *f, struct postings *p,
                          struct positions *ps, struct bounds *b)
{
    const uint64_t *present = f->has & SEG_NORMS ? impl_of(f)->norms_present : NULL;
    if (p->doc >= x->s->doc_count) {
        return structure_wrong(x, "a term is in document [%u], which there is not", p->doc);
    }
    bits_set(x->docs, p->doc);
    if (present != NULL && !bits_test(present, p->doc)) {
        return structure_wrong(x, "document [%u] has terms and no norm", p->doc);
    }
    return check_impacts(x, f, p, b) && check_positions(x, f, ps, postings_freq(p));
}

/* ---- one term ---- */

static bool check_term(struct structure *x, const struct seg_field *f, const struct term_info *t,
                       struct positions *ps, struct postings *p)
{
    struct bounds b = {.of_block = UINT32_MAX};
    uint64_t docs = 0, total = 0;
    doc_id before = 0;
    bool freqs = (f->has & SEG_FREQS) != 0;
    postings_init(p, f, t, freqs);
    positions_reopen(ps, p, (f->has & SEG_OFFSETS) != 0);
    b.n_all = postings_all_impacts(p, b.all);
    while (postings_next(p) != DOC_END) {
        if (docs > 0 && p->doc <= before) {
            return structure_wrong(x, "the documents of term [%llu] do not ascend",
                                   (unsigned long long)t->ord);
        }
        if (!check_posting(x, f, p, ps, &b)) {
            return false;
        }
        before = p->doc;
        total += freqs ? postings_freq(p) : 1;
        docs++;
    }
    if (!structure_ok(x)) {
        return false;
    }
    if (docs != t->doc_freq || (freqs && total != t->total_freq)) {
        return structure_wrong(
            x, "term [%llu] is in [%llu] documents, [%llu] times, and was said to be in [%u], [%llu] times",
            (unsigned long long)t->ord, (unsigned long long)docs, (unsigned long long)total, t->doc_freq,
            (unsigned long long)t->total_freq);
    }
    return true;
}

/* It is found by its bytes, and behind the one before. */
static bool check_place(struct structure *x, const struct seg_field *f, const struct term_iter *it,
                        const struct buf *before, uint64_t number)
{
    struct term_info t;
    if (number > 0 && str_cmp(buf_view(before), it->term) >= 0) {
        return structure_wrong(x, "term [%llu] is not behind the one before it", (unsigned long long)number);
    }
    if (!seg_term(f, it->term, &t) || t.ord != number || t.doc_freq != it->info.doc_freq
        || t.postings_at != it->info.postings_at) {
        return structure_ok(x)
               && structure_wrong(x, "term [%llu] is not found by its bytes", (unsigned long long)number);
    }
    return true;
}

static bool structure_terms_walk(struct structure *x, const struct seg_field *f, struct term_iter *it,
                                 struct term_counts *c)
{
    struct postings *p = malloc(sizeof(*p));
    struct positions ps;
    struct buf before;
    bool ok = p != NULL || structure_no_memory(x);
    if (!ok) {
        return false;
    }
    postings_init(p, f, &(struct term_info){0}, false);
    positions_init(&ps, p, false);
    buf_init(&before, NULL, BUF_UNLIMITED);
    while (ok && term_iter_next(it)) {
        ok = check_place(x, f, it, &before, c->terms) && check_term(x, f, &it->info, &ps, p);
        if (ok && x->term_docs != NULL && c->terms < f->n_terms) {
            x->term_docs[c->terms] = it->info.doc_freq;
        }
        c->terms++;
        c->sum_df += it->info.doc_freq;
        c->sum_ttf += f->has & SEG_FREQS ? it->info.total_freq : it->info.doc_freq;
        buf_reset(&before);
        buf_str(&before, it->term);
        ok = ok && (!before.failed || structure_no_memory(x));
    }
    buf_fini(&before);
    positions_fini(&ps);
    free(p);
    return ok && structure_ok(x);
}

/* ---- all of a field ---- */

static bool check_counts(struct structure *x, const struct seg_field *f, const struct term_counts *c)
{
    uint64_t docs = bits_count(x->docs, x->s->doc_count);
    if (c->terms != f->n_terms || c->sum_df != f->sum_df || c->sum_ttf != f->sum_ttf
        || docs != f->doc_count) {
        return structure_wrong(x,
                               "[%llu] terms, [%llu] postings, [%llu] occurrences in [%llu] documents, and "
                               "the directory has [%llu], [%llu], "
                               "[%llu] in [%u]",
                               (unsigned long long)c->terms, (unsigned long long)c->sum_df,
                               (unsigned long long)c->sum_ttf, (unsigned long long)docs,
                               (unsigned long long)f->n_terms, (unsigned long long)f->sum_df,
                               (unsigned long long)f->sum_ttf, f->doc_count);
    }
    return true;
}

bool structure_terms(struct structure *x, const struct seg_field *f)
{
    struct term_counts c = {0};
    struct term_iter it;
    if (!(f->has & (SEG_TERMS | SEG_ORDS))) {
        return true;
    }
    seg_norms(f); /* found right here */
    if (!structure_ok(x)) {
        return false;
    }
    if (f->has & SEG_ORDS) {
        x->term_docs = calloc((size_t)f->n_terms + 1, sizeof(*x->term_docs));
        if (x->term_docs == NULL) {
            return structure_no_memory(x);
        }
    }
    structure_clear(x);
    term_iter_init(&it, f);
    bool ok = structure_terms_walk(x, f, &it, &c) && check_counts(x, f, &c);
    term_iter_fini(&it);
    return ok;
}
