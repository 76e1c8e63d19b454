/* automaton.h - deterministic automata over code points: wildcards and Lucene's regular expressions.
 *
 * An expression is parsed (RegExp's syntax of Lucene 8), turned into a non-deterministic automaton and
 * determinised, with a limit on the states. Immutable once built, in an arena; any thread may run it. */
#ifndef ENGINE_QUERY_AUTOMATON_H
#define ENGINE_QUERY_AUTOMATON_H

#include "common/base/arena.h"
#include "common/base/err.h"
#include "engine/analysis/simple_regex.h"

enum {
    REGEXP_INTERSECTION = 0x0001, /* & */
    REGEXP_COMPLEMENT = 0x0002,   /* ~ */
    REGEXP_EMPTY = 0x0004,        /* # */
    REGEXP_ANYSTRING = 0x0008,    /* @ */
    REGEXP_AUTOMATON = 0x0010,    /* <identifier>, of which there is none */
    REGEXP_INTERVAL = 0x0020,     /* <n-m> */
    REGEXP_ALL = 0xFFFF
};

/* "INTERSECTION|COMPLEMENT", "ALL", "NONE" ...; false: *unknown is a name that there is not. */
bool regexp_flags_parse(struct str text, uint32_t *out, struct str *unknown);

#define DFA_DEAD UINT32_MAX

struct dfa_range {
    uint32_t lo, hi, to;
};

struct dfa_state {
    const struct dfa_range *ranges; /* ascending, disjoint */
    uint32_t n;
    bool accept;
    bool all; /* every continuation is accepted */
};

struct dfa {
    const struct dfa_state *states; /* 0 is the start */
    uint32_t n;
    const uint32_t (*ascii)[128]; /* a table for the commonest characters, a row a state */
    struct str prefix;            /* what every accepted text begins with */
};

/* ERR_ILLEGAL_ARGUMENT for syntax, ERR_TOO_COMPLEX past max_states (0: AUTOMATON_STATES_MAX). */
enum err dfa_regexp(const struct dfa **out, struct str pattern, uint32_t flags, bool case_insensitive,
                    uint32_t max_states, struct arena *arena, struct errmsg *em);
/* Lucene's wildcards: `*`, `?`, `\` escapes. */
enum err dfa_wildcard(const struct dfa **out, struct str pattern, bool case_insensitive, struct arena *arena,
                      struct errmsg *em);
/* All texts that begin with `prefix` (or, exact, are it), compared without case. */
enum err dfa_nocase(const struct dfa **out, struct str text, bool exact, struct arena *arena,
                    struct errmsg *em);
/* Syntax alone. */
enum err regexp_check(struct str pattern, uint32_t flags, uint32_t max_states, struct arena *arena,
                      struct errmsg *em);

/* The state behind c; DFA_DEAD: none. */
uint32_t dfa_step(const struct dfa *d, uint32_t state, uint32_t c);
bool dfa_match(const struct dfa *d, struct str text);

#endif
