/* Conjunctions of scored terms for the best k: the lead's block of scores is held against what the other
 * terms can add at most, so that most documents are left out before the other terms' postings are touched. */
#include "common/base/sort_items.h"
#include "engine/query/scorers.h"

struct member {
    struct term_scorer *t;
    float max;         /* in the current span */
    double rest_after; /* sum of the maxima of the members behind it */
};

struct term_conjunction {
    struct scorer base;
    struct member *v;           /* rarest first: the lead */
    struct term_scorer **order; /* as the clauses are written: scores are summed in this order */
    uint32_t n;
    float min;
    float score; /* of base.doc */
    doc_id span_to;
    bool span_known;
};

static struct term_conjunction *terms_scorer_self(struct scorer *s)
{
    return (struct term_conjunction *)(void *)s;
}

static doc_id terms_scorer_end(struct term_conjunction *c)
{
    return c->base.doc = DOC_END;
}

/* Bounds over the lead's block that holds `target`; skips blocks that cannot compete. Returns where to go
 * on. */
static doc_id next_span(struct term_conjunction *c, doc_id target)
{
    for (;;) {
        doc_id to = scorer_shallow(&c->v[0].t->base, target);
        double rest = 0;
        if (to == DOC_END) {
            return DOC_END;
        }
        c->v[0].max = c->v[0].t->block_best;
        for (uint32_t i = c->n; i-- > 1;) {
            if (scorer_shallow(&c->v[i].t->base, target) == DOC_END) {
                return DOC_END;
            }
            c->v[i].max = scorer_max(&c->v[i].t->base, to);
            c->v[i].rest_after = rest;
            rest += (double)c->v[i].max;
        }
        c->v[0].rest_after = rest;
        if (sum_bound((double)c->v[0].max + rest, c->n) > c->min) {
            c->span_to = to;
            c->span_known = true;
            return target;
        }
        if (to >= DOC_END - 1) {
            return DOC_END;
        }
        target = to + 1;
    }
}

/* All terms are at the lead's document and their scores compete. false: *next is where the lead may go on. */
static bool terms_scorer_complete(struct term_conjunction *c, doc_id doc, float lead, doc_id *next)
{
    double sum = (double)lead;
    *next = doc + 1;
    for (uint32_t i = 1; i < c->n; i++) {
        struct term_scorer *t = c->v[i].t;
        if (c->min >= 0 && sum_bound(sum + (double)c->v[i].max + c->v[i].rest_after, c->n) <= c->min) {
            return false;
        }
        t->base.doc = postings_seek(&t->p, doc);
        if (t->base.doc != doc) {
            *next = t->base.doc;
            return false;
        }
        sum += (double)term_score(t);
    }
    if (c->min >= 0 && sum_bound(sum, c->n) <= c->min) {
        return false;
    }
    sum = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        sum += c->order[i] == c->v[0].t ? (double)lead : (double)term_score(c->order[i]);
    }
    c->score = (float)sum;
    return c->min < 0 || c->score > c->min;
}

static doc_id terms_scorer_from(struct term_conjunction *c, doc_id target)
{
    struct term_scorer *lead = c->v[0].t;
    while (target != DOC_END) {
        if (c->min >= 0 && (!c->span_known || target > c->span_to)) {
            target = next_span(c, target);
            if (target == DOC_END) {
                break;
            }
        }
        doc_id doc = lead->base.doc = postings_seek(&lead->p, target);
        if (doc == DOC_END) {
            break;
        }
        if (c->min >= 0 && doc > c->span_to) {
            target = doc;
            continue;
        }
        const float *scores = term_block_scores(lead);
        uint32_t at = lead->p.at, n = lead->p.n;
        double limit = c->min >= 0 ? (double)c->min * (1 - (double)c->n * 0x1p-49) - c->v[0].rest_after : -1;
        while (at < n && (double)scores[at] <= limit) {
            at++;
        }
        if (at == n) {
            target = lead->p.docs[n - 1] + 1;
            continue;
        }
        lead->p.at = at;
        doc = lead->base.doc = lead->p.doc = lead->p.docs[at];
        if (terms_scorer_complete(c, doc, scores[at], &target)) {
            return c->base.doc = doc;
        }
    }
    return terms_scorer_end(c);
}

static doc_id terms_next(struct scorer *s)
{
    return s->doc == DOC_END
               ? DOC_END
               : terms_scorer_from(terms_scorer_self(s), s->doc == POSTINGS_UNPOSITIONED ? 0 : s->doc + 1);
}

static doc_id terms_seek(struct scorer *s, doc_id target)
{
    return s->doc == DOC_END ? DOC_END : terms_scorer_from(terms_scorer_self(s), target);
}

static float terms_score(struct scorer *s)
{
    return terms_scorer_self(s)->score;
}

static doc_id terms_shallow(struct scorer *s, doc_id target)
{
    struct term_conjunction *c = terms_scorer_self(s);
    doc_id to = DOC_END;
    for (uint32_t i = 0; i < c->n; i++) {
        doc_id at = scorer_shallow(&c->v[i].t->base, target);
        to = MIN_OF(to, at);
    }
    return to;
}

static float terms_max(struct scorer *s, doc_id up_to)
{
    struct term_conjunction *c = terms_scorer_self(s);
    double sum = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        sum += (double)scorer_max(&c->v[i].t->base, up_to);
    }
    return sum_bound(sum, c->n);
}

static void terms_min(struct scorer *s, float min)
{
    struct term_conjunction *c = terms_scorer_self(s);
    if (min > c->min) {
        c->min = min;
    }
}

static const struct scorer_ops terms_ops = {.next = terms_next,
                                            .seek = terms_seek,
                                            .score = terms_score,
                                            .shallow = terms_shallow,
                                            .max_score = terms_max,
                                            .min_score = terms_min};

static int by_cost(const void *a, const void *b)
{
    uint64_t x = ((const struct member *)a)->t->base.cost, y = ((const struct member *)b)->t->base.cost;
    return x < y ? -1 : x > y ? 1 : 0;
}

enum err term_conjunction_new(struct arena *a, struct scorer **v, uint32_t n, struct scorer **out,
                              struct errmsg *em)
{
    struct term_conjunction *c = ARENA_NEW(a, struct term_conjunction);
    if (c == NULL || (c->v = ARENA_ARRAY(a, struct member, n)) == NULL
        || (c->order = ARENA_ARRAY(a, struct term_scorer *, n)) == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        c->order[i] = c->v[i].t = scorer_term(v[i]);
    }
    sort_items(c->v, n, sizeof(*c->v), by_cost);
    c->n = n;
    c->min = -1;
    c->base = (struct scorer){&terms_ops, POSTINGS_UNPOSITIONED, c->v[0].t->base.cost};
    *out = &c->base;
    return ERR_OK;
}
