/* rewrite_terms.h - patterns that are scored: replaced by the terms they stand for. Internal to
 * engine/query. */
#ifndef ENGINE_QUERY_REWRITE_TERMS_H
#define ENGINE_QUERY_REWRITE_TERMS_H

#include "engine/query/weight.h"

/* Q_FUZZY, Q_PREFIX, Q_WILDCARD, Q_REGEXP with a scoring rewrite: a disjunction of terms. */
enum err expand_terms(struct weight_shared *sh, const struct query *q, const struct query **out,
                      struct errmsg *em);
/* A phrase whose last position is a prefix: a phrase over what begins with it. */
enum err expand_phrase_prefix(struct weight_shared *sh, const struct query *q, const struct query **out,
                              struct errmsg *em);
/* One word in several fields: a dis_max of terms with blended statistics. */
enum err expand_blended(struct weight_shared *sh, const struct query *q, const struct query **out,
                        struct errmsg *em);

#endif
