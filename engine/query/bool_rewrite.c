/* Booleans made simpler: what is repeated, implied or contradicted, and what is a disjunction inside another. */
#include "engine/query/rewrite.h"

#include "common/base/stop.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite_terms.h"

struct clauses {
    struct bool_clause *v;
    uint32_t n;
    int32_t min_should;
};

static uint32_t clauses_count(const struct clauses *c, enum bool_occur occur)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        n += c->v[i].occur == occur ? 1 : 0;
    }
    return n;
}

static bool clauses_have(const struct clauses *c, enum bool_occur occur, const struct query *q)
{
    for (uint32_t i = 0; i < c->n; i++) {
        if (c->v[i].occur == occur && query_equal(c->v[i].query, q)) {
            return true;
        }
    }
    return false;
}

static void clauses_drop(struct clauses *c, uint32_t at)
{
    memmove(&c->v[at], &c->v[at + 1], (c->n - at - 1) * sizeof(*c->v));
    c->n--;
}

/* Repeated filters and exclusions, filters that a must implies, and filters that match everything. */
static void drop_redundant(struct clauses *c)
{
    for (uint32_t i = 0; i < c->n;) {
        enum bool_occur occur = c->v[i].occur;
        bool gone = false;
        if (occur == OCCUR_FILTER || occur == OCCUR_MUST_NOT) {
            for (uint32_t k = 0; k < i && !gone; k++) {
                gone = c->v[k].occur == occur && query_equal(c->v[k].query, c->v[i].query);
            }
        }
        if (occur == OCCUR_FILTER && !gone) {
            bool others = clauses_count(c, OCCUR_MUST) > 0 || clauses_count(c, OCCUR_FILTER) > 1;
            gone =
                clauses_have(c, OCCUR_MUST, c->v[i].query) || (others && c->v[i].query->ops == &q_match_all);
        }
        if (gone) {
            clauses_drop(c, i);
        } else {
            i++;
        }
    }
}

/* A filter that is an optional clause too becomes a must. */
static void promote_filters(struct clauses *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        if (c->v[i].occur != OCCUR_FILTER) {
            continue;
        }
        for (uint32_t k = 0; k < c->n; k++) {
            if (c->v[k].occur == OCCUR_SHOULD && query_equal(c->v[k].query, c->v[i].query)) {
                c->v[k].occur = OCCUR_MUST;
                c->min_should -= c->min_should > 0 ? 1 : 0;
                clauses_drop(c, i--);
                break;
            }
        }
    }
}

/* Equal scoring clauses become one with the sum of their boosts. */
static enum err merge_equal(struct weight_shared *sh, struct clauses *c, enum bool_occur occur,
                            struct errmsg *em)
{
    for (uint32_t i = 0; i < c->n && !stop_often(); i++) {
        double sum = c->v[i].query->boost;
        bool merged = false;
        if (c->v[i].occur != occur) {
            continue;
        }
        for (uint32_t k = i + 1; k < c->n && !stop_often();) {
            if (c->v[k].occur == occur && query_same(c->v[i].query, c->v[k].query)) {
                sum += c->v[k].query->boost;
                merged = true;
                clauses_drop(c, k);
            } else {
                k++;
            }
        }
        if (merged) {
            struct query *q = rewrite_copy(sh, c->v[i].query);
            if (q == NULL) {
                return err_no_memory(em);
            }
            q->boost = (float)sum;
            c->v[i].query = q;
        }
    }
    return ERR_OK;
}

static bool pure_disjunction(const struct query *q)
{
    if (q->ops != &q_bool || q->boost != 1 || q->boolean.min_should > 1) {
        return false;
    }
    for (uint32_t i = 0; i < q->boolean.n; i++) {
        if (q->boolean.v[i].occur != OCCUR_SHOULD) {
            return false;
        }
    }
    return true;
}

/* Disjunctions inside a disjunction become part of it. */
static enum err flatten(struct weight_shared *sh, struct clauses *c, bool *changed, struct errmsg *em)
{
    uint32_t n = 0;
    bool any = false;
    *changed = false;
    for (uint32_t i = 0; i < c->n; i++) {
        bool inner = c->v[i].occur == OCCUR_SHOULD && pure_disjunction(c->v[i].query);
        n += inner ? c->v[i].query->boolean.n : 1;
        any = any || inner;
    }
    if (!any || c->min_should > 1) {
        return ERR_OK;
    }
    struct bool_clause *v = ARENA_ARRAY(sh->cx.arena, struct bool_clause, n);
    if (v == NULL) {
        return err_no_memory(em);
    }
    n = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        if (c->v[i].occur == OCCUR_SHOULD && pure_disjunction(c->v[i].query)) {
            memcpy(&v[n], c->v[i].query->boolean.v, c->v[i].query->boolean.n * sizeof(*v));
            n += c->v[i].query->boolean.n;
        } else {
            v[n++] = c->v[i];
        }
    }
    c->v = v;
    c->n = n;
    *changed = true;
    return ERR_OK;
}

static enum err make_bool(struct weight_shared *sh, const struct clauses *c, float boost,
                          const struct query **out, struct errmsg *em)
{
    return rewrite_to_bool(sh, c->v, c->n, c->min_should, boost, out, em);
}

/* The only scoring clause matches everything: its score is a constant over the filters. */
static enum err constant_over_filters(struct weight_shared *sh, struct clauses *c, bool *changed,
                                      struct errmsg *em)
{
    struct clauses inner = {ARENA_ARRAY(sh->cx.arena, struct bool_clause, c->n), 0, 0}, outer = inner;
    const struct query *all = NULL;
    *changed = false;
    for (uint32_t i = 0; i < c->n; i++) {
        if (c->v[i].occur == OCCUR_MUST) {
            all = c->v[i].query;
        }
    }
    if (clauses_count(c, OCCUR_MUST) != 1 || clauses_count(c, OCCUR_FILTER) == 0
        || all->ops != &q_match_all) {
        return ERR_OK;
    }
    outer.v = ARENA_ARRAY(sh->cx.arena, struct bool_clause, c->n + 1);
    if (inner.v == NULL || outer.v == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < c->n; i++) {
        if (c->v[i].occur == OCCUR_FILTER || c->v[i].occur == OCCUR_MUST_NOT) {
            inner.v[inner.n++] = c->v[i];
        }
    }
    const struct query *filters = inner.v[0].query, *constant;
    enum err e =
        inner.n == 1 ? query_rewrite(sh, filters, &filters, em) : make_bool(sh, &inner, 1, &filters, em);
    e = e == ERR_OK ? rewrite_to_constant(sh, filters, all->boost, &constant, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    outer.v[outer.n++] = (struct bool_clause){OCCUR_MUST, constant};
    for (uint32_t i = 0; i < c->n; i++) {
        if (c->v[i].occur == OCCUR_SHOULD) {
            outer.v[outer.n++] = c->v[i];
        }
    }
    outer.min_should = c->min_should;
    *c = outer;
    *changed = true;
    return ERR_OK;
}

static bool contradiction(const struct clauses *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        if (c->v[i].occur != OCCUR_MUST_NOT) {
            continue;
        }
        if (c->v[i].query->ops == &q_match_all || clauses_have(c, OCCUR_MUST, c->v[i].query)
            || clauses_have(c, OCCUR_FILTER, c->v[i].query)) {
            return true;
        }
    }
    return false;
}

/* A boolean of one clause is that clause. *done tells. */
static enum err single(struct weight_shared *sh, const struct clauses *c, float boost, bool *done,
                       const struct query **out, struct errmsg *em)
{
    *done = true;
    if (c->n == 0) {
        return rewrite_to_none(sh, "empty BooleanQuery", out, em);
    }
    if (c->n == 1) {
        switch (c->v[0].occur) {
        case OCCUR_SHOULD:
            if (c->min_should <= 1) {
                return rewrite_boosted(sh, c->v[0].query, boost, out, em);
            }
            break;
        case OCCUR_MUST:
            if (c->min_should == 0) {
                return rewrite_boosted(sh, c->v[0].query, boost, out, em);
            }
            break;
        case OCCUR_FILTER:
            if (c->min_should == 0) {
                return rewrite_to_constant(sh, c->v[0].query, 0, out, em);
            }
            break;
        case OCCUR_MUST_NOT:
            if (c->min_should == 0) {
                return rewrite_to_none(sh, "pure negative BooleanQuery", out, em);
            }
            break;
        }
    }
    *done = false;
    return ERR_OK;
}

static enum err simplify(struct weight_shared *sh, struct clauses *c, struct errmsg *em)
{
    drop_redundant(c);
    promote_filters(c);
    enum err e = ERR_OK;
    bool changed = true;
    while (changed && e == ERR_OK) { /* what was flattened may repeat */
        if (c->min_should <= 1) {
            e = merge_equal(sh, c, OCCUR_SHOULD, em);
        }
        e = e == ERR_OK ? merge_equal(sh, c, OCCUR_MUST, em) : e;
        e = e == ERR_OK ? flatten(sh, c, &changed, em) : e;
    }
    return e;
}

enum err bool_rewrite(struct weight_shared *sh, const struct query *q, const struct query **out,
                      struct errmsg *em)
{
    if (q->boolean.common != NULL) {
        enum err e = expand_common(sh, q, out, em);
        return e == ERR_OK ? query_rewrite(sh, *out, out, em) : e;
    }
    struct clauses c = {ARENA_ARRAY(sh->cx.arena, struct bool_clause, q->boolean.n), q->boolean.n,
                        q->boolean.min_should};
    bool done, changed;
    if (c.v == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < c.n; i++) {
        c.v[i].occur = q->boolean.v[i].occur;
        enum err e = query_rewrite(sh, q->boolean.v[i].query, &c.v[i].query, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    enum err e = single(sh, &c, q->boost, &done, out, em);
    if (e != ERR_OK || done) {
        return e;
    }
    e = simplify(sh, &c, em);
    if (e == ERR_OK && contradiction(&c)) {
        return rewrite_to_none(sh, "FILTER or MUST clause also in MUST_NOT", out, em);
    }
    e = e == ERR_OK ? constant_over_filters(sh, &c, &changed, em) : e;
    e = e == ERR_OK ? single(sh, &c, q->boost, &done, out, em) : e;
    if (e != ERR_OK || done) {
        return e;
    }
    return make_bool(sh, &c, q->boost, out, em);
}
