/* Expressions, wildcards and texts into automata. Complement and intersection determinise their parts first. */
#include "engine/query/automaton.h"

#include "common/base/stop.h"
#include "common/base/utf8.h"
#include "engine/query/nfa.h"
#include "engine/query/regexp_parse.h"

#include <stdio.h>

#define PARTS_MIN (1U << 17) /* states that a graph may have however few its automaton may */
#define PARTS_MAX (1U << 22)

static void add_char(struct nfa *a, uint32_t from, uint32_t to, uint32_t c, bool nocase)
{
    nfa_add_edge(a, from, to, c, c);
    if (nocase && regexp_other_case(c) != c) {
        nfa_add_edge(a, from, to, regexp_other_case(c), regexp_other_case(c));
    }
}

/* ---- expressions into automata ---- */

static struct fragment compile(struct nfa *a, const struct regexp *r);

static struct fragment complement_of(struct nfa *a, struct fragment f)
{
    uint32_t n;
    const struct dfa_state *states = nfa_determinise(a, f, &n);
    return states != NULL ? nfa_embed(a, states, n, true) : f;
}

static void join(struct nfa *a, struct fragment *whole, struct fragment part)
{
    nfa_add_epsilon(a, whole->in, part.in);
    nfa_add_epsilon(a, part.out, whole->out);
}

static struct fragment compile_union(struct nfa *a, const struct regexp *r)
{
    struct fragment f = nfa_fragment_new(a);
    join(a, &f, compile(a, r->a));
    join(a, &f, compile(a, r->b));
    return f;
}

/* x & y is ~(~x | ~y). */
static struct fragment compile_intersection(struct nfa *a, const struct regexp *r)
{
    struct fragment f = nfa_fragment_new(a);
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
    case RE_ANY_STRING:
    case RE_EMPTY:
    case RE_NOTHING:
        break;
    }
    return 1;
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
    if (a->marks == NULL || a->waiting == NULL || nfa_unusable(a)) {
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
    struct fragment f = nfa_fragment_new(a);
    uint32_t at = f.in;
    for (uint32_t i = 0; i < r->min && !nfa_unusable(a); i++) {
        struct fragment one = compile(a, r->a);
        nfa_add_epsilon(a, at, one.in);
        at = one.out;
    }
    if (r->max == UINT32_MAX) {
        struct fragment loop = compile(a, r->a);
        if (r->min == 0 && takes_nothing(a, loop)) { /* not even the empty text, says Lucene */
            return f;
        }
        uint32_t hub = nfa_add_state(a);
        nfa_add_epsilon(a, at, hub);
        nfa_add_epsilon(a, hub, loop.in);
        nfa_add_epsilon(a, loop.out, hub);
        nfa_add_epsilon(a, hub, f.out);
        return f;
    }
    for (uint32_t i = r->min; i < r->max && !nfa_unusable(a); i++) {
        struct fragment one = compile(a, r->a);
        nfa_add_epsilon(a, at, f.out);
        nfa_add_epsilon(a, at, one.in);
        at = one.out;
    }
    nfa_add_epsilon(a, at, f.out);
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
        nfa_add_edge(a, from, interval_state(v, TIGHT_BOTH, at + 1), lo, hi);
        return;
    }
    if (low) {
        nfa_add_edge(a, from, interval_state(v, TIGHT_LOW, at + 1), lo, lo);
        lo++;
    }
    if (high) {
        nfa_add_edge(a, from, interval_state(v, TIGHT_HIGH, at + 1), hi, hi);
        hi--;
    }
    if (lo <= hi) {
        nfa_add_edge(a, from, interval_state(v, TIGHT_NONE, at + 1), lo, hi);
    }
}

/* Decimal numbers from min to max, of so many digits, or (`digits` 0) with any zeros before them. As
 * Automata.makeDecimalInterval of Lucene makes it. */
static struct fragment compile_interval(struct nfa *a, const struct regexp *r)
{
    struct fragment f = nfa_fragment_new(a);
    struct str high = arena_printf(a->arena, "%0*u", (int)r->digits, r->max);
    struct str low = arena_printf(a->arena, "%0*u", (int)high.n, r->min);
    if (high.p == NULL || low.p == NULL) {
        a->failed = true;
        return f;
    }
    struct interval v = {low.p, high.p, (uint32_t)high.n, (uint32_t)a->n, f.out};
    for (uint32_t i = 0; i < TIGHT_N * v.n && !nfa_unusable(a); i++) {
        nfa_add_state(a);
    }
    for (uint32_t i = 0; i < TIGHT_N * v.n && !nfa_unusable(a); i++) {
        interval_edges(a, &v, (enum tight)(i / v.n), i % v.n);
    }
    nfa_add_epsilon(a, f.in, interval_state(&v, TIGHT_BOTH, 0));
    if (r->digits > 0 || nfa_unusable(a)) {
        return f;
    }
    nfa_add_edge(a, f.in, f.in, '0', '0');
    bool both = true;
    for (uint32_t i = 0; i + 1 < v.n && low.p[i] == '0'; i++) { /* what is below as zeros need not be there */
        both = both && high.p[i] == '0';
        nfa_add_epsilon(a, f.in, interval_state(&v, both ? TIGHT_BOTH : TIGHT_LOW, i + 1));
    }
    return f;
}

static struct fragment compile_class(struct nfa *a, const struct regexp *r)
{
    struct fragment f = nfa_fragment_new(a);
    if (!r->negated) {
        for (uint32_t i = 0; i < r->n; i++) {
            nfa_add_edge(a, f.in, f.out, r->ranges[i].lo, r->ranges[i].hi);
        }
        return f;
    }
    uint32_t from = 0; /* ranges are sorted by the parser */
    for (uint32_t i = 0; i < r->n; i++) {
        if (r->ranges[i].lo > from) {
            nfa_add_edge(a, f.in, f.out, from, r->ranges[i].lo - 1);
        }
        from = MAX_OF(from, r->ranges[i].hi + 1);
    }
    if (from <= NFA_CODE_MAX) {
        nfa_add_edge(a, f.in, f.out, from, NFA_CODE_MAX);
    }
    return f;
}

static struct fragment compile(struct nfa *a, const struct regexp *r)
{
    struct fragment f, g;
    if (nfa_unusable(a)) {
        return (struct fragment){0, 0};
    }
    switch (r->kind) {
    case RE_UNION:
        return compile_union(a, r);
    case RE_CONCAT:
        f = compile(a, r->a);
        g = compile(a, r->b);
        nfa_add_epsilon(a, f.out, g.in);
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
        f = nfa_fragment_new(a);
        nfa_add_edge(a, f.in, f.in, 0, NFA_CODE_MAX);
        nfa_add_epsilon(a, f.in, f.out);
        return f;
    case RE_NOTHING:
        return nfa_fragment_new(a);
    case RE_EMPTY:
        f = nfa_fragment_new(a);
        nfa_add_epsilon(a, f.in, f.out);
        return f;
    case RE_INTERVAL:
        return compile_interval(a, r);
    }
    return nfa_fragment_new(a);
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

static enum err automaton_finish(struct nfa *a, struct fragment f, struct str pattern, const struct dfa **out,
                                 struct errmsg *em)
{
    struct dfa *d = ARENA_NEW(a->arena, struct dfa);
    if (d != NULL && !a->failed && !a->too_complex) {
        d->states = nfa_determinise(a, f, &d->n);
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
    struct nfa a = {.arena = arena, .states_max = max_states > 0 ? max_states : AUTOMATON_STATES_MAX};
    a.parts_max = MIN_OF(MAX_OF((size_t)a.states_max * 8, (size_t)PARTS_MIN), (size_t)PARTS_MAX);
    struct fragment f = compile(&a, r);
    return automaton_finish(&a, f, pattern, out, em);
}

enum err regexp_check(struct str pattern, uint32_t flags, uint32_t max_states, struct arena *arena,
                      struct errmsg *em)
{
    const struct dfa *d;
    enum err e = dfa_regexp(&d, pattern, flags, false, max_states, arena, em);
    if (e == ERR_TOO_COMPLEX) { /* reported by the automaton, and again by the expression */
        err_wrap(em, e, "%s", err_reason(em));
    }
    return e;
}

enum err dfa_wildcard(const struct dfa **out, struct str pattern, bool case_insensitive, struct arena *arena,
                      struct errmsg *em)
{
    struct nfa a = {.arena = arena, .states_max = 1U << 16, .parts_max = PARTS_MAX};
    bool *star = ARENA_ARRAY(arena, bool, pattern.n + 2); /* more than there will be states */
    struct fragment f = nfa_fragment_new(&a);
    uint32_t at = f.in;
    a.failed |= star == NULL;
    a.star = star;
    if (pattern.n
        == 0) { /* of no parts Lucene makes an automaton that takes nothing, the empty text neither */
        return automaton_finish(&a, f, pattern, out, em);
    }
    for (size_t i = 0; i < pattern.n && !a.failed;) {
        uint32_t c = utf8_next(pattern, &i), to;
        if (c == '*') {
            star[at] = true;
            nfa_add_edge(&a, at, at, 0, NFA_CODE_MAX);
            continue;
        }
        to = nfa_add_state(&a);
        if (c == '?') {
            nfa_add_edge(&a, at, to, 0, NFA_CODE_MAX);
        } else {
            if (c == '\\' && i < pattern.n) {
                c = utf8_next(pattern, &i);
            }
            add_char(&a, at, to, c, case_insensitive);
        }
        at = to;
    }
    nfa_add_epsilon(&a, at, f.out);
    return automaton_finish(&a, f, pattern, out, em);
}

enum err dfa_nocase(const struct dfa **out, struct str text, bool exact, struct arena *arena,
                    struct errmsg *em)
{
    struct nfa a = {.arena = arena, .states_max = 1U << 16, .parts_max = PARTS_MAX};
    struct fragment f = nfa_fragment_new(&a);
    uint32_t at = f.in;
    for (size_t i = 0; i < text.n && !a.failed;) {
        uint32_t to = nfa_add_state(&a);
        add_char(&a, at, to, utf8_next(text, &i), true);
        at = to;
    }
    if (!exact) {
        nfa_add_edge(&a, at, at, 0, NFA_CODE_MAX);
    }
    nfa_add_epsilon(&a, at, f.out);
    return automaton_finish(&a, f, text, out, em);
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
