/* multi_terms.h - the terms of a segment's dictionary that match a pattern. Internal to engine/query.
 *
 * A matcher is prepared once per query and walks dictionaries of many segments, from any thread. */
#ifndef ENGINE_QUERY_MULTI_TERMS_H
#define ENGINE_QUERY_MULTI_TERMS_H

#include "engine/index/segment.h"
#include "engine/query/automaton.h"
#include "engine/query/levenshtein.h"
#include "engine/query/query.h"

struct term_matcher {
    enum { MATCH_TERMS_ALL, MATCH_TERMS_PREFIX, MATCH_TERMS_RANGE, MATCH_TERMS_DFA, MATCH_TERMS_FUZZY } kind;
    struct str lo, hi; /* prefix in lo */
    bool lo_inclusive, hi_inclusive;
    const struct dfa *dfa;
    struct levenshtein lev;
};

/* Calls fn for each matching term in byte order, with the edits it took (q_fuzzy); fn returning false stops.
 * false: no memory. */
typedef bool (*term_fn)(void *self, const struct term_iter *it, unsigned edits);
bool term_matcher_walk(const struct term_matcher *m, const struct seg_field *f, term_fn fn, void *self);

#endif
