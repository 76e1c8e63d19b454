/* query_ops.h - a kind of queries, whole: what it has below it, and all that it does. Internal to the engine.
 *
 * A row stands in the file of its kind or family; QUERY_KINDS (query.h) lists them. Rows are looked at once a request or a
 * segment, never once a document. What may be NULL says so at the member. */
#ifndef ENGINE_QUERY_QUERY_OPS_H
#define ENGINE_QUERY_QUERY_OPS_H

#include "engine/query/query.h"

#define ENUM_ROW(name) KIND_##name,
enum query_kind { QUERY_KINDS(ENUM_ROW) };
#undef ENUM_ROW

/* What a child is to the query that it is part of. */
enum child_role {
    CHILD_SCORES,   /* it selects, and its score counts */
    CHILD_FILTERS,  /* it selects, without a score */
    CHILD_EXCLUDES, /* what it matches is left out */
    CHILD_DEMOTES,  /* what it matches scores less (boosting) */
    CHILD_WEIGHS    /* what it matches is scored by a function (function_score) */
};
/* Anything but ERR_OK ends the visit. */
typedef enum err (*child_fn)(void *arg, const struct query *child, enum child_role role);

/* What a highlighter looks for, given to it. */
struct word_sink {
    void *self;
    enum err (*term)(void *self, struct str field, struct str term, float boost, struct errmsg *em);
    /* A query with a matcher of terms (multi_terms.h). */
    enum err (*pattern)(void *self, const struct query *q, float boost, struct errmsg *em);
    /* A q_phrase. */
    enum err (*phrase)(void *self, const struct query *q, float boost, struct errmsg *em);
};

/* Terms with their fields, each once. */
struct scored_terms {
    struct str (*v)[2];
    size_t n, cap;
    struct arena *arena;
};

struct query_ops {
    const char *name;
    enum query_kind kind;

    /* Visits all children in their order. NULL: there are none. */
    enum err (*each_child)(const struct query *q, child_fn fn, void *arg);

    /* Gives the words of its own, those of its children left out; `boost` is that of all around it and its own. NULL: it has
     * none: numbers, places, identifiers. */
    enum err (*words)(const struct query *q, float boost, const struct word_sink *s, struct errmsg *em);
    /* Adds the terms of its own that it scores by, once it is rewritten. NULL: there are none. */
    enum err (*scored_terms)(const struct query *q, struct scored_terms *t);

    /* What search.allow_expensive_queries: false calls it when it refuses it, and what it says besides. NULL: it does not refuse it;
     * it says nothing else. */
    const char *expensive, *expensive_advice;
};

/* The rows of QUERY_KINDS, NULL-terminated. */
extern const struct query_ops *const query_kinds[];

enum err query_each_child(const struct query *q, child_fn fn, void *arg);
/* Has it, or any query below it, a name? */
bool query_has_names(const struct query *q);

/* Gives all words that the query looks for. */
enum err query_words(const struct query *q, float boost, const struct word_sink *s, struct errmsg *em);
/* ERR_NO_MEMORY. */
enum err scored_terms_add(struct scored_terms *t, struct str field, struct str term);

#endif
