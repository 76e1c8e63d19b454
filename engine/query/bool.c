/* Booleans: which scorers a segment's clauses are put together from, as Lucene's
 * Boolean2ScorerSupplier. */
#include "common/base/num.h"
#include "engine/query/print.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite.h"
#include "engine/query/scorers.h"

#include <stdatomic.h>

struct bool_weight {
    struct weight base;
    const struct weight **v; /* a clause each */
    _Atomic uint64_t *costs; /* of each leaf, + 1; 0: not computed yet */
};

static const struct bool_weight *bool_self(const struct weight *w)
{
    return (const struct bool_weight *)(const void *)w;
}

/* What the clauses of a segment come to. */
struct plan {
    const struct weight **must, **filter, **should, **must_not;
    uint32_t n_must, n_filter, n_should, n_must_not;
    uint32_t min_should;
    uint64_t cost; /* 0: nothing matches */
};

static bool bool_add_clause(const struct weight **list, uint32_t *n, const struct weight *w,
                            const struct leaf *leaf)
{
    if (weight_cost(w, leaf) == 0) {
        return false;
    }
    list[(*n)++] = w;
    return true;
}

static enum err plan_make(struct plan *p, const struct weight *w, const struct leaf *leaf, struct arena *a,
                          struct errmsg *em)
{
    const struct query *q = w->query;
    uint32_t n = q->boolean.n;
    const struct weight **room = ARENA_ARRAY(a, const struct weight *, (size_t)n * 5 + 1);
    *p = (struct plan){.min_should = q->boolean.min_should > 0 ? (uint32_t)q->boolean.min_should : 0};
    if (room == NULL) {
        return err_no_memory(em);
    }
    p->must = room; /* room for the should clauses too, which may be required in the end */
    p->filter = room + 2 * (size_t)n;
    p->should = room + 3 * (size_t)n;
    p->must_not = room + 4 * (size_t)n;
    for (uint32_t i = 0; i < n; i++) {
        const struct weight *c = bool_self(w)->v[i];
        switch (q->boolean.v[i].occur) {
        case OCCUR_MUST:
            if (!bool_add_clause(p->must, &p->n_must, c, leaf)) {
                return ERR_OK;
            }
            break;
        case OCCUR_FILTER:
            if (!bool_add_clause(p->filter, &p->n_filter, c, leaf)) {
                return ERR_OK;
            }
            break;
        case OCCUR_SHOULD:
            bool_add_clause(p->should, &p->n_should, c, leaf);
            break;
        case OCCUR_MUST_NOT:
            bool_add_clause(p->must_not, &p->n_must_not, c, leaf);
            break;
        }
    }
    if (p->n_should < p->min_should) {
        return ERR_OK;
    }
    if (p->min_should > 0 && p->n_should == p->min_should) { /* all of them are needed */
        memcpy(p->must + p->n_must, p->should, p->n_should * sizeof(*p->should));
        p->n_must += p->n_should;
        p->n_should = p->min_should = 0;
    }
    if (w->need == NEED_NO_SCORES && p->min_should == 0 && p->n_must + p->n_filter > 0) {
        p->n_should = 0;
    }
    uint64_t required = UINT64_MAX, optional = 0;
    for (uint32_t i = 0; i < p->n_must + p->n_filter; i++) {
        uint64_t c = weight_cost(i < p->n_must ? p->must[i] : p->filter[i - p->n_must], leaf);
        required = MIN_OF(required, c);
    }
    for (uint32_t i = 0; i < p->n_should; i++) {
        optional += weight_cost(p->should[i], leaf);
    }
    if (required == UINT64_MAX) {
        p->cost = optional;
    } else {
        p->cost = p->min_should > 0 ? MIN_OF(required, optional) : required;
    }
    return ERR_OK;
}

static uint64_t compute_cost(const struct weight *w, const struct leaf *leaf)
{
    const struct query *q = w->query;
    uint64_t required = UINT64_MAX, optional = 0;
    uint32_t n_should = 0;
    for (uint32_t i = 0; i < q->boolean.n; i++) {
        uint64_t c = q->boolean.v[i].occur == OCCUR_MUST_NOT ? 0 : weight_cost(bool_self(w)->v[i], leaf);
        if (q->boolean.v[i].occur == OCCUR_SHOULD) {
            optional += c;
            n_should += c > 0 ? 1 : 0;
        } else if (q->boolean.v[i].occur != OCCUR_MUST_NOT) {
            required = MIN_OF(required, c);
        }
    }
    if ((int32_t)n_should < q->boolean.min_should) {
        return 0;
    }
    if (required == UINT64_MAX) {
        return optional;
    }
    return q->boolean.min_should > 0 ? MIN_OF(required, optional) : required;
}

/* Kept: nested booleans would compute those of their children again and again. */
static uint64_t bool_cost(const struct weight *w, const struct leaf *leaf)
{
    _Atomic uint64_t *known = &bool_self(w)->costs[leaf->index];
    uint64_t cost = atomic_load_explicit(known, memory_order_relaxed);
    if (cost == 0) {
        cost = compute_cost(w, leaf);
        cost = MIN_OF(cost, (uint64_t)UINT32_MAX) + 1;
        atomic_store_explicit(known, cost, memory_order_relaxed);
    }
    return cost - 1;
}

/* A required scorer that counts for nothing in a scoring query. */
static enum err unscored(const struct scorer_request *rq, struct scorer *s, struct scorer **out)
{
    return constant_scorer_new(rq->arena, s, 0, out, rq->em);
}

/* `more` scorers (of optional clauses that turned out to be needed) count among the musts. */
static enum err required(const struct weight *w, const struct plan *p, const struct scorer_request *rq,
                         bool top, struct scorer *const *more, uint32_t n_more, struct scorer **out)
{
    uint32_t made = p->n_must + p->n_filter, n = made + n_more, k = 0;
    struct scorer **all = ARENA_ARRAY(rq->arena, struct scorer *, n);
    struct scorer **scoring = ARENA_ARRAY(rq->arena, struct scorer *, p->n_must + n_more);
    if (all == NULL || scoring == NULL) {
        return err_no_memory(rq->em);
    }
    for (uint32_t i = 0; i < made; i++) {
        const struct weight *c = i < p->n_filter ? p->filter[i] : p->must[i - p->n_filter];
        enum err e = weight_make_scorer(c, rq, &all[i]);
        if (e != ERR_OK || all[i] == NULL) {
            return e;
        }
        if (i >= p->n_filter) {
            scoring[k++] = all[i];
        }
    }
    for (uint32_t i = 0; i < n_more; i++) {
        all[made + i] = scoring[k++] = more[i];
    }
    if (n == 1 && k == 0 && w->need != NEED_NO_SCORES) {
        return unscored(rq, all[0], out);
    }
    if (n == 1) {
        *out = all[0];
        return ERR_OK;
    }
    return conjunction_new(rq->arena, all, n, scoring, w->need != NEED_NO_SCORES ? k : 0, top, out, rq->em);
}

/* The scorers of the optional clauses that match anything here. */
static enum err make_optional(const struct plan *p, const struct scorer_request *rq, struct scorer ***out,
                              uint32_t *n)
{
    struct scorer **v = *out = ARENA_ARRAY(rq->arena, struct scorer *, p->n_should);
    *n = 0;
    if (v == NULL) {
        return err_no_memory(rq->em);
    }
    for (uint32_t i = 0; i < p->n_should; i++) {
        enum err e = weight_make_scorer(p->should[i], rq, &v[*n]);
        if (e != ERR_OK) {
            return e;
        }
        *n += v[*n] != NULL ? 1 : 0;
    }
    return ERR_OK;
}

static enum err optional(const struct weight *w, const struct plan *p, const struct scorer_request *rq,
                         bool top, struct scorer **v, uint32_t n, struct scorer **out)
{
    struct disjunction_opts o = {.min_should = p->min_should,
                                 .scored = w->need != NEED_NO_SCORES,
                                 .top = top,
                                 .n_docs = rq->leaf->doc_count,
                                 .lead_cost = rq->lead_cost};
    return n == 0 ? ERR_OK : disjunction_new(rq->arena, v, n, &o, out, rq->em);
}

static enum err without(const struct plan *p, const struct scorer_request *rq, struct scorer *s,
                        struct scorer **out)
{
    struct scorer_request sub = *rq;
    struct scorer **v = ARENA_ARRAY(rq->arena, struct scorer *, p->n_must_not), *any = NULL;
    struct disjunction_opts o = {.n_docs = rq->leaf->doc_count};
    uint32_t n = 0;
    *out = s;
    if (v == NULL) {
        return err_no_memory(rq->em);
    }
    sub.lead_cost = MIN_OF(rq->lead_cost, s->cost);
    o.lead_cost = sub.lead_cost;
    for (uint32_t i = 0; i < p->n_must_not; i++) {
        enum err e = weight_make_scorer(p->must_not[i], &sub, &v[n]);
        if (e != ERR_OK) {
            return e;
        }
        n += v[n] != NULL ? 1 : 0;
    }
    if (n == 0) {
        return ERR_OK;
    }
    enum err e = disjunction_new(rq->arena, v, n, &o, &any, rq->em);
    return e == ERR_OK ? exclusion_new(rq->arena, s, any, out, rq->em) : e;
}

/* Both are there: optional clauses add to the score, or enough of them are required too. */
static enum err bool_both(const struct weight *w, const struct plan *p, const struct scorer_request *rq,
                          struct scorer *must, struct scorer *should, struct scorer **out)
{
    bool top = w->need == NEED_TOP_SCORES;
    if (p->min_should == 0) {
        return optional_new(rq->arena, must, should, top, out, rq->em);
    }
    struct scorer **v = ARENA_ARRAY(rq->arena, struct scorer *, 2);
    if (v == NULL) {
        return err_no_memory(rq->em);
    }
    v[0] = must;
    v[1] = should;
    return conjunction_new(rq->arena, v, 2, v, w->need != NEED_NO_SCORES ? 2 : 0, top, out, rq->em);
}

static enum err bool_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    struct plan p;
    enum err e = plan_make(&p, w, rq->leaf, rq->arena, rq->em);
    struct scorer_request sub = *rq;
    struct scorer *must = NULL, *should = NULL, **extra;
    bool top = w->need == NEED_TOP_SCORES;
    uint32_t n = 0;
    if (e != ERR_OK || p.cost == 0) {
        return e;
    }
    if (p.n_must + p.n_filter > 0) {
        sub.lead_cost = MIN_OF(rq->lead_cost, p.cost);
    }
    e = make_optional(&p, &sub, &extra, &n);
    if (e != ERR_OK || n < p.min_should) {
        return e;
    }
    bool all_needed = p.min_should > 0 && n == p.min_should;
    if (p.n_must + p.n_filter == 0 && !all_needed) {
        e = optional(w, &p, &sub, top, extra, n, &should);
        *out = should;
        return e == ERR_OK && should != NULL && p.n_must_not > 0 ? without(&p, &sub, should, out) : e;
    }
    uint32_t n_needed = all_needed ? n : 0, n_left = all_needed ? 0 : n;
    e = required(w, &p, &sub, top && n_left == 0, extra, n_needed, &must);
    if (e == ERR_OK && must != NULL && p.n_must_not > 0) {
        e = without(&p, &sub, must, &must);
    }
    if (e == ERR_OK && must != NULL && n_left > 0) {
        e = optional(w, &p, &sub, false, extra, n_left, &should);
    }
    if (e != ERR_OK || must == NULL) {
        return e;
    }
    *out = must;
    return should != NULL ? bool_both(w, &p, rq, must, should, out) : ERR_OK;
}

static struct explanation *clause_note(struct arena *a, const struct bool_clause *c, const char *what,
                                       bool match, struct explanation *e)
{
    struct str text = query_text(c->query, a);
    return explain_add(a, explain_new(a, match, 0, "%s (%.*s)", what, STR_ARG(text)), e);
}

static struct explanation *filter_note(struct arena *a, struct explanation *e)
{
    struct explanation *n = explain_new(a, true, 0, "match on required clause, product of:");
    return explain_add(a, explain_add(a, n, explain_new(a, true, 0, "# clause")), e);
}

static enum err bool_explain(const struct weight *w, const struct explain_request *rq,
                             struct explanation **out)
{
    const struct query *q = w->query;
    struct arena *a = rq->arena;
    struct explanation *sum = explain_new(a, true, 0, "sum of:");
    int32_t matched = 0, should = 0;
    bool fail = false;
    for (uint32_t i = 0; i < q->boolean.n && sum != NULL; i++) {
        const struct bool_clause *c = &q->boolean.v[i];
        struct explanation *e;
        enum err err = explain_weight(bool_self(w)->v[i], rq, &e);
        if (err != ERR_OK) {
            return err;
        }
        if (e->match) {
            matched += c->occur != OCCUR_MUST_NOT ? 1 : 0;
            should += c->occur == OCCUR_SHOULD ? 1 : 0;
            fail = fail || c->occur == OCCUR_MUST_NOT;
            e = c->occur == OCCUR_FILTER     ? filter_note(a, e)
                : c->occur == OCCUR_MUST_NOT ? clause_note(a, c, "match on prohibited clause", false, e)
                                             : e;
            sum = explain_add(a, sum, e);
        } else if (c->occur == OCCUR_MUST || c->occur == OCCUR_FILTER) {
            fail = true;
            sum = explain_add(a, sum, clause_note(a, c, "no match on required clause", false, e));
        }
    }
    if (sum == NULL) {
        return err_no_memory(rq->em);
    }
    *out = sum;
    sum->match = false;
    if (fail) {
        sum->description = STR("Failure to meet condition(s) of required/prohibited clause(s)");
    } else if (matched == 0) {
        sum->description = STR("No matching clauses");
    } else if (should < q->boolean.min_should) {
        sum->description =
            arena_printf(a, "Failure to match minimum number of optional clauses: %d", q->boolean.min_should);
    } else {
        struct scorer *s;
        enum err e = explain_scorer(w, rq, &s);
        if (e != ERR_OK || s == NULL) {
            return e;
        }
        sum->match = true;
        sum->value = s->ops->score(s);
    }
    return ERR_OK;
}

static const struct weight_ops bool_ops = {.cost = bool_cost, .scorer = bool_scorer, .explain = bool_explain};

static enum err bool_weight(struct weight_shared *sh, const struct query *q, float boost,
                            enum score_need need, const struct weight **out, struct errmsg *em)
{
    struct bool_weight *w = weight_alloc(sh, sizeof(*w), &bool_ops, q, boost, need);
    if (w == NULL || (w->v = ARENA_ARRAY(sh->cx.arena, const struct weight *, q->boolean.n)) == NULL
        || (w->costs = ARENA_ARRAY(sh->cx.arena, _Atomic uint64_t, sh->cx.view->n_leaves)) == NULL) {
        return err_no_memory(em);
    }
    *out = &w->base;
    for (uint32_t i = 0; i < q->boolean.n; i++) {
        bool scoring = q->boolean.v[i].occur == OCCUR_MUST || q->boolean.v[i].occur == OCCUR_SHOULD;
        enum err e =
            weight_make(sh, q->boolean.v[i].query, boost, scoring ? need : NEED_NO_SCORES, &w->v[i], em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err bool_each_child(const struct query *q, child_fn fn, void *arg)
{
    static const enum child_role roles[] = {[OCCUR_MUST] = CHILD_SCORES,
                                            [OCCUR_FILTER] = CHILD_FILTERS,
                                            [OCCUR_SHOULD] = CHILD_SCORES,
                                            [OCCUR_MUST_NOT] = CHILD_EXCLUDES};
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < q->boolean.n && e == ERR_OK; i++) {
        e = fn(arg, q->boolean.v[i].query, roles[q->boolean.v[i].occur]);
    }
    return e;
}

/* All that must match may, or any of what may match does. */
static bool bool_may(const struct nested_question *n, const struct query *q)
{
    bool required = false, any = false;
    if (q->boolean.common != NULL) {
        return true;
    }
    for (uint32_t i = 0; i < q->boolean.n; i++) {
        const struct bool_clause *c = &q->boolean.v[i];
        if (c->occur == OCCUR_MUST || c->occur == OCCUR_FILTER) {
            required = true;
            if (!nested_may(n, c->query)) {
                return false;
            }
        } else if (c->occur == OCCUR_SHOULD) {
            any = any || nested_may(n, c->query);
        }
    }
    return required || any;
}

static bool bool_same(const struct query *a, const struct query *b)
{
    if (a->boolean.n != b->boolean.n || a->boolean.min_should != b->boolean.min_should
        || a->boolean.common != b->boolean.common) {
        return false;
    }
    for (uint32_t i = 0; i < a->boolean.n; i++) {
        if (a->boolean.v[i].occur != b->boolean.v[i].occur
            || !query_equal(a->boolean.v[i].query, b->boolean.v[i].query)) {
            return false;
        }
    }
    return true;
}

static void print_common(const struct query *q, struct buf *out)
{
    for (uint32_t i = 0; i < q->boolean.n; i++) {
        buf_z(out, i > 0 ? ", " : "");
        query_print(q->boolean.v[i].query, out);
    }
}

static void bool_print(const struct query *q, struct buf *out)
{
    static const char *const marks[] = {"+", "#", "", "-"};
    if (q->boolean.common != NULL) {
        print_common(q, out);
        return;
    }
    if (q->boolean.min_should > 0) {
        buf_char(out, '(');
    }
    for (uint32_t i = 0; i < q->boolean.n; i++) {
        const struct query *c = q->boolean.v[i].query;
        enum bool_occur occur = q->boolean.v[i].occur;
        bool bare = terms_as_clauses(c) && (occur == OCCUR_FILTER || occur == OCCUR_MUST_NOT);
        bool parens = bare || query_in_parens(c);
        if (i > 0) {
            buf_char(out, ' ');
        }
        buf_z(out, marks[occur]);
        if (parens) {
            buf_char(out, '(');
        }
        (bare ? query_print_bare : query_print)(c, out);
        if (parens) {
            buf_char(out, ')');
        }
    }
    if (q->boolean.min_should > 0) {
        buf_printf(out, ")~%d", q->boolean.min_should);
    }
}

/* The rarest clause that must match leads, and the others are asked about its documents. */
static uint64_t bool_docs(const struct view *v, const struct query *q)
{
    uint64_t lead = QUERY_COST_UNKNOWN, any = 0;
    bool required = false;
    for (uint32_t i = 0; i < q->boolean.n; i++) {
        const struct bool_clause *c = &q->boolean.v[i];
        uint64_t cost = query_cost(v, c->query);
        if (cost == QUERY_COST_UNKNOWN) {
            return cost;
        }
        if (c->occur == OCCUR_MUST || c->occur == OCCUR_FILTER) {
            lead = MIN_OF(lead, cost);
            required = true;
        } else if (c->occur == OCCUR_SHOULD) {
            any = cost_add(any, cost);
        }
    }
    return required ? cost_times(lead, q->boolean.n) : any;
}

const struct query_ops q_bool = {.name = "bool",
                                 .each_child = bool_each_child,
                                 .may = bool_may,
                                 .same = bool_same,
                                 .print = bool_print,
                                 .cost = bool_docs,
                                 .rewrite = bool_rewrite,
                                 .weight = bool_weight};
