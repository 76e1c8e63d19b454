/* nested: documents whose nested documents match. */
#include "engine/query/build.h"
#include "engine/query/join.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite.h"
#include "engine/query/scorers.h"
#include "engine/query/source.h"

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

static struct nested_scorer *nested_self(struct scorer *s)
{
    return (struct nested_scorer *)(void *)s;
}

static const struct nested_weight *nw(const struct weight *w)
{
    return (const struct nested_weight *)(const void *)w;
}

/* The first parent from `target` on with a child that matches; its children's scores are combined. */
static doc_id nested_join(struct nested_scorer *n, doc_id target)
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
        return nested_join(n, (doc_id)parent + 1);
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
    case SCORE_AVG:
    case SCORE_FIRST:
    case SCORE_MULTIPLY:
        n->score = (float)(sum / count);
    }
    n->score = n->scored ? n->score : 0;
    return n->base.doc = (doc_id)parent;
}

static doc_id nested_next(struct scorer *s)
{
    return s->doc == DOC_END ? DOC_END
                             : nested_join(nested_self(s), s->doc == POSTINGS_UNPOSITIONED ? 0 : s->doc + 1);
}

static doc_id nested_seek(struct scorer *s, doc_id target)
{
    return s->doc == DOC_END ? DOC_END : nested_join(nested_self(s), target);
}

static float nested_score(struct scorer *s)
{
    return nested_self(s)->score;
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
    postings_init(p, f, &t, false);
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
    while (from > 0 && !bits_test(nested_self(s)->parents, from - 1)) {
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

static const struct weight_ops nested_weight_ops = {
    .cost = nested_cost, .scorer = nested_scorer, .explain = nested_explain};

static enum err nested_weight(struct weight_shared *sh, const struct query *q, float boost,
                              enum score_need need, const struct weight **out, struct errmsg *em)
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

static enum err nested_each_child(const struct query *q, child_fn fn, void *arg)
{
    return fn(arg, q->nested.child, CHILD_SCORES);
}

/* It gives the documents that hold what it found. */
static bool nested_may_match(const struct nested_question *n, UNUSED const struct query *q)
{
    return n->path != NULL;
}

static void nested_print(const struct query *q, struct buf *out)
{
    buf_z(out, "ToParentBlockJoinQuery (");
    query_print(q->nested.filtered != NULL ? q->nested.filtered : q->nested.child, out);
    buf_char(out, ')');
}

static enum err nested_rewrite(struct weight_shared *sh, const struct query *q, const struct query **out,
                               struct errmsg *em)
{
    struct query *c = rewrite_copy(sh, q);
    *out = c;
    if (c == NULL) {
        return err_no_memory(em);
    }
    enum err e = query_rewrite(sh, q->nested.child, &c->nested.child, em);
    return e == ERR_OK && q->nested.filtered != NULL
               ? query_rewrite(sh, q->nested.filtered, &c->nested.filtered, em)
               : e;
}

const struct query_ops q_nested = {.name = "nested",
                                   .each_child = nested_each_child,
                                   .expensive = "[joining] queries",
                                   .may = nested_may_match,
                                   .print = nested_print,
                                   .rewrite = nested_rewrite,
                                   .weight = nested_weight};

/* ---- as it is written ---- */

struct dsl_nested_query {
    struct dsl dsl;
    struct str path;
    struct dsl *query;
    enum score_mode score_mode;
    bool score_none, ignore_unmapped;
    struct inner_hits_spec *inner_hits;
};

enum err child_score_mode(struct str s, enum score_mode *mode, bool *none, struct errmsg *em)
{
    static const struct {
        const char *name;
        enum score_mode mode;
        bool none;
    } modes[] = {{"none", SCORE_AVG, true},
                 {"avg", SCORE_AVG, false},
                 {"sum", SCORE_SUM, false},
                 {"max", SCORE_MAX, false},
                 {"min", SCORE_MIN, false}};
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        if (str_is(s, modes[i].name)) {
            *mode = modes[i].mode;
            *none = modes[i].none;
            return ERR_OK;
        }
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "No score mode for child query [%.*s] found", STR_ARG(s));
}

static enum err parse_nested_mode(struct json_pull *p, struct dsl_nested_query *q, struct errmsg *em)
{
    struct str s;
    enum err e = json_pull_text(p, &s, em);
    return e == ERR_OK ? child_score_mode(s, &q->score_mode, &q->score_none, em) : e;
}

static enum err parse_nested(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_nested_query),
        {"path", PARAM_TEXT, offsetof(struct dsl_nested_query, path)},
        {"ignore_unmapped", PARAM_BOOL, offsetof(struct dsl_nested_query, ignore_unmapped)},
    };
    struct dsl_nested_query *q = dsl_new(out, arena, &dsl_nested, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->score_mode = SCORE_AVG;
    struct str name = STR_NULL;
    while (json_pull_member(p, &name)) {
        enum err e = ERR_OK;
        if (p->token == TOK_START_OBJECT) {
            if (str_is(name, "query")) {
                e = dsl_parse_query(p, arena, &q->query, em);
            } else if (str_is(name, "inner_hits")) {
                e = inner_hits_pull(p, &q->inner_hits, arena, em);
            } else {
                e = dsl_unsupported(p, "nested", name, em);
            }
        } else if (json_token_is_value(p->token)) {
            e = str_is(name, "score_mode")
                    ? parse_nested_mode(p, q, em)
                    : dsl_param_of(p, "nested", name, params, ARRAY_LEN(params), q, em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    if (q->path.p == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[nested] requires 'path' field");
    }
    if (q->query == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[nested] requires 'query' field");
    }
    return ERR_OK;
}

/* The child beside a filter that lets in the objects of the path alone. */
static struct query *for_path(struct builder *b, const struct query *child, const struct field *path)
{
    struct query *all = qnode_new(b, &q_bool), *of_path = qnode_new(b, &q_term);
    struct bool_clause *v = ARENA_ARRAY(b->arena, struct bool_clause, 2);
    if (all == NULL || of_path == NULL || v == NULL) {
        return NULL;
    }
    of_path->field_name = STR("_nested_path");
    of_path->term.term = path->path;
    v[0] = (struct bool_clause){OCCUR_MUST, child};
    v[1] = (struct bool_clause){OCCUR_FILTER, of_path};
    all->boolean.v = v;
    all->boolean.n = 2;
    return all;
}

static enum err build_nested(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_nested_query *q = (const struct dsl_nested_query *)(const void *)d;
    const struct field *path = mapping_field(b->cx->mapping, q->path);
    if (path == NULL || !path->class->is_object) {
        if (q->ignore_unmapped) {
            return qnode_none(b, out, em, "%s", "");
        }
        return err_set(em, ERR_ILLEGAL_STATE, "[nested] failed to find nested object under path [%.*s]",
                       STR_ARG(q->path));
    }
    if (!path->class->is_nested) {
        return err_set(em, ERR_ILLEGAL_STATE,
                       "[nested] nested object under path [%.*s] is not of nested type", STR_ARG(q->path));
    }
    struct query *child, *n;
    const struct field *outer = b->nested;
    b->nested = path;
    enum err e = build_dsl(b, q->query, &child, em);
    b->nested = outer;
    if (e != ERR_OK) {
        return e;
    }
    n = *out = qnode_new(b, &q_nested);
    if (n == NULL) {
        return err_no_memory(em);
    }
    n->nested.path = path;
    n->nested.child = child;
    if (query_may_match_others(b->cx->mapping, child, path)) {
        n->nested.filtered = for_path(b, child, path);
        if (n->nested.filtered == NULL) {
            return err_no_memory(em);
        }
    }
    n->nested.outer = outer;
    n->nested.score_mode = q->score_mode;
    n->nested.score_none = q->score_none;
    n->nested.inner_hits = q->inner_hits;
    return ERR_OK;
}

const struct dsl_type dsl_nested = {.name = "nested", .parse = parse_nested, .build = build_nested};
