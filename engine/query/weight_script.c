/* boosting and script_score: a query's scores multiplied where another matches, or replaced by a script's. */
#include "common/base/num.h"
#include "engine/query/query_ops.h"
#include "engine/query/scorers.h"
#include "engine/query/script_use.h"

#include <math.h>

/* ---- boosting ---- */

struct boosting_weight {
    struct weight base;
    const struct weight *positive, *negative;
};

struct boosting_scorer {
    struct scorer base;
    struct scorer *positive, *negative; /* negative NULL: matches nothing here */
    float negative_boost, boost;
};

static struct boosting_scorer *boosting(struct scorer *s)
{
    return (struct boosting_scorer *)(void *)s;
}

static doc_id boosting_next(struct scorer *s)
{
    return s->doc = boosting(s)->positive->ops->next(boosting(s)->positive);
}

static doc_id boosting_seek(struct scorer *s, doc_id target)
{
    return s->doc = scorer_seek(boosting(s)->positive, target);
}

static bool boosting_matches(struct scorer *s)
{
    struct scorer *positive = boosting(s)->positive;
    return positive->ops->matches(positive);
}

static bool is_negative(struct boosting_scorer *b, doc_id doc)
{
    if (b->negative == NULL) {
        return false;
    }
    if (scorer_is_before(b->negative, doc)) {
        scorer_seek(b->negative, doc);
    }
    return b->negative->doc == doc && scorer_accepts(b->negative);
}

static float boosting_score(struct scorer *s)
{
    struct boosting_scorer *b = boosting(s);
    double score = (double)scorer_score(b->positive);
    if (is_negative(b, s->doc)) {
        score *= (double)b->negative_boost;
    }
    return score >= 0 ? (float)(score * (double)b->boost) : 0;
}

static const struct scorer_ops boosting_ops = {
    .next = boosting_next, .seek = boosting_seek, .score = boosting_score};
static const struct scorer_ops boosting_verifying_ops = {
    .next = boosting_next, .seek = boosting_seek, .matches = boosting_matches, .score = boosting_score};

static const struct boosting_weight *bw(const struct weight *w)
{
    return (const struct boosting_weight *)(const void *)w;
}

static uint64_t boosting_cost(const struct weight *w, const struct leaf *leaf)
{
    return weight_cost(bw(w)->positive, leaf);
}

static enum err boosting_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    struct scorer *positive, *negative = NULL;
    struct scorer_request sub = *rq;
    enum err e = weight_make_scorer(bw(w)->positive, rq, &positive);
    if (e != ERR_OK || positive == NULL) {
        return e;
    }
    if (w->need == NEED_NO_SCORES) {
        *out = positive;
        return ERR_OK;
    }
    sub.lead_cost = MIN_OF(rq->lead_cost, positive->cost);
    if (weight_cost(bw(w)->negative, rq->leaf) > 0) {
        e = weight_make_scorer(bw(w)->negative, &sub, &negative);
    }
    struct boosting_scorer *b = ARENA_NEW(rq->arena, struct boosting_scorer);
    if (e != ERR_OK || b == NULL) {
        return e != ERR_OK ? e : err_no_memory(rq->em);
    }
    *b = (struct boosting_scorer){{positive->ops->matches != NULL ? &boosting_verifying_ops : &boosting_ops,
                                   POSTINGS_UNPOSITIONED, positive->cost},
                                  positive,
                                  negative,
                                  w->query->boosting.negative_boost,
                                  w->boost};
    *out = &b->base;
    return ERR_OK;
}

static enum err boosting_explain(const struct weight *w, const struct explain_request *rq,
                                 struct explanation **out)
{
    struct explanation *query;
    struct scorer *s;
    enum err e = explain_weight(bw(w)->positive, rq, &query);
    if (e != ERR_OK || !query->match || w->need == NEED_NO_SCORES) {
        *out = query;
        return e;
    }
    e = explain_scorer(w, rq, &s);
    if (e != ERR_OK || s == NULL) {
        return e;
    }
    struct arena *a = rq->arena;
    bool negative = is_negative(boosting(s), rq->doc);
    float factor = negative ? w->query->boosting.negative_boost : 1;
    struct str negative_text = query_text(w->query->boosting.negative, a);
    struct buf number;
    buf_init(&number, NULL, 64);
    num_put_float(&number, w->query->boosting.negative_boost);
    struct explanation *x = explain_new(a, true, s->ops->score(s),
                                        "weight(%.*s), result of:", STR_ARG(query_text_plain(w->query, a)));
    struct explanation *product =
        explain_new(a, true, (float)((double)query->value * (double)factor), "product of:");
    struct explanation *f =
        negative
            ? explain_new(a, true, factor, "Matched boosting query score(%.*s)", STR_ARG(negative_text))
            : explain_new(a, true, 1, "Did not match boosting query score(%.*s)", STR_ARG(negative_text));
    product = explain_add(a, explain_add(a, product, query), f);
    buf_fini(&number);
    *out = explain_add(a, x, product);
    return ERR_OK;
}

static const struct weight_ops boosting_weight_ops = {boosting_cost, boosting_scorer, boosting_explain, NULL};

enum err weight_boosting(struct weight_shared *sh, const struct query *q, float boost, enum score_need need,
                         const struct weight **out, struct errmsg *em)
{
    struct boosting_weight *w = weight_alloc(sh, sizeof(*w), &boosting_weight_ops, q, boost, need);
    if (w == NULL) {
        return err_no_memory(em);
    }
    *out = &w->base;
    enum err e = weight_make(sh, q->boosting.positive, 1,
                             need == NEED_NO_SCORES ? NEED_NO_SCORES : NEED_SCORES, &w->positive, em);
    return e == ERR_OK ? weight_make(sh, q->boosting.negative, 1, NEED_NO_SCORES, &w->negative, em) : e;
}

/* ---- script_score ---- */

struct script_weight {
    struct weight base;
    const struct weight *child;
    bool child_scores;
};

struct script_scorer {
    struct scorer base;
    struct scorer *child;
    struct script_docs *docs;
    const struct script_weight *w;
    float own;
    doc_id scored;
};

static struct script_scorer *scripted(struct scorer *s)
{
    return (struct script_scorer *)(void *)s;
}

static const struct script_weight *sw(const struct weight *w)
{
    return (const struct script_weight *)(const void *)w;
}

static float script_compute(struct script_scorer *s)
{
    struct errmsg em;
    double v = 0;
    float score = s->w->child_scores ? scorer_score(s->child) : 0;
    if (s->w->base.shared->failed) {
        return 0;
    }
    err_clear(&em);
    enum err e = script_docs_number(s->docs, s->base.doc, score, &v, &em);
    float result = (float)v;
    if (e == ERR_OK && (result < 0 || isnan(result))) {
        struct buf t;
        buf_init(&t, NULL, 64);
        num_put_float(&t, result);
        e = err_set(&em, ERR_ILLEGAL_ARGUMENT,
                    "script_score script returned an invalid score [%.*s] for doc [%u]. Must be a "
                    "non-negative score!",
                    STR_ARG(buf_view(&t)), s->base.doc);
        buf_fini(&t);
    }
    if (e != ERR_OK) {
        weight_fail(s->w->base.shared, &em);
        return 0;
    }
    return result * s->w->base.boost;
}

static doc_id script_next(struct scorer *s)
{
    struct script_scorer *x = scripted(s);
    return s->doc = x->w->base.shared->failed ? DOC_END : x->child->ops->next(x->child);
}

static doc_id script_seek(struct scorer *s, doc_id target)
{
    return s->doc = scorer_seek(scripted(s)->child, target);
}

static bool script_matches(struct scorer *s)
{
    struct script_scorer *x = scripted(s);
    const struct query *q = x->w->base.query;
    if (!scorer_accepts(x->child)) {
        return false;
    }
    if (!q->script.has_min_score) {
        return true;
    }
    x->own = script_compute(x);
    x->scored = s->doc;
    return x->own >= q->script.min_score * x->w->base.boost;
}

static float script_score(struct scorer *s)
{
    struct script_scorer *x = scripted(s);
    return x->scored == s->doc ? x->own : script_compute(x);
}

static const struct scorer_ops script_ops = {.next = script_next, .seek = script_seek, .score = script_score};
static const struct scorer_ops script_verifying_ops = {
    .next = script_next, .seek = script_seek, .matches = script_matches, .score = script_score};

static uint64_t script_cost(const struct weight *w, const struct leaf *leaf)
{
    return weight_cost(sw(w)->child, leaf);
}

static enum err script_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    struct scorer *child;
    enum err e = weight_make_scorer(sw(w)->child, rq, &child);
    if (e != ERR_OK || child == NULL) {
        return e;
    }
    if (w->need == NEED_NO_SCORES && !w->query->script.has_min_score) {
        *out = child;
        return ERR_OK;
    }
    struct script_scorer *s = ARENA_NEW(rq->arena, struct script_scorer);
    struct script_docs_opts o = {.script = w->query->script.script,
                                 .params = w->query->script.params,
                                 .mapping = w->shared->cx.view->mapping,
                                 .index_name = w->shared->cx.index_name,
                                 .leaf = rq->leaf,
                                 .arena = rq->arena,
                                 .now_ms = w->shared->cx.now_ms,
                                 .random_salt = w->query->script.random_salt};
    if (s == NULL) {
        return err_no_memory(rq->em);
    }
    bool verifies = child->ops->matches != NULL || w->query->script.has_min_score;
    *s = (struct script_scorer){
        .base = {verifies ? &script_verifying_ops : &script_ops, POSTINGS_UNPOSITIONED, child->cost},
        .child = child,
        .w = sw(w),
        .scored = DOC_END};
    *out = &s->base;
    return script_docs_new(&s->docs, &o, rq->em);
}

static enum err script_explain(const struct weight *w, const struct explain_request *rq,
                               struct explanation **out)
{
    struct explanation *query;
    struct scorer *s;
    enum err e = explain_weight(sw(w)->child, rq, &query);
    if (e != ERR_OK || !query->match || w->need == NEED_NO_SCORES) {
        *out = query;
        return e;
    }
    e = explain_scorer(w, rq, &s);
    if (e != ERR_OK) {
        return e;
    }
    float value = s != NULL ? s->ops->score(s) : 0;
    struct explanation *x = explain_new(rq->arena, s != NULL, value / w->boost,
                                        "script score function, computed with script:\"%.*s\"",
                                        STR_ARG(script_form_text(w->query->script.form, rq->arena)));
    if (sw(w)->child_scores) {
        struct explanation *score = explain_new(rq->arena, true, query->value, "_score: ");
        x = explain_add(rq->arena, x, explain_add(rq->arena, score, query));
    }
    if (w->boost != 1) {
        struct explanation *product = explain_new(rq->arena, s != NULL, value, "Boosted score, product of:");
        product = explain_add(rq->arena, product, explain_new(rq->arena, true, w->boost, "boost"));
        x = explain_add(rq->arena, product, x);
    }
    *out = x;
    return ERR_OK;
}

static const struct weight_ops script_weight_ops = {script_cost, script_scorer, script_explain, NULL};

enum err weight_script_score(struct weight_shared *sh, const struct query *q, float boost,
                             enum score_need need, const struct weight **out, struct errmsg *em)
{
    struct script_weight *w = weight_alloc(sh, sizeof(*w), &script_weight_ops, q, boost, need);
    if (w == NULL) {
        return err_no_memory(em);
    }
    *out = &w->base;
    w->child_scores =
        script_needs_score(q->script.script) && (need != NEED_NO_SCORES || q->script.has_min_score);
    return weight_make(sh, q->script.child, 1, w->child_scores ? NEED_SCORES : NEED_NO_SCORES, &w->child, em);
}

static enum err boosting_each_child(const struct query *q, child_fn fn, void *arg)
{
    enum err e = fn(arg, q->boosting.positive, CHILD_SCORES);
    return e == ERR_OK ? fn(arg, q->boosting.negative, CHILD_DEMOTES) : e;
}

static enum err script_score_each_child(const struct query *q, child_fn fn, void *arg)
{
    return fn(arg, q->script.child, CHILD_SCORES);
}

const struct query_ops q_boosting = {
    .name = "boosting", .kind = KIND_boosting, .each_child = boosting_each_child};
const struct query_ops q_script_score = {.name = "script_score",
                                         .kind = KIND_script_score,
                                         .each_child = script_score_each_child,
                                         .expensive = "[script score] queries"};
