#include "engine/query/rewrite.h"

#include "engine/query/query_ops.h"

/* A copy that may be changed. */
struct query *rewrite_copy(struct weight_shared *sh, const struct query *q)
{
    struct query *c = ARENA_NEW(sh->cx.arena, struct query);
    if (c != NULL) {
        *c = *q;
        c->name = STR_NULL;
    }
    return c;
}

/* q with its boost multiplied. */
enum err rewrite_boosted(struct weight_shared *sh, const struct query *q, float boost,
                         const struct query **out, struct errmsg *em)
{
    *out = q;
    if (boost == 1) {
        return ERR_OK;
    }
    struct query *c = rewrite_copy(sh, q);
    if (c == NULL) {
        return err_no_memory(em);
    }
    c->boost = boost * q->boost;
    *out = c;
    return ERR_OK;
}

enum err rewrite_to_none(struct weight_shared *sh, const char *reason, const struct query **out,
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

enum err rewrite_to_bool(struct weight_shared *sh, const struct bool_clause *v, uint32_t n,
                         int32_t min_should, float boost, const struct query **out, struct errmsg *em)
{
    struct query *q = ARENA_NEW(sh->cx.arena, struct query);
    *out = q;
    if (q == NULL) {
        return err_no_memory(em);
    }
    *q = (struct query){.ops = &q_bool, .boost = boost};
    q->boolean.v = v;
    q->boolean.n = n;
    q->boolean.min_should = min_should;
    return ERR_OK;
}

enum err rewrite_to_constant(struct weight_shared *sh, const struct query *child, float boost,
                             const struct query **out, struct errmsg *em)
{
    struct query *q = ARENA_NEW(sh->cx.arena, struct query), *plain = NULL;
    child = child->ops == &q_constant ? child->one.child : child;
    if (child->boost != 1 && (plain = rewrite_copy(sh, child)) != NULL) {
        plain->boost = 1;
    }
    *out = q;
    if (q == NULL || (child->boost != 1 && plain == NULL)) {
        return err_no_memory(em);
    }
    *q = (struct query){.ops = &q_constant, .boost = boost};
    q->one.child = plain != NULL ? plain : child;
    return ERR_OK;
}

struct query *rewrite_to_term(struct weight_shared *sh, const struct query *like, struct str term,
                              float boost)
{
    struct query *t = ARENA_NEW(sh->cx.arena, struct query);
    if (t != NULL) {
        *t = (struct query){
            .ops = &q_term, .boost = boost, .field = like->field, .field_name = like->field_name};
        t->term.term = term;
    }
    return t;
}

/* A boost of 0: the scores below are not asked for. */
static enum err unscored(struct weight_shared *sh, const struct query *q, const struct query **out,
                         struct errmsg *em)
{
    struct query *child = rewrite_copy(sh, q);
    const struct query *constant;
    *out = NULL;
    if (child == NULL) {
        return err_no_memory(em);
    }
    child->boost = 1;
    enum err e = rewrite_to_constant(sh, child, 0, &constant, em);
    return e == ERR_OK ? query_rewrite(sh, constant, out, em) : e;
}

enum err query_rewrite(struct weight_shared *sh, const struct query *q, const struct query **out,
                       struct errmsg *em)
{
    *out = q;
    if (q->boost == 0 && !q->ops->keeps_zero) {
        return unscored(sh, q, out, em);
    }
    return q->ops->rewrite != NULL ? q->ops->rewrite(sh, q, out, em) : ERR_OK;
}

/* ---- equality ---- */

bool query_same_strs(const struct str *a, const struct str *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!str_eq(a[i], b[i])) {
            return false;
        }
    }
    return true;
}

bool query_same(const struct query *a, const struct query *b)
{
    return a == b || (a->ops == b->ops && a->ops->same != NULL && a->ops->same(a, b));
}

bool query_equal(const struct query *a, const struct query *b)
{
    return a->boost == b->boost && query_same(a, b);
}
