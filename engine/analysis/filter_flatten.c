/* The flatten_graph filter: squeezes a token graph (synonym_graph, word_delimiter_graph) into a line of
 * positions that an index can hold. Each node gets the place of the longest way that leads to it; tokens keep
 * how far they reach. */
#include "engine/analysis/parts.h"

struct flat {
    struct token t;
    int32_t from, to; /* nodes */
    int32_t at;       /* place of `from` in the line */
};

struct flattening {
    struct flat *v;
    size_t n;
    int32_t nodes;
    int32_t *place; /* of each node in the line */
    uint32_t *start,
        *end; /* by place: the latest start of what leaves it, the earliest end of what reaches it */
};

static bool read_graph(struct flattening *g, const struct token_list *l)
{
    int32_t node = -1;
    g->v = ARENA_ARRAY(l->arena, struct flat, l->n);
    if (g->v == NULL) {
        return false;
    }
    for (; token_next(l, g->n); g->n++) {
        const struct token *t = &l->v[g->n];
        node += t->pos_inc;
        node = MAX_OF(node, 0);
        g->v[g->n] = (struct flat){.t = *t, .from = node, .to = node + t->pos_len};
        g->nodes = MAX_OF(g->nodes, node + t->pos_len + 1);
    }
    g->place = ARENA_ARRAY(l->arena, int32_t, (size_t)g->nodes);
    g->start = ARENA_ARRAY(l->arena, uint32_t, (size_t)g->nodes);
    g->end = ARENA_ARRAY(l->arena, uint32_t, (size_t)g->nodes);
    return g->place != NULL && g->start != NULL && g->end != NULL;
}

/* Tokens come in the order of the nodes that they leave, so one pass finds the longest ways. A gap, however
 * wide, is one place. */
static void place_nodes(struct flattening *g)
{
    int32_t best = 0;
    for (size_t at = 0; at < g->n;) {
        int32_t node = g->v[at].from;
        if (node > 0 && g->place[node] == 0) { /* nothing leads here */
            g->place[node] = best + 1;
        }
        for (; at < g->n && g->v[at].from == node; at++) {
            int32_t *to = &g->place[g->v[at].to];
            *to = MAX_OF(*to, g->place[node] + 1);
            best = MAX_OF(best, *to);
            g->v[at].at = g->place[node];
        }
    }
}

static void place_offsets(struct flattening *g)
{
    for (size_t i = 0; i < g->n; i++) {
        const struct flat *f = &g->v[i];
        int32_t to = g->place[f->to];
        g->start[f->at] = MAX_OF(g->start[f->at], f->t.start);
        g->end[to] = g->end[to] == 0 ? f->t.end : MIN_OF(g->end[to], f->t.end);
    }
}

static void sort_by_place(struct flat *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct flat x = v[i];
        size_t k = i;
        for (; k > 0 && v[k - 1].at > x.at; k--) {
            v[k] = v[k - 1];
        }
        v[k] = x;
        if (token_stop((i - k) * sizeof(x))) {
            return;
        }
    }
}

static enum err flatten_graph_apply(UNUSED const struct token_filter *self, struct token_list *l,
                                    struct errmsg *em)
{
    struct flattening g = {0};
    if (l->n == 0) {
        return ERR_OK;
    }
    if (!read_graph(&g, l)) {
        return err_no_memory(em);
    }
    place_nodes(&g);
    place_offsets(&g);
    sort_by_place(g.v, g.n);
    int32_t last = -1;
    uint32_t last_start = 0; /* offsets never go back */
    for (size_t i = 0; i < g.n; i++) {
        l->v[i] = g.v[i].t;
        l->v[i].pos_inc = g.v[i].at - last;
        l->v[i].pos_len = (uint16_t)(g.place[g.v[i].to] - g.v[i].at);
        last_start = MAX_OF(last_start, g.start[g.v[i].at]);
        l->v[i].start = last_start;
        l->v[i].end = MAX_OF(last_start, g.end[g.place[g.v[i].to]]);
        last = g.v[i].at;
    }
    return ERR_OK;
}

PART_FACTORY(flatten_graph_filter_new)
{
    struct token_filter *f = ARENA_NEW(arena, struct token_filter);
    if (f == NULL) {
        return err_no_memory(em);
    }
    f->apply = flatten_graph_apply;
    f->synonym_use = SYNONYM_USE_NOTHING;
    *out = f;
    return ERR_OK;
}
