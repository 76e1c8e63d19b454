/* boosting: a query's scores multiplied where another matches. */
#include "common/base/num.h"
#include "engine/query/build.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite.h"
#include "engine/query/scorers.h"

struct boosting {
    const struct query *positive, *negative;
    float negative_boost;
};

static const struct boosting *own_of(const struct query *q)
{
    return q->own;
}

static enum err boosting_each_child(const struct query *q, child_fn fn, void *arg)
{
    enum err e = fn(arg, own_of(q)->positive, CHILD_SCORES);
    return e == ERR_OK ? fn(arg, own_of(q)->negative, CHILD_DEMOTES) : e;
}

static void boosting_print(const struct query *q, struct buf *out)
{
    buf_z(out, "FunctionScoreQuery(");
    query_print(own_of(q)->positive, out);
    buf_z(out, ", scored by boost(queryboost(score(");
    query_print(own_of(q)->negative, out);
    buf_z(out, "))^");
    num_put_float(out, own_of(q)->negative_boost);
    buf_z(out, "))");
}

static enum err boosting_rewrite(struct weight_shared *sh, const struct query *q, const struct query **out,
                                 struct errmsg *em)
{
    struct query *c = rewrite_copy(sh, q);
    struct boosting *own = ARENA_NEW(sh->cx.arena, struct boosting);
    *out = c;
    if (c == NULL || own == NULL) {
        return err_no_memory(em);
    }
    *own = *own_of(q);
    c->own = own;
    enum err e = query_rewrite(sh, own->positive, &own->positive, em);
    return e == ERR_OK ? query_rewrite(sh, own->negative, &own->negative, em) : e;
}

/* ---- weights ---- */

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
                                  own_of(w->query)->negative_boost,
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
    float factor = own_of(w->query)->negative_boost;
    struct explanation *x = explain_new(a, true, s->ops->score(s),
                                        "weight(%.*s), result of:", STR_ARG(query_text_plain(w->query, a)));
    if (negative) {
        struct explanation *f = explain_new(a, true, factor, "Matched boosting query score(%.*s)",
                                            STR_ARG(query_text(own_of(w->query)->negative, a)));
        struct explanation *product =
            explain_new(a, true, (float)((double)query->value * (double)factor), "product of:");
        query = explain_add(a, explain_add(a, product, query), f);
    }
    *out = explain_add(a, x, query);
    return ERR_OK;
}

static const struct weight_ops boosting_weight_ops = {
    .cost = boosting_cost, .scorer = boosting_scorer, .explain = boosting_explain};

static enum err boosting_weight(struct weight_shared *sh, const struct query *q, float boost,
                                enum score_need need, const struct weight **out, struct errmsg *em)
{
    struct boosting_weight *w = weight_alloc(sh, sizeof(*w), &boosting_weight_ops, q, boost, need);
    if (w == NULL) {
        return err_no_memory(em);
    }
    *out = &w->base;
    enum err e = weight_make(sh, own_of(q)->positive, 1,
                             need == NEED_NO_SCORES ? NEED_NO_SCORES : NEED_SCORES, &w->positive, em);
    return e == ERR_OK ? weight_make(sh, own_of(q)->negative, 1, NEED_NO_SCORES, &w->negative, em) : e;
}

const struct query_ops q_boosting = {.name = "boosting",
                                     .each_child = boosting_each_child,
                                     .print = boosting_print,
                                     .rewrite = boosting_rewrite,
                                     .weight = boosting_weight};

/* ---- as it is written ---- */

struct dsl_boosting_query {
    struct dsl dsl;
    struct dsl *positive, *negative;
    float negative_boost;
};

static enum err parse_boosting(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_boosting_query),
        {"negative_boost", PARAM_FLOAT, offsetof(struct dsl_boosting_query, negative_boost)},
    };
    struct dsl_boosting_query *q = dsl_new(out, arena, &dsl_boosting, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->negative_boost = -1;
    struct str name = STR_NULL;
    while (json_pull_member(p, &name)) {
        enum err e = ERR_OK;
        if (p->token == TOK_START_OBJECT && (str_is(name, "positive") || str_is(name, "negative"))) {
            e = dsl_parse_query(p, arena, str_is(name, "positive") ? &q->positive : &q->negative, em);
        } else if (json_token_is_value(p->token)) {
            e = dsl_param_of(p, "boosting", name, params, ARRAY_LEN(params), q, em);
        } else if (p->token == TOK_START_OBJECT) {
            e = dsl_unsupported(p, "boosting", name, em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    if (q->positive == NULL) {
        return json_pull_err(p, em, ERR_PARSING, "[boosting] query requires 'positive' query to be set'");
    }
    if (q->negative == NULL) {
        return json_pull_err(p, em, ERR_PARSING, "[boosting] query requires 'negative' query to be set'");
    }
    if (q->negative_boost < 0) {
        return json_pull_err(p, em, ERR_PARSING,
                             "[boosting] query requires 'negative_boost' to be set to be a positive value'");
    }
    return ERR_OK;
}

static bool boosting_none(struct builder *b, const struct dsl *d)
{
    return dsl_is_none(b, ((const struct dsl_boosting_query *)(const void *)d)->positive);
}

static enum err build_boosting(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_boosting_query *q = (const struct dsl_boosting_query *)(const void *)d;
    struct query *positive, *negative;
    if (boosting_none(b, d)) {
        return qnode_none(b, out, em, "User requested \"match_none\" query.");
    }
    enum err e = build_dsl(b, q->positive, &positive, em);
    e = e == ERR_OK ? build_dsl(b, q->negative, &negative, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    struct query *n = *out = qnode_new(b, &q_boosting);
    struct boosting *own = ARENA_NEW(b->arena, struct boosting);
    if (n == NULL || own == NULL) {
        return err_no_memory(em);
    }
    *own = (struct boosting){positive, negative, q->negative_boost};
    n->own = own;
    return ERR_OK;
}

static bool boosting_plain(const struct json *body, unsigned depth)
{
    static const char *const keys[] = {"positive", "negative"};
    return dsl_plain_clauses(body, keys, ARRAY_LEN(keys), depth);
}

const struct dsl_type dsl_boosting = {.name = "boosting",
                                      .parse = parse_boosting,
                                      .build = build_boosting,
                                      .none = boosting_none,
                                      .plain = boosting_plain};
