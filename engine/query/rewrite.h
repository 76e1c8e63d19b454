/* rewrite.h - queries made simpler and more concrete before they run, by the rules of Lucene 8.8's
 * Query.rewrite().
 *
 * What changes here shows: in explanations, in how sums are rounded (clauses of nested disjunctions become
 * one sum), and in scores of repeated words (their boosts are added up). Internal to engine/query. */
#ifndef ENGINE_QUERY_REWRITE_H
#define ENGINE_QUERY_REWRITE_H

#include "engine/query/weight.h"

enum err query_rewrite(struct weight_shared *sh, const struct query *q, const struct query **out,
                       struct errmsg *em);

/* ---- what it is rewritten to ---- */

/* A copy that may be changed, without its name. NULL: no memory. */
struct query *rewrite_copy(struct weight_shared *sh, const struct query *q);
/* The same with its boost multiplied. */
enum err rewrite_boosted(struct weight_shared *sh, const struct query *q, float boost,
                         const struct query **out, struct errmsg *em);
enum err rewrite_to_none(struct weight_shared *sh, const char *reason, const struct query **out,
                         struct errmsg *em);
enum err rewrite_to_bool(struct weight_shared *sh, const struct bool_clause *v, uint32_t n,
                         int32_t min_should, float boost, const struct query **out, struct errmsg *em);
/* The child's own boost does not count, and of a constant it is the child that does. */
enum err rewrite_to_constant(struct weight_shared *sh, const struct query *child, float boost,
                             const struct query **out, struct errmsg *em);
/* A term of the field of `like`. NULL: no memory. */
struct query *rewrite_to_term(struct weight_shared *sh, const struct query *like, struct str term,
                              float boost);
/* (bool_rewrite.c) */
enum err bool_rewrite(struct weight_shared *sh, const struct query *q, const struct query **out,
                      struct errmsg *em);

/* ---- equality ---- */

/* The same query but for their own boosts (and names). */
bool query_same(const struct query *a, const struct query *b);
/* As query_same, boosts included. */
bool query_equal(const struct query *a, const struct query *b);
bool query_same_strs(const struct str *a, const struct str *b, uint32_t n);
static inline bool query_same_field(const struct query *a, const struct query *b)
{
    return str_eq(a->field_name, b->field_name);
}

#endif
