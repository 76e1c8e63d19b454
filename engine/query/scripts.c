/* script_score, a script in place of a query's scores, and script, which selects by one. */
#include "common/base/num.h"
#include "engine/query/build.h"
#include "engine/query/print.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite.h"
#include "engine/query/scorers.h"
#include "engine/query/script_use.h"

#include <math.h>

struct script_params {
    const struct query *child; /* NULL for q_script */
    struct script *script;
    const struct json *params;
    const struct json *form; /* as the request has it */
    float min_score;
    bool has_min_score;
    int32_t random_salt; /* of index name and shard */
};

static const struct script_params *own_of(const struct query *q)
{
    return q->own;
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
    ERR_LOCAL(em);
    double v = 0;
    float score = s->w->child_scores ? scorer_score(s->child) : 0;
    if (s->w->base.shared->failed) {
        return 0;
    }
    err_clear(&em);
    enum err e = script_docs_number(s->docs, s->base.doc, score, &v, NULL, &em);
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
    if (!own_of(q)->has_min_score) {
        return true;
    }
    x->own = script_compute(x);
    x->scored = s->doc;
    return x->own >= own_of(q)->min_score * x->w->base.boost;
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
    if (w->need == NEED_NO_SCORES && !own_of(w->query)->has_min_score) {
        *out = child;
        return ERR_OK;
    }
    struct script_scorer *s = ARENA_NEW(rq->arena, struct script_scorer);
    struct script_docs_opts o = {.script = own_of(w->query)->script,
                                 .params = own_of(w->query)->params,
                                 .mapping = w->shared->cx.view->mapping,
                                 .index_name = w->shared->cx.index_name,
                                 .leaf = rq->leaf,
                                 .arena = rq->arena,
                                 .now_ms = w->shared->cx.now_ms,
                                 .random_salt = own_of(w->query)->random_salt};
    if (s == NULL) {
        return err_no_memory(rq->em);
    }
    bool verifies = child->ops->matches != NULL || own_of(w->query)->has_min_score;
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
                                        STR_ARG(script_form_text(own_of(w->query)->form, rq->arena)));
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
        script_needs_score(own_of(q)->script) && (need != NEED_NO_SCORES || own_of(q)->has_min_score);
    return weight_make(sh, own_of(q)->child, 1, w->child_scores ? NEED_SCORES : NEED_NO_SCORES, &w->child,
                       em);
}

static enum err script_score_each_child(const struct query *q, child_fn fn, void *arg)
{
    return fn(arg, own_of(q)->child, CHILD_SCORES);
}

static void script_score_print(const struct query *q, struct buf *out)
{
    buf_z(out, "script_score (");
    query_print(own_of(q)->child, out);
    buf_z(out, ", script: {");
    query_print_script(own_of(q)->form, out);
    buf_char(out, '}');
}

static enum err script_score_rewrite(struct weight_shared *sh, const struct query *q,
                                     const struct query **out, struct errmsg *em)
{
    struct query *c = rewrite_copy(sh, q);
    struct script_params *own = ARENA_NEW(sh->cx.arena, struct script_params);
    *out = c;
    if (c == NULL || own == NULL) {
        return err_no_memory(em);
    }
    *own = *own_of(q);
    c->own = own;
    return query_rewrite(sh, own->child, &own->child, em);
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
    query_print_script(own_of(q)->form, out);
    buf_char(out, ')');
}

static uint64_t filter_cost(UNUSED const struct weight *w, const struct leaf *leaf)
{
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
    ERR_LOCAL(em);
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
    struct script_docs_opts o = {.script = own_of(w->query)->script,
                                 .params = own_of(w->query)->params,
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

const struct query_ops q_script = {
    .name = "script", .print = script_print, .plain_weight = &filter_ops, .expensive = "[script] queries"};

/* ---- as it is written ---- */

struct dsl_script_body {
    struct dsl dsl;
    struct dsl *query;
    const struct json *script;
    float min_score;
    bool has_min_score;
};

static enum err read_query(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em)
{
    return dsl_parse_query(p, arena, &((struct dsl_script_body *)base)->query, em);
}

static enum err read_script(struct json_pull *p, UNUSED struct arena *arena, void *base, struct errmsg *em)
{
    return script_form_parse(p, &((struct dsl_script_body *)base)->script, em);
}

static enum err read_min_score(struct json_pull *p, UNUSED struct arena *arena, void *base, struct errmsg *em)
{
    struct dsl_script_body *q = base;
    q->has_min_score = true;
    return json_pull_float(p, &q->min_score, em);
}

static enum err parse_script_score(struct json_pull *p, struct arena *arena, struct dsl **out,
                                   struct errmsg *em)
{
    static const struct object_field fields[] = {
        {"query", OBJ_OBJECT, PARAM_IGNORED, 0, read_query},
        {"script", OBJ_OBJECT, PARAM_IGNORED, 0, read_script},
        {"min_score", OBJ_NUMBER | OBJ_STRING, PARAM_IGNORED, 0, read_min_score},
        {"boost", OBJ_NUMBER | OBJ_STRING, PARAM_BOOST, offsetof(struct dsl, boost), NULL},
        {"_name", OBJ_STRING, PARAM_TEXT, offsetof(struct dsl, name), NULL},
    };
    struct dsl_script_body *q = dsl_new(out, arena, &dsl_script_score, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    enum err e = dsl_parse_object(p, arena, "script_score", fields, ARRAY_LEN(fields), q, em);
    if (e != ERR_OK) {
        return e;
    }
    if (q->query == NULL || q->script == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Required [%s]",
                       q->query != NULL    ? "script"
                       : q->script != NULL ? "query"
                                           : "query, script");
    }
    return ERR_OK;
}

static bool script_score_none(struct builder *b, const struct dsl *d)
{
    const struct dsl *query = ((const struct dsl_script_body *)(const void *)d)->query;
    return query != NULL && dsl_is_none(b, query);
}

static enum err build_script_score(struct builder *b, const struct dsl *d, struct query **out,
                                   struct errmsg *em)
{
    const struct dsl_script_body *q = (const struct dsl_script_body *)(const void *)d;
    if (script_score_none(b, d)) {
        return qnode_none(b, out, em, "User requested \"match_none\" query.");
    }
    struct script *script;
    enum err e = script_of_form(b->cx, q->script, SCRIPT_SCORE, &script, em);
    struct query *child;
    e = e == ERR_OK ? build_dsl(b, q->query, &child, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    struct query *n = *out = qnode_new(b, &q_script_score);
    struct script_params *own = ARENA_NEW(b->arena, struct script_params);
    if (n == NULL || own == NULL) {
        return err_no_memory(em);
    }
    n->own = own;
    own->child = child;
    own->script = script;
    own->params = json_get(q->script, "params");
    own->form = q->script;
    own->random_salt = random_salt(b->cx);
    own->min_score = q->min_score;
    own->has_min_score = q->has_min_score;
    return ERR_OK;
}

static enum err parse_script(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct param params[] = {DSL_COMMON_PARAMS(struct dsl_script_body)};
    struct dsl_script_body *q = dsl_new(out, arena, &dsl_script, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    struct str name = STR_NULL;
    while (json_pull_member(p, &name)) {
        enum err e = ERR_OK;
        if (p->token == TOK_START_ARRAY) {
            return json_pull_err(p, em, ERR_PARSING,
                                 "[script] query does not support an array of scripts. Use a bool query with "
                                 "a clause per script instead.");
        }
        if (str_is(name, "script") && p->token != TOK_NULL) {
            e = script_form_parse(p, &q->script, em);
        } else {
            e = json_token_is_value(p->token)
                    ? dsl_param_of(p, "script", name, params, ARRAY_LEN(params), q, em)
                    : dsl_unsupported(p, "script", name, em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    if (q->script == NULL) {
        return json_pull_err(p, em, ERR_PARSING, "script must be provided with a [script] filter");
    }
    return ERR_OK;
}

static enum err build_script(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_script_body *q = (const struct dsl_script_body *)(const void *)d;
    struct script *script;
    enum err e = script_of_form(b->cx, q->script, SCRIPT_FILTER, &script, em);
    if (e != ERR_OK) {
        return e;
    }
    struct query *n = *out = qnode_new(b, &q_script);
    struct script_params *own = ARENA_NEW(b->arena, struct script_params);
    if (n == NULL || own == NULL) {
        return err_no_memory(em);
    }
    n->own = own;
    own->script = script;
    own->params = json_get(q->script, "params");
    own->form = q->script;
    return ERR_OK;
}

const struct dsl_type dsl_script_score = {.name = "script_score",
                                          .parse = parse_script_score,
                                          .build = build_script_score,
                                          .none = script_score_none};
const struct dsl_type dsl_script = {.name = "script", .parse = parse_script, .build = build_script};
