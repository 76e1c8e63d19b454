/* Scorers whose documents all score the same. */
#include "engine/query/scorers.h"

struct flat_scorer { /* what all of them begin with */
    struct scorer base;
    float score;
};

static float flat_score(struct scorer *s)
{
    return ((struct flat_scorer *)(void *)s)->score;
}

static float flat_max(struct scorer *s, UNUSED doc_id up_to)
{
    return ((struct flat_scorer *)(void *)s)->score;
}

/* ---- bitmaps ---- */

struct bits_scorer {
    struct flat_scorer flat;
    const uint64_t *bits;
    uint32_t n;
};

static doc_id bits_from(struct scorer *s, size_t from)
{
    struct bits_scorer *b = (struct bits_scorer *)(void *)s;
    size_t at = bits_next(b->bits, from, b->n);
    return s->doc = at < b->n ? (doc_id)at : DOC_END;
}

static doc_id bits_scorer_next(struct scorer *s)
{
    if (s->doc == DOC_END) {
        return DOC_END;
    }
    return bits_from(s, s->doc == POSTINGS_UNPOSITIONED ? 0 : s->doc + 1);
}

static doc_id bits_scorer_seek(struct scorer *s, doc_id target)
{
    return s->doc == DOC_END ? DOC_END : bits_from(s, target);
}

static void bits_min(struct scorer *s, float min)
{
    if (min >= ((struct flat_scorer *)(void *)s)->score) {
        ((struct bits_scorer *)(void *)s)->n = 0; /* nothing can do better: the rest is left out */
    }
}

static void bits_fill(struct scorer *s, doc_id from, doc_id to, uint64_t *bits)
{
    struct bits_scorer *b = (struct bits_scorer *)(void *)s;
    uint32_t end = MIN_OF(to, b->n);
    if ((from & 63) == 0) {
        for (uint32_t w = from / 64, k = 0; w * 64 < end; w++, k++) {
            uint64_t word = b->bits[w];
            if (end - w * 64 < 64) {
                word &= ((uint64_t)1 << (end - w * 64)) - 1;
            }
            bits[k] |= word;
        }
    } else {
        for (size_t d = bits_next(b->bits, from, end); d < end; d = bits_next(b->bits, d + 1, end)) {
            bits_set(bits, d - from);
        }
    }
    bits_from(s, to);
}

static const struct scorer_ops bits_ops = {.next = bits_scorer_next,
                                           .seek = bits_scorer_seek,
                                           .score = flat_score,
                                           .max_score = flat_max,
                                           .min_score = bits_min,
                                           .fill = bits_fill};

enum err bits_scorer_new(struct arena *a, const uint64_t *bits, uint32_t n_docs, uint64_t count, float score,
                         struct scorer **out, struct errmsg *em)
{
    struct bits_scorer *s = ARENA_NEW(a, struct bits_scorer);
    if (s == NULL) {
        return err_no_memory(em);
    }
    *s = (struct bits_scorer){{{&bits_ops, POSTINGS_UNPOSITIONED, count}, score}, bits, n_docs};
    *out = &s->flat.base;
    return ERR_OK;
}

/* ---- lists ---- */

struct docs_scorer {
    struct flat_scorer flat;
    const doc_id *docs;
    uint32_t n, at;
};

static doc_id docs_at(struct docs_scorer *d)
{
    return d->flat.base.doc = d->at < d->n ? d->docs[d->at] : DOC_END;
}

static doc_id docs_next(struct scorer *s)
{
    struct docs_scorer *d = (struct docs_scorer *)(void *)s;
    d->at += s->doc == POSTINGS_UNPOSITIONED || d->at >= d->n ? 0 : 1;
    return docs_at(d);
}

static doc_id docs_seek(struct scorer *s, doc_id target)
{
    struct docs_scorer *d = (struct docs_scorer *)(void *)s;
    uint32_t lo = d->at, step = 1;
    while (lo + step < d->n && d->docs[lo + step] < target) {
        lo += step;
        step *= 2;
    }
    uint32_t hi = MIN_OF(lo + step + 1, d->n);
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (d->docs[mid] < target) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    d->at = lo;
    return docs_at(d);
}

static void docs_min(struct scorer *s, float min)
{
    struct docs_scorer *d = (struct docs_scorer *)(void *)s;
    if (min >= d->flat.score) {
        d->n = MIN_OF(d->n, d->at);
    }
}

static void docs_fill(struct scorer *s, doc_id from, doc_id to, uint64_t *bits)
{
    struct docs_scorer *d = (struct docs_scorer *)(void *)s;
    docs_seek(s, from);
    for (; d->at < d->n && d->docs[d->at] < to; d->at++) {
        bits_set(bits, d->docs[d->at] - from);
    }
    docs_at(d);
}

static const struct scorer_ops docs_ops = {.next = docs_next,
                                           .seek = docs_seek,
                                           .score = flat_score,
                                           .max_score = flat_max,
                                           .min_score = docs_min,
                                           .fill = docs_fill};

enum err docs_scorer_new(struct arena *a, const doc_id *docs, uint32_t n, float score, struct scorer **out,
                         struct errmsg *em)
{
    struct docs_scorer *s = ARENA_NEW(a, struct docs_scorer);
    if (s == NULL) {
        return err_no_memory(em);
    }
    *s = (struct docs_scorer){{{&docs_ops, POSTINGS_UNPOSITIONED, n}, score}, docs, n, 0};
    *out = &s->flat.base;
    return ERR_OK;
}

/* ---- every document ---- */

struct all_scorer {
    struct flat_scorer flat;
    uint32_t n;
};

static doc_id all_next(struct scorer *s)
{
    struct all_scorer *a = (struct all_scorer *)(void *)s;
    doc_id doc = s->doc == POSTINGS_UNPOSITIONED ? 0 : s->doc == DOC_END ? DOC_END : s->doc + 1;
    return s->doc = doc < a->n ? doc : DOC_END;
}

static doc_id all_seek(struct scorer *s, doc_id target)
{
    return s->doc = target < ((struct all_scorer *)(void *)s)->n ? target : DOC_END;
}

static void all_min(struct scorer *s, float min)
{
    struct all_scorer *a = (struct all_scorer *)(void *)s;
    if (min >= a->flat.score) {
        a->n = 0;
    }
}

static void all_fill(struct scorer *s, doc_id from, doc_id to, uint64_t *bits)
{
    doc_id end = MIN_OF(to, ((struct all_scorer *)(void *)s)->n);
    for (doc_id d = from; d < end;) {
        uint32_t at = d - from, room = 64 - (at & 63), n = MIN_OF(room, end - d);
        bits[at >> 6] |= (n == 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1) << (at & 63);
        d += n;
    }
    all_seek(s, to);
}

static const struct scorer_ops all_ops = {.next = all_next,
                                          .seek = all_seek,
                                          .score = flat_score,
                                          .max_score = flat_max,
                                          .min_score = all_min,
                                          .fill = all_fill};

enum err all_scorer_new(struct arena *a, uint32_t n_docs, float score, struct scorer **out, struct errmsg *em)
{
    struct all_scorer *s = ARENA_NEW(a, struct all_scorer);
    if (s == NULL) {
        return err_no_memory(em);
    }
    *s = (struct all_scorer){{{&all_ops, POSTINGS_UNPOSITIONED, n_docs}, score}, n_docs};
    *out = &s->flat.base;
    return ERR_OK;
}

/* ---- candidates to be verified ---- */

struct verify_scorer {
    struct flat_scorer flat;
    const uint64_t *bits;
    uint32_t n;
    verify_fn verify;
    void *self;
};

static doc_id candidate(struct scorer *s, size_t from)
{
    struct verify_scorer *v = (struct verify_scorer *)(void *)s;
    size_t at = v->bits != NULL ? bits_next(v->bits, from, v->n) : from;
    return s->doc = at < v->n ? (doc_id)at : DOC_END;
}

static doc_id verify_next(struct scorer *s)
{
    if (s->doc == DOC_END) {
        return DOC_END;
    }
    return candidate(s, s->doc == POSTINGS_UNPOSITIONED ? 0 : s->doc + 1);
}

static doc_id verify_seek(struct scorer *s, doc_id target)
{
    return s->doc == DOC_END ? DOC_END : candidate(s, target);
}

static bool verify_matches(struct scorer *s)
{
    struct verify_scorer *v = (struct verify_scorer *)(void *)s;
    return v->verify(v->self, s->doc);
}

static void verify_min(struct scorer *s, float min)
{
    struct verify_scorer *v = (struct verify_scorer *)(void *)s;
    if (min >= v->flat.score) {
        v->n = 0;
    }
}

static const struct scorer_ops verify_ops = {.next = verify_next,
                                             .seek = verify_seek,
                                             .matches = verify_matches,
                                             .score = flat_score,
                                             .max_score = flat_max,
                                             .min_score = verify_min};

enum err verify_scorer_new(struct arena *a, const uint64_t *bits, uint32_t n_docs, uint64_t cost,
                           verify_fn verify, void *self, float score, struct scorer **out, struct errmsg *em)
{
    struct verify_scorer *s = ARENA_NEW(a, struct verify_scorer);
    if (s == NULL) {
        return err_no_memory(em);
    }
    *s = (struct verify_scorer){
        {{&verify_ops, POSTINGS_UNPOSITIONED, cost}, score}, bits, n_docs, verify, self};
    *out = &s->flat.base;
    return ERR_OK;
}

/* ---- another scorer's documents ---- */

struct constant_scorer {
    struct flat_scorer flat;
    struct scorer *child;
    bool over;
};

static struct constant_scorer *constant(struct scorer *s)
{
    return (struct constant_scorer *)(void *)s;
}

static doc_id constant_next(struct scorer *s)
{
    struct constant_scorer *c = constant(s);
    return s->doc = c->over ? DOC_END : c->child->ops->next(c->child);
}

static doc_id constant_seek(struct scorer *s, doc_id target)
{
    struct constant_scorer *c = constant(s);
    return s->doc = c->over ? DOC_END : scorer_seek(c->child, target);
}

static bool constant_matches(struct scorer *s)
{
    struct scorer *child = constant(s)->child;
    return child->ops->matches(child);
}

static void constant_min(struct scorer *s, float min)
{
    constant(s)->over = constant(s)->over || min >= constant(s)->flat.score;
}

static void constant_fill(struct scorer *s, doc_id from, doc_id to, uint64_t *bits)
{
    struct scorer *child = constant(s)->child;
    child->ops->fill(child, from, to, bits);
    s->doc = child->doc;
}

static const struct scorer_ops constant_ops = {.next = constant_next,
                                               .seek = constant_seek,
                                               .score = flat_score,
                                               .max_score = flat_max,
                                               .min_score = constant_min,
                                               .fill = constant_fill};
static const struct scorer_ops constant_ops_unfilled = {.next = constant_next,
                                                        .seek = constant_seek,
                                                        .score = flat_score,
                                                        .max_score = flat_max,
                                                        .min_score = constant_min};
static const struct scorer_ops constant_ops_two_phase = {.next = constant_next,
                                                         .seek = constant_seek,
                                                         .matches = constant_matches,
                                                         .score = flat_score,
                                                         .max_score = flat_max,
                                                         .min_score = constant_min};

enum err constant_scorer_new(struct arena *a, struct scorer *child, float score, struct scorer **out,
                             struct errmsg *em)
{
    if (child->ops == &bits_ops || child->ops == &docs_ops || child->ops == &all_ops
        || child->ops == &verify_ops) {
        ((struct flat_scorer *)(void *)child)->score = score;
        *out = child;
        return ERR_OK;
    }
    struct constant_scorer *s = ARENA_NEW(a, struct constant_scorer);
    if (s == NULL) {
        return err_no_memory(em);
    }
    const struct scorer_ops *ops = child->ops->matches != NULL ? &constant_ops_two_phase
                                   : child->ops->fill != NULL  ? &constant_ops
                                                               : &constant_ops_unfilled;
    *s = (struct constant_scorer){{{ops, POSTINGS_UNPOSITIONED, child->cost}, score}, child, false};
    *out = &s->flat.base;
    return ERR_OK;
}
