/* Documents that all of several scorers match, and those with exclusions and optional clauses. */
#include "common/base/sort_items.h"
#include "engine/query/scorers.h"

struct conjunction {
    struct scorer base;
    struct scorer **v; /* cheapest first */
    uint32_t n;
    struct scorer **scoring; /* in clause order */
    uint32_t n_scoring;
    struct scorer **verify; /* those with a second phase, cheapest first */
    uint32_t n_verify;
    bool top;
    float min;    /* negative: all documents are wanted */
    doc_id up_to; /* the bounds were looked at as far as here */
    float score;  /* of base.doc, when it was computed to see whether it competes */
    bool scored;
};

static struct conjunction *conjunction_self(struct scorer *s)
{
    return (struct conjunction *)(void *)s;
}

/* The first document from `target` on where the block bounds allow a score above c->min. */
static doc_id skip_blocks(struct conjunction *c, doc_id target)
{
    while (target > c->up_to && target != DOC_END) {
        doc_id to = DOC_END;
        double sum = 0;
        for (uint32_t i = 0; i < c->n_scoring; i++) {
            doc_id conjunction_end = scorer_shallow(c->scoring[i], target);
            to = MIN_OF(to, conjunction_end);
        }
        for (uint32_t i = 0; i < c->n_scoring; i++) {
            sum += scorer_max(c->scoring[i], to);
        }
        if ((float)sum > c->min) {
            c->up_to = to;
            break;
        }
        if (to == DOC_END) {
            return DOC_END;
        }
        target = to + 1;
    }
    return target;
}

static doc_id conjunction_end(struct conjunction *c)
{
    return c->base.doc = DOC_END;
}

/* All children meet at the first common document from `doc` on, where the lead stands. */
static doc_id align(struct conjunction *c, doc_id doc)
{
    struct scorer *lead = c->v[0];
again:
    if (doc == DOC_END) {
        return conjunction_end(c);
    }
    if (c->min >= 0 && doc > c->up_to) {
        doc_id from = skip_blocks(c, doc);
        if (from != doc) {
            doc = from == DOC_END ? DOC_END : scorer_seek(lead, from);
            goto again;
        }
    }
    for (uint32_t i = 1; i < c->n; i++) {
        struct scorer *s = c->v[i];
        if (s->doc == doc) {
            continue;
        }
        doc_id at = scorer_is_before(s, doc) ? scorer_seek(s, doc) : s->doc;
        if (at != doc) {
            doc = at == DOC_END ? DOC_END : scorer_seek(lead, at);
            goto again;
        }
    }
    return c->base.doc = doc;
}

static float sum_scores(struct conjunction *c)
{
    double sum = 0;
    for (uint32_t i = 0; i < c->n_scoring; i++) {
        sum += (double)scorer_score(c->scoring[i]);
    }
    return (float)sum;
}

static doc_id lead_next(struct conjunction *c)
{
    struct term_scorer *t = scorer_term(c->v[0]);
    return t != NULL ? (t->base.doc = postings_next(&t->p)) : c->v[0]->ops->next(c->v[0]);
}

/* Documents that do not compete are passed here rather than by whoever asks. */
static doc_id compete(struct conjunction *c, doc_id doc)
{
    c->scored = false;
    while (c->min >= 0 && c->n_verify == 0 && doc != DOC_END) {
        c->score = sum_scores(c);
        c->scored = true;
        if (c->score > c->min) {
            break;
        }
        doc = align(c, lead_next(c));
    }
    return doc;
}

static doc_id conjunction_next(struct scorer *s)
{
    struct conjunction *c = conjunction_self(s);
    return s->doc == DOC_END ? DOC_END : compete(c, align(c, lead_next(c)));
}

static doc_id conjunction_seek(struct scorer *s, doc_id target)
{
    struct conjunction *c = conjunction_self(s);
    if (s->doc == DOC_END) {
        return DOC_END;
    }
    return compete(c,
                   align(c, scorer_is_before(c->v[0], target) ? scorer_seek(c->v[0], target) : c->v[0]->doc));
}

static bool conjunction_matches(struct scorer *s)
{
    struct conjunction *c = conjunction_self(s);
    for (uint32_t i = 0; i < c->n_verify; i++) {
        if (!c->verify[i]->ops->matches(c->verify[i])) {
            return false;
        }
    }
    return true;
}

static float conjunction_score(struct scorer *s)
{
    struct conjunction *c = conjunction_self(s);
    return c->scored ? c->score : sum_scores(c);
}

static doc_id conjunction_shallow(struct scorer *s, doc_id target)
{
    struct conjunction *c = conjunction_self(s);
    doc_id to = DOC_END;
    for (uint32_t i = 0; i < c->n_scoring; i++) {
        doc_id at = scorer_shallow(c->scoring[i], target);
        to = MIN_OF(to, at);
    }
    return to;
}

static float conjunction_max(struct scorer *s, doc_id up_to)
{
    struct conjunction *c = conjunction_self(s);
    double sum = 0;
    for (uint32_t i = 0; i < c->n_scoring; i++) {
        sum += scorer_max(c->scoring[i], up_to);
    }
    return (float)sum;
}

static void conjunction_min(struct scorer *s, float min)
{
    struct conjunction *c = conjunction_self(s);
    if (c->top && min > c->min) {
        c->min = min;
        c->up_to = 0;
    }
}

#define FILL_WORDS 64U /* a window of 4096 documents */

/* Dense children are and-ed window by window. */
static void fill_by_words(struct conjunction *c, doc_id from, doc_id to, uint64_t *bits)
{
    uint64_t all[FILL_WORDS], one[FILL_WORDS];
    for (; from < to; from += FILL_WORDS * 64, bits += FILL_WORDS) {
        doc_id stop = MIN_OF(to, from + FILL_WORDS * 64);
        size_t words = bits_words(stop - from);
        memset(all, 0, words * sizeof(*all));
        c->v[0]->ops->fill(c->v[0], from, stop, all);
        for (uint32_t i = 1; i < c->n; i++) {
            memset(one, 0, words * sizeof(*one));
            c->v[i]->ops->fill(c->v[i], from, stop, one);
            for (size_t w = 0; w < words; w++) {
                all[w] &= one[w];
            }
        }
        for (size_t w = 0; w < words; w++) {
            bits[w] |= all[w];
        }
    }
    c->base.doc = c->v[0]->doc;
}

static void conjunction_fill(struct scorer *s, doc_id from, doc_id to, uint64_t *bits)
{
    struct conjunction *c = conjunction_self(s);
    if (c->v[c->n - 1]->cost / 32 <= c->v[0]->cost) {
        fill_by_words(c, from, to, bits);
        return;
    }
    doc_id doc = scorer_is_before(s, from) ? conjunction_seek(s, from) : s->doc;
    for (; doc < to; doc = conjunction_next(s)) {
        bits_set(bits, doc - from);
    }
}

static const struct scorer_ops filling_ops = {.next = conjunction_next,
                                              .seek = conjunction_seek,
                                              .score = conjunction_score,
                                              .shallow = conjunction_shallow,
                                              .max_score = conjunction_max,
                                              .min_score = conjunction_min,
                                              .fill = conjunction_fill};
static const struct scorer_ops plain_ops = {.next = conjunction_next,
                                            .seek = conjunction_seek,
                                            .score = conjunction_score,
                                            .shallow = conjunction_shallow,
                                            .max_score = conjunction_max,
                                            .min_score = conjunction_min};
static const struct scorer_ops verifying_ops = {.next = conjunction_next,
                                                .seek = conjunction_seek,
                                                .matches = conjunction_matches,
                                                .score = conjunction_score,
                                                .shallow = conjunction_shallow,
                                                .max_score = conjunction_max,
                                                .min_score = conjunction_min};

static int by_cost(const void *a, const void *b)
{
    uint64_t x = (*(struct scorer *const *)a)->cost, y = (*(struct scorer *const *)b)->cost;
    return x < y ? -1 : x > y ? 1 : 0;
}

enum err conjunction_new(struct arena *a, struct scorer **all, uint32_t n, struct scorer **scoring,
                         uint32_t n_scoring, bool top, struct scorer **out, struct errmsg *em)
{
    if (n == 1 && n_scoring == 1) {
        *out = all[0];
        return ERR_OK;
    }
    bool terms = top && n == n_scoring;
    for (uint32_t i = 0; i < n && terms; i++) {
        terms = scorer_term(all[i]) != NULL && scorer_term(all[i])->sim != NULL;
    }
    if (terms) {
        return term_conjunction_new(a, scoring, n, out, em);
    }
    struct conjunction *c = ARENA_NEW(a, struct conjunction);
    struct scorer **v = ARENA_ARRAY(a, struct scorer *, n);
    struct scorer **verify = ARENA_ARRAY(a, struct scorer *, n);
    if (c == NULL || v == NULL || verify == NULL) {
        return err_no_memory(em);
    }
    memcpy(v, all, n * sizeof(*v));
    sort_items(v, n, sizeof(*v), by_cost);
    *c = (struct conjunction){
        .v = v, .n = n, .scoring = scoring, .n_scoring = n_scoring, .verify = verify, .top = top, .min = -1};
    bool fills = true;
    for (uint32_t i = 0; i < n; i++) {
        if (v[i]->ops->matches != NULL) {
            verify[c->n_verify++] = v[i];
        }
        fills = fills && v[i]->ops->fill != NULL;
    }
    c->base = (struct scorer){c->n_verify > 0 ? &verifying_ops
                              : fills         ? &filling_ops
                                              : &plain_ops,
                              POSTINGS_UNPOSITIONED, v[0]->cost};
    *out = &c->base;
    return ERR_OK;
}

/* ---- exclusion ---- */

struct exclusion {
    struct scorer base;
    struct scorer *required, *excluded;
};

static struct exclusion *exclusion(struct scorer *s)
{
    return (struct exclusion *)(void *)s;
}

static doc_id exclusion_next(struct scorer *s)
{
    struct exclusion *x = exclusion(s);
    return s->doc = x->required->ops->next(x->required);
}

static doc_id exclusion_seek(struct scorer *s, doc_id target)
{
    return s->doc = exclusion(s)->required->ops->seek(exclusion(s)->required, target);
}

static bool exclusion_matches(struct scorer *s)
{
    struct exclusion *x = exclusion(s);
    doc_id doc = s->doc;
    if (scorer_is_before(x->excluded, doc)) {
        scorer_seek(x->excluded, doc);
    }
    /* The cheaper test comes first. */
    bool hit = x->excluded->doc == doc;
    if (hit && x->excluded->ops->matches == NULL) {
        return false;
    }
    return scorer_accepts(x->required) && !(hit && x->excluded->ops->matches(x->excluded));
}

static float exclusion_score(struct scorer *s)
{
    return scorer_score(exclusion(s)->required);
}

static doc_id exclusion_shallow(struct scorer *s, doc_id target)
{
    return scorer_shallow(exclusion(s)->required, target);
}

static float exclusion_max(struct scorer *s, doc_id up_to)
{
    return scorer_max(exclusion(s)->required, up_to);
}

static void exclusion_min(struct scorer *s, float min)
{
    struct scorer *required = exclusion(s)->required;
    if (required->ops->min_score != NULL) {
        required->ops->min_score(required, min);
    }
}

static const struct scorer_ops exclusion_ops = {.next = exclusion_next,
                                                .seek = exclusion_seek,
                                                .matches = exclusion_matches,
                                                .score = exclusion_score,
                                                .shallow = exclusion_shallow,
                                                .max_score = exclusion_max,
                                                .min_score = exclusion_min};

/* Both sides can be listed in windows: count without testing each document. */
static void exclusion_fill(struct scorer *s, doc_id from, doc_id to, uint64_t *bits)
{
    struct exclusion *x = exclusion(s);
    uint64_t own[256], without[256];
    while (from < to) {
        doc_id stop = MIN_OF(to, from + 256 * 64);
        size_t words = bits_words(stop - from);
        memset(own, 0, words * sizeof(*own));
        memset(without, 0, words * sizeof(*without));
        x->required->ops->fill(x->required, from, stop, own);
        x->excluded->ops->fill(x->excluded, from, stop, without);
        for (size_t i = 0; i < words; i++) {
            bits[i] |= own[i] & ~without[i];
        }
        bits += 256;
        from = stop;
    }
    s->doc = x->required->doc;
}

static const struct scorer_ops exclusion_fill_ops = {.next = exclusion_next,
                                                     .seek = exclusion_seek,
                                                     .matches = exclusion_matches,
                                                     .score = exclusion_score,
                                                     .shallow = exclusion_shallow,
                                                     .max_score = exclusion_max,
                                                     .min_score = exclusion_min,
                                                     .fill = exclusion_fill};

enum err exclusion_new(struct arena *a, struct scorer *required, struct scorer *excluded, struct scorer **out,
                       struct errmsg *em)
{
    struct exclusion *x = ARENA_NEW(a, struct exclusion);
    if (x == NULL) {
        return err_no_memory(em);
    }
    bool fills = required->ops->fill != NULL && excluded->ops->fill != NULL;
    *x = (struct exclusion){
        {fills ? &exclusion_fill_ops : &exclusion_ops, POSTINGS_UNPOSITIONED, required->cost},
        required,
        excluded};
    *out = &x->base;
    return ERR_OK;
}

/* ---- optional clauses ---- */

struct optional {
    struct scorer base;
    struct scorer *required, *extra;
    bool top;
    float min;
    doc_id up_to;
    bool both; /* as far as up_to, only documents that both match can compete */
};

static struct optional *optional(struct scorer *s)
{
    return (struct optional *)(void *)s;
}

static bool extra_at(struct optional *o, doc_id doc)
{
    if (scorer_is_before(o->extra, doc)) {
        scorer_seek(o->extra, doc);
    }
    return o->extra->doc == doc && scorer_accepts(o->extra);
}

/* Bounds from `target` on; returns where to go on. */
static doc_id look_ahead(struct optional *o, doc_id target)
{
    while (target > o->up_to && target != DOC_END) {
        doc_id a = scorer_shallow(o->required, target), b = scorer_shallow(o->extra, target);
        doc_id to = MIN_OF(a, b);
        float required = scorer_max(o->required, to), extra = scorer_max(o->extra, to);
        if (required + extra > o->min) {
            o->up_to = to;
            o->both = required <= o->min;
            break;
        }
        if (to == DOC_END) {
            return DOC_END;
        }
        target = to + 1;
    }
    return target;
}

static doc_id optional_from(struct optional *o, doc_id doc)
{
    while (o->min >= 0 && doc != DOC_END) {
        doc_id from = look_ahead(o, doc);
        if (from != doc) {
            doc = from == DOC_END ? DOC_END : scorer_seek(o->required, from);
            continue;
        }
        if (!o->both) {
            break;
        }
        doc_id at = scorer_is_before(o->extra, doc) ? scorer_seek(o->extra, doc) : o->extra->doc;
        if (at == doc) {
            break;
        }
        /* extra is not there before `at`, or no bound is known behind up_to. */
        doc_id next = at > o->up_to ? o->up_to : at - 1;
        if (next == DOC_END) {
            doc = DOC_END;
        } else {
            doc = scorer_seek(o->required, MAX_OF(next + 1, doc + 1));
        }
    }
    return o->base.doc = doc;
}

static doc_id optional_next(struct scorer *s)
{
    struct optional *o = optional(s);
    return s->doc == DOC_END ? DOC_END : optional_from(o, o->required->ops->next(o->required));
}

static doc_id optional_seek(struct scorer *s, doc_id target)
{
    struct optional *o = optional(s);
    if (s->doc == DOC_END) {
        return DOC_END;
    }
    return optional_from(o, scorer_is_before(o->required, target) ? scorer_seek(o->required, target)
                                                                  : o->required->doc);
}

static bool optional_matches(struct scorer *s)
{
    struct scorer *required = optional(s)->required;
    return required->ops->matches(required);
}

static float optional_score(struct scorer *s)
{
    struct optional *o = optional(s);
    float score = scorer_score(o->required);
    if (extra_at(o, s->doc)) {
        score += scorer_score(o->extra);
    }
    return score;
}

static doc_id optional_shallow(struct scorer *s, doc_id target)
{
    doc_id a = scorer_shallow(optional(s)->required, target), b = scorer_shallow(optional(s)->extra, target);
    return MIN_OF(a, b);
}

static float optional_max(struct scorer *s, doc_id up_to)
{
    return scorer_max(optional(s)->required, up_to) + scorer_max(optional(s)->extra, up_to);
}

static void optional_min(struct scorer *s, float min)
{
    struct optional *o = optional(s);
    if (o->top && min > o->min) {
        o->min = min;
        o->up_to = 0;
        o->both = false;
    }
}

static const struct scorer_ops optional_ops = {.next = optional_next,
                                               .seek = optional_seek,
                                               .score = optional_score,
                                               .shallow = optional_shallow,
                                               .max_score = optional_max,
                                               .min_score = optional_min};
static const struct scorer_ops optional_verifying_ops = {.next = optional_next,
                                                         .seek = optional_seek,
                                                         .matches = optional_matches,
                                                         .score = optional_score,
                                                         .shallow = optional_shallow,
                                                         .max_score = optional_max,
                                                         .min_score = optional_min};

enum err optional_new(struct arena *a, struct scorer *required, struct scorer *extra, bool top,
                      struct scorer **out, struct errmsg *em)
{
    struct optional *o = ARENA_NEW(a, struct optional);
    if (o == NULL) {
        return err_no_memory(em);
    }
    *o = (struct optional){.required = required, .extra = extra, .top = top, .min = -1};
    o->base = (struct scorer){required->ops->matches != NULL ? &optional_verifying_ops : &optional_ops,
                              POSTINGS_UNPOSITIONED, required->cost};
    *out = &o->base;
    return ERR_OK;
}
