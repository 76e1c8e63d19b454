/* match_all and match_none. */
#include "engine/query/query_ops.h"
#include "engine/query/scorers.h"

static bool always_same(UNUSED const struct query *a, UNUSED const struct query *b)
{
    return true; /* whatever the reason for nothing */
}

/* ---- all ---- */

static void all_print(UNUSED const struct query *q, struct buf *out)
{
    buf_z(out, "*:*");
}

static uint64_t all_docs(const struct view *v, UNUSED const struct query *q)
{
    return v->doc_count;
}

static uint64_t all_cost(UNUSED const struct weight *w, const struct leaf *leaf)
{
    return leaf->doc_count;
}

static enum err all_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    return all_scorer_new(rq->arena, rq->leaf->doc_count, w->boost, out, rq->em);
}

static int64_t all_count(UNUSED const struct weight *w, const struct leaf *leaf)
{
    return (int64_t)leaf->live_count;
}

static const struct weight_ops all_ops = {
    .cost = all_cost, .scorer = all_scorer, .count = all_count, .counts_roots = true};

const struct query_ops q_match_all = {.name = "match_all",
                                      .same = always_same,
                                      .print = all_print,
                                      .cost = all_docs,
                                      .plain_weight = &all_ops,
                                      .one_score = true};

/* ---- none ---- */

static bool none_may(UNUSED const struct nested_question *n, UNUSED const struct query *q)
{
    return false;
}

static void none_print(const struct query *q, struct buf *out)
{
    buf_printf(out, "MatchNoDocsQuery(\"%.*s\")", STR_ARG(q->none.reason));
}

static uint64_t none_docs(UNUSED const struct view *v, UNUSED const struct query *q)
{
    return 0;
}

static uint64_t none_cost(UNUSED const struct weight *w, UNUSED const struct leaf *leaf)
{
    return 0;
}

static enum err none_scorer(UNUSED const struct weight *w, UNUSED const struct scorer_request *rq,
                            UNUSED struct scorer **out)
{
    return ERR_OK;
}

static enum err none_explain(const struct weight *w, const struct explain_request *rq,
                             struct explanation **out)
{
    *out = explain_new(rq->arena, false, 0, "%.*s", STR_ARG(w->query->none.reason));
    return ERR_OK;
}

static int64_t none_count(UNUSED const struct weight *w, UNUSED const struct leaf *leaf)
{
    return 0;
}

static const struct weight_ops none_ops = {.cost = none_cost,
                                           .scorer = none_scorer,
                                           .explain = none_explain,
                                           .count = none_count,
                                           .counts_roots = true};

const struct query_ops q_match_none = {.name = "match_none",
                                       .may = none_may,
                                       .same = always_same,
                                       .print = none_print,
                                       .cost = none_docs,
                                       .plain_weight = &none_ops,
                                       .keeps_zero = true};
