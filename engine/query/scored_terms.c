/* The terms that a query scores by: what the dfs phase asks of every shard. */
#include "engine/query/multi_terms.h"
#include "engine/query/phrase.h"
#include "engine/query/rewrite.h"
#include "engine/query/spans.h"

struct gathered {
    struct str (*v)[2];
    size_t n, cap;
    struct arena *arena;
};

static bool add(struct gathered *g, struct str field, struct str term)
{
    for (size_t i = 0; i < g->n; i++) {
        if (str_eq(g->v[i][0], field) && str_eq(g->v[i][1], term)) {
            return true;
        }
    }
    struct str(*v)[2] = arena_grow(g->arena, g->v, g->n, &g->cap, sizeof(*v));
    if (v == NULL) {
        return false;
    }
    g->v = v;
    g->v[g->n][0] = field;
    g->v[g->n++][1] = term;
    return true;
}

static bool gather_spans(struct gathered *g, const struct query *q)
{
    struct str *terms;
    uint32_t n;
    bool ok = span_terms(q->spans.root, g->arena, &terms, &n);
    for (uint32_t i = 0; ok && i < n; i++) {
        ok = add(g, q->field_name, terms[i]);
    }
    return ok;
}

static bool gather(struct gathered *g, const struct query *q)
{
    bool ok = true;
    switch (q->kind) {
    case Q_TERM:
        return add(g, q->field_name, q->term.term);
    case Q_SYNONYM:
        for (uint32_t i = 0; i < q->terms.n && ok; i++) {
            ok = add(g, q->field_name, q->terms.v[i]);
        }
        return ok;
    case Q_PHRASE:
        for (uint32_t i = 0; i < q->phrase.n; i++) {
            for (uint32_t k = 0; k < q->phrase.v[i].n && ok; k++) {
                ok = add(g, phrase_slot_field(q, i), q->phrase.v[i].terms[k]);
            }
        }
        return ok;
    case Q_SPANS:
        return gather_spans(g, q);
    case Q_BOOL:
        for (uint32_t i = 0; i < q->boolean.n && ok; i++) {
            enum bool_occur o = q->boolean.v[i].occur;
            ok = o == OCCUR_MUST || o == OCCUR_SHOULD ? gather(g, q->boolean.v[i].query) : true;
        }
        return ok;
    case Q_DIS_MAX:
        for (uint32_t i = 0; i < q->dis_max.n && ok; i++) {
            ok = gather(g, q->dis_max.v[i]);
        }
        return ok;
    case Q_BOOSTING:
        return gather(g, q->boosting.positive);
    case Q_FUNCTION_SCORE:
        return gather(g, q->function_score.child);
    case Q_SCRIPT_SCORE:
        return gather(g, q->script.child);
    case Q_NESTED:
        return gather(g, q->nested.child);
    default:
        return true;
    }
}

enum err query_scored_terms(const struct query *q, const struct view *v, struct arena *arena,
                            struct str (**out)[2], uint32_t *n, struct errmsg *em)
{
    struct weight_shared *sh = ARENA_NEW(arena, struct weight_shared);
    struct gathered g = {.arena = arena};
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
    if (!gather(&g, rewritten)) {
        return err_no_memory(em);
    }
    *out = g.v;
    *n = (uint32_t)g.n;
    return ERR_OK;
}
