/* nested: documents whose nested documents match; distance_feature. */
#include "engine/query/query_ops.h"
#include "engine/query/scorers.h"

#include <float.h>

struct nested_weight {
    struct weight base;
    const struct weight *child;
    const struct field *parent; /* whose documents are the parents; NULL: the roots */
};

struct nested_scorer {
    struct scorer base;
    struct scorer *child;
    const uint64_t *parents;
    uint32_t n_docs;
    enum score_mode mode;
    bool scored;
    float boost; /* of a join without scores */
    float score;
};

static struct nested_scorer *self(struct scorer *s)
{
    return (struct nested_scorer *)(void *)s;
}

static const struct nested_weight *nw(const struct weight *w)
{
    return (const struct nested_weight *)(const void *)w;
}

/* The first parent from `target` on with a child that matches; its children's scores are combined. */
static doc_id join(struct nested_scorer *n, doc_id target)
{
    struct scorer *c = n->child;
    /* The children of a parent lie between the parent before and itself. */
    doc_id from = target;
    while (from > 0 && !bits_test(n->parents, from - 1)) {
        from--;
    }
    if (target >= n->n_docs) {
        return n->base.doc = DOC_END;
    }
    doc_id child = scorer_is_before(c, from) ? scorer_seek(c, from) : c->doc;
    while (child != DOC_END && !scorer_accepts(c)) {
        child = c->ops->next(c);
    }
    if (child == DOC_END) {
        return n->base.doc = DOC_END;
    }
    size_t parent = bits_next(n->parents, child, n->n_docs);
    if (parent >= n->n_docs) {
        return n->base.doc = DOC_END;
    }
    double sum = 0;
    float best = -FLT_MAX, least = FLT_MAX;
    uint32_t count = 0;
    for (; child < parent; child = c->ops->next(c)) {
        if (count > 0 && !scorer_accepts(c)) {
            continue;
        }
        if (n->scored) {
            float score = scorer_score(c);
            sum += (double)score;
            best = score > best ? score : best;
            least = score < least ? score : least;
        }
        count++;
    }
    if (count == 0) { /* the match was a parent itself: none of its children */
        return join(n, (doc_id)parent + 1);
    }
    switch (n->mode) {
    case SCORE_MAX:
        n->score = best;
        break;
    case SCORE_MIN:
        n->score = least;
        break;
    case SCORE_SUM:
        n->score = (float)sum;
        break;
    default:
        n->score = (float)(sum / count);
    }
    n->score = n->scored ? n->score : 0;
    return n->base.doc = (doc_id)parent;
}

static doc_id nested_next(struct scorer *s)
{
    return s->doc == DOC_END ? DOC_END : join(self(s), s->doc == POSTINGS_UNPOSITIONED ? 0 : s->doc + 1);
}

static doc_id nested_seek(struct scorer *s, doc_id target)
{
    return s->doc == DOC_END ? DOC_END : join(self(s), target);
}

static float nested_score(struct scorer *s)
{
    return self(s)->score;
}

static const struct scorer_ops nested_ops = {.next = nested_next, .seek = nested_seek, .score = nested_score};

static uint64_t nested_cost(const struct weight *w, const struct leaf *leaf)
{
    return weight_cost(nw(w)->child, leaf);
}

/* A bitmap of the documents of one nested object. */
static enum err path_bits(const struct leaf *leaf, struct str path, struct arena *a, const uint64_t **out,
                          struct errmsg *em)
{
    const struct seg_field *f = segment_field(leaf->segment, STR("_nested_path"));
    struct term_info t;
    uint64_t *bits = ARENA_ARRAY(a, uint64_t, bits_words(leaf->doc_count));
    struct postings *p = arena_alloc(a, sizeof(*p));
    if (bits == NULL || p == NULL) {
        return err_no_memory(em);
    }
    *out = bits;
    if (f == NULL || !seg_term(f, path, &t)) {
        return ERR_OK;
    }
    postings_open(p, f, &t, false);
    for (doc_id d = postings_next(p); d != DOC_END; d = postings_next(p)) {
        bits_set(bits, d);
    }
    return ERR_OK;
}

/* both[0] among the objects of the path. */
static enum err of_path(const struct weight *w, const struct scorer_request *rq, struct scorer **both,
                        bool scored, struct scorer **out)
{
    struct scorer **scoring = ARENA_ARRAY(rq->arena, struct scorer *, 1);
    const uint64_t *own;
    uint32_t n = rq->leaf->doc_count;
    if (scoring == NULL) {
        return err_no_memory(rq->em);
    }
    scoring[0] = both[0];
    enum err e = path_bits(rq->leaf, w->query->nested.path->path, rq->arena, &own, rq->em);
    e = e == ERR_OK ? bits_scorer_new(rq->arena, own, n, n, 0, &both[1], rq->em) : e;
    return e == ERR_OK ? conjunction_new(rq->arena, both, 2, scoring, scored ? 1 : 0, false, out, rq->em) : e;
}

static enum err nested_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    struct scorer_request sub = *rq;
    struct scorer **both = ARENA_ARRAY(rq->arena, struct scorer *, 2);
    struct nested_scorer *n = ARENA_NEW(rq->arena, struct nested_scorer);
    const uint64_t *parents = rq->leaf->roots;
    struct scorer *child;
    if (rq->leaf->roots == NULL) {
        return ERR_OK;
    }
    if (both == NULL || n == NULL) {
        return err_no_memory(rq->em);
    }
    /* several children a parent */
    sub.lead_cost = rq->lead_cost > UINT64_MAX / 64 ? UINT64_MAX : rq->lead_cost * 64;
    enum err e = weight_make_scorer(nw(w)->child, &sub, &both[0]);
    if (e != ERR_OK || both[0] == NULL) {
        return e;
    }
    if (nw(w)->parent != NULL) {
        e = path_bits(rq->leaf, nw(w)->parent->path, rq->arena, &parents, rq->em);
    }
    bool scored = w->need != NEED_NO_SCORES && !w->query->nested.score_none;
    child = both[0];
    if (e == ERR_OK && w->query->nested.filtered == NULL) {
        e = of_path(w, rq, both, scored, &child);
    }
    if (e != ERR_OK) {
        return e;
    }
    *n = (struct nested_scorer){.base = {&nested_ops, POSTINGS_UNPOSITIONED, child->cost},
                                .child = child,
                                .parents = parents,
                                .n_docs = rq->leaf->doc_count,
                                .mode = w->query->nested.score_mode,
                                .scored = scored,
                                .boost = w->boost};
    *out = &n->base;
    return ERR_OK;
}

static enum err nested_explain(const struct weight *w, const struct explain_request *rq,
                               struct explanation **out)
{
    struct scorer *s;
    struct arena *a = rq->arena;
    enum err e = explain_scorer(w, rq, &s);
    if (e != ERR_OK) {
        return e;
    }
    if (s == NULL) {
        *out = explain_new(a, false, 0, "Not a match");
        return ERR_OK;
    }
    /* The best of the children explains the match. */
    doc_id from = rq->doc;
    while (from > 0 && !bits_test(self(s)->parents, from - 1)) {
        from--;
    }
    struct explanation *best = NULL;
    uint32_t matched = 0;
    for (doc_id d = from; d < rq->doc; d++) {
        struct explain_request sub = {rq->leaf, d, a, rq->em};
        struct explanation *x;
        e = explain_weight(nw(w)->child, &sub, &x);
        if (e != ERR_OK) {
            return e;
        }
        if (x->match) {
            best = best == NULL || x->value > best->value ? x : best;
            matched++;
        }
    }
    *out = explain_new(a, true, s->ops->score(s),
                       "Score based on %u child docs in range from %u to %u, best match:", matched,
                       rq->leaf->base + from, rq->leaf->base + rq->doc - 1);
    *out = explain_add(a, *out, best);
    return ERR_OK;
}

static const struct weight_ops nested_weight_ops = {nested_cost, nested_scorer, nested_explain, NULL};

enum err weight_nested(struct weight_shared *sh, const struct query *q, float boost, enum score_need need,
                       const struct weight **out, struct errmsg *em)
{
    struct nested_weight *w = weight_alloc(sh, sizeof(*w), &nested_weight_ops, q, boost, need);
    if (w == NULL) {
        return err_no_memory(em);
    }
    *out = &w->base;
    w->parent = q->nested.outer;
    bool scored = need != NEED_NO_SCORES && !q->nested.score_none;
    const struct query *child = q->nested.filtered != NULL ? q->nested.filtered : q->nested.child;
    return weight_make(sh, child, boost, scored ? NEED_SCORES : NEED_NO_SCORES, &w->child, em);
}

/* ---- distance_feature ---- */

struct distance_scorer {
    struct scorer base;
    struct num_column column;
    const uint64_t *present;
    uint32_t n_docs;
    const struct query *query;
    float boost;
};

static doc_id distance_from(struct scorer *s, size_t from)
{
    struct distance_scorer *d = (struct distance_scorer *)(void *)s;
    size_t at = d->present != NULL ? bits_next(d->present, from, d->n_docs) : from;
    return s->doc = at < d->n_docs ? (doc_id)at : DOC_END;
}

static doc_id distance_next(struct scorer *s)
{
    return s->doc == DOC_END ? DOC_END : distance_from(s, s->doc == POSTINGS_UNPOSITIONED ? 0 : s->doc + 1);
}

static doc_id distance_seek(struct scorer *s, doc_id target)
{
    return s->doc == DOC_END ? DOC_END : distance_from(s, target);
}

/* The distance of the document's nearest value, which is in *nearest. */
static double nearest_value(struct distance_scorer *d, doc_id doc, int64_t *nearest)
{
    const struct query *q = d->query;
    uint64_t first;
    uint32_t n = num_column_seek(&d->column, doc, &first);
    double best = DBL_MAX;
    *nearest = 0;
    for (uint32_t i = 0; i < n; i++) {
        int64_t v = num_column_value(&d->column, first + i);
        double x;
        if (q->field->type == FT_GEO_POINT) {
            struct geo_point p = geo_unpack(v);
            x = geo_arc(q->distance_feature.origin_lat, q->distance_feature.origin_lon, p.lat, p.lon);
        } else {
            x = (double)v - q->distance_feature.origin;
            x = x < 0 ? -x : x;
        }
        if (x < best) {
            best = x;
            *nearest = v;
        }
    }
    return best;
}

/* boost × pivot / (pivot + distance), of the nearest value. */
static float distance_score(struct scorer *s)
{
    struct distance_scorer *d = (struct distance_scorer *)(void *)s;
    const struct query *q = d->query;
    int64_t at;
    double best = nearest_value(d, s->doc, &at);
    return (float)((double)d->boost * (q->distance_feature.pivot / (q->distance_feature.pivot + best)));
}

static const struct scorer_ops distance_ops = {
    .next = distance_next, .seek = distance_seek, .score = distance_score};

static uint64_t distance_cost(const struct weight *w, const struct leaf *leaf)
{
    return segment_field(leaf->segment, w->query->field_name) != NULL ? leaf->doc_count : 0;
}

static enum err distance_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    const struct seg_field *f = segment_field(rq->leaf->segment, w->query->field_name);
    struct distance_scorer *d = ARENA_NEW(rq->arena, struct distance_scorer);
    if (d == NULL) {
        return err_no_memory(rq->em);
    }
    num_column_open(&d->column, f);
    if (d->column.doc_count == 0 || !w->query->field->index) { /* it is the index that Lucene walks */
        return ERR_OK;
    }
    d->base = (struct scorer){&distance_ops, POSTINGS_UNPOSITIONED, d->column.doc_count};
    d->present = num_column_present(&d->column);
    d->n_docs = rq->leaf->doc_count;
    d->query = w->query;
    d->boost = w->boost;
    *out = &d->base;
    return ERR_OK;
}

/* What the score is made of, of a scorer that stands on the document. */
static struct explanation *distance_details(struct distance_scorer *d, const struct explain_request *rq,
                                            struct explanation *x)
{
    const struct query *q = d->query;
    struct arena *a = rq->arena;
    int64_t at;
    double best = nearest_value(d, rq->doc, &at);
    x = explain_add(a, x, explain_new(a, true, d->boost, "weight"));
    if (q->field->type != FT_GEO_POINT) {
        x = explain_add(a, x, explain_whole(a, (int64_t)q->distance_feature.pivot, "pivotDistance"));
        x = explain_add(a, x, explain_whole(a, (int64_t)q->distance_feature.origin, "origin"));
        return explain_add(a, x, explain_whole(a, at, "current value"));
    }
    struct geo_point p = geo_unpack(at);
    x = explain_add(a, x, explain_double(a, q->distance_feature.pivot, "pivotDistance"));
    x = explain_add(a, x, explain_double(a, q->distance_feature.origin_lat, "originLat"));
    x = explain_add(a, x, explain_double(a, q->distance_feature.origin_lon, "originLon"));
    x = explain_add(a, x, explain_double(a, p.lat, "current lat"));
    x = explain_add(a, x, explain_double(a, p.lon, "current lon"));
    return explain_add(a, x, explain_double(a, best, "distance"));
}

static enum err distance_explain(const struct weight *w, const struct explain_request *rq,
                                 struct explanation **out)
{
    struct scorer *s;
    enum err e = explain_scorer(w, rq, &s);
    if (e != ERR_OK) {
        return e;
    }
    if (s == NULL) {
        *out = explain_new(rq->arena, false, 0, "Document %u doesn't have a value for field %.*s", rq->doc,
                           STR_ARG(w->query->field_name));
        return ERR_OK;
    }
    bool geo = w->query->field->type == FT_GEO_POINT;
    *out = explain_new(rq->arena, true, s->ops->score(s),
                       "Distance score, computed as weight * pivotDistance / (pivotDistance + abs(%s)) from:",
                       geo ? "distance" : "value - origin");
    *out = distance_details((struct distance_scorer *)(void *)s, rq, *out);
    return ERR_OK;
}

static const struct weight_ops distance_weight_ops = {distance_cost, distance_scorer, distance_explain, NULL};

enum err weight_distance(struct weight_shared *sh, const struct query *q, float boost, enum score_need need,
                         const struct weight **out, struct errmsg *em)
{
    struct weight *w = weight_alloc(sh, sizeof(*w), &distance_weight_ops, q, boost, need);
    *out = w;
    return w != NULL ? ERR_OK : err_no_memory(em);
}

static enum err nested_each_child(const struct query *q, child_fn fn, void *arg)
{
    return fn(arg, q->nested.child, CHILD_SCORES);
}

const struct query_ops q_nested = {
    .name = "nested", .kind = KIND_nested, .each_child = nested_each_child, .expensive = "[joining] queries"};
const struct query_ops q_distance_feature = {.name = "distance_feature", .kind = KIND_distance_feature};
