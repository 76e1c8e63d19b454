/* simple_regex.h - Lucene's own regular expressions (those of the simple_pattern tokenizers): longest match,
 * no groups.
 *
 * An expression becomes a non-deterministic automaton that is walked with a set of states, so that matching
 * takes time in proportion to the text. Complement, intersection and number ranges (~ & <n-m>) are refused.
 */
#ifndef ENGINE_ANALYSIS_SIMPLE_REGEX_H
#define ENGINE_ANALYSIS_SIMPLE_REGEX_H

#include "common/base/arena.h"
#include "common/base/err.h"

#define AUTOMATON_STATES_MAX 10000 /* of a regular expression, unless a request says otherwise */

struct simple_regex;

/* ERR_ILLEGAL_ARGUMENT for a bad expression, ERR_TOO_COMPLEX for one with too many states. */
enum err simple_regex_new(const struct simple_regex **out, struct str pattern, struct arena *arena,
                          struct errmsg *em);

/* What a walk needs; one at a time. p == NULL fields: no memory. */
struct simple_walk {
    uint32_t *now, *next; /* state lists */
    uint32_t *seen;       /* by state: the step in which it was put on a list */
    uint32_t step;
};
bool simple_walk_init(struct simple_walk *w, const struct simple_regex *r, struct arena *arena) NODISCARD;

/* The end of the longest match that starts at byte `at`; SIZE_MAX: none. A match may be empty. */
size_t simple_regex_match(const struct simple_regex *r, struct simple_walk *w, struct str text, size_t at);

#endif
