/* constant_score, which scores the boost wherever its child matches, and boosts around other queries. */
#include "engine/query/build.h"
#include "engine/query/print.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite.h"
#include "engine/query/scorers.h"

static bool child_may(const struct nested_question *n, const struct query *q)
{
    return nested_may(n, q->one.child);
}

static uint64_t child_docs(const struct view *v, const struct query *q)
{
    return query_cost(v, q->one.child);
}

/* ---- constant_score ---- */

static enum err constant_each_child(const struct query *q, child_fn fn, void *arg)
{
    return fn(arg, q->one.child, CHILD_FILTERS);
}

static bool constant_same(const struct query *a, const struct query *b)
{
    return query_equal(a->one.child, b->one.child);
}

static void constant_print(const struct query *q, struct buf *out)
{
    buf_z(out, "ConstantScore(");
    query_print_bare(q->one.child, out);
    buf_char(out, ')');
}

static enum err constant_rewrite(struct weight_shared *sh, const struct query *q, const struct query **out,
                                 struct errmsg *em)
{
    const struct query *child;
    enum err e = query_rewrite(sh, q->one.child, &child, em);
    if (e != ERR_OK) {
        return e;
    }
    if (child->ops == &q_match_none) {
        *out = child;
        return ERR_OK;
    }
    return rewrite_to_constant(sh, child, q->boost, out, em);
}

struct constant_weight {
    struct weight base;
    const struct weight *child;
};

static const struct constant_weight *constant(const struct weight *w)
{
    return (const struct constant_weight *)(const void *)w;
}

static uint64_t constant_cost(const struct weight *w, const struct leaf *leaf)
{
    return weight_cost(constant(w)->child, leaf);
}

static enum err constant_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    struct scorer *s;
    enum err e = weight_make_scorer(constant(w)->child, rq, &s);
    return e != ERR_OK || s == NULL ? e : constant_scorer_new(rq->arena, s, w->boost, out, rq->em);
}

static int64_t constant_count(const struct weight *w, const struct leaf *leaf)
{
    const struct weight *child = constant(w)->child;
    return child->ops->count != NULL ? child->ops->count(child, leaf) : -1;
}

static const struct weight_ops constant_ops = {
    .cost = constant_cost, .scorer = constant_scorer, .count = constant_count};

static enum err constant_weight(struct weight_shared *sh, const struct query *q, float boost,
                                enum score_need need, const struct weight **out, struct errmsg *em)
{
    struct constant_weight *w = weight_alloc(sh, sizeof(*w), &constant_ops, q, boost, need);
    if (w == NULL) {
        return err_no_memory(em);
    }
    *out = &w->base;
    return weight_make(sh, q->one.child, 1, NEED_NO_SCORES, &w->child, em);
}

const struct query_ops q_constant = {.name = "constant",
                                     .each_child = constant_each_child,
                                     .may = child_may,
                                     .same = constant_same,
                                     .print = constant_print,
                                     .cost = child_docs,
                                     .rewrite = constant_rewrite,
                                     .weight = constant_weight,
                                     .keeps_zero = true,
                                     .one_score = true};

/* ---- boosts ---- */

static enum err boost_each_child(const struct query *q, child_fn fn, void *arg)
{
    return fn(arg, q->one.child, CHILD_SCORES);
}

/* Its boost is printed around it. */
static void boost_print(const struct query *q, struct buf *out)
{
    query_print(q->one.child, out);
}

static enum err boost_rewrite(struct weight_shared *sh, const struct query *q, const struct query **out,
                              struct errmsg *em)
{
    enum err e = query_rewrite(sh, q->one.child, out, em);
    return e == ERR_OK ? rewrite_boosted(sh, *out, q->boost, out, em) : e;
}

const struct query_ops q_boost = {.name = "boost",
                                  .each_child = boost_each_child,
                                  .may = child_may,
                                  .print = boost_print,
                                  .cost = child_docs,
                                  .rewrite = boost_rewrite};

/* ---- as it is written ---- */

struct dsl_constant_query {
    struct dsl dsl;
    struct dsl *filter;
};

static enum err parse_constant(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct param params[] = {DSL_COMMON_PARAMS(struct dsl_constant_query)};
    struct dsl_constant_query *q = dsl_new(out, arena, &dsl_constant_score, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    struct str name = STR_NULL;
    while (json_pull_member(p, &name)) {
        enum err e = ERR_OK;
        if (p->token == TOK_START_OBJECT && str_is(name, "filter")) {
            if (q->filter != NULL) {
                return json_pull_err(p, em, ERR_PARSING,
                                     "[constant_score] accepts only one 'filter' element.");
            }
            e = dsl_parse_query(p, arena, &q->filter, em);
        } else if (p->token == TOK_START_OBJECT) {
            e = dsl_unsupported(p, "constant_score", name, em);
        } else if (json_token_is_value(p->token)) {
            e = dsl_param_of(p, "constant_score", name, params, ARRAY_LEN(params), q, em);
        } else {
            return json_pull_err(p, em, ERR_PARSING, "unexpected token [%s]", json_token_text(p->token));
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    if (q->filter == NULL) {
        return json_pull_err(p, em, ERR_PARSING, "[constant_score] requires a 'filter' element");
    }
    return ERR_OK;
}

static bool constant_none(struct builder *b, const struct dsl *d)
{
    return dsl_is_none(b, ((const struct dsl_constant_query *)(const void *)d)->filter);
}

static enum err build_constant(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    struct query *child;
    if (constant_none(b, d)) {
        return qnode_none(b, out, em, "User requested \"match_none\" query.");
    }
    enum err e = build_dsl(b, ((const struct dsl_constant_query *)(const void *)d)->filter, &child, em);
    return e == ERR_OK ? qnode_constant(b, child, out, em) : e;
}

static bool constant_plain(const struct json *body, unsigned depth)
{
    static const char *const keys[] = {"filter"};
    return dsl_plain_clauses(body, keys, ARRAY_LEN(keys), depth);
}

const struct dsl_type dsl_constant_score = {.name = "constant_score",
                                            .parse = parse_constant,
                                            .build = build_constant,
                                            .none = constant_none,
                                            .plain = constant_plain};
