/* query_ops.h - a kind of queries, whole: what it has below it, and all that it does. Internal to the engine.
 *
 * A row stands in the file of its kind or family; QUERY_KINDS (query.h) lists them. Rows are read once per request or a
 * segment, never once a document. What may be NULL says so at the member. */
#ifndef ENGINE_QUERY_QUERY_OPS_H
#define ENGINE_QUERY_QUERY_OPS_H

#include "engine/query/nested_docs.h"
#include "engine/query/weight.h"

/* The role of a child in its parent query. */
enum child_role {
    CHILD_SCORES,   /* it selects, and its score counts */
    CHILD_FILTERS,  /* it selects, without a score */
    CHILD_EXCLUDES, /* what it matches is left out */
    CHILD_DEMOTES,  /* what it matches scores less (boosting) */
    CHILD_JOINS,    /* what it matches selects other documents (has_child, has_parent) */
    CHILD_WEIGHS    /* what it matches is scored by a function (function_score) */
};
/* Anything but ERR_OK ends the visit. */
typedef enum err (*child_fn)(void *arg, const struct query *child, enum child_role role);

/* The receiver of a query's terms, for a highlighter. */
struct word_sink {
    void *self;
    enum err (*term)(void *self, struct str field, struct str term, float boost, struct errmsg *em);
    /* The same of one that the fast vector highlighter does not take. */
    enum err (*loose)(void *self, struct str field, struct str term, float boost, struct errmsg *em);
    /* A query with a matcher of terms (multi_terms.h); one that the unified highlighter alone takes. */
    enum err (*pattern)(void *self, const struct query *q, float boost, struct errmsg *em);
    enum err (*loose_pattern)(void *self, const struct query *q, float boost, struct errmsg *em);
    /* A q_phrase. */
    enum err (*phrase)(void *self, const struct query *q, float boost, struct errmsg *em);
    /* A q_spans that the request has; its own boost is not in `boost`. */
    enum err (*spans)(void *self, const struct query *q, float boost, struct errmsg *em);
};

/* Terms with their fields, each once. */
struct scored_terms {
    struct str (*v)[2];
    size_t n, cap;
    struct arena *arena;
};

struct term_matcher;

struct query_ops {
    const char *name;

    /* Visits all children in their order. NULL: there are none. */
    enum err (*each_child)(const struct query *q, child_fn fn, void *arg);

    /* Visits what has a name inside of it without being a child. NULL: there is none. */
    enum err (*each_named)(const struct query *q, child_fn fn, void *arg);

    /* Gives the words of its own, those of its children left out; `boost` is that of all around it and its own. NULL: it has
     * none: numbers, places, identifiers. */
    enum err (*words)(const struct query *q, float boost, const struct word_sink *s, struct errmsg *em);
    /* Adds the terms of its own that it scores by, once it is rewritten. NULL: there are none. */
    enum err (*scored_terms)(const struct query *q, struct scored_terms *t);

    /* May it match documents of the kind in question (nested_docs.h)? NULL: it may. */
    bool (*may)(const struct nested_question *n, const struct query *q);

    /* Is it the same as another of its kind, boosts and names left out? NULL: it is not. */
    bool (*same)(const struct query *a, const struct query *b);

    /* Prints it, its boost left out. */
    void (*print)(const struct query *q, struct buf *out);
    /* The same where it looks at a column rather than at an index; as clauses that rewriting made of it. NULL: as `print` does;
     * rewriting makes none. */
    void (*print_column)(const struct query *q, struct buf *out);
    void (*print_bare)(const struct query *q, struct buf *out);

    /* The approximate number of documents that it examines, or QUERY_COST_UNKNOWN. NULL: it is unknown. */
    uint64_t (*cost)(const struct view *v, const struct query *q);

    /* Rewrites it before it runs (rewrite.h); *out is the query itself on entry. NULL: it stays as it is. */
    enum err (*rewrite)(struct weight_shared *sh, const struct query *q, const struct query **out,
                        struct errmsg *em);
    /* A boost of 0 is its score: nothing is put around it for that. */
    bool keeps_zero;
    /* Every document it matches scores its boost, and it is not rewritten: pages of a scroll go on by document. */
    bool one_score;

    /* Prepares it; `boost` is that of all around it and its own. NULL: rewriting always puts another in its place. */
    enum err (*weight)(struct weight_shared *sh, const struct query *q, float boost, enum score_need need,
                       const struct weight **out, struct errmsg *em);
    const struct weight_ops *plain_weight; /* instead of it: of a weight that has nothing of its own */
    /* Which terms of a dictionary it stands for (multi_terms.h). NULL: it is no pattern. */
    enum err (*matcher)(struct term_matcher *m, const struct query *q, struct arena *arena,
                        struct errmsg *em);

    /* What search.allow_expensive_queries: false calls it when it refuses it, and what it says besides. NULL: it does not refuse it;
     * it says nothing else. */
    const char *expensive, *expensive_advice;
};

enum err query_each_child(const struct query *q, child_fn fn, void *arg);
/* The same, and what has names inside of queries. */
enum err query_each_below(const struct query *q, child_fn fn, void *arg);
/* Has it, or any query below it, a name? */
bool query_has_names(const struct query *q);

/* Gives all words that the query looks for. */
enum err query_words(const struct query *q, float boost, const struct word_sink *s, struct errmsg *em);
/* ERR_NO_MEMORY. */
enum err scored_terms_add(struct scored_terms *t, struct str field, struct str term);

#define QUERY_COST_UNKNOWN UINT64_MAX
uint64_t query_cost(const struct view *v, const struct query *q);
/* The documents of a term, or of several terms and looking for them. */
uint64_t cost_of_term(const struct view *v, struct str field, struct str term);
uint64_t cost_of_terms(const struct view *v, struct str field, const struct str *terms, uint32_t n);

static inline uint64_t cost_add(uint64_t a, uint64_t b)
{
    return a > QUERY_COST_UNKNOWN - b ? QUERY_COST_UNKNOWN : a + b;
}

static inline uint64_t cost_times(uint64_t a, uint64_t n)
{
    return n > 0 && a > QUERY_COST_UNKNOWN / n ? QUERY_COST_UNKNOWN : a * n;
}

#endif
