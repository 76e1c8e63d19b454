/* Automata are built as graphs of states with epsilon moves (Thompson), and made deterministic by subsets,
 * over code points. Complement and intersection determinise their parts first. */
#include "engine/query/automaton.h"

#include "common/base/hash.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"
#include "common/base/utf8.h"
#include "engine/query/regexp_parse.h"

#include <stdio.h>
#include <stdlib.h>

#define CODE_MAX   0x10FFFFU
#define STATES_MAX 10000U
#define PARTS_MIN  (1U << 17) /* states that a graph may have however few its automaton may */
#define PARTS_MAX  (1U << 22)

/* ---- non-deterministic automata ---- */

struct nfa_edge {
    uint32_t lo, hi; /* lo > hi: no character is consumed */
    uint32_t to;
    uint32_t next; /* of the same state; UINT32_MAX: last */
};

struct nfa {
    struct arena *arena;
    uint32_t *first; /* edge of each state */
    size_t n, cap;
    struct nfa_edge *edges;
    size_t n_edges, cap_edges;
    uint32_t states_max; /* of the automaton made of it */
    size_t parts_max;    /* of this one */
    bool failed;         /* no memory, or nobody waits for it any more */
    bool too_complex;
    uint32_t *marks,
        *waiting; /* for walks over the states: a mark of each, and those still to be looked at */
    size_t cap_marks;
    uint32_t mark;
    const bool *star;  /* of a wildcard: its states that loop on every character */
    uint64_t would_be; /* with too_complex: so many states; 0: more than states_max */
};

struct fragment { /* one way in, one way out */
    uint32_t in, out;
};

static bool given_up(const struct nfa *a)
{
    return a->failed || a->too_complex;
}

static uint32_t add_state(struct nfa *a)
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

static void add_edge(struct nfa *a, uint32_t from, uint32_t to, uint32_t lo, uint32_t hi)
{
    if (given_up(a)) { /* then the states need not be there */
        return;
    }
    struct nfa_edge *edges = arena_grow(a->arena, a->edges, a->n_edges, &a->cap_edges, sizeof(*edges));
    if (edges == NULL) {
        a->failed = true;
        return;
    }
    a->edges = edges;
    a->edges[a->n_edges] = (struct nfa_edge){lo, hi, to, a->first[from]};
    a->first[from] = (uint32_t)a->n_edges++;
}

static void add_epsilon(struct nfa *a, uint32_t from, uint32_t to)
{
    add_edge(a, from, to, 1, 0);
}

static struct fragment fragment_new(struct nfa *a)
{
    struct fragment f;
    f.in = add_state(a);
    f.out = add_state(a);
    return f;
}

static void add_char(struct nfa *a, uint32_t from, uint32_t to, uint32_t c, bool nocase)
{
    add_edge(a, from, to, c, c);
    if (nocase && regexp_other_case(c) != c) {
        add_edge(a, from, to, regexp_other_case(c), regexp_other_case(c));
    }
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
struct moves {
    struct dfa_range *spans;
    uint32_t *cuts;
    uint32_t n_spans, n_cuts;
};

static bool moves_of(struct determiniser *d, const struct subset *s, struct moves *out)
{
    uint32_t n = 0, k = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        for (uint32_t e = d->a->first[s->states[i]]; e != UINT32_MAX; e = d->a->edges[e].next) {
            n += d->a->edges[e].lo <= d->a->edges[e].hi ? 1 : 0;
        }
    }
    *out = (struct moves){ARENA_ARRAY(d->arena, struct dfa_range, n), ARENA_ARRAY(d->arena, uint32_t, 2 * n),
                          n, 0};
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
static uint32_t step_over(struct determiniser *d, struct moves *m, uint32_t c, uint32_t *first,
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
    struct moves m;
    if (stop_now() || !moves_of(d, &s, &m)) {
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
           && s->ranges[0].hi == CODE_MAX;
}

static struct dfa_state *determinise(struct nfa *a, struct fragment f, uint32_t *n_out)
{
    if (given_up(a)) { /* there may be no state to begin at */
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

/* A deterministic automaton back into the graph. */
static struct fragment embed(struct nfa *a, const struct dfa_state *states, uint32_t n, bool complement)
{
    struct fragment f = fragment_new(a);
    uint32_t base = (uint32_t)a->n, sink = 0;
    for (uint32_t i = 0; i < n; i++) {
        add_state(a);
    }
    if (complement) {
        sink = add_state(a);
        add_edge(a, sink, sink, 0, CODE_MAX);
        add_epsilon(a, sink, f.out);
    }
    add_epsilon(a, f.in, base);
    for (uint32_t i = 0; i < n && !a->failed; i++) {
        uint32_t from = 0;
        for (uint32_t k = 0; k < states[i].n; k++) {
            const struct dfa_range *r = &states[i].ranges[k];
            add_edge(a, base + i, base + r->to, r->lo, r->hi);
            if (complement && r->lo > from) {
                add_edge(a, base + i, sink, from, r->lo - 1);
            }
            from = r->hi + 1;
        }
        if (complement && from <= CODE_MAX) {
            add_edge(a, base + i, sink, from, CODE_MAX);
        }
        if (states[i].accept != complement) {
            add_epsilon(a, base + i, f.out);
        }
    }
    return f;
}

/* ---- expressions into automata ---- */

static struct fragment compile(struct nfa *a, const struct regexp *r);

static struct fragment complement_of(struct nfa *a, struct fragment f)
{
    uint32_t n;
    const struct dfa_state *states = determinise(a, f, &n);
    return states != NULL ? embed(a, states, n, true) : f;
}

static void join(struct nfa *a, struct fragment *whole, struct fragment part)
{
    add_epsilon(a, whole->in, part.in);
    add_epsilon(a, part.out, whole->out);
}

static struct fragment compile_union(struct nfa *a, const struct regexp *r)
{
    struct fragment f = fragment_new(a);
    join(a, &f, compile(a, r->a));
    join(a, &f, compile(a, r->b));
    return f;
}

/* x & y is ~(~x | ~y). */
static struct fragment compile_intersection(struct nfa *a, const struct regexp *r)
{
    struct fragment f = fragment_new(a);
    join(a, &f, complement_of(a, compile(a, r->a)));
    join(a, &f, complement_of(a, compile(a, r->b)));
    return complement_of(a, f);
}

/* About how many states Lucene has for the expression where it repeats it, which is what it compares with the limit. */
static uint64_t lucene_states(const struct regexp *r)
{
    uint64_t x, y;
    switch (r->kind) {
    case RE_UNION:
    case RE_INTERSECTION:
        x = lucene_states(r->a);
        y = lucene_states(r->b);
        return MAX_OF(x, y);
    case RE_CONCAT:
        return lucene_states(r->a) + lucene_states(r->b) - 1;
    case RE_COMPLEMENT:
        return lucene_states(r->a);
    case RE_REPEAT:
        x = lucene_states(r->a);
        if (r->max == UINT32_MAX) {
            return x == 2 ? (uint64_t)r->min + 1 : MIN_OF(x * MAX_OF(r->min, 1U), UINT32_MAX);
        }
        return MIN_OF(x * MAX_OF(r->max, 1U), UINT32_MAX);
    case RE_INTERVAL:
        return MAX_OF(r->digits, 2U);
    case RE_CLASS:
        return 2;
    default:
        return 1;
    }
}

/* Is there no way from one end of it to the other? */
static bool takes_nothing(struct nfa *a, struct fragment f)
{
    if (a->n > a->cap_marks) {
        a->cap_marks = 2 * a->n;
        a->marks = ARENA_ARRAY(a->arena, uint32_t, a->cap_marks); /* zeros */
        a->waiting = ARENA_ARRAY(a->arena, uint32_t, a->cap_marks);
        a->mark = 0;
    }
    if (a->marks == NULL || a->waiting == NULL || given_up(a)) {
        a->failed |= !a->too_complex;
        return false;
    }
    uint32_t *waiting = a->waiting, n = 0, mark = ++a->mark;
    waiting[n++] = f.in;
    a->marks[f.in] = mark;
    while (n > 0 && !stop_often()) {
        uint32_t s = waiting[--n];
        if (s == f.out) {
            return false;
        }
        for (uint32_t e = a->first[s]; e != UINT32_MAX; e = a->edges[e].next) {
            uint32_t to = a->edges[e].to;
            if (a->marks[to] != mark) {
                a->marks[to] = mark;
                waiting[n++] = to;
            }
        }
    }
    return true;
}

static bool repeats_too_often(struct nfa *a, const struct regexp *r)
{
    uint64_t times = r->max == UINT32_MAX ? r->min : r->max;
    uint64_t states = (lucene_states(r->a) - 1) * times;
    if (!a->too_complex && states > a->states_max) {
        a->too_complex = true;
        a->would_be = MIN_OF(states, (uint64_t)INT32_MAX);
    }
    return a->too_complex;
}

static struct fragment compile_repeat(struct nfa *a, const struct regexp *r)
{
    if (repeats_too_often(a, r)) {
        return (struct fragment){0, 0};
    }
    struct fragment f = fragment_new(a);
    uint32_t at = f.in;
    for (uint32_t i = 0; i < r->min && !given_up(a); i++) {
        struct fragment one = compile(a, r->a);
        add_epsilon(a, at, one.in);
        at = one.out;
    }
    if (r->max == UINT32_MAX) {
        struct fragment loop = compile(a, r->a);
        if (r->min == 0 && takes_nothing(a, loop)) { /* not even the empty text, says Lucene */
            return f;
        }
        uint32_t hub = add_state(a);
        add_epsilon(a, at, hub);
        add_epsilon(a, hub, loop.in);
        add_epsilon(a, loop.out, hub);
        add_epsilon(a, hub, f.out);
        return f;
    }
    for (uint32_t i = r->min; i < r->max && !given_up(a); i++) {
        struct fragment one = compile(a, r->a);
        add_epsilon(a, at, f.out);
        add_epsilon(a, at, one.in);
        at = one.out;
    }
    add_epsilon(a, at, f.out);
    return f;
}

/* The states of an interval: those at a digit to which all before it was as in the lower end, as in the upper, as in
 * both, or as in neither. */
enum tight { TIGHT_NONE, TIGHT_LOW, TIGHT_HIGH, TIGHT_BOTH, TIGHT_N };

struct interval {
    const char *low, *high; /* as many digits */
    uint32_t n;
    uint32_t base; /* state of TIGHT_NONE before the first digit */
    uint32_t out;
};

static uint32_t interval_state(const struct interval *v, enum tight tight, uint32_t at)
{
    return at == v->n ? v->out : v->base + (uint32_t)tight * v->n + at;
}

static void interval_edges(struct nfa *a, const struct interval *v, enum tight tight, uint32_t at)
{
    bool low = (tight & TIGHT_LOW) != 0, high = (tight & TIGHT_HIGH) != 0;
    uint32_t from = interval_state(v, tight, at);
    uint32_t lo = low ? (uint32_t)v->low[at] : '0', hi = high ? (uint32_t)v->high[at] : '9';
    if (low && high && lo == hi) {
        add_edge(a, from, interval_state(v, TIGHT_BOTH, at + 1), lo, hi);
        return;
    }
    if (low) {
        add_edge(a, from, interval_state(v, TIGHT_LOW, at + 1), lo, lo);
        lo++;
    }
    if (high) {
        add_edge(a, from, interval_state(v, TIGHT_HIGH, at + 1), hi, hi);
        hi--;
    }
    if (lo <= hi) {
        add_edge(a, from, interval_state(v, TIGHT_NONE, at + 1), lo, hi);
    }
}

/* Decimal numbers from min to max, of so many digits, or (`digits` 0) with any zeros before them. As
 * Automata.makeDecimalInterval of Lucene makes it. */
static struct fragment compile_interval(struct nfa *a, const struct regexp *r)
{
    struct fragment f = fragment_new(a);
    struct str high = arena_printf(a->arena, "%0*u", (int)r->digits, r->max);
    struct str low = arena_printf(a->arena, "%0*u", (int)high.n, r->min);
    if (high.p == NULL || low.p == NULL) {
        a->failed = true;
        return f;
    }
    struct interval v = {low.p, high.p, (uint32_t)high.n, (uint32_t)a->n, f.out};
    for (uint32_t i = 0; i < TIGHT_N * v.n && !given_up(a); i++) {
        add_state(a);
    }
    for (uint32_t i = 0; i < TIGHT_N * v.n && !given_up(a); i++) {
        interval_edges(a, &v, (enum tight)(i / v.n), i % v.n);
    }
    add_epsilon(a, f.in, interval_state(&v, TIGHT_BOTH, 0));
    if (r->digits > 0 || given_up(a)) {
        return f;
    }
    add_edge(a, f.in, f.in, '0', '0');
    bool both = true;
    for (uint32_t i = 0; i + 1 < v.n && low.p[i] == '0'; i++) { /* what is below as zeros need not be there */
        both = both && high.p[i] == '0';
        add_epsilon(a, f.in, interval_state(&v, both ? TIGHT_BOTH : TIGHT_LOW, i + 1));
    }
    return f;
}

static struct fragment compile_class(struct nfa *a, const struct regexp *r)
{
    struct fragment f = fragment_new(a);
    if (!r->negated) {
        for (uint32_t i = 0; i < r->n; i++) {
            add_edge(a, f.in, f.out, r->ranges[i].lo, r->ranges[i].hi);
        }
        return f;
    }
    uint32_t from = 0; /* ranges are sorted by the parser */
    for (uint32_t i = 0; i < r->n; i++) {
        if (r->ranges[i].lo > from) {
            add_edge(a, f.in, f.out, from, r->ranges[i].lo - 1);
        }
        from = MAX_OF(from, r->ranges[i].hi + 1);
    }
    if (from <= CODE_MAX) {
        add_edge(a, f.in, f.out, from, CODE_MAX);
    }
    return f;
}

static struct fragment compile(struct nfa *a, const struct regexp *r)
{
    struct fragment f, g;
    if (given_up(a)) {
        return (struct fragment){0, 0};
    }
    switch (r->kind) {
    case RE_UNION:
        return compile_union(a, r);
    case RE_CONCAT:
        f = compile(a, r->a);
        g = compile(a, r->b);
        add_epsilon(a, f.out, g.in);
        return (struct fragment){f.in, g.out};
    case RE_INTERSECTION:
        return compile_intersection(a, r);
    case RE_COMPLEMENT:
        return complement_of(a, compile(a, r->a));
    case RE_REPEAT:
        return compile_repeat(a, r);
    case RE_CLASS:
        return compile_class(a, r);
    case RE_ANY_STRING:
        f = fragment_new(a);
        add_edge(a, f.in, f.in, 0, CODE_MAX);
        add_epsilon(a, f.in, f.out);
        return f;
    case RE_NOTHING:
        return fragment_new(a);
    case RE_EMPTY:
        f = fragment_new(a);
        add_epsilon(a, f.in, f.out);
        return f;
    case RE_INTERVAL:
        return compile_interval(a, r);
    }
    return fragment_new(a);
}

/* ---- finished automata ---- */

static bool fill_ascii(struct dfa *d, struct arena *arena)
{
    uint32_t(*rows)[128] = arena_alloc(arena, sizeof(*rows) * d->n);
    if (rows == NULL) {
        return false;
    }
    for (uint32_t s = 0; s < d->n; s++) {
        for (uint32_t c = 0; c < 128; c++) {
            rows[s][c] = DFA_DEAD;
        }
        for (uint32_t k = 0; k < d->states[s].n; k++) {
            const struct dfa_range *r = &d->states[s].ranges[k];
            for (uint32_t c = r->lo; c <= r->hi && c < 128; c++) {
                rows[s][c] = r->to;
            }
        }
    }
    d->ascii = (const uint32_t(*)[128])rows;
    return true;
}

/* Follows the only way as long as there is just one. */
static bool fill_prefix(struct dfa *d, struct arena *arena)
{
    char text[256];
    size_t n = 0;
    uint32_t s = 0;
    while (n + 4 < sizeof(text) && !d->states[s].accept && d->states[s].n == 1
           && d->states[s].ranges[0].lo == d->states[s].ranges[0].hi) {
        n += utf8_put(text + n, d->states[s].ranges[0].lo);
        s = d->states[s].ranges[0].to;
    }
    d->prefix = arena_str(arena, str_mk(text, n));
    return d->prefix.p != NULL;
}

static enum err finish(struct nfa *a, struct fragment f, struct str pattern, const struct dfa **out,
                       struct errmsg *em)
{
    struct dfa *d = ARENA_NEW(a->arena, struct dfa);
    if (d != NULL && !a->failed && !a->too_complex) {
        d->states = determinise(a, f, &d->n);
    }
    if (a->too_complex) {
        return err_set(em, ERR_TOO_COMPLEX, "Determinizing %.*s would result in more than %llu states.",
                       STR_ARG(pattern), (unsigned long long)(a->would_be > 0 ? a->would_be : a->states_max));
    }
    if (d == NULL || d->states == NULL || (d->n <= 4096 && !fill_ascii(d, a->arena))
        || !fill_prefix(d, a->arena)) {
        return err_no_memory(em);
    }
    *out = d;
    return ERR_OK;
}

enum err dfa_regexp(const struct dfa **out, struct str pattern, uint32_t flags, bool case_insensitive,
                    uint32_t max_states, struct arena *arena, struct errmsg *em)
{
    const struct regexp *r;
    enum err e = regexp_parse(&r, pattern, flags, case_insensitive, arena, em);
    if (e != ERR_OK) {
        return e;
    }
    struct nfa a = {.arena = arena, .states_max = max_states > 0 ? max_states : STATES_MAX};
    a.parts_max = MIN_OF(MAX_OF((size_t)a.states_max * 8, (size_t)PARTS_MIN), (size_t)PARTS_MAX);
    struct fragment f = compile(&a, r);
    return finish(&a, f, pattern, out, em);
}

enum err regexp_check(struct str pattern, uint32_t flags, uint32_t max_states, struct arena *arena,
                      struct errmsg *em)
{
    const struct dfa *d;
    enum err e = dfa_regexp(&d, pattern, flags, false, max_states, arena, em);
    if (e == ERR_TOO_COMPLEX && em != NULL) { /* told by the automaton, and again by the expression */
        char reason[ERR_REASON_BYTES];
        memcpy(reason, em->frame[0].reason, sizeof(reason));
        err_wrap(em, e, "%s", reason);
    }
    return e;
}

enum err dfa_wildcard(const struct dfa **out, struct str pattern, bool case_insensitive, struct arena *arena,
                      struct errmsg *em)
{
    struct nfa a = {.arena = arena, .states_max = 1U << 16, .parts_max = PARTS_MAX};
    bool *star = ARENA_ARRAY(arena, bool, pattern.n + 2); /* more than there will be states */
    struct fragment f = fragment_new(&a);
    uint32_t at = f.in;
    a.failed |= star == NULL;
    a.star = star;
    if (pattern.n
        == 0) { /* of no parts Lucene makes an automaton that takes nothing, the empty text neither */
        return finish(&a, f, pattern, out, em);
    }
    for (size_t i = 0; i < pattern.n && !a.failed;) {
        uint32_t c = utf8_next(pattern, &i), to;
        if (c == '*') {
            star[at] = true;
            add_edge(&a, at, at, 0, CODE_MAX);
            continue;
        }
        to = add_state(&a);
        if (c == '?') {
            add_edge(&a, at, to, 0, CODE_MAX);
        } else {
            if (c == '\\' && i < pattern.n) {
                c = utf8_next(pattern, &i);
            }
            add_char(&a, at, to, c, case_insensitive);
        }
        at = to;
    }
    add_epsilon(&a, at, f.out);
    return finish(&a, f, pattern, out, em);
}

enum err dfa_nocase(const struct dfa **out, struct str text, bool exact, struct arena *arena,
                    struct errmsg *em)
{
    struct nfa a = {.arena = arena, .states_max = 1U << 16, .parts_max = PARTS_MAX};
    struct fragment f = fragment_new(&a);
    uint32_t at = f.in;
    for (size_t i = 0; i < text.n && !a.failed;) {
        uint32_t to = add_state(&a);
        add_char(&a, at, to, utf8_next(text, &i), true);
        at = to;
    }
    if (!exact) {
        add_edge(&a, at, at, 0, CODE_MAX);
    }
    add_epsilon(&a, at, f.out);
    return finish(&a, f, text, out, em);
}

uint32_t dfa_step(const struct dfa *d, uint32_t state, uint32_t c)
{
    if (c < 128 && d->ascii != NULL) {
        return d->ascii[state][c];
    }
    const struct dfa_state *s = &d->states[state];
    uint32_t lo = 0, hi = s->n;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (c > s->ranges[mid].hi) {
            lo = mid + 1;
        } else if (c < s->ranges[mid].lo) {
            hi = mid;
        } else {
            return s->ranges[mid].to;
        }
    }
    return DFA_DEAD;
}

bool dfa_match(const struct dfa *d, struct str text)
{
    uint32_t state = 0;
    for (size_t at = 0; at < text.n && state != DFA_DEAD;) {
        state = dfa_step(d, state, utf8_next(text, &at));
    }
    return state != DFA_DEAD && d->states[state].accept;
}

bool regexp_flags_parse(struct str text, uint32_t *out, struct str *unknown)
{
    static const struct {
        const char *name;
        uint32_t value;
    } flags[] = {{"INTERSECTION", REGEXP_INTERSECTION},
                 {"COMPLEMENT", REGEXP_COMPLEMENT},
                 {"EMPTY", REGEXP_EMPTY},
                 {"ANYSTRING", REGEXP_ANYSTRING},
                 {"INTERVAL", REGEXP_INTERVAL},
                 {"NONE", 0},
                 {"ALL", REGEXP_ALL}};
    struct str rest = text;
    *out = text.n == 0 ? REGEXP_ALL : 0;
    while (rest.p != NULL && text.n > 0) {
        struct str one = str_cut(rest, '|', &rest);
        size_t i = 0;
        while (i < ARRAY_LEN(flags) && one.n > 0 && !str_eq_nocase(one, str_of(flags[i].name))) {
            i++;
        }
        if (i == ARRAY_LEN(flags)) {
            *unknown = one;
            return false;
        }
        if (one.n > 0) {
            *out |= flags[i].value;
        }
        if (*out == REGEXP_ALL) { /* nobody reads what follows */
            return true;
        }
    }
    return true;
}
