/* Spans of one segment: documents that hold them, then the places in each. */
#include "common/base/stop.h"
#include "engine/query/spans.h"

#define SPAN_END INT32_MAX /* behind the last place of a document */

struct span {
    const struct span_part *part;
    doc_id doc;
    int32_t start, end; /* of the current place; -1 before the first, SPAN_END behind the last */
    /* SPAN_TERM */
    struct postings postings;
    struct positions positions;
    uint32_t n, at; /* positions of the document */
    bool read;
    /* SPAN_OR, SPAN_NEAR */
    struct span **v;
    uint32_t n_parts;
};

struct span_scorer {
    struct scorer base;
    struct span *root;
    const struct sim *sim;
    const uint8_t *norms;
    float freq; /* of base.doc, after matches() */
    struct weight_shared *shared;
};

static struct span_scorer *self(struct scorer *s)
{
    return (struct span_scorer *)(void *)s;
}

/* ---- documents ---- */

static doc_id seek(struct span *s, doc_id target);

static doc_id seek_all(struct span *s, doc_id target)
{
    for (uint32_t i = 0; i < s->n_parts && target != DOC_END;) {
        doc_id at = seek(s->v[i], target);
        if (stop_often()) {
            return DOC_END;
        }
        i = at == target ? i + 1 : 0;
        target = at;
    }
    return target;
}

/* First document >= target that has the terms. */
static doc_id seek(struct span *s, doc_id target)
{
    if (s->doc != POSTINGS_UNPOSITIONED && (s->doc == DOC_END || s->doc >= target)) {
        return s->doc;
    }
    if (s->part->kind == SPAN_TERM) {
        s->read = false;
        return s->doc = postings_seek(&s->postings, target);
    }
    if (s->part->kind == SPAN_NEAR) {
        return s->doc = seek_all(s, target);
    }
    doc_id doc = DOC_END;
    for (uint32_t i = 0; i < s->n_parts; i++) {
        doc_id at = seek(s->v[i], target);
        doc = MIN_OF(doc, at);
    }
    return s->doc = doc;
}

/* ---- places ---- */

/* Before the first place of the document that the span stands on. */
static void rewind_places(struct span *s)
{
    s->start = s->end = -1;
    s->at = 0;
    for (uint32_t i = 0; i < s->n_parts; i++) {
        rewind_places(s->v[i]);
    }
}

static int32_t next_place(struct span *s);

static int32_t next_position(struct span *s)
{
    if (!s->read) {
        s->n = positions_read(&s->positions);
        s->read = true;
    }
    if (s->at >= s->n) {
        return s->start = s->end = SPAN_END;
    }
    s->start = (int32_t)s->positions.pos[s->at++];
    s->end = s->start + 1;
    return s->start;
}

static bool comes_before(const struct span *a, const struct span *b)
{
    return a->start < b->start || (a->start == b->start && a->end < b->end);
}

static int32_t next_of_any(struct span *s)
{
    struct span *least = NULL;
    for (uint32_t i = 0; i < s->n_parts; i++) {
        struct span *c = s->v[i];
        if (c->doc != s->doc) {
            continue;
        }
        if (s->start == -1) {
            next_place(c);
        }
        least = least == NULL || comes_before(c, least) ? c : least;
    }
    if (s->start != -1 && least != NULL) { /* the one that gave the last place goes on */
        next_place(least);
        for (uint32_t i = 0; i < s->n_parts; i++) {
            least = s->v[i]->doc == s->doc && comes_before(s->v[i], least) ? s->v[i] : least;
        }
    }
    s->start = least != NULL ? least->start : SPAN_END;
    s->end = least != NULL ? least->end : SPAN_END;
    return s->start;
}

/* All parts behind the first one to their first place behind the part before. false: one has none; *near tells whether they
 * follow each other. */
static bool stretch(struct span *s, bool *near)
{
    *near = true;
    for (uint32_t i = 1; i < s->n_parts; i++) {
        int32_t from = s->v[i - 1]->end;
        while (s->v[i]->start < from) {
            next_place(s->v[i]);
        }
        if (s->v[i]->start == SPAN_END) {
            return false;
        }
        *near = *near && s->v[i]->start == from;
    }
    return true;
}

static int32_t next_near(struct span *s)
{
    bool near;
    while (!stop_often() && next_place(s->v[0]) != SPAN_END && stretch(s, &near)) {
        if (near) {
            s->end = s->v[s->n_parts - 1]->end;
            return s->start = s->v[0]->start;
        }
    }
    return s->start = s->end = SPAN_END;
}

static int32_t next_place(struct span *s)
{
    if (s->start == SPAN_END) {
        return SPAN_END;
    }
    return s->part->kind == SPAN_TERM ? next_position(s)
           : s->part->kind == SPAN_OR ? next_of_any(s)
                                      : next_near(s);
}

static bool has_failed(const struct span *s)
{
    bool failed = s->part->kind == SPAN_TERM && s->positions.failed;
    for (uint32_t i = 0; i < s->n_parts && !failed; i++) {
        failed = has_failed(s->v[i]);
    }
    return failed;
}

/* ---- the scorer ---- */

static doc_id span_next(struct scorer *s)
{
    doc_id from = s->doc == POSTINGS_UNPOSITIONED ? 0 : s->doc + 1;
    return s->doc == DOC_END ? DOC_END : (s->doc = seek(self(s)->root, from));
}

static doc_id span_seek(struct scorer *s, doc_id target)
{
    return s->doc == DOC_END ? DOC_END : (s->doc = seek(self(s)->root, target));
}

static bool span_matches(struct scorer *s)
{
    struct span_scorer *p = self(s);
    uint32_t n = 0;
    rewind_places(p->root);
    while (next_place(p->root) != SPAN_END) {
        n++;
        if (p->sim == NULL) {
            break;
        }
    }
    if (has_failed(p->root)) {
        ERR_LOCAL(em);
        err_no_memory(&em);
        weight_fail(p->shared, &em);
        return false;
    }
    p->freq = (float)n;
    return n > 0;
}

static float span_score(struct scorer *s)
{
    struct span_scorer *p = self(s);
    return p->sim == NULL ? 0 : sim_score(p->sim, p->freq, p->norms != NULL ? p->norms[s->doc] : 1);
}

static float span_max(struct scorer *s, doc_id up_to)
{
    (void)up_to;
    return self(s)->sim != NULL ? self(s)->sim->weight : 0;
}

static const struct scorer_ops span_ops = {.next = span_next,
                                           .seek = span_seek,
                                           .matches = span_matches,
                                           .score = span_score,
                                           .max_score = span_max};

float span_scorer_freq(struct scorer *s)
{
    return self(s)->freq;
}

/* ---- opening ---- */

static void release_positions(void *p)
{
    positions_fini(p);
}

static enum err open_term(struct span *s, const struct seg_field *f, struct arena *a, bool *none,
                          struct errmsg *em)
{
    struct term_info info;
    if (!seg_term(f, s->part->term, &info)) {
        *none = true;
        return ERR_OK;
    }
    if ((f->has & SEG_POSITIONS) == 0) {
        return ERR_ILLEGAL_STATE;
    }
    postings_init(&s->postings, f, &info, true);
    positions_init(&s->positions, &s->postings, false);
    return arena_defer(a, release_positions, &s->positions) ? ERR_OK : err_no_memory(em);
}

/* *out NULL: no document has it. ERR_ILLEGAL_STATE, *lacking: the term whose field has no positions. */
static enum err open_span(const struct span_part *part, const struct seg_field *f, struct arena *a,
                          struct span **out, struct str *lacking, struct errmsg *em)
{
    struct span *s = ARENA_NEW(a, struct span);
    bool none = false;
    *out = NULL;
    if (s == NULL) {
        return err_no_memory(em);
    }
    *s = (struct span){.part = part, .doc = POSTINGS_UNPOSITIONED};
    if (part->kind == SPAN_TERM) {
        enum err e = open_term(s, f, a, &none, em);
        *lacking = e == ERR_ILLEGAL_STATE ? part->term : *lacking;
        *out = e == ERR_OK && !none ? s : NULL;
        return e;
    }
    s->v = ARENA_ARRAY(a, struct span *, part->n);
    if (s->v == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < part->n && !none; i++) {
        enum err e = open_span(&part->v[i], f, a, &s->v[s->n_parts], lacking, em);
        if (e != ERR_OK) {
            return e;
        }
        none = part->kind == SPAN_NEAR && s->v[s->n_parts] == NULL;
        s->n_parts += s->v[s->n_parts] != NULL ? 1 : 0;
    }
    *out = none || s->n_parts == 0 ? NULL : s;
    return ERR_OK;
}

uint64_t span_cost(const struct span_part *part, const struct seg_field *f)
{
    if (part->kind == SPAN_TERM) {
        struct term_info t;
        return seg_term(f, part->term, &t) ? t.doc_freq : 0;
    }
    uint64_t sum = 0, least = UINT64_MAX;
    for (uint32_t i = 0; i < part->n; i++) {
        uint64_t cost = span_cost(&part->v[i], f);
        sum += cost;
        least = MIN_OF(least, cost);
    }
    return part->kind == SPAN_OR ? sum : least;
}

enum err span_scorer_new(const struct weight *w, const struct sim *sim, const struct scorer_request *rq,
                         struct scorer **out)
{
    const struct query *q = w->query;
    const struct seg_field *f = segment_field(rq->leaf->segment, q->field_name);
    struct str lacking = STR_NULL;
    struct span *root;
    if (f == NULL) {
        return ERR_OK;
    }
    enum err e = open_span(q->spans.root, f, rq->arena, &root, &lacking, rq->em);
    if (e == ERR_ILLEGAL_STATE) {
        return err_set(
            rq->em, e,
            "field \"%.*s\" was indexed without position data; cannot run SpanTermQuery (term=%.*s)",
            STR_ARG(q->field_name), STR_ARG(lacking));
    }
    if (e != ERR_OK || root == NULL) {
        return e;
    }
    struct span_scorer *p = ARENA_NEW(rq->arena, struct span_scorer);
    if (p == NULL) {
        return err_no_memory(rq->em);
    }
    *p = (struct span_scorer){.base = {&span_ops, POSTINGS_UNPOSITIONED, span_cost(q->spans.root, f)},
                              .root = root,
                              .sim = sim,
                              .norms = sim != NULL ? seg_norms(f) : NULL,
                              .shared = w->shared};
    *out = &p->base;
    return ERR_OK;
}
