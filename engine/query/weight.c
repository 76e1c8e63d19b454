#include "engine/query/weight.h"

#include "common/base/arena_list.h"
#include "common/base/java_hash.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite.h"
#include "engine/query/scorers.h"

void *weight_alloc(struct weight_shared *sh, size_t size, const struct weight_ops *ops, const struct query *q,
                   float boost, enum score_need need)
{
    struct weight *w = arena_zalloc(sh->cx.arena, size);
    if (w != NULL) {
        w->ops = ops;
        w->query = q;
        w->shared = sh;
        w->boost = boost;
        w->need = need;
    }
    return w;
}

void weight_fail(struct weight_shared *sh, const struct errmsg *em)
{
    pthread_mutex_lock(&sh->lock);
    if (!sh->failed) {
        sh->error = err_in(&sh->error_arena);
        err_copy(&sh->error, em);
        sh->failed = true;
    }
    pthread_mutex_unlock(&sh->lock);
}

enum err weight_error(const struct weight *w, struct errmsg *em)
{
    struct weight_shared *sh = w->shared;
    if (!sh->failed) {
        return ERR_OK;
    }
    pthread_mutex_lock(&sh->lock);
    err_copy(em, &sh->error);
    enum err e = err_code(&sh->error);
    pthread_mutex_unlock(&sh->lock);
    return e;
}

enum err weight_make(struct weight_shared *sh, const struct query *q, float boost, enum score_need need,
                     const struct weight **out, struct errmsg *em)
{
    if (q->ops->plain_weight != NULL) {
        *out = weight_alloc(sh, sizeof(**out), q->ops->plain_weight, q, boost * q->boost, need);
        return *out != NULL ? ERR_OK : err_no_memory(em);
    }
    return q->ops->weight(sh, q, boost * q->boost, need, out, em);
}

/* ---- names ---- */

struct names {
    struct weight_shared *sh;
    struct named_query *v;
    size_t n, cap;
    struct errmsg *em;
};

static enum err gather_names(void *arg, const struct query *q, UNUSED enum child_role role)
{
    struct names *g = arg;
    enum err e = query_each_below(q, gather_names, g);
    if (e == ERR_OK && q->name.p != NULL) {
        size_t i = 0;
        while (i < g->n && !str_eq(g->v[i].name, q->name)) {
            i++;
        }
        if (i == g->n) {
            if (!ARENA_ROOM(g->sh->cx.arena, g->v, g->n, g->cap)) {
                return err_no_memory(g->em);
            }
            g->n++;
        }
        g->v[i] = (struct named_query){.name = q->name, .query = q}; /* a repeated name means the last one */
    }
    return e;
}

static struct str name_of(const void *item)
{
    return ((const struct named_query *)item)->name;
}

static enum err make_names(struct weight_shared *sh, const struct query *origin, struct errmsg *em)
{
    struct names g = {.sh = sh, .em = em};
    enum err e = gather_names(&g, origin, CHILD_SCORES);
    java_map_sort(g.v, g.n, sizeof(*g.v), name_of,
                  java_map_buckets(g.n)); /* as Elasticsearch's map lists them */
    for (size_t i = 0; i < g.n && e == ERR_OK; i++) {
        const struct query *q;
        e = query_rewrite(sh, g.v[i].query, &q, em);
        e = e == ERR_OK ? weight_make(sh, q, 1, NEED_NO_SCORES, &g.v[i].weight, em) : e;
    }
    sh->named = g.v;
    sh->n_named = (uint32_t)g.n;
    return e;
}

bool weight_has_name(const struct weight *w, struct str name)
{
    for (uint32_t i = 0; i < w->shared->n_named; i++) {
        if (str_eq(w->shared->named[i].name, name)) {
            return true;
        }
    }
    return false;
}

enum err weight_matched_names(const struct weight *w, const struct leaf *leaf, doc_id doc,
                              struct arena *arena, struct str **out, uint32_t *n, struct errmsg *em)
{
    struct explain_request rq = {leaf, doc, arena, em};
    *n = 0;
    *out = ARENA_ARRAY(arena, struct str, w->shared->n_named);
    if (*out == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < w->shared->n_named; i++) {
        struct scorer *s;
        enum err e = explain_scorer(w->shared->named[i].weight, &rq, &s);
        if (e != ERR_OK) {
            return e;
        }
        if (s != NULL) {
            (*out)[(*n)++] = w->shared->named[i].name;
        }
    }
    return ERR_OK;
}

/* ---- the whole ---- */

static void shared_end(void *p)
{
    struct weight_shared *sh = p;
    arena_fini(&sh->error_arena);
    pthread_mutex_destroy(&sh->lock);
}

static struct weight_shared *shared_new(const struct weight_context *cx)
{
    struct weight_shared *sh = ARENA_NEW(cx->arena, struct weight_shared);
    if (sh != NULL) {
        sh->cx = *cx;
        pthread_mutex_init(&sh->lock, NULL);
    }
    return sh != NULL && arena_defer(cx->arena, shared_end, sh) ? sh : NULL;
}

enum err query_simplify(const struct query **out, const struct weight_context *cx, const struct query *q,
                        struct errmsg *em)
{
    struct weight_shared *sh = shared_new(cx);
    *out = NULL;
    return sh != NULL ? query_rewrite(sh, q, out, em) : err_no_memory(em);
}

enum err weight_new(const struct weight **out, const struct weight_context *cx, const struct query *q,
                    enum score_need need, struct errmsg *em)
{
    struct weight_shared *sh = shared_new(cx);
    const struct query *rewritten;
    *out = NULL;
    if (sh == NULL) {
        return err_no_memory(em);
    }
    enum err e = query_rewrite(sh, q, &rewritten, em);
    e = e == ERR_OK ? weight_make(sh, rewritten, 1, need, out, em) : e;
    return e == ERR_OK ? make_names(sh, q, em) : e;
}

enum err weight_inner(const struct weight **out, const struct weight_context *cx, const struct query *q,
                      enum score_need need, struct errmsg *em)
{
    struct weight_shared *sh = shared_new(cx);
    *out = NULL;
    return sh != NULL ? weight_make(sh, q, 1, need, out, em) : err_no_memory(em);
}

/* Nested documents are found only where a nested query or aggregation asks for them. */
static enum err only_roots(const struct weight *w, const struct leaf *leaf, struct arena *arena,
                           struct scorer **s, struct errmsg *em)
{
    struct scorer **both = ARENA_ARRAY(arena, struct scorer *, 2),
                  **scoring = ARENA_ARRAY(arena, struct scorer *, 1);
    if (both == NULL || scoring == NULL) {
        return err_no_memory(em);
    }
    enum err e = bits_scorer_new(arena, leaf->roots, leaf->doc_count, leaf->doc_count, 0, &both[1], em);
    if (e != ERR_OK) {
        return e;
    }
    both[0] = scoring[0] = *s;
    return conjunction_new(arena, both, 2, scoring, w->need != NEED_NO_SCORES ? 1 : 0,
                           w->need == NEED_TOP_SCORES, s, em);
}

enum err weight_scorer(const struct weight *w, const struct leaf *leaf, struct arena *arena,
                       struct scorer **out, struct errmsg *em)
{
    struct scorer_request rq = {.leaf = leaf, .arena = arena, .lead_cost = UINT64_MAX, .em = em};
    *out = NULL;
    if (weight_cost(w, leaf) == 0) {
        return ERR_OK;
    }
    enum err e = weight_make_scorer(w, &rq, out);
    if (e == ERR_OK && *out != NULL && leaf->roots != NULL && !w->shared->cx.nested_too) {
        e = only_roots(w, leaf, arena, out, em);
    }
    return e;
}

int64_t weight_count(const struct weight *w, const struct leaf *leaf)
{
    if (leaf->roots != NULL && !w->ops->counts_roots) {
        return -1; /* some matches may be nested documents */
    }
    return w->ops->count != NULL ? w->ops->count(w, leaf) : -1;
}
