#include "engine/query/rewrite.h"

#include "common/base/stop.h"

#include "engine/query/bm25.h"
#include "engine/query/print_terms.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite_terms.h"

/* A copy that may be changed. */
static struct query *copy_of(struct weight_shared *sh, const struct query *q)
{
    struct query *c = ARENA_NEW(sh->cx.arena, struct query);
    if (c != NULL) {
        *c = *q;
        c->name = STR_NULL;
    }
    return c;
}

/* q with its boost multiplied. */
static enum err boosted(struct weight_shared *sh, const struct query *q, float boost,
                        const struct query **out, struct errmsg *em)
{
    *out = q;
    if (boost == 1) {
        return ERR_OK;
    }
    struct query *c = copy_of(sh, q);
    if (c == NULL) {
        return err_no_memory(em);
    }
    c->boost = boost * q->boost;
    *out = c;
    return ERR_OK;
}

static enum err nothing(struct weight_shared *sh, const char *reason, const struct query **out,
                        struct errmsg *em)
{
    struct query *q = ARENA_NEW(sh->cx.arena, struct query);
    *out = q;
    if (q == NULL) {
        return err_no_memory(em);
    }
    *q = (struct query){.ops = &q_match_none, .boost = 1};
    q->none.reason = str_of(reason);
    return ERR_OK;
}

/* ---- booleans ---- */

struct clauses {
    struct bool_clause *v;
    uint32_t n;
    int32_t min_should;
};

static uint32_t count(const struct clauses *c, enum bool_occur occur)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        n += c->v[i].occur == occur ? 1 : 0;
    }
    return n;
}

static bool has(const struct clauses *c, enum bool_occur occur, const struct query *q)
{
    for (uint32_t i = 0; i < c->n; i++) {
        if (c->v[i].occur == occur && query_equal(c->v[i].query, q)) {
            return true;
        }
    }
    return false;
}

static void drop(struct clauses *c, uint32_t at)
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
            bool others = count(c, OCCUR_MUST) > 0 || count(c, OCCUR_FILTER) > 1;
            gone = has(c, OCCUR_MUST, c->v[i].query) || (others && c->v[i].query->ops == &q_match_all);
        }
        if (gone) {
            drop(c, i);
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
                drop(c, i--);
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
                drop(c, k);
            } else {
                k++;
            }
        }
        if (merged) {
            struct query *q = copy_of(sh, c->v[i].query);
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
    struct query *q = ARENA_NEW(sh->cx.arena, struct query);
    *out = q;
    if (q == NULL) {
        return err_no_memory(em);
    }
    *q = (struct query){.ops = &q_bool, .boost = boost};
    q->boolean.v = c->v;
    q->boolean.n = c->n;
    q->boolean.min_should = c->min_should;
    return ERR_OK;
}

static enum err make_constant(struct weight_shared *sh, const struct query *child, float boost,
                              const struct query **out, struct errmsg *em)
{
    struct query *q = ARENA_NEW(sh->cx.arena, struct query);
    *out = q;
    if (q == NULL) {
        return err_no_memory(em);
    }
    *q = (struct query){.ops = &q_constant, .boost = boost};
    q->one.child = child;
    return ERR_OK;
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
    if (count(c, OCCUR_MUST) != 1 || count(c, OCCUR_FILTER) == 0 || all->ops != &q_match_all) {
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
    if (e == ERR_OK && filters->ops == &q_constant) {
        filters = filters->one.child;
    }
    if (e == ERR_OK) {
        e = make_constant(sh, filters, all->boost, &constant, em);
    }
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
        if (c->v[i].query->ops == &q_match_all || has(c, OCCUR_MUST, c->v[i].query)
            || has(c, OCCUR_FILTER, c->v[i].query)) {
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
        return nothing(sh, "empty BooleanQuery", out, em);
    }
    if (c->n == 1) {
        switch (c->v[0].occur) {
        case OCCUR_SHOULD:
            if (c->min_should <= 1) {
                return boosted(sh, c->v[0].query, boost, out, em);
            }
            break;
        case OCCUR_MUST:
            if (c->min_should == 0) {
                return boosted(sh, c->v[0].query, boost, out, em);
            }
            break;
        case OCCUR_FILTER:
            if (c->min_should == 0) {
                return make_constant(sh, c->v[0].query, 0, out, em);
            }
            break;
        case OCCUR_MUST_NOT:
            if (c->min_should == 0) {
                return nothing(sh, "pure negative BooleanQuery", out, em);
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
        if (e == ERR_OK) {
            e = merge_equal(sh, c, OCCUR_MUST, em);
        }
        if (e == ERR_OK) {
            e = flatten(sh, c, &changed, em);
        }
    }
    return e;
}

static enum err rewrite_bool(struct weight_shared *sh, const struct query *q, const struct query **out,
                             struct errmsg *em)
{
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
        return nothing(sh, "FILTER or MUST clause also in MUST_NOT", out, em);
    }
    if (e == ERR_OK) {
        e = constant_over_filters(sh, &c, &changed, em);
    }
    if (e == ERR_OK) {
        e = single(sh, &c, q->boost, &done, out, em);
    }
    if (e != ERR_OK || done) {
        return e;
    }
    return make_bool(sh, &c, q->boost, out, em);
}

/* ---- the others ---- */

static enum err rewrite_dis_max(struct weight_shared *sh, const struct query *q, const struct query **out,
                                struct errmsg *em)
{
    const struct query **v = ARENA_ARRAY(sh->cx.arena, const struct query *, q->dis_max.n);
    struct query *c = copy_of(sh, q);
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
        return nothing(sh, "empty DisjunctionMaxQuery", out, em);
    }
    if (q->dis_max.n == 1) {
        return boosted(sh, v[0], q->boost, out, em);
    }
    if (q->dis_max.tie_breaker == 1) { /* the best plus all others: a sum */
        struct clauses sum = {ARENA_ARRAY(sh->cx.arena, struct bool_clause, q->dis_max.n), q->dis_max.n, 0};
        if (sum.v == NULL) {
            return err_no_memory(em);
        }
        for (uint32_t i = 0; i < sum.n; i++) {
            sum.v[i] = (struct bool_clause){OCCUR_SHOULD, v[i]};
        }
        const struct query *any;
        enum err e = make_bool(sh, &sum, q->boost, &any, em);
        return e == ERR_OK ? rewrite_bool(sh, any, out, em) : e;
    }
    c->dis_max.v = v;
    *out = c;
    return ERR_OK;
}

static enum err rewrite_constant(struct weight_shared *sh, const struct query *q, const struct query **out,
                                 struct errmsg *em)
{
    const struct query *child;
    enum err e = query_rewrite(sh, q->one.child, &child, em);
    if (e != ERR_OK) {
        return e;
    }
    if (child->ops == &q_constant) {
        child = child->one.child;
    }
    if (child->ops == &q_match_none) {
        *out = child;
        return ERR_OK;
    }
    if (child->boost != 1) {
        struct query *plain = copy_of(sh, child);
        if (plain == NULL) {
            return err_no_memory(em);
        }
        plain->boost = 1;
        child = plain;
    }
    return make_constant(sh, child, q->boost, out, em);
}

static enum err rewrite_function(struct weight_shared *sh, const struct query *q, const struct query **out,
                                 struct errmsg *em)
{
    struct query *c = copy_of(sh, q);
    struct score_function *v = ARENA_ARRAY(sh->cx.arena, struct score_function, q->function_score.n);
    if (c == NULL || v == NULL) {
        return err_no_memory(em);
    }
    enum err e = query_rewrite(sh, q->function_score.child, &c->function_score.child, em);
    for (uint32_t i = 0; i < q->function_score.n && e == ERR_OK; i++) {
        v[i] = q->function_score.v[i];
        if (v[i].filter != NULL) {
            e = query_rewrite(sh, v[i].filter, &v[i].filter, em);
        }
    }
    c->function_score.v = v;
    *out = c;
    return e;
}

static enum err rewrite_phrase(struct weight_shared *sh, const struct query *q, const struct query **out,
                               struct errmsg *em)
{
    const struct query *p = q;
    enum err e = ERR_OK;
    if (q->phrase.prefix_last) {
        e = expand_phrase_prefix(sh, q, &p, em);
        if (e != ERR_OK || p->ops != &q_phrase) {
            *out = p;
            return e;
        }
    }
    if (p->phrase.n == 0) {
        return nothing(sh, "empty PhraseQuery", out, em);
    }
    if (p->phrase.n > 1) {
        *out = p;
        return ERR_OK;
    }
    /* One position: its terms, any of them. */
    struct clauses c = {ARENA_ARRAY(sh->cx.arena, struct bool_clause, p->phrase.v[0].n), p->phrase.v[0].n, 0};
    for (uint32_t i = 0; c.v != NULL && i < c.n; i++) {
        struct query *t = copy_of(sh, p);
        if (t == NULL) {
            return err_no_memory(em);
        }
        t->ops = &q_term;
        t->boost = c.n == 1 ? p->boost : 1;
        t->term.term = p->phrase.v[0].terms[i];
        t->term.override = NULL;
        c.v[i] = (struct bool_clause){OCCUR_SHOULD, t};
    }
    if (c.v == NULL) {
        return err_no_memory(em);
    }
    if (c.n == 1) {
        *out = c.v[0].query;
        return ERR_OK;
    }
    const struct query *any;
    e = make_bool(sh, &c, p->boost, &any, em);
    return e == ERR_OK ? rewrite_bool(sh, any, out, em) : e;
}

static enum err rewrite_children(struct weight_shared *sh, const struct query *q, const struct query **out,
                                 struct errmsg *em)
{
    struct query *c = copy_of(sh, q);
    enum err e;
    *out = c;
    if (c == NULL) {
        return err_no_memory(em);
    }
    switch (q->ops->kind) {
    case KIND_boosting:
        e = query_rewrite(sh, q->boosting.positive, &c->boosting.positive, em);
        return e == ERR_OK ? query_rewrite(sh, q->boosting.negative, &c->boosting.negative, em) : e;
    case KIND_script_score:
        return query_rewrite(sh, q->script.child, &c->script.child, em);
    case KIND_nested:
        e = query_rewrite(sh, q->nested.child, &c->nested.child, em);
        return e == ERR_OK && q->nested.filtered != NULL
                   ? query_rewrite(sh, q->nested.filtered, &c->nested.filtered, em)
                   : e;
    default:
        return ERR_OK;
    }
}

/* A boost of 0: the scores below are not asked for. */
static enum err unscored(struct weight_shared *sh, const struct query *q, const struct query **out,
                         struct errmsg *em)
{
    struct query *child = copy_of(sh, q);
    const struct query *constant;
    *out = NULL;
    if (child == NULL) {
        return err_no_memory(em);
    }
    child->boost = 1;
    enum err e = make_constant(sh, child, 0, &constant, em);
    return e == ERR_OK ? rewrite_constant(sh, constant, out, em) : e;
}

enum err query_rewrite(struct weight_shared *sh, const struct query *q, const struct query **out,
                       struct errmsg *em)
{
    enum err e;
    *out = q;
    if (q->boost == 0 && q->ops != &q_constant && q->ops != &q_match_none) {
        return unscored(sh, q, out, em);
    }
    switch (q->ops->kind) {
    case KIND_boost:
        e = query_rewrite(sh, q->one.child, out, em);
        return e == ERR_OK ? boosted(sh, *out, q->boost, out, em) : e;
    case KIND_bool:
        if (q->boolean.common != NULL) {
            e = expand_common(sh, q, out, em);
            return e == ERR_OK ? query_rewrite(sh, *out, out, em) : e;
        }
        return rewrite_bool(sh, q, out, em);
    case KIND_dis_max:
        return rewrite_dis_max(sh, q, out, em);
    case KIND_constant:
        return rewrite_constant(sh, q, out, em);
    case KIND_function_score:
        return rewrite_function(sh, q, out, em);
    case KIND_phrase:
        return rewrite_phrase(sh, q, out, em);
    case KIND_spans:
        return q->spans.prefix ? expand_spans(sh, q, out, em) : ERR_OK;
    case KIND_synonym:
        if (q->terms.n == 1) {
            struct query *t = copy_of(sh, q);
            if (t == NULL) {
                return err_no_memory(em);
            }
            t->ops = &q_term;
            t->term.term = q->terms.v[0];
            t->term.override = NULL;
            *out = t;
        }
        return ERR_OK;
    case KIND_terms:
    case KIND_ids:
        *out = terms_rewrite(q, sh->cx.arena);
        return *out != NULL ? ERR_OK : err_no_memory(em);
    case KIND_blended:
        e = expand_blended(sh, q, out, em);
        return e == ERR_OK && (*out)->ops == &q_bool ? query_rewrite(sh, *out, out, em) : e;
    case KIND_fuzzy:
    case KIND_prefix:
    case KIND_wildcard:
    case KIND_regexp:
        if (q->multi.rewrite == REWRITE_CONSTANT) {
            return ERR_OK;
        }
        e = expand_terms(sh, q, out, em);
        if (e == ERR_OK && (*out)->ops == &q_bool) {
            return rewrite_bool(sh, *out, out, em);
        }
        return e == ERR_OK && (*out)->ops == &q_match_none ? boosted(sh, *out, q->boost, out, em) : e;
    case KIND_boosting:
    case KIND_script_score:
    case KIND_nested:
        return rewrite_children(sh, q, out, em);
    default:
        return ERR_OK;
    }
}

/* ---- equality ---- */

static bool same_terms(const struct str *a, const struct str *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!str_eq(a[i], b[i])) {
            return false;
        }
    }
    return true;
}

static bool same_bool(const struct query *a, const struct query *b)
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

static bool same_phrase(const struct query *a, const struct query *b)
{
    if (a->phrase.n != b->phrase.n || a->phrase.slop != b->phrase.slop
        || (a->phrase.last_field == NULL) != (b->phrase.last_field == NULL)) {
        return false;
    }
    for (uint32_t i = 0; i < a->phrase.n; i++) {
        const struct phrase_term *x = &a->phrase.v[i], *y = &b->phrase.v[i];
        if (x->position != y->position || x->n != y->n || !same_terms(x->terms, y->terms, x->n)) {
            return false;
        }
    }
    return true;
}

static bool same_dis_max(const struct query *a, const struct query *b)
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

bool query_same(const struct query *a, const struct query *b)
{
    if (a == b) {
        return true;
    }
    if (a->ops == &q_match_none && b->ops == &q_match_none) { /* whatever the reason */
        return true;
    }
    if (a->ops != b->ops || !str_eq(a->field_name, b->field_name)) {
        return false;
    }
    switch (a->ops->kind) {
    case KIND_match_all:
    case KIND_exists:
        return true;
    case KIND_term:
        return str_eq(a->term.term,
                      b->term.term); /* whatever the statistics: as Lucene's TermQuery compares */
    case KIND_terms:
    case KIND_synonym:
    case KIND_ids:
        return a->terms.n == b->terms.n && same_terms(a->terms.v, b->terms.v, a->terms.n);
    case KIND_num_range:
        return a->num.lo == b->num.lo && a->num.hi == b->num.hi;
    case KIND_term_range:
        return str_eq(a->term_range.lo, b->term_range.lo) && str_eq(a->term_range.hi, b->term_range.hi)
               && a->term_range.lo_inclusive == b->term_range.lo_inclusive
               && a->term_range.hi_inclusive == b->term_range.hi_inclusive;
    case KIND_prefix:
    case KIND_wildcard:
    case KIND_regexp:
        return str_eq(a->multi.pattern, b->multi.pattern)
               && a->multi.case_insensitive == b->multi.case_insensitive && a->multi.exact == b->multi.exact
               && a->multi.flags == b->multi.flags;
    case KIND_num_set:
        return a->num.n == b->num.n && memcmp(a->num.v, b->num.v, a->num.n * sizeof(*a->num.v)) == 0;
    case KIND_dis_max:
        return same_dis_max(a, b);
    case KIND_phrase:
        return same_phrase(a, b);
    case KIND_bool:
        return same_bool(a, b);
    case KIND_constant:
        return query_equal(a->one.child, b->one.child);
    default:
        return false;
    }
}

bool query_equal(const struct query *a, const struct query *b)
{
    return a->boost == b->boost && query_same(a, b);
}
