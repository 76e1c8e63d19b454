#include "engine/query/nfa.h"

#include "common/base/arena_list.h"
#include "common/base/hash.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"

uint32_t nfa_add_state(struct nfa *a)
{
    uint32_t *first = arena_grow(a->arena, a->first, a->n, &a->cap, sizeof(*first));
    a->too_complex |= a->n >= a->parts_max;
    if (first == NULL || a->too_complex || stop_often()) {
        a->failed = true;
        return 0;
    }
    a->first = first;
    a->first[a->n] = UINT32_MAX;
    return (uint32_t)a->n++;
}

void nfa_add_edge(struct nfa *a, uint32_t from, uint32_t to, uint32_t lo, uint32_t hi)
{
    if (nfa_unusable(a)) { /* then the states need not be there */
        return;
    }
    if (!ARENA_ROOM(a->arena, a->edges, a->n_edges, a->cap_edges)) {
        a->failed = true;
        return;
    }
    a->edges[a->n_edges] = (struct nfa_edge){lo, hi, to, a->first[from]};
    a->first[from] = (uint32_t)a->n_edges++;
}

struct fragment nfa_fragment_new(struct nfa *a)
{
    struct fragment f;
    f.in = nfa_add_state(a);
    f.out = nfa_add_state(a);
    return f;
}

/* ---- determinising ---- */

struct subset {
    uint32_t *states; /* ascending */
    uint32_t n;
    struct dfa_range *ranges;
    uint32_t n_ranges;
    bool accept;
};

struct determiniser {
    const struct nfa *a;
    struct arena *arena;
    struct subset *v;
    size_t n, cap;
    uint32_t *table; /* hash table of subset numbers + 1 */
    size_t table_n;
    uint32_t *mark; /* per state: the round in which it was seen */
    uint32_t round;
    uint32_t *stack, *gather;
    uint32_t final;
    const bool *star; /* of a wildcard's states: loops on every character; NULL: of an expression */
};

static int cmp_u32(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return a < b ? -1 : a > b ? 1 : 0;
}

/* Adds a state and all that it reaches without a character to d->gather. */
static uint32_t close_over(struct determiniser *d, uint32_t state, uint32_t n)
{
    uint32_t top = 0;
    if (d->mark[state] == d->round) {
        return n;
    }
    d->mark[state] = d->round;
    d->stack[top++] = state;
    while (top > 0) {
        uint32_t s = d->stack[--top];
        d->gather[n++] = s;
        for (uint32_t e = d->a->first[s]; e != UINT32_MAX; e = d->a->edges[e].next) {
            const struct nfa_edge *edge = &d->a->edges[e];
            if (edge->lo > edge->hi && d->mark[edge->to] != d->round) {
                d->mark[edge->to] = d->round;
                d->stack[top++] = edge->to;
            }
        }
    }
    return n;
}

static bool grow_table(struct determiniser *d)
{
    size_t n = d->table_n == 0 ? 64 : d->table_n * 2;
    uint32_t *table = ARENA_ARRAY(d->arena, uint32_t, n);
    if (table == NULL) {
        return false;
    }
    for (size_t i = 0; i < d->n; i++) {
        size_t at = hash_bytes(d->v[i].states, d->v[i].n * sizeof(uint32_t), 0) & (n - 1);
        while (table[at] != 0) {
            at = (at + 1) & (n - 1);
        }
        table[at] = (uint32_t)i + 1;
    }
    d->table = table;
    d->table_n = n;
    return true;
}

/* Of a wildcard's states, which are numbered as they stand in the pattern, those before the last `*` that was reached lead
 * nowhere that it does not lead to as well. */
static uint32_t drop_outrun(struct determiniser *d, uint32_t n)
{
    uint32_t from = n, kept = 0;
    while (from > 0 && !d->star[d->gather[from - 1]]) {
        from--;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (i + 1 >= from || d->gather[i] == d->final) {
            d->gather[kept++] = d->gather[i];
        }
    }
    return kept;
}

/* The subset gathered, known or new; UINT32_MAX: no memory. */
static uint32_t intern(struct determiniser *d, uint32_t n)
{
    sort_items(d->gather, n, sizeof(uint32_t), cmp_u32);
    if (d->star != NULL) {
        n = drop_outrun(d, n);
    }
    if ((d->n + 1) * 2 > d->table_n && !grow_table(d)) {
        return UINT32_MAX;
    }
    size_t at = hash_bytes(d->gather, n * sizeof(uint32_t), 0) & (d->table_n - 1);
    for (; d->table[at] != 0; at = (at + 1) & (d->table_n - 1)) {
        const struct subset *s = &d->v[d->table[at] - 1];
        if (s->n == n && memcmp(s->states, d->gather, n * sizeof(uint32_t)) == 0) {
            return d->table[at] - 1;
        }
    }
    struct subset *v = arena_grow(d->arena, d->v, d->n, &d->cap, sizeof(*v));
    uint32_t *states = ARENA_ARRAY(d->arena, uint32_t, n);
    if (v == NULL || states == NULL) {
        return UINT32_MAX;
    }
    memcpy(states, d->gather, n * sizeof(uint32_t));
    d->v = v;
    struct subset *s = &d->v[d->n];
    *s = (struct subset){.states = states, .n = n};
    for (uint32_t i = 0; i < n; i++) {
        s->accept = s->accept || states[i] == d->final;
    }
    d->table[at] = (uint32_t)++d->n;
    return (uint32_t)d->n - 1;
}

static int cmp_span(const void *x, const void *y)
{
    return cmp_u32(&((const struct dfa_range *)x)->lo, &((const struct dfa_range *)y)->lo);
}

/* What can be done in a subset: its states' edges by their first characters, and every point at which the set of
 * applicable edges may change. */
struct transitions {
    struct dfa_range *spans;
    uint32_t *cuts;
    uint32_t n_spans, n_cuts;
};

static bool transitions_of(struct determiniser *d, const struct subset *s, struct transitions *out)
{
    uint32_t n = 0, k = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        for (uint32_t e = d->a->first[s->states[i]]; e != UINT32_MAX; e = d->a->edges[e].next) {
            n += d->a->edges[e].lo <= d->a->edges[e].hi ? 1 : 0;
        }
    }
    *out = (struct transitions){ARENA_ARRAY(d->arena, struct dfa_range, n),
                                ARENA_ARRAY(d->arena, uint32_t, 2 * n), n, 0};
    if (out->spans == NULL || out->cuts == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        for (uint32_t e = d->a->first[s->states[i]]; e != UINT32_MAX; e = d->a->edges[e].next) {
            const struct nfa_edge *edge = &d->a->edges[e];
            if (edge->lo <= edge->hi) {
                out->cuts[2 * k] = edge->lo;
                out->cuts[2 * k + 1] = edge->hi + 1;
                out->spans[k++] = (struct dfa_range){edge->lo, edge->hi, edge->to};
            }
        }
    }
    sort_items(out->spans, n, sizeof(*out->spans), cmp_span);
    sort_items(out->cuts, 2 * (size_t)n, sizeof(*out->cuts), cmp_u32);
    for (uint32_t i = 0; i < 2 * n; i++) {
        if (out->n_cuts == 0 || out->cuts[out->n_cuts - 1] != out->cuts[i]) {
            out->cuts[out->n_cuts++] = out->cuts[i];
        }
    }
    return true;
}

/* Gathers the states behind the character c. Characters come in ascending order: the spans that have begun and not
 * ended stand in [*first, *next), moved together. Returns how many states. */
static uint32_t step_over(struct determiniser *d, struct transitions *m, uint32_t c, uint32_t *first,
                          uint32_t *next)
{
    uint32_t n = 0;
    while (*next < m->n_spans && m->spans[*next].lo <= c) {
        ++*next;
    }
    uint32_t kept = *next;
    d->round++;
    for (uint32_t i = *next; i > *first; i--) {
        if (m->spans[i - 1].hi >= c && !stop_often()) {
            m->spans[--kept] = m->spans[i - 1];
            n = close_over(d, m->spans[kept].to, n);
        }
    }
    *first = kept;
    return n;
}

static bool expand(struct determiniser *d, uint32_t number)
{
    struct subset s = d->v[number];
    struct transitions m;
    if (stop_now() || !transitions_of(d, &s, &m)) {
        return false;
    }
    struct dfa_range *ranges = ARENA_ARRAY(d->arena, struct dfa_range, m.n_cuts);
    uint32_t n_ranges = 0, first = 0, next = 0;
    if (ranges == NULL) {
        return false;
    }
    for (uint32_t c = 0; c + 1 < m.n_cuts; c++) {
        if (stop_often() || d->n > d->a->states_max + 1U) {
            return d->n > d->a->states_max;
        }
        uint32_t n = step_over(d, &m, m.cuts[c], &first, &next);
        if (n == 0) {
            continue;
        }
        uint32_t to = intern(d, n);
        if (to == UINT32_MAX) {
            return false;
        }
        if (n_ranges > 0 && ranges[n_ranges - 1].to == to && ranges[n_ranges - 1].hi + 1 == m.cuts[c]) {
            ranges[n_ranges - 1].hi = m.cuts[c + 1] - 1;
        } else {
            ranges[n_ranges++] = (struct dfa_range){m.cuts[c], m.cuts[c + 1] - 1, to};
        }
    }
    d->v[number].ranges = ranges;
    d->v[number].n_ranges = n_ranges;
    return true;
}

/* An accepting state that every character leads back to. */
static bool accepts_all(const struct dfa_state *s, uint32_t self)
{
    return s->accept && s->n == 1 && s->ranges[0].to == self && s->ranges[0].lo == 0
           && s->ranges[0].hi == NFA_CODE_MAX;
}

struct dfa_state *nfa_determinise(struct nfa *a, struct fragment f, uint32_t *n_out)
{
    if (nfa_unusable(a)) { /* there may be no state to begin at */
        return NULL;
    }
    struct determiniser d = {.a = a, .arena = a->arena, .final = f.out, .star = a->star};
    d.mark = ARENA_ARRAY(a->arena, uint32_t, a->n);
    d.stack = ARENA_ARRAY(a->arena, uint32_t, a->n);
    d.gather = ARENA_ARRAY(a->arena, uint32_t, a->n);
    if (d.mark == NULL || d.stack == NULL || d.gather == NULL) {
        a->failed = true;
        return NULL;
    }
    d.round = 1;
    if (intern(&d, close_over(&d, f.in, 0)) == UINT32_MAX) {
        a->failed = true;
        return NULL;
    }
    for (uint32_t i = 0; i < d.n; i++) {
        if (d.n > a->states_max) {
            a->too_complex = true;
            return NULL;
        }
        if (!expand(&d, i)) {
            a->failed = true;
            return NULL;
        }
    }
    if (stop_now()) {
        a->failed = true;
        return NULL;
    }
    struct dfa_state *states = ARENA_ARRAY(a->arena, struct dfa_state, d.n);
    if (states == NULL) {
        a->failed = true;
        return NULL;
    }
    for (uint32_t i = 0; i < d.n; i++) {
        states[i] = (struct dfa_state){d.v[i].ranges, d.v[i].n_ranges, d.v[i].accept, false};
        states[i].all = accepts_all(&states[i], i);
    }
    *n_out = (uint32_t)d.n;
    return states;
}

struct fragment nfa_embed(struct nfa *a, const struct dfa_state *states, uint32_t n, bool complement)
{
    struct fragment f = nfa_fragment_new(a);
    uint32_t base = (uint32_t)a->n, sink = 0;
    for (uint32_t i = 0; i < n; i++) {
        nfa_add_state(a);
    }
    if (complement) {
        sink = nfa_add_state(a);
        nfa_add_edge(a, sink, sink, 0, NFA_CODE_MAX);
        nfa_add_epsilon(a, sink, f.out);
    }
    nfa_add_epsilon(a, f.in, base);
    for (uint32_t i = 0; i < n && !a->failed; i++) {
        uint32_t from = 0;
        for (uint32_t k = 0; k < states[i].n; k++) {
            const struct dfa_range *r = &states[i].ranges[k];
            nfa_add_edge(a, base + i, base + r->to, r->lo, r->hi);
            if (complement && r->lo > from) {
                nfa_add_edge(a, base + i, sink, from, r->lo - 1);
            }
            from = r->hi + 1;
        }
        if (complement && from <= NFA_CODE_MAX) {
            nfa_add_edge(a, base + i, sink, from, NFA_CODE_MAX);
        }
        if (states[i].accept != complement) {
            nfa_add_epsilon(a, base + i, f.out);
        }
    }
    return f;
}
