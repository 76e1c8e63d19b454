/* Spans of one segment: documents that hold them, then the places in each. */
#include "common/base/stop.h"
#include "engine/query/spans.h"

/* A SPAN_TERM. */
struct span_term {
    struct span base;
    struct postings postings;
    struct positions positions;
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

static struct span_term *term_of(struct span *s)
{
    return (struct span_term *)(void *)s;
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

static doc_id seek_any(struct span *s, doc_id target)
{
    doc_id doc = DOC_END;
    for (uint32_t i = 0; i < s->n_parts; i++) {
        doc_id at = seek(s->v[i], target);
        doc = MIN_OF(doc, at);
    }
    return doc;
}

/* First document >= target that has the terms. */
static doc_id seek(struct span *s, doc_id target)
{
    if (s->doc != POSTINGS_UNPOSITIONED && (s->doc == DOC_END || s->doc >= target)) {
        return s->doc;
    }
    switch (s->part->kind) {
    case SPAN_TERM:
        s->is_read = false;
        return s->doc = postings_seek(&term_of(s)->postings, target);
    case SPAN_OR:
        return s->doc = seek_any(s, target);
    case SPAN_NEAR:
    case SPAN_CONTAINING:
    case SPAN_WITHIN:
        return s->doc = seek_all(s, target);
    case SPAN_NOT:
    case SPAN_FIRST:
        return s->doc = seek(s->v[0], target);
    case SPAN_GAP:
        return s->doc = target;
    case SPAN_PREFIX:
    case SPAN_MULTI:
    case SPAN_MASK:
    case SPAN_NONE:
        break;
    }
    return s->doc = DOC_END;
}

/* What stands against places follows to the document. */
static void follow(struct span *s)
{
    for (uint32_t i = 0; i < s->n_parts; i++) {
        if (s->part->kind == SPAN_NOT && i == 1) {
            seek(s->v[1], s->doc);
        }
        if (s->v[i]->doc == s->doc) {
            follow(s->v[i]);
        }
    }
}

static uint32_t read_positions(struct span *s)
{
    struct span_term *t = term_of(s);
    uint32_t n = positions_read(&t->positions);
    s->places = t->positions.pos;
    return n;
}

static bool has_failed(struct span *s)
{
    bool failed = s->part->kind == SPAN_TERM && term_of(s)->positions.failed;
    for (uint32_t i = 0; i < s->n_parts && !failed; i++) {
        failed = has_failed(s->v[i]);
    }
    return failed;
}

/* ---- the scorer ---- */

static doc_id span_next_doc(struct scorer *s)
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
    bool any = false;
    follow(p->root);
    span_rewind(p->root);
    p->freq = 0;
    while (span_next(p->root) != SPAN_END) {
        any = true;
        if (p->sim == NULL) {
            p->freq = 1;
            break;
        }
        p->freq = (float)((double)p->freq + 1.0 / (1.0 + (double)p->root->width));
    }
    if (has_failed(p->root)) {
        ERR_LOCAL(em);
        err_no_memory(&em);
        weight_fail(p->shared, &em);
        return false;
    }
    return any;
}

static float span_score(struct scorer *s)
{
    struct span_scorer *p = self(s);
    return p->sim == NULL ? 0 : sim_score(p->sim, p->freq, p->norms != NULL ? p->norms[s->doc] : 1);
}

static float span_max(struct scorer *s, UNUSED doc_id up_to)
{
    return self(s)->sim != NULL ? self(s)->sim->weight : 0;
}

static const struct scorer_ops span_ops = {.next = span_next_doc,
                                           .seek = span_seek,
                                           .matches = span_matches,
                                           .score = span_score,
                                           .max_score = span_max};

float span_scorer_freq(struct scorer *s)
{
    return self(s)->freq;
}

/* ---- opening ---- */

struct opening {
    const struct segment *segment;
    struct arena *arena;
    struct errmsg *em;
};

static void release_positions(void *p)
{
    positions_fini(p);
}

static enum err open_term(const struct opening *o, const struct span_part *part, struct str field,
                          struct span **out)
{
    struct term_info info;
    const struct seg_field *f = segment_field(o->segment, field);
    if (f == NULL || !seg_term(f, part->term, &info)) {
        return ERR_OK;
    }
    if ((f->has & SEG_POSITIONS) == 0) {
        return err_set(
            o->em, ERR_ILLEGAL_STATE,
            "field \"%.*s\" was indexed without position data; cannot run SpanTermQuery (term=%.*s)",
            STR_ARG(field), STR_ARG(part->term));
    }
    struct span_term *t = ARENA_NEW(o->arena, struct span_term);
    if (t == NULL) {
        return err_no_memory(o->em);
    }
    t->base = (struct span){.part = part, .doc = POSTINGS_UNPOSITIONED, .read = read_positions};
    postings_init(&t->postings, f, &info, true);
    positions_init(&t->positions, &t->postings, false);
    *out = &t->base;
    return arena_defer(o->arena, release_positions, &t->positions) ? ERR_OK : err_no_memory(o->em);
}

static enum err open_span(const struct opening *o, const struct span_part *part, struct str field,
                          struct span **out);

/* Is there nothing, as the i-th part is missing? */
static bool needs_part(const struct span_part *part, uint32_t i)
{
    return part->kind != SPAN_OR && !(part->kind == SPAN_NOT && i == 1);
}

static enum err open_parts(const struct opening *o, const struct span_part *part, struct str field,
                           struct span **out)
{
    if (part->kind == SPAN_NEAR && segment_field(o->segment, field) == NULL) {
        return ERR_OK;
    }
    struct span *s = span_new(part, part->n, o->arena);
    if (s == NULL) {
        return err_no_memory(o->em);
    }
    for (uint32_t i = 0; i < part->n; i++) {
        enum err e = open_span(o, &part->v[i], field, &s->v[s->n_parts]);
        if (e != ERR_OK) {
            return e;
        }
        if (s->v[s->n_parts] == NULL && needs_part(part, i)) {
            return ERR_OK;
        }
        s->n_parts += s->v[s->n_parts] != NULL ? 1 : 0;
    }
    bool same = s->n_parts == 1 && (part->kind == SPAN_OR || part->kind == SPAN_MASK);
    *out = same ? s->v[0] : s->n_parts == 0 ? NULL : s;
    return ERR_OK;
}

/* *out NULL: no document has it. */
static enum err open_span(const struct opening *o, const struct span_part *part, struct str field,
                          struct span **out)
{
    field = span_field(part, field);
    *out = NULL;
    switch (part->kind) {
    case SPAN_TERM:
        return open_term(o, part, field, out);
    case SPAN_GAP:
        *out = span_new(part, 0, o->arena);
        return *out != NULL ? ERR_OK : err_no_memory(o->em);
    case SPAN_OR:
    case SPAN_NEAR:
    case SPAN_NOT:
    case SPAN_FIRST:
    case SPAN_CONTAINING:
    case SPAN_WITHIN:
    case SPAN_MASK:
        return open_parts(o, part, field, out);
    case SPAN_PREFIX:
    case SPAN_MULTI:
    case SPAN_NONE:
        break;
    }
    return ERR_OK;
}

uint64_t span_cost(const struct span_part *part, struct str field, const struct segment *segment)
{
    field = span_field(part, field);
    if (part->kind == SPAN_TERM) {
        struct term_info t;
        const struct seg_field *f = segment_field(segment, field);
        return f != NULL && seg_term(f, part->term, &t) ? t.doc_freq : 0;
    }
    if (part->kind == SPAN_GAP) {
        return segment_doc_count(segment);
    }
    uint64_t sum = 0, least = UINT64_MAX;
    for (uint32_t i = 0; i < part->n && !(part->kind == SPAN_NOT && i == 1); i++) {
        uint64_t cost = span_cost(&part->v[i], field, segment);
        sum += cost;
        least = MIN_OF(least, cost);
    }
    return part->kind == SPAN_OR ? sum : part->n > 0 ? least : 0;
}

enum err span_scorer_new(const struct weight *w, const struct sim *sim, const struct scorer_request *rq,
                         struct scorer **out)
{
    const struct query *q = w->query;
    const struct segment *segment = rq->leaf->segment;
    const struct opening o = {segment, rq->arena, rq->em};
    struct span *root;
    enum err e = open_span(&o, q->spans.root, q->field_name, &root);
    if (e != ERR_OK || root == NULL) {
        return e;
    }
    struct span_scorer *p = ARENA_NEW(rq->arena, struct span_scorer);
    if (p == NULL) {
        return err_no_memory(rq->em);
    }
    const struct seg_field *f = segment_field(segment, q->field_name);
    *p = (struct span_scorer){
        .base = {&span_ops, POSTINGS_UNPOSITIONED, span_cost(q->spans.root, q->field_name, segment)},
        .root = root,
        .sim = sim,
        .norms = sim != NULL && f != NULL ? seg_norms(f) : NULL,
        .shared = w->shared};
    *out = &p->base;
    return ERR_OK;
}
