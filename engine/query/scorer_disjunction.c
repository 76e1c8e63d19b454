/* Documents that any of several scorers match, one at a time: for few children, for leads that visit few
 * documents, and for the best of several scores (dis_max). Windows are in scorer_windows.c. */
#include "engine/query/scorers.h"

#include "engine/query/scorer_windows.h"

#include <math.h>

struct disjunction {
    struct scorer base;
    struct scorer **v;
    uint32_t n;
    uint32_t min_should;
    bool verifies; /* some child has a second phase */
    bool dis_max;
    float tie_breaker;
    float min;
    bool top;
    doc_id up_to;
    doc_id verified;  /* children's second phases were run for this document ... */
    uint64_t *accept; /* ... with these results */
};

static struct disjunction *disjunction_self(struct scorer *s)
{
    return (struct disjunction *)(void *)s;
}

/* The bound of the scores from the last shallow target to `to`; `left`: of documents that are still to come
 * (whoever asks from outside may hold some that were read already). */
static float bound(struct disjunction *d, doc_id to, bool left)
{
    double sum = 0;
    float best = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        float m = left && d->v[i]->doc == DOC_END ? 0 : scorer_max(d->v[i], to);
        sum += m;
        best = m > best ? m : best;
    }
    if (!d->dis_max) {
        return sum_bound(sum, d->n);
    }
    if (d->tie_breaker == 0 || isinf(best)) {
        return best;
    }
    /* The others' sum grows with the sum and the best alike; a little room for the order of rounding. */
    return sum_bound((double)best + (sum - (double)best) * (double)d->tie_breaker, d->n + 2);
}

static doc_id shallow(struct disjunction *d, doc_id target)
{
    doc_id to = DOC_END;
    for (uint32_t i = 0; i < d->n; i++) {
        doc_id at = scorer_shallow(d->v[i], target);
        to = MIN_OF(to, at);
    }
    return to;
}

static doc_id skip_blocks(struct disjunction *d, doc_id target)
{
    while (target > d->up_to && target != DOC_END) {
        doc_id to = shallow(d, target);
        if (bound(d, to, true) > d->min) {
            d->up_to = to;
            break;
        }
        if (to == DOC_END) {
            return DOC_END;
        }
        target = to + 1;
    }
    return target;
}

/* How many children stand at doc; children before it are moved. *next: the smallest document behind `doc`. */
static doc_id smallest(const struct disjunction *d)
{
    doc_id doc = DOC_END;
    for (uint32_t i = 0; i < d->n; i++) {
        doc = MIN_OF(doc, d->v[i]->doc);
    }
    return doc;
}

static doc_id disjunction_from(struct disjunction *d, doc_id target)
{
    for (;;) {
        if (d->min >= 0) {
            target = skip_blocks(d, target);
        }
        if (target == DOC_END) {
            return d->base.doc = DOC_END;
        }
        for (uint32_t i = 0; i < d->n; i++) {
            if (scorer_is_before(d->v[i], target)) {
                scorer_seek(d->v[i], target);
            }
        }
        doc_id doc = smallest(d);
        if (doc == DOC_END) {
            return d->base.doc = DOC_END;
        }
        if (d->min >= 0 && doc > d->up_to) {
            target = doc;
            continue;
        }
        uint32_t n = 0;
        for (uint32_t i = 0; d->min_should > 1 && i < d->n; i++) {
            n += d->v[i]->doc == doc ? 1 : 0;
        }
        if (d->min_should > 1 && n < d->min_should) {
            target = doc + 1;
            continue;
        }
        return d->base.doc = doc;
    }
}

static doc_id disjunction_next(struct scorer *s)
{
    return s->doc == DOC_END
               ? DOC_END
               : disjunction_from(disjunction_self(s), s->doc == POSTINGS_UNPOSITIONED ? 0 : s->doc + 1);
}

static doc_id disjunction_seek(struct scorer *s, doc_id target)
{
    return s->doc == DOC_END ? DOC_END : disjunction_from(disjunction_self(s), target);
}

/* Runs the second phases once per document. */
static uint32_t verify(struct disjunction *d)
{
    uint32_t n = 0;
    memset(d->accept, 0, bits_words(d->n) * sizeof(*d->accept));
    for (uint32_t i = 0; i < d->n; i++) {
        if (d->v[i]->doc == d->base.doc && scorer_accepts(d->v[i])) {
            bits_set(d->accept, i);
            n++;
        }
    }
    d->verified = d->base.doc;
    return n;
}

static bool disjunction_matches(struct scorer *s)
{
    return verify(disjunction_self(s)) >= MAX_OF(disjunction_self(s)->min_should, 1U);
}

static float disjunction_score(struct scorer *s)
{
    struct disjunction *d = disjunction_self(s);
    double sum = 0; /* dis_max: of all but the best */
    float best = 0;
    if (d->verifies && d->verified != s->doc) {
        verify(d);
    }
    for (uint32_t i = 0; i < d->n; i++) {
        if (d->v[i]->doc != s->doc || (d->verifies && !bits_test(d->accept, i))) {
            continue;
        }
        float score = scorer_score(d->v[i]);
        if (d->dis_max && score >= best) {
            sum += best;
            best = score;
        } else {
            sum += score;
        }
    }
    return d->dis_max ? (float)((double)best + sum * (double)d->tie_breaker) : (float)sum;
}

static doc_id disjunction_shallow(struct scorer *s, doc_id target)
{
    return shallow(disjunction_self(s), target);
}

static float disjunction_max(struct scorer *s, doc_id up_to)
{
    return bound(disjunction_self(s), up_to, false);
}

static void disjunction_min(struct scorer *s, float min)
{
    struct disjunction *d = disjunction_self(s);
    if (d->top && min > d->min) {
        d->min = min;
        d->up_to = 0;
    }
}

/* Children that can list their documents are or-ed. */
static void disjunction_fill(struct scorer *s, doc_id a, doc_id b, uint64_t *bits)
{
    struct disjunction *d = disjunction_self(s);
    doc_id doc = DOC_END;
    for (uint32_t i = 0; i < d->n; i++) {
        d->v[i]->ops->fill(d->v[i], a, b, bits);
        doc = MIN_OF(doc, d->v[i]->doc);
    }
    s->doc = doc;
}

static const struct scorer_ops plain_ops = {.next = disjunction_next,
                                            .seek = disjunction_seek,
                                            .score = disjunction_score,
                                            .shallow = disjunction_shallow,
                                            .max_score = disjunction_max,
                                            .min_score = disjunction_min};
static const struct scorer_ops filling_ops = {.next = disjunction_next,
                                              .seek = disjunction_seek,
                                              .score = disjunction_score,
                                              .shallow = disjunction_shallow,
                                              .max_score = disjunction_max,
                                              .min_score = disjunction_min,
                                              .fill = disjunction_fill};
static const struct scorer_ops verifying_ops = {.next = disjunction_next,
                                                .seek = disjunction_seek,
                                                .matches = disjunction_matches,
                                                .score = disjunction_score,
                                                .shallow = disjunction_shallow,
                                                .max_score = disjunction_max,
                                                .min_score = disjunction_min};

static enum err one_by_one(struct arena *a, struct scorer **v, uint32_t n, const struct disjunction_opts *o,
                           uint64_t cost, struct scorer **out, struct errmsg *em)
{
    struct disjunction *d = ARENA_NEW(a, struct disjunction);
    bool fills = o->min_should <= 1;
    if (d == NULL) {
        return err_no_memory(em);
    }
    *d = (struct disjunction){.v = v,
                              .n = n,
                              .min_should = o->min_should,
                              .dis_max = o->dis_max,
                              .tie_breaker = o->tie_breaker,
                              .min = -1,
                              .top = o->top,
                              .verified = DOC_END};
    d->accept = ARENA_ARRAY(a, uint64_t, bits_words(n));
    if (d->accept == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        d->verifies = d->verifies || v[i]->ops->matches != NULL;
        fills = fills && v[i]->ops->fill != NULL;
    }
    d->base = (struct scorer){d->verifies ? &verifying_ops
                              : fills     ? &filling_ops
                                          : &plain_ops,
                              POSTINGS_UNPOSITIONED, cost};
    *out = &d->base;
    return ERR_OK;
}

enum err disjunction_new(struct arena *a, struct scorer **v, uint32_t n, const struct disjunction_opts *o,
                         struct scorer **out, struct errmsg *em)
{
    uint64_t cost = 0;
    bool verifies = false;
    if (n == 1) {
        *out = v[0];
        return ERR_OK;
    }
    for (uint32_t i = 0; i < n; i++) {
        cost += v[i]->cost;
        verifies = verifies || v[i]->ops->matches != NULL;
    }
    /* Windows pay off when most of their documents are looked at. */
    bool dense = !o->dis_max && !verifies && o->lead_cost / 4 >= cost / 8 && (n > 2 || cost > 256);
    if (dense && (o->scored || o->min_should > 1)) {
        return window_scorer_new(a, v, n, o, cost, out, em);
    }
    return one_by_one(a, v, n, o, cost, out, em);
}
