/* Phrases: documents that hold all terms, then their positions. */
#include "common/base/stop.h"
#include "engine/query/phrase.h"
#include "engine/query/postings_pairs.h"

struct phrase_scorer {
    struct scorer base;
    struct phrase_match match;
    struct phrase_slot **order; /* rarest first */
    struct postings_pairs
        *pairs;       /* of the two rarest; NULL: they are too unlike, or there are slots of several terms */
    uint32_t aligned; /* slots of `order` that stand on base.doc: all of them, or two */
    bool two_first; /* an exact phrase of single terms: matches() looks at the two rarest before the others */
    const struct sim *sim;
    const uint8_t *norms;
    float freq; /* of base.doc, after matches() */
    float min;
    doc_id up_to;
    struct weight_shared *shared;
};

static struct phrase_scorer *self(struct scorer *s)
{
    return (struct phrase_scorer *)(void *)s;
}

/* ---- moving ---- */

static doc_id slot_seek(struct phrase_slot *s, doc_id target)
{
    if (s->n == 1) {
        return s->doc = postings_seek(&s->postings[0], target);
    }
    doc_id doc = DOC_END;
    for (uint32_t i = 0; i < s->n; i++) {
        doc_id at = postings_seek(&s->postings[i], target);
        doc = MIN_OF(doc, at);
    }
    return s->doc = doc;
}

/* No document up to `to` scores more: the phrase is no more frequent than its rarest slot. */
static float bound(struct phrase_scorer *p, doc_id target, doc_id *to)
{
    float best = p->sim->weight;
    *to = DOC_END;
    for (uint32_t i = 0; i < p->match.n; i++) {
        struct phrase_slot *s = &p->match.v[i];
        struct impact v[IMPACTS_MAX];
        if (s->n > 1) {
            continue;
        }
        doc_id end = postings_shallow(&s->postings[0], target);
        float here = end == DOC_END ? 0 : sim_best(p->sim, v, postings_block_impacts(&s->postings[0], v));
        best = here < best ? here : best;
        *to = MIN_OF(*to, end);
    }
    return best;
}

static doc_id skip_blocks(struct phrase_scorer *p, doc_id target)
{
    while (target > p->up_to && target != DOC_END) {
        doc_id to;
        if (bound(p, target, &to) > p->min) {
            p->up_to = to;
            break;
        }
        if (to == DOC_END) {
            return DOC_END;
        }
        target = to + 1;
    }
    return target;
}

/* The lead's first document from target on whose frequency alone would let the phrase compete. */
static doc_id lead_from(struct phrase_scorer *p, doc_id target)
{
    struct phrase_slot *lead = p->order[0];
    struct term_scorer *t = lead->single;
    while (target != DOC_END) {
        if (target > p->up_to) {
            target = skip_blocks(p, target);
            if (target == DOC_END) {
                break;
            }
        }
        doc_id doc = postings_seek(&t->p, target);
        if (doc == DOC_END) {
            break;
        }
        const float *scores = term_block_scores(t);
        uint32_t at = t->p.at, n = t->p.n;
        while (at < n && scores[at] <= p->min) {
            at++;
        }
        if (at < n) {
            t->p.at = at;
            return lead->doc = t->p.doc = t->p.docs[at];
        }
        target = t->p.docs[n - 1] + 1;
    }
    return lead->doc = DOC_END;
}

/* As long as every document is wanted: by the blocks of the two rarest terms. */
static doc_id align_pairs(struct phrase_scorer *p, doc_id doc)
{
    while ((doc = postings_pairs_seek(p->pairs, doc)) != DOC_END) {
        doc_id at = doc;
        for (uint32_t i = 2; i < p->aligned && at == doc; i++) {
            at = slot_seek(p->order[i], doc);
        }
        if (at == doc) {
            break;
        }
        doc = at;
    }
    p->order[0]->doc = p->order[1]->doc = doc;
    return p->base.doc = doc;
}

static doc_id align(struct phrase_scorer *p, doc_id doc)
{
    if (p->pairs != NULL && p->min < 0) {
        return align_pairs(p, doc);
    }
    bool picky = p->min >= 0 && p->match.slop == 0 && p->order[0]->single != NULL;
again:
    if (stop_often()) {
        return p->base.doc = DOC_END;
    }
    if (picky && doc != DOC_END) {
        doc = lead_from(p, doc);
    }
    for (uint32_t i = 0; i < p->aligned && doc != DOC_END; i++) {
        struct phrase_slot *s = p->order[i];
        if (s->doc == doc) {
            continue;
        }
        doc_id at = s->doc == POSTINGS_UNPOSITIONED || s->doc < doc ? slot_seek(s, doc) : s->doc;
        if (at != doc) {
            doc = at;
            goto again;
        }
    }
    return p->base.doc = doc;
}

static doc_id phrase_next(struct scorer *s)
{
    return s->doc == DOC_END ? DOC_END : align(self(s), s->doc == POSTINGS_UNPOSITIONED ? 0 : s->doc + 1);
}

static doc_id phrase_seek(struct scorer *s, doc_id target)
{
    return s->doc == DOC_END ? DOC_END : align(self(s), target);
}

/* ---- matching ---- */

static bool fail(struct phrase_scorer *p)
{
    ERR_LOCAL(em);
    err_no_memory(&em);
    weight_fail(p->shared, &em);
    return false;
}

static void insert_sorted(uint32_t *to, uint32_t *n, const uint32_t *pos, uint32_t more)
{
    /* Merges from the back: both runs ascend. */
    uint32_t i = *n, k = more, at = *n + more;
    while (k > 0) {
        to[--at] = i > 0 && to[i - 1] > pos[k - 1] ? to[--i] : pos[--k];
    }
    *n += more;
}

static bool merge_positions(struct phrase_scorer *p, struct phrase_slot *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->postings[i].doc != s->doc) {
            continue;
        }
        uint32_t more = positions_read(&s->positions[i]);
        if (s->positions[i].failed) {
            return fail(p);
        }
        if (n + more > s->merged_cap) {
            uint32_t cap = MAX_OF(64U, (n + more) * 2);
            uint32_t *merged = ARENA_ARRAY(p->match.arena, uint32_t, cap + POSITION_RUNS_SLACK);
            if (merged == NULL) {
                return fail(p);
            }
            if (n > 0) {
                memcpy(merged, s->merged, n * sizeof(*merged));
            }
            s->merged = merged;
            s->merged_cap = cap;
        }
        insert_sorted(s->merged, &n, s->positions[i].pos, more);
    }
    s->pos = s->merged;
    s->base = 0;
    s->freq = n;
    return true;
}

/* The slot's positions in the current document. false: there are none, or reading failed. */
static bool read_positions(struct phrase_scorer *p, struct phrase_slot *s)
{
    if (stop_often()) {
        return false;
    }
    if (s->n > 1) {
        return merge_positions(p, s) && s->freq > 0;
    }
    if (s->runs != NULL) {
        s->freq = position_runs_read(s->runs, &s->pos, &s->base);
        return s->freq > 0 || (s->runs->failed && fail(p));
    }
    s->freq = positions_read(&s->positions[0]);
    s->pos = s->positions[0].pos;
    return s->freq > 0 || (s->positions[0].failed && fail(p));
}

static uint32_t slot_freq(struct phrase_slot *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        n += s->postings[i].doc == s->doc ? postings_freq(&s->postings[i]) : 0;
    }
    return n;
}

/* Could the document score more than the minimum, were the phrase as frequent as the slots that stand on it allow? Frequencies
 * cost less than positions. */
static bool competes(const struct phrase_scorer *p)
{
    uint32_t least = UINT32_MAX, sum = 0;
    for (uint32_t i = 0; i < p->aligned; i++) {
        uint32_t freq = slot_freq(p->order[i]);
        least = MIN_OF(least, freq);
        sum += freq;
    }
    /* Exact phrases occur no more often than the rarest term; a sloppy match takes one step of one term on from the match
     * before. */
    uint32_t most = p->match.slop == 0 ? least : sum - p->match.n + 1;
    return sim_score(p->sim, (float)most, p->norms != NULL ? p->norms[p->base.doc] : 1) > p->min;
}

static bool all_match(struct phrase_scorer *p)
{
    for (uint32_t i = 0; i < p->match.n; i++) {
        if (!read_positions(p, p->order[i])) {
            return false;
        }
    }
    p->freq = phrase_match_freq(&p->match);
    return p->freq > 0;
}

/* The two rarest terms first: where they do not stand as the phrase wants, which is mostly so, the others need not be looked
 * at. */
static bool two_match(struct phrase_scorer *p)
{
    struct phrase_slot *a = p->order[0], *b = p->order[1];
    a->freq = position_runs_read(a->runs, &a->pos, &a->base);
    b->freq = position_runs_read(b->runs, &b->pos, &b->base);
    if (a->freq == 0 || b->freq == 0) {
        return (a->runs->failed || b->runs->failed) && fail(p);
    }
    bool in_order = a->ord < b->ord;
    uint32_t n = phrase_match_two(in_order ? a : b, in_order ? b : a);
    p->freq = (float)n;
    return n > 0;
}

static bool others_match(struct phrase_scorer *p)
{
    for (uint32_t i = 2; i < p->match.n; i++) {
        struct phrase_slot *s = p->order[i];
        doc_id at =
            s->doc == POSTINGS_UNPOSITIONED || s->doc < p->base.doc ? slot_seek(s, p->base.doc) : s->doc;
        if (at != p->base.doc || !read_positions(p, s)) {
            return false;
        }
    }
    p->freq = phrase_match_freq(&p->match);
    return p->freq > 0;
}

static bool phrase_matches(struct scorer *s)
{
    struct phrase_scorer *p = self(s);
    if (p->min >= 0 && !competes(p)) {
        return false;
    }
    if (!p->two_first) {
        return all_match(p);
    }
    return two_match(p) && (p->match.n == 2 || others_match(p));
}

static float phrase_score(struct scorer *s)
{
    struct phrase_scorer *p = self(s);
    return p->sim == NULL ? 0 : sim_score(p->sim, p->freq, p->norms != NULL ? p->norms[s->doc] : 1);
}

static float phrase_max(struct scorer *s, UNUSED doc_id up_to)
{
    struct phrase_scorer *p = self(s);
    if (p->sim == NULL) {
        return 0;
    }
    return p->sim->weight;
}

static void phrase_min(struct scorer *s, float min)
{
    struct phrase_scorer *p = self(s);
    if (p->sim != NULL && min > p->min) {
        p->min = min;
        p->up_to = 0;
    }
}

static const struct scorer_ops phrase_ops = {.next = phrase_next,
                                             .seek = phrase_seek,
                                             .matches = phrase_matches,
                                             .score = phrase_score,
                                             .max_score = phrase_max,
                                             .min_score = phrase_min};

/* ---- opening ---- */

static void release_positions(void *p)
{
    positions_fini(p);
}

static void release_runs(void *p)
{
    position_runs_fini(p);
}

/* The readers of the slot's positions. An exact phrase compares those of a single term where they are decoded. */
static bool open_positions(struct phrase_slot *s, bool exact, struct arena *a)
{
    if (exact && s->n == 1) {
        s->runs = arena_alloc(a, sizeof(*s->runs));
        if (s->runs == NULL) {
            return false;
        }
        position_runs_init(s->runs, &s->postings[0]);
        return arena_defer(a, release_runs, s->runs);
    }
    s->positions = ARENA_ARRAY(a, struct positions, s->n);
    if (s->positions == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        positions_init(&s->positions[i], &s->postings[i], false);
        if (!arena_defer(a, release_positions, &s->positions[i])) {
            return false;
        }
    }
    return true;
}

static bool open_slot(struct phrase_slot *s, const struct seg_field *f, const struct phrase_term *t,
                      const struct sim *sim, bool exact, struct arena *a, bool *none)
{
    *s = (struct phrase_slot){
        .terms = t->terms, .n_all = t->n, .offset = t->position, .doc = POSTINGS_UNPOSITIONED};
    struct term_info *info = ARENA_ARRAY(a, struct term_info, t->n);
    if (info == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < t->n; i++) {
        s->n += seg_term(f, t->terms[i], &info[s->n]) ? 1 : 0;
    }
    *none = *none || s->n == 0;
    if (s->n == 1 && sim != NULL) {
        struct scorer *single;
        if (term_scorer_new(a, f, &info[0], sim, &single, NULL) != ERR_OK) {
            return false;
        }
        s->single = scorer_term(single);
        s->postings = &s->single->p;
    } else {
        s->postings = arena_alloc(a, sizeof(*s->postings) * MAX_OF(s->n, 1U));
    }
    if (s->postings == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        postings_init(&s->postings[i], f, &info[i], true);
        s->cost += info[i].doc_freq;
    }
    return open_positions(s, exact, a);
}

static void sort_by_cost(struct phrase_slot **v, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        struct phrase_slot *s = v[i];
        uint32_t k = i;
        for (; k > 0 && v[k - 1]->cost > s->cost; k--) {
            v[k] = v[k - 1];
        }
        v[k] = s;
    }
}

/* The two rarest slots, if they are one term each and about as frequent. */
static bool pair_up(struct phrase_scorer *p, struct arena *a)
{
    struct phrase_slot **v = p->order;
    if (p->match.n < 2 || v[0]->n != 1 || v[1]->n != 1 || v[1]->cost / POSTINGS_PAIRS_RATIO > v[0]->cost) {
        return true;
    }
    p->pairs = arena_alloc(a, sizeof(*p->pairs));
    if (p->pairs != NULL) {
        postings_pairs_init(p->pairs, &v[0]->postings[0], &v[1]->postings[0]);
    }
    return p->pairs != NULL;
}

float phrase_scorer_freq(struct scorer *s)
{
    return self(s)->freq;
}

enum err phrase_scorer_new(const struct weight *w, const struct sim *sim, const struct scorer_request *rq,
                           struct scorer **out)
{
    const struct query *q = w->query;
    const struct seg_field *f = segment_field(rq->leaf->segment, q->field_name);
    bool none = false;
    if (f == NULL || (f->has & SEG_POSITIONS) == 0) {
        return ERR_OK;
    }
    struct phrase_scorer *p = ARENA_NEW(rq->arena, struct phrase_scorer);
    struct phrase_slot *slots = ARENA_ARRAY(rq->arena, struct phrase_slot, q->phrase.n);
    if (p == NULL || slots == NULL) {
        return err_no_memory(rq->em);
    }
    p->order = ARENA_ARRAY(rq->arena, struct phrase_slot *, q->phrase.n);
    if (p->order == NULL) {
        return err_no_memory(rq->em);
    }
    for (uint32_t i = 0; i < q->phrase.n && !none; i++) {
        const struct seg_field *of = f;
        bool other = q->phrase.last_field != NULL && i == q->phrase.n - 1;
        if (other) {
            of = segment_field(rq->leaf->segment, q->phrase.last_field->path);
            if (of == NULL || (of->has & SEG_POSITIONS) == 0) {
                return ERR_OK;
            }
        }
        /* what another field's terms would score says nothing of the phrase */
        if (!open_slot(&slots[i], of, &q->phrase.v[i], other ? NULL : sim, q->phrase.slop == 0, rq->arena,
                       &none)) {
            return err_no_memory(rq->em);
        }
        p->order[i] = &slots[i];
    }
    if (none) {
        return ERR_OK;
    }
    if (!phrase_match_init(&p->match, slots, q->phrase.n, q->phrase.slop, rq->arena)) {
        return err_no_memory(rq->em);
    }
    sort_by_cost(p->order, q->phrase.n);
    p->two_first = q->phrase.slop == 0 && q->phrase.n >= 2;
    for (uint32_t i = 0; i < q->phrase.n; i++) {
        p->two_first = p->two_first && slots[i].n == 1;
    }
    p->aligned = p->two_first ? 2 : q->phrase.n;
    if (!pair_up(p, rq->arena)) {
        return err_no_memory(rq->em);
    }
    p->sim = sim;
    p->norms = sim != NULL ? seg_norms(f) : NULL;
    p->min = -1;
    p->shared = w->shared;
    p->base = (struct scorer){&phrase_ops, POSTINGS_UNPOSITIONED, p->order[0]->cost};
    *out = &p->base;
    return ERR_OK;
}
