/* dis_max: the best of several scores, and a share of the others. */
#include "common/base/num.h"
#include "engine/query/build.h"
#include "engine/query/print.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite.h"
#include "engine/query/scorers.h"

static enum err dis_max_each_child(const struct query *q, child_fn fn, void *arg)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < q->dis_max.n && e == ERR_OK; i++) {
        e = fn(arg, q->dis_max.v[i], CHILD_SCORES);
    }
    return e;
}

static bool dis_max_same(const struct query *a, const struct query *b)
{
    if (a->dis_max.n != b->dis_max.n || a->dis_max.tie_breaker != b->dis_max.tie_breaker) {
        return false;
    }
    for (uint32_t i = 0; i < a->dis_max.n; i++) {
        if (!query_equal(a->dis_max.v[i], b->dis_max.v[i])) {
            return false;
        }
    }
    return true;
}

static void dis_max_print(const struct query *q, struct buf *out)
{
    buf_char(out, '(');
    for (uint32_t i = 0; i < q->dis_max.n; i++) {
        const struct query *c = q->dis_max.v[i];
        bool parens = query_in_parens(c);
        buf_z(out, i > 0 ? " | " : "");
        buf_z(out, parens ? "(" : "");
        query_print(c, out);
        buf_z(out, parens ? ")" : "");
    }
    buf_char(out, ')');
    if (q->dis_max.tie_breaker != 0) {
        buf_char(out, '~');
        num_put_float(out, q->dis_max.tie_breaker);
    }
}

static enum err dis_max_rewrite(struct weight_shared *sh, const struct query *q, const struct query **out,
                                struct errmsg *em)
{
    const struct query **v = ARENA_ARRAY(sh->cx.arena, const struct query *, q->dis_max.n);
    struct query *c = rewrite_copy(sh, q);
    if (v == NULL || c == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < q->dis_max.n; i++) {
        enum err e = query_rewrite(sh, q->dis_max.v[i], &v[i], em);
        if (e != ERR_OK) {
            return e;
        }
    }
    if (q->dis_max.n == 0) {
        return rewrite_to_none(sh, "empty DisjunctionMaxQuery", out, em);
    }
    if (q->dis_max.n == 1) {
        return rewrite_boosted(sh, v[0], q->boost, out, em);
    }
    if (q->dis_max.tie_breaker == 1) { /* the best plus all others: a sum */
        struct bool_clause *sum = ARENA_ARRAY(sh->cx.arena, struct bool_clause, q->dis_max.n);
        if (sum == NULL) {
            return err_no_memory(em);
        }
        for (uint32_t i = 0; i < q->dis_max.n; i++) {
            sum[i] = (struct bool_clause){OCCUR_SHOULD, v[i]};
        }
        enum err e = rewrite_to_bool(sh, sum, q->dis_max.n, 0, q->boost, out, em);
        return e == ERR_OK ? query_rewrite(sh, *out, out, em) : e;
    }
    c->dis_max.v = v;
    *out = c;
    return ERR_OK;
}

/* ---- weights ---- */

struct dis_max_weight {
    struct weight base;
    const struct weight **v; /* a query each */
};

static const struct weight *const *parts(const struct weight *w)
{
    return ((const struct dis_max_weight *)(const void *)w)->v;
}

static uint64_t dis_max_cost(const struct weight *w, const struct leaf *leaf)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < w->query->dis_max.n; i++) {
        sum += weight_cost(parts(w)[i], leaf);
    }
    return sum;
}

static enum err dis_max_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    struct scorer **v = ARENA_ARRAY(rq->arena, struct scorer *, w->query->dis_max.n);
    struct disjunction_opts o = {.scored = w->need != NEED_NO_SCORES,
                                 .top = w->need == NEED_TOP_SCORES,
                                 .n_docs = rq->leaf->doc_count,
                                 .lead_cost = rq->lead_cost,
                                 .dis_max = true,
                                 .tie_breaker = w->query->dis_max.tie_breaker};
    uint32_t n = 0;
    if (v == NULL) {
        return err_no_memory(rq->em);
    }
    for (uint32_t i = 0; i < w->query->dis_max.n; i++) {
        enum err e = weight_make_scorer(parts(w)[i], rq, &v[n]);
        if (e != ERR_OK) {
            return e;
        }
        n += v[n] != NULL ? 1 : 0;
    }
    return n == 0 ? ERR_OK : disjunction_new(rq->arena, v, n, &o, out, rq->em);
}

static enum err dis_max_explain(const struct weight *w, const struct explain_request *rq,
                                struct explanation **out)
{
    struct arena *a = rq->arena;
    float tie = w->query->dis_max.tie_breaker, best = 0;
    double others = 0;
    bool match = false;
    struct buf number;
    buf_init(&number, NULL, 64);
    num_put_float(&number, tie);
    struct explanation *sum =
        tie == 0 ? explain_new(a, true, 0, "max of:")
                 : explain_new(a, true, 0, "max plus %.*s times others of:", STR_ARG(buf_view(&number)));
    buf_fini(&number);
    for (uint32_t i = 0; i < w->query->dis_max.n; i++) {
        struct explanation *e;
        enum err err = explain_weight(parts(w)[i], rq, &e);
        if (err != ERR_OK) {
            return err;
        }
        if (!e->match) {
            continue;
        }
        match = true;
        sum = explain_add(a, sum, e);
        if (e->value >= best) {
            others += best;
            best = e->value;
        } else {
            others += e->value;
        }
    }
    if (sum == NULL) {
        return err_no_memory(rq->em);
    }
    sum->value = (float)((double)best + others * (double)tie);
    *out = match ? sum : explain_new(a, false, 0, "No matching clause");
    return ERR_OK;
}

static const struct weight_ops dis_max_ops = {
    .cost = dis_max_cost, .scorer = dis_max_scorer, .explain = dis_max_explain};

static enum err dis_max_weight(struct weight_shared *sh, const struct query *q, float boost,
                               enum score_need need, const struct weight **out, struct errmsg *em)
{
    struct dis_max_weight *w = weight_alloc(sh, sizeof(*w), &dis_max_ops, q, boost, need);
    if (w == NULL || (w->v = ARENA_ARRAY(sh->cx.arena, const struct weight *, q->dis_max.n)) == NULL) {
        return err_no_memory(em);
    }
    *out = &w->base;
    for (uint32_t i = 0; i < q->dis_max.n; i++) {
        enum err e = weight_make(sh, q->dis_max.v[i], boost, need, &w->v[i], em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

const struct query_ops q_dis_max = {.name = "dis_max",
                                    .each_child = dis_max_each_child,
                                    .same = dis_max_same,
                                    .print = dis_max_print,
                                    .rewrite = dis_max_rewrite,
                                    .weight = dis_max_weight};

/* ---- as it is written ---- */

struct dsl_dis_max_query {
    struct dsl dsl;
    struct dsl_list queries;
    float tie_breaker;
};

static enum err parse_dis_max_queries(struct json_pull *p, struct arena *arena, struct dsl_list *list,
                                      struct errmsg *em)
{
    bool array = p->token == TOK_START_ARRAY;
    do { /* an empty array meets its end in place of a query, which is refused */
        struct dsl *d;
        enum err e = dsl_parse_query(p, arena, &d, em);
        if (e != ERR_OK) {
            return e;
        }
        if (!dsl_list_add(list, arena, d)) {
            return err_no_memory(em);
        }
    } while (array && json_pull_until(p, TOK_END_ARRAY));
    return ERR_OK;
}

static enum err parse_dis_max(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_dis_max_query),
        {"tie_breaker", PARAM_FLOAT, offsetof(struct dsl_dis_max_query, tie_breaker)},
    };
    struct dsl_dis_max_query *q = dsl_new(out, arena, &dsl_dis_max, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    struct str name = STR_NULL;
    bool found = false;
    while (json_pull_member(p, &name)) {
        enum err e = ERR_OK;
        bool opens = p->token == TOK_START_OBJECT || p->token == TOK_START_ARRAY;
        if (opens && str_is(name, "queries")) {
            found = true;
            e = parse_dis_max_queries(p, arena, &q->queries, em);
        } else {
            e = opens ? dsl_unsupported(p, "dis_max", name, em)
                      : dsl_param_of(p, "dis_max", name, params, ARRAY_LEN(params), q, em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    if (!found) {
        return json_pull_err(p, em, ERR_PARSING,
                             "[dis_max] requires 'queries' field with at least one clause");
    }
    return ERR_OK;
}

static enum err build_dis_max_query(struct builder *b, const struct dsl *d, struct query **out,
                                    struct errmsg *em)
{
    const struct dsl_dis_max_query *q = (const struct dsl_dis_max_query *)(const void *)d;
    const struct query **v = ARENA_ARRAY(b->arena, const struct query *, q->queries.n);
    if (v == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < q->queries.n; i++) {
        struct query *child;
        enum err e = build_dsl(b, q->queries.v[i], &child, em);
        if (e != ERR_OK) {
            return e;
        }
        v[i] = child;
    }
    struct query *n = *out = qnode_new(b, &q_dis_max);
    if (n == NULL) {
        return err_no_memory(em);
    }
    n->dis_max.v = v;
    n->dis_max.n = (uint32_t)q->queries.n;
    n->dis_max.tie_breaker = q->tie_breaker;
    return ERR_OK;
}

static bool dis_max_plain(const struct json *body, unsigned depth)
{
    static const char *const keys[] = {"queries"};
    return dsl_plain_clauses(body, keys, ARRAY_LEN(keys), depth);
}

const struct dsl_type dsl_dis_max = {
    .name = "dis_max", .parse = parse_dis_max, .build = build_dis_max_query, .plain = dis_max_plain};
