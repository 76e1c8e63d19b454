#include "engine/query/scorers.h"

static struct term_scorer *term_scorer_self(struct scorer *s)
{
    return (struct term_scorer *)(void *)s;
}

static float whole_best(struct term_scorer *t)
{
    struct impact v[IMPACTS_MAX];
    if (t->best < 0) {
        t->best = sim_best(t->sim, v, postings_all_impacts(&t->p, v));
    }
    return t->best;
}

/* Moves the block information to the block that holds the first document >= target. */
static doc_id move_block(struct term_scorer *t, doc_id target)
{
    struct impact v[IMPACTS_MAX];
    if (t->p.doc == DOC_END && t->p.doc_freq <= POSTINGS_BLOCK) {
        /* All was read, into a window that may not have been looked at yet: the block's end is no longer
         * known. */
        t->block_from = target;
        t->block_best = whole_best(t);
        return t->block_to = DOC_END - 1;
    }
    if (target >= t->block_from && target <= t->block_to && t->block_best >= 0) {
        return t->block_to;
    }
    t->block_from = target;
    t->block_to = postings_shallow(&t->p, target);
    t->block_best = t->block_to == DOC_END ? 0 : sim_best(t->sim, v, postings_block_impacts(&t->p, v));
    return t->block_to;
}

/* From target on, the first document whose block may hold a score above t->min. */
static doc_id skip_blocks(struct term_scorer *t, doc_id target)
{
    while (target > t->up_to && target != DOC_END) {
        doc_id to = move_block(t, target);
        if (to == DOC_END) {
            return DOC_END;
        }
        if (t->block_best > t->min) {
            t->up_to = to;
            break;
        }
        target = to + 1;
    }
    return target;
}

/* The first document from target on that scores above t->min. */
static doc_id seek_skipping(struct term_scorer *t, doc_id target)
{
    for (;;) {
        target = skip_blocks(t, target);
        if (target == DOC_END) {
            t->p.doc = DOC_END;
            return t->base.doc = DOC_END;
        }
        doc_id doc = postings_seek(&t->p, target);
        if (doc == DOC_END) {
            return t->base.doc = doc;
        }
        if (doc > t->up_to) {
            target = doc;
            continue;
        }
        const float *scores = term_block_scores(t);
        uint32_t at = t->p.at, n = t->p.n;
        while (at < n && scores[at] <= t->min) {
            at++;
        }
        if (at < n) {
            t->p.at = at;
            return t->base.doc = t->p.doc = t->p.docs[at];
        }
        target = t->p.docs[n - 1] + 1;
    }
}

static doc_id term_next(struct scorer *s)
{
    struct term_scorer *t = term_scorer_self(s);
    if (t->min < 0) {
        return s->doc = postings_next(&t->p);
    }
    if (s->doc == DOC_END) {
        return DOC_END;
    }
    return seek_skipping(t, s->doc == POSTINGS_UNPOSITIONED ? 0 : s->doc + 1);
}

static doc_id term_seek(struct scorer *s, doc_id target)
{
    struct term_scorer *t = term_scorer_self(s);
    if (t->min < 0) {
        return s->doc = postings_seek(&t->p, target);
    }
    return s->doc == DOC_END ? DOC_END : seek_skipping(t, target);
}

static float score_of(struct scorer *s)
{
    struct term_scorer *t = term_scorer_self(s);
    return t->sim != NULL ? term_score(t) : 0;
}

static doc_id term_shallow(struct scorer *s, doc_id target)
{
    struct term_scorer *t = term_scorer_self(s);
    return t->sim != NULL ? move_block(t, target) : DOC_END;
}

/* Blocks from the last shallow target to up_to; many of them are not worth looking at. */
static float term_max(struct scorer *s, doc_id up_to)
{
    struct term_scorer *t = term_scorer_self(s);
    if (t->sim == NULL) {
        return 0;
    }
    if (up_to == DOC_END || t->block_best < 0) {
        return whole_best(t);
    }
    float best = t->block_best;
    for (unsigned i = 0; t->block_to < up_to; i++) {
        if (i == 48) {
            return whole_best(t);
        }
        move_block(t, t->block_to + 1);
        best = t->block_best > best ? t->block_best : best;
    }
    return best;
}

static void term_min(struct scorer *s, float min)
{
    struct term_scorer *t = term_scorer_self(s);
    if (t->sim == NULL || min <= t->min) {
        return;
    }
    t->min = min;
    t->up_to = 0; /* look at the current block again */
    if (s->doc != POSTINGS_UNPOSITIONED && s->doc != DOC_END && move_block(t, s->doc) != DOC_END
        && t->block_best > min) {
        t->up_to = t->block_to;
    }
}

static void term_fill(struct scorer *s, doc_id from, doc_id to, uint64_t *bits)
{
    struct term_scorer *t = term_scorer_self(s);
    doc_id doc = scorer_is_before(s, from) ? postings_seek(&t->p, from) : s->doc;
    while (doc < to) {
        const doc_id *docs = t->p.docs;
        uint32_t at = t->p.at, n = t->p.n;
        while (at < n && docs[at] < to) {
            bits_set(bits, docs[at] - from);
            at++;
        }
        t->p.at = at - 1;
        t->p.doc = docs[at - 1];
        doc = postings_next(&t->p);
    }
    s->doc = doc;
}

/* Two loops of a fixed length: the second one, with the divisions, works on several documents at a time. */
void term_score_block(struct term_scorer *t)
{
    float inverse[POSTINGS_BLOCK], weight = t->sim->weight;
    uint32_t n = t->p.n;
    t->scored_block = t->p.block;
    if (t->sim->flat) {
        for (uint32_t i = 0; i < POSTINGS_BLOCK; i++) {
            t->scores[i] = weight;
        }
        return;
    }
    if (!t->p.freqs_ready) {
        postings_load_freqs(&t->p);
    }
    for (uint32_t i = 0; i < n; i++) {
        inverse[i] = t->sim->cache[t->norms != NULL ? t->norms[t->p.docs[i]] : 1];
    }
    if (n < POSTINGS_BLOCK / 2) {
        for (uint32_t i = 0; i < n; i++) {
            t->scores[i] = weight - weight / (1.0F + (float)t->p.freqs[i] * inverse[i]);
        }
        return;
    }
    for (uint32_t i = n; i < POSTINGS_BLOCK; i++) {
        inverse[i] = 1;
        t->p.freqs[i] = 0;
    }
    for (uint32_t i = 0; i < POSTINGS_BLOCK; i++) {
        t->scores[i] = weight - weight / (1.0F + (float)(int32_t)t->p.freqs[i] * inverse[i]);
    }
}

const struct scorer_ops term_scorer_ops = {.next = term_next,
                                           .seek = term_seek,
                                           .score = score_of,
                                           .shallow = term_shallow,
                                           .max_score = term_max,
                                           .min_score = term_min,
                                           .fill = term_fill};

enum err term_scorer_new(struct arena *a, const struct seg_field *f, const struct term_info *t,
                         const struct sim *sim, struct scorer **out, struct errmsg *em)
{
    struct term_scorer *s = arena_alloc(a, sizeof(*s)); /* the decoded block needs no zeroing */
    if (s == NULL) {
        return err_no_memory(em);
    }
    s->base = (struct scorer){&term_scorer_ops, POSTINGS_UNPOSITIONED, t->doc_freq};
    s->sim = sim;
    s->norms = sim != NULL && !sim->flat ? seg_norms(f) : NULL;
    s->min = s->best = s->block_best = -1;
    s->block_from = 1;
    s->block_to = 0;
    s->up_to = 0;
    s->scored_block = UINT32_MAX;
    postings_init(&s->p, f, t, sim != NULL && !sim->flat);
    *out = &s->base;
    return ERR_OK;
}

doc_id scorer_shallow(struct scorer *s, doc_id target)
{
    return s->ops->shallow != NULL ? s->ops->shallow(s, target) : DOC_END;
}

float scorer_max(struct scorer *s, doc_id up_to)
{
    return s->ops->max_score != NULL ? s->ops->max_score(s, s->ops->shallow != NULL ? up_to : DOC_END)
                                     : __builtin_inff();
}
