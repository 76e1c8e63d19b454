/* dsl_spans.h - span queries as they are written: their parameters, and what builds them. Internal to engine/query. */
#ifndef ENGINE_QUERY_DSL_SPANS_H
#define ENGINE_QUERY_DSL_SPANS_H

#include "engine/query/dsl.h"

#define SPAN_NOT_SET INT32_MIN

struct dsl_span {
    struct dsl dsl;
    struct str field;           /* span_term, span_gap, field_masking_span */
    const struct json *value;   /* span_term */
    struct dsl *first, *second; /* include and exclude, big and little; match, query */
    struct dsl_list clauses;    /* span_near, span_or */
    bool in_order;
    int32_t slop;
    int32_t end; /* span_first; span_gap: its width */
    int32_t dist, before, after;
};

/* (build_spans.c) As struct dsl_type's `build`. */
enum err build_span_term(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em);
enum err build_span_gap(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em);
enum err build_span_near(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em);
enum err build_span_or(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em);
enum err build_span_not(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em);
enum err build_span_first(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em);
/* span_containing, span_within. */
enum err build_span_around(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em);
enum err build_span_multi(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em);
enum err build_span_mask(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em);

#endif
