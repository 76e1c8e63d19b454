/* dsl_intervals.h - rules of the query `intervals` as they are written, and what builds them. Internal to engine/query. */
#ifndef ENGINE_QUERY_DSL_INTERVALS_H
#define ENGINE_QUERY_DSL_INTERVALS_H

#include "engine/query/dsl.h"

enum interval_rule_kind { RULE_MATCH, RULE_ANY_OF, RULE_ALL_OF, RULE_PREFIX, RULE_WILDCARD, RULE_FUZZY };

struct interval_rule {
    enum interval_rule_kind kind;
    struct str text; /* query, prefix, pattern or term */
    int32_t max_gaps;
    bool ordered;
    struct str analyzer, use_field; /* p == NULL: none */
    struct interval_rule **v;
    size_t n;
    bool has_rules; /* `intervals` was given */
    struct str filter_kind;
    struct interval_rule *filter; /* NULL: none, or a script */
    const struct json *script;
    int32_t prefix_length;
    bool transpositions;
    struct fuzziness fuzziness;
};

struct dsl_intervals_query {
    struct dsl dsl;
    struct str field;
    struct interval_rule *rule;
};

/* (build_intervals.c) As struct dsl_type's `build`. */
enum err build_intervals(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em);

#endif
