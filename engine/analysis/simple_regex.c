#include "engine/analysis/simple_regex.h"

#include "common/base/arena_list.h"
#include "common/base/stop.h"
#include "common/base/utf8.h"

#define DEPTH_MAX 200

struct range {
    uint32_t from, to;
};

enum node_kind { NODE_EMPTY, NODE_SET, NODE_CONCAT, NODE_UNION, NODE_REPEAT };

/* The syntax tree. */
struct node {
    enum node_kind kind;
    struct node *a, *b;
    struct range *ranges; /* NODE_SET */
    size_t n;
    bool negated;
    uint32_t min, max; /* NODE_REPEAT; UINT32_MAX: without end */
};

enum state_kind { STATE_SPLIT, STATE_SET, STATE_ACCEPT };

#define NO_STATE UINT32_MAX

struct state {
    enum state_kind kind;
    const struct node *set;
    uint32_t next, other; /* other: STATE_SPLIT only, may be NO_STATE */
};

struct simple_regex {
    struct state *states;
    size_t n, cap;
    uint32_t start;
};

struct parser {
    struct str s;
    size_t at;
    unsigned depth;
    struct arena *arena;
    struct errmsg *em;
    enum err e;
};

static struct node *simple_regex_fail(struct parser *p, const char *what)
{
    if (p->e == ERR_OK) {
        p->e = err_set(p->em, ERR_PART_UNUSABLE, "%s", what);
    }
    return NULL;
}

static struct node *simple_regex_make(struct parser *p, enum node_kind kind, struct node *a, struct node *b)
{
    struct node *n = ARENA_NEW(p->arena, struct node);
    if (n == NULL) {
        p->e = err_no_memory(p->em);
        return NULL;
    }
    *n = (struct node){.kind = kind, .a = a, .b = b};
    return n;
}

static bool add_range(struct parser *p, struct node *set, uint32_t from, uint32_t to)
{
    struct range *v = arena_alloc(p->arena, (set->n + 1) * sizeof(*v));
    if (v == NULL) {
        p->e = err_no_memory(p->em);
        return false;
    }
    if (set->n > 0) {
        memcpy(v, set->ranges, set->n * sizeof(*v));
    }
    v[set->n++] = (struct range){from, to};
    set->ranges = v;
    return true;
}

static bool peek(const struct parser *p, char c)
{
    return p->at < p->s.n && p->s.p[p->at] == c;
}

static bool accept(struct parser *p, char c)
{
    bool is = peek(p, c);
    p->at += is;
    return is;
}

static struct node *set_of(struct parser *p, uint32_t from, uint32_t to)
{
    struct node *n = simple_regex_make(p, NODE_SET, NULL, NULL);
    return n != NULL && add_range(p, n, from, to) ? n : NULL;
}

/* A character, possibly escaped. */
static bool parse_char(struct parser *p, uint32_t *c)
{
    accept(p, '\\');
    if (p->at >= p->s.n) {
        simple_regex_fail(p, "unexpected end-of-string");
        return false;
    }
    *c = utf8_next(p->s, &p->at);
    return true;
}

static struct node *parse_class(struct parser *p)
{
    struct node *n = simple_regex_make(p, NODE_SET, NULL, NULL);
    if (n == NULL) {
        return NULL;
    }
    n->negated = accept(p, '^');
    do {
        uint32_t from, to;
        if (!parse_char(p, &from)) {
            return NULL;
        }
        to = from;
        if (accept(p, '-') && !parse_char(p, &to)) {
            return NULL;
        }
        if (from > to) {
            return simple_regex_fail(p, "invalid range: from cannot be > to");
        }
        if (!add_range(p, n, from, to)) {
            return NULL;
        }
    } while (p->at < p->s.n && !peek(p, ']'));
    return accept(p, ']') ? n : simple_regex_fail(p, "expected ']'");
}

static struct node *parse_union(struct parser *p);

static struct node *parse_string(struct parser *p)
{
    struct node *all = simple_regex_make(p, NODE_EMPTY, NULL, NULL);
    while (all != NULL && p->at < p->s.n && !peek(p, '"')) {
        uint32_t c = utf8_next(p->s, &p->at);
        struct node *one = set_of(p, c, c);
        all = one != NULL ? simple_regex_make(p, NODE_CONCAT, all, one) : NULL;
    }
    return all == NULL || accept(p, '"') ? all : simple_regex_fail(p, "expected '\"'");
}

static struct node *parse_simple(struct parser *p)
{
    struct node *n;
    if (accept(p, '.')) {
        return set_of(p, 0, 0x10FFFF);
    }
    if (accept(p, '#')) { /* nothing at all */
        n = simple_regex_make(p, NODE_SET, NULL, NULL);
        return n;
    }
    if (accept(p, '@')) {
        n = set_of(p, 0, 0x10FFFF);
        n = n != NULL ? simple_regex_make(p, NODE_REPEAT, n, NULL) : NULL;
        if (n != NULL) {
            n->max = UINT32_MAX;
        }
        return n;
    }
    if (accept(p, '"')) {
        return parse_string(p);
    }
    if (accept(p, '(')) {
        if (accept(p, ')')) {
            return simple_regex_make(p, NODE_EMPTY, NULL, NULL);
        }
        if (++p->depth > DEPTH_MAX) {
            return simple_regex_fail(p, "expression is nested too deeply");
        }
        n = parse_union(p);
        p->depth--;
        return n == NULL || accept(p, ')') ? n : simple_regex_fail(p, "expected ')'");
    }
    if (accept(p, '[')) {
        return parse_class(p);
    }
    if (peek(p, '~') || peek(p, '&') || peek(p, '<')) {
        return simple_regex_fail(p, "complement, intersection and intervals are not supported");
    }
    uint32_t c;
    return parse_char(p, &c) ? set_of(p, c, c) : NULL;
}

static bool parse_number(struct parser *p, uint32_t *out)
{
    size_t from = p->at;
    *out = 0;
    while (p->at < p->s.n && p->s.p[p->at] >= '0' && p->s.p[p->at] <= '9' && *out < AUTOMATON_STATES_MAX) {
        *out = *out * 10 + (uint32_t)(p->s.p[p->at++] - '0');
    }
    if (p->at == from) {
        simple_regex_fail(p, "integer expected");
    }
    return p->at > from;
}

static bool parse_bounds(struct parser *p, struct node *n)
{
    if (!parse_number(p, &n->min)) {
        return false;
    }
    n->max = n->min;
    if (accept(p, ',')) {
        n->max = UINT32_MAX;
        if (!peek(p, '}') && !parse_number(p, &n->max)) {
            return false;
        }
    }
    if (!accept(p, '}')) {
        simple_regex_fail(p, "expected '}'");
        return false;
    }
    return true;
}

static struct node *parse_repeat(struct parser *p)
{
    struct node *n = parse_simple(p);
    while (n != NULL && (peek(p, '?') || peek(p, '*') || peek(p, '+') || peek(p, '{'))) {
        char c = p->s.p[p->at++];
        n = simple_regex_make(p, NODE_REPEAT, n, NULL);
        if (n == NULL) {
            break;
        }
        n->min = c == '+' ? 1 : 0;
        n->max = c == '?' ? 1 : UINT32_MAX;
        if (c == '{' && !parse_bounds(p, n)) {
            return NULL;
        }
    }
    return n;
}

static struct node *parse_concat(struct parser *p)
{
    struct node *n = parse_repeat(p);
    while (n != NULL && p->at < p->s.n && !peek(p, ')') && !peek(p, '|')) {
        struct node *more = parse_repeat(p);
        n = more != NULL ? simple_regex_make(p, NODE_CONCAT, n, more) : NULL;
    }
    return n;
}

static struct node *parse_union(struct parser *p)
{
    struct node *n = parse_concat(p);
    while (n != NULL && accept(p, '|')) {
        struct node *more = parse_concat(p);
        n = more != NULL ? simple_regex_make(p, NODE_UNION, n, more) : NULL;
    }
    return n;
}

static uint32_t add_state(struct parser *p, struct simple_regex *r, struct state s)
{
    if (r->n >= AUTOMATON_STATES_MAX) {
        if (p->e == ERR_OK) {
            p->e =
                err_set(p->em, ERR_TOO_COMPLEX,
                        "Determinizing automaton would result in more than %d states.", AUTOMATON_STATES_MAX);
        }
        return NO_STATE;
    }
    if (!ARENA_ROOM(p->arena, r->states, r->n, r->cap)) {
        p->e = err_no_memory(p->em);
        return NO_STATE;
    }
    r->states[r->n] = s;
    return (uint32_t)r->n++;
}

/* Builds the states for n in front of `next`, returns the first. Built from behind, so that no patching is
 * needed but for loops. */
static uint32_t nfa_build(struct parser *p, struct simple_regex *r, const struct node *n, uint32_t next)
{
    if (p->e != ERR_OK || next == NO_STATE) {
        return NO_STATE;
    }
    switch (n->kind) {
    case NODE_EMPTY:
        return next;
    case NODE_SET:
        return add_state(p, r, (struct state){STATE_SET, n, next, NO_STATE});
    case NODE_CONCAT:
        return nfa_build(p, r, n->a, nfa_build(p, r, n->b, next));
    case NODE_UNION: {
        uint32_t a = nfa_build(p, r, n->a, next), b = nfa_build(p, r, n->b, next);
        return add_state(p, r, (struct state){STATE_SPLIT, NULL, a, b});
    }
    case NODE_REPEAT:
        break;
    }
    uint32_t here = next;
    if (n->max == UINT32_MAX) {
        here = add_state(p, r, (struct state){STATE_SPLIT, NULL, NO_STATE, next});
        uint32_t body = nfa_build(p, r, n->a, here);
        if (here != NO_STATE) {
            r->states[here].next = body;
        }
    }
    for (uint32_t i = n->min; n->max != UINT32_MAX && i < n->max && p->e == ERR_OK; i++) {
        here = add_state(p, r, (struct state){STATE_SPLIT, NULL, nfa_build(p, r, n->a, here), next});
    }
    for (uint32_t i = 0; i < n->min && p->e == ERR_OK; i++) {
        here = nfa_build(p, r, n->a, here);
    }
    return here;
}

enum err simple_regex_new(const struct simple_regex **out, struct str pattern, struct arena *arena,
                          struct errmsg *em)
{
    struct parser p = {.s = pattern, .arena = arena, .em = em};
    struct simple_regex *r = ARENA_NEW(arena, struct simple_regex);
    if (r == NULL) {
        return err_no_memory(em);
    }
    struct node *tree = pattern.n > 0 ? parse_union(&p) : simple_regex_make(&p, NODE_EMPTY, NULL, NULL);
    if (tree != NULL && p.at < pattern.n) {
        simple_regex_fail(&p, "end-of-string expected");
    }
    if (p.e != ERR_OK || tree == NULL) {
        return p.e != ERR_OK ? p.e : err_no_memory(em);
    }
    r->start =
        nfa_build(&p, r, tree, add_state(&p, r, (struct state){STATE_ACCEPT, NULL, NO_STATE, NO_STATE}));
    *out = r;
    return p.e;
}

bool simple_walk_init(struct simple_walk *w, const struct simple_regex *r, struct arena *arena)
{
    *w = (struct simple_walk){0};
    w->now = ARENA_ARRAY(arena, uint32_t, 2 * r->n);
    w->next = ARENA_ARRAY(arena, uint32_t, 2 * r->n);
    w->seen = ARENA_ARRAY(arena, uint32_t, r->n);
    return w->now != NULL && w->next != NULL && w->seen != NULL;
}

static bool contains(const struct node *set, uint32_t c)
{
    for (size_t i = 0; i < set->n; i++) {
        if (c >= set->ranges[i].from && c <= set->ranges[i].to) {
            return !set->negated;
        }
    }
    return set->negated;
}

/* Puts a state and all that it leads to without a character on the list; tells whether the end is among them.
 * The list's tail serves as the stack: each state is put there once a step. */
static bool nfa_enter(const struct simple_regex *r, struct simple_walk *w, uint32_t state, uint32_t *list,
                      size_t *n)
{
    bool accepts = false;
    size_t done = *n;
    if (state == NO_STATE || w->seen[state] == w->step) {
        return false;
    }
    w->seen[state] = w->step;
    list[(*n)++] = state;
    for (; done < *n; done++) {
        const struct state *s = &r->states[list[done]];
        accepts |= s->kind == STATE_ACCEPT;
        uint32_t both[2] = {s->next, s->other};
        for (size_t i = 0; s->kind == STATE_SPLIT && i < 2; i++) {
            if (both[i] != NO_STATE && w->seen[both[i]] != w->step) {
                w->seen[both[i]] = w->step;
                list[(*n)++] = both[i];
            }
        }
    }
    return accepts;
}

size_t simple_regex_match(const struct simple_regex *r, struct simple_walk *w, struct str text, size_t at)
{
    size_t n = 0, best = SIZE_MAX;
    w->step++;
    if (nfa_enter(r, w, r->start, w->now, &n)) {
        best = at;
    }
    while (n > 0 && at < text.n && !stop_worked(n)) {
        uint32_t c = utf8_next(text, &at);
        size_t n_next = 0;
        bool accepts = false;
        w->step++;
        for (size_t i = 0; i < n; i++) {
            const struct state *s = &r->states[w->now[i]];
            if (s->kind == STATE_SET && contains(s->set, c)) {
                accepts |= nfa_enter(r, w, s->next, w->next, &n_next);
            }
        }
        best = accepts ? at : best;
        uint32_t *swap = w->now;
        w->now = w->next;
        w->next = swap;
        n = n_next;
    }
    return best;
}
