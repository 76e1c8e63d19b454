/* The terms that a query scores by: what the dfs phase asks of every shard. */
#include "engine/query/query_ops.h"
#include "engine/query/rewrite.h"

enum err scored_terms_add(struct scored_terms *t, struct str field, struct str term)
{
    for (size_t i = 0; i < t->n; i++) {
        if (str_eq(t->v[i][0], field) && str_eq(t->v[i][1], term)) {
            return ERR_OK;
        }
    }
    struct str(*v)[2] = arena_grow(t->arena, t->v, t->n, &t->cap, sizeof(*v));
    if (v == NULL) {
        return ERR_NO_MEMORY;
    }
    t->v = v;
    t->v[t->n][0] = field;
    t->v[t->n++][1] = term;
    return ERR_OK;
}

static enum err scored_terms_gather(void *arg, const struct query *q, enum child_role role)
{
    struct scored_terms *t = arg;
    if (role != CHILD_SCORES) {
        return ERR_OK;
    }
    enum err e = q->ops->scored_terms != NULL ? q->ops->scored_terms(q, t) : ERR_OK;
    return e == ERR_OK ? query_each_child(q, scored_terms_gather, t) : e;
}

enum err query_scored_terms(const struct query *q, const struct view *v, struct arena *arena,
                            struct str (**out)[2], uint32_t *n, struct errmsg *em)
{
    struct weight_shared *sh = ARENA_NEW(arena, struct weight_shared);
    struct scored_terms t = {.arena = arena};
    const struct query *rewritten;
    *n = 0;
    *out = NULL;
    if (sh == NULL) {
        return err_no_memory(em);
    }
    sh->cx = (struct weight_context){.view = v, .arena = arena};
    enum err e = query_rewrite(sh, q, &rewritten, em);
    if (e != ERR_OK) {
        return e;
    }
    if (scored_terms_gather(&t, rewritten, CHILD_SCORES) != ERR_OK) {
        return err_no_memory(em);
    }
    *out = t.v;
    *n = (uint32_t)t.n;
    return ERR_OK;
}
