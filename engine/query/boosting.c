/* boosting: a query's scores multiplied where another matches. */
#include "common/base/num.h"
#include "engine/query/print.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite.h"
#include "engine/query/scorers.h"

static enum err boosting_each_child(const struct query *q, child_fn fn, void *arg)
{
    enum err e = fn(arg, q->boosting.positive, CHILD_SCORES);
    return e == ERR_OK ? fn(arg, q->boosting.negative, CHILD_DEMOTES) : e;
}

static void boosting_print(const struct query *q, struct buf *out)
{
    buf_z(out, "FunctionScoreQuery(");
    query_print(q->boosting.positive, out);
    buf_z(out, ", scored by boost(queryboost(score(");
    query_print(q->boosting.negative, out);
    buf_z(out, "))^");
    num_put_float(out, q->boosting.negative_boost);
    buf_z(out, "))");
}

static enum err boosting_rewrite(struct weight_shared *sh, const struct query *q, const struct query **out,
                                 struct errmsg *em)
{
    struct query *c = rewrite_copy(sh, q);
    *out = c;
    if (c == NULL) {
        return err_no_memory(em);
    }
    enum err e = query_rewrite(sh, q->boosting.positive, &c->boosting.positive, em);
    return e == ERR_OK ? query_rewrite(sh, q->boosting.negative, &c->boosting.negative, em) : e;
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
    enum err e = weight_make(sh, q->boosting.positive, 1,
                             need == NEED_NO_SCORES ? NEED_NO_SCORES : NEED_SCORES, &w->positive, em);
    return e == ERR_OK ? weight_make(sh, q->boosting.negative, 1, NEED_NO_SCORES, &w->negative, em) : e;
}

const struct query_ops q_boosting = {.name = "boosting",
                                     .each_child = boosting_each_child,
                                     .print = boosting_print,
                                     .rewrite = boosting_rewrite,
                                     .weight = boosting_weight};
