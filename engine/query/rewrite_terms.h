/* rewrite_terms.h - patterns that are scored: replaced by the terms they stand for. Internal to
 * engine/query. */
#ifndef ENGINE_QUERY_REWRITE_TERMS_H
#define ENGINE_QUERY_REWRITE_TERMS_H

#include "engine/query/weight.h"

/* q_fuzzy, q_prefix, q_wildcard, q_regexp with a scoring rewrite: a disjunction of terms. */
enum err expand_terms(struct weight_shared *sh, const struct query *q, const struct query **out,
                      struct errmsg *em);
/* A phrase whose last position is a prefix: a phrase over what begins with it. */
enum err expand_phrase_prefix(struct weight_shared *sh, const struct query *q, const struct query **out,
                              struct errmsg *em);
/* q_spans: beginnings become the terms that there are. */
enum err expand_spans(struct weight_shared *sh, const struct query *q, const struct query **out,
                      struct errmsg *em);
/* Terms with a cutoff: the rare ones have to match, the common ones may (Elasticsearch's ExtendedCommonTermsQuery). */
enum err expand_common(struct weight_shared *sh, const struct query *q, const struct query **out,
                       struct errmsg *em);
/* The same of clauses that are terms: a disjunction or conjunction of its own, with boost 1. */
enum err split_common(struct weight_shared *sh, const struct bool_clause *v, uint32_t n,
                      const struct common_terms *c, struct query **out, struct errmsg *em);
/* One word in several fields: a dis_max of terms with blended statistics, or what a cutoff makes of them. */
enum err expand_blended(struct weight_shared *sh, const struct query *q, const struct query **out,
                        struct errmsg *em);

#endif
