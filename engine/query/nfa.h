/* nfa.h - graphs of states with epsilon moves over code points (Thompson), made deterministic by subsets. Internal to
 * engine/query. */
#ifndef ENGINE_QUERY_NFA_H
#define ENGINE_QUERY_NFA_H

#include "engine/query/automaton.h"

#define NFA_CODE_MAX 0x10FFFFU

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

static inline bool nfa_unusable(const struct nfa *a)
{
    return a->failed || a->too_complex;
}

uint32_t nfa_add_state(struct nfa *a);
/* A move by the characters lo..hi. */
void nfa_add_edge(struct nfa *a, uint32_t from, uint32_t to, uint32_t lo, uint32_t hi);

static inline void nfa_add_epsilon(struct nfa *a, uint32_t from, uint32_t to)
{
    nfa_add_edge(a, from, to, 1, 0);
}

struct fragment nfa_fragment_new(struct nfa *a);
/* NULL: it was given up, and `a` says why. */
struct dfa_state *nfa_determinise(struct nfa *a, struct fragment f, uint32_t *n_out);
/* A deterministic automaton back into the graph. */
struct fragment nfa_embed(struct nfa *a, const struct dfa_state *states, uint32_t n, bool complement);

#endif
