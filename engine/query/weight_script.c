/* script_score, a script in place of a query's scores, and script, which selects by one. */
#include "common/base/num.h"
#include "engine/query/print.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite.h"
#include "engine/query/scorers.h"
#include "engine/query/script_use.h"

#include <math.h>

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

static const struct weight_ops script_weight_ops = {
    .cost = script_cost, .scorer = script_scorer, .explain = script_explain};

static enum err script_score_weight(struct weight_shared *sh, const struct query *q, float boost,
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

static enum err script_score_each_child(const struct query *q, child_fn fn, void *arg)
{
    return fn(arg, q->script.child, CHILD_SCORES);
}

static void script_score_print(const struct query *q, struct buf *out)
{
    buf_z(out, "script_score (");
    query_print(q->script.child, out);
    buf_z(out, ", script: {");
    query_print_script(q->script.form, out);
    buf_char(out, '}');
}

static enum err script_score_rewrite(struct weight_shared *sh, const struct query *q,
                                     const struct query **out, struct errmsg *em)
{
    struct query *c = rewrite_copy(sh, q);
    *out = c;
    return c != NULL ? query_rewrite(sh, q->script.child, &c->script.child, em) : err_no_memory(em);
}

const struct query_ops q_script_score = {.name = "script_score",
                                         .each_child = script_score_each_child,
                                         .expensive = "[script score] queries",
                                         .print = script_score_print,
                                         .rewrite = script_score_rewrite,
                                         .weight = script_score_weight};

/* ---- script ---- */

static void script_print(const struct query *q, struct buf *out)
{
    buf_z(out, "ScriptQuery(");
    query_print_script(q->script.form, out);
    buf_char(out, ')');
}

static uint64_t filter_cost(const struct weight *w, const struct leaf *leaf)
{
    (void)w;
    return leaf->doc_count;
}

struct script_test {
    struct script_docs *docs;
    struct weight_shared *shared;
    bool failed;
};

static bool script_says(void *arg, doc_id doc)
{
    struct script_test *t = arg;
    struct errmsg em;
    bool yes = false;
    if (t->failed) {
        return false;
    }
    err_clear(&em);
    if (script_docs_bool(t->docs, doc, &yes, &em) != ERR_OK) {
        t->failed = true;
        weight_fail(t->shared, &em);
        return false;
    }
    return yes;
}

static enum err filter_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    struct script_test *t = ARENA_NEW(rq->arena, struct script_test);
    struct script_docs_opts o = {.script = w->query->script.script,
                                 .params = w->query->script.params,
                                 .mapping = w->shared->cx.view->mapping,
                                 .index_name = w->shared->cx.index_name,
                                 .leaf = rq->leaf,
                                 .arena = rq->arena,
                                 .now_ms = w->shared->cx.now_ms};
    if (t == NULL) {
        return err_no_memory(rq->em);
    }
    t->shared = w->shared;
    enum err e = script_docs_new(&t->docs, &o, rq->em);
    if (e != ERR_OK) {
        return e;
    }
    return verify_scorer_new(rq->arena, NULL, rq->leaf->doc_count, rq->leaf->doc_count, script_says, t,
                             w->boost, out, rq->em);
}

static const struct weight_ops filter_ops = {.cost = filter_cost, .scorer = filter_scorer};

static enum err script_weight(struct weight_shared *sh, const struct query *q, float boost,
                              enum score_need need, const struct weight **out, struct errmsg *em)
{
    *out = weight_alloc(sh, sizeof(**out), &filter_ops, q, boost, need);
    return *out != NULL ? ERR_OK : err_no_memory(em);
}

const struct query_ops q_script = {
    .name = "script", .print = script_print, .weight = script_weight, .expensive = "[script] queries"};
