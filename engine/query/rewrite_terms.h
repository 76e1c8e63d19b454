/* rewrite_terms.h - patterns that are scored, and words of which the beginning is known: replaced by the terms they stand for.
 * Internal to engine/query. */
#ifndef ENGINE_QUERY_REWRITE_TERMS_H
#define ENGINE_QUERY_REWRITE_TERMS_H

#include "engine/query/rewrite.h"

/* q_fuzzy, q_prefix, q_wildcard, q_regexp with a scoring rewrite: a disjunction of terms. */
enum err expand_terms(struct weight_shared *sh, const struct query *q, const struct query **out,
                      struct errmsg *em);

/* Is it rewritten to its best terms alone (top_terms_n, or the default of q_fuzzy)? */
bool query_takes_best_terms(const struct query *q);
/* The terms that a pattern stands for among spans, in order: its best ones, or all of them, where more than the limit of clauses are
 * refused (ERR_INTERNAL). */
enum err terms_of_pattern(struct weight_shared *sh, const struct query *q, struct str **out, size_t *n,
                          struct errmsg *em);

struct prefix_terms {
    struct arena *arena;
    struct str *v;
    size_t n, cap;
    uint32_t max;
    bool full; /* there are enough for this beginning */
    bool failed;
};

/* Those of the segments, one after the other, until there are enough: at least one of each beginning. */
void terms_with_prefix(struct weight_shared *sh, struct str field, struct str prefix, struct prefix_terms *p);

/* (common_terms.c) Terms with a cutoff: the rare ones have to match, the common ones may (Elasticsearch's
 * ExtendedCommonTermsQuery). */
enum err expand_common(struct weight_shared *sh, const struct query *q, const struct query **out,
                       struct errmsg *em);
/* The same of clauses that are terms: a disjunction or conjunction of its own, with boost 1. */
enum err split_common(struct weight_shared *sh, const struct bool_clause *v, uint32_t n,
                      const struct common_terms *c, struct query **out, struct errmsg *em);

#endif
