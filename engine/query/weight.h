/* weight.h - inside a weight: what the kinds of queries implement. Internal to engine/query.
 *
 * A query is rewritten first (rewrite.h), so that weights meet few kinds: terms, phrases, booleans, constant
 * sets and what wraps them. Weights are immutable once made; scorers are made from them, a segment at a
 * time. */
#ifndef ENGINE_QUERY_WEIGHT_H
#define ENGINE_QUERY_WEIGHT_H

#include <pthread.h>

#include "common/base/bits.h"
#include "engine/query/scorer.h"

/* The caller of a scorer. */
struct scorer_request {
    const struct leaf *leaf;
    struct arena *arena;
    uint64_t lead_cost; /* the largest number of documents to examine */
    struct errmsg *em;
};

struct explanation {
    bool match;
    bool whole, is_double; /* value is a whole number, a double */
    float value;
    int64_t i;
    double d;
    struct str description;
    struct explanation **details;
    uint32_t n;
};

struct explain_request {
    const struct leaf *leaf;
    doc_id doc;
    struct arena *arena;
    struct errmsg *em;
};

struct weight_ops {
    /* About how many documents a scorer would visit; 0: none matches. */
    uint64_t (*cost)(const struct weight *w, const struct leaf *leaf);
    /* *out stays NULL when nothing matches. */
    enum err (*scorer)(const struct weight *w, const struct scorer_request *rq, struct scorer **out);
    /* *out NULL: the generic one (a constant, by the scorer). */
    enum err (*explain)(const struct weight *w, const struct explain_request *rq, struct explanation **out);
    int64_t (*count)(const struct weight *w, const struct leaf *leaf); /* NULL: never known */
    bool counts_roots; /* the count has no nested documents in it */
};

struct named_query {
    struct str name;
    const struct query *query;
    const struct weight *weight;
};

struct weight_shared { /* of one weight_new() */
    struct weight_context cx;
    pthread_mutex_t lock;
    _Atomic bool failed;
    struct errmsg error; /* in error_arena; both under the lock */
    struct arena error_arena;
    struct named_query *named; /* of the whole query */
    uint32_t n_named;
};

struct weight {
    const struct weight_ops *ops;
    const struct query *query; /* rewritten */
    struct weight_shared *shared;
    float boost; /* of this query and all around it */
    enum score_need need;
};

/* A weight of a rewritten query below another. */
enum err weight_make(struct weight_shared *sh, const struct query *q, float boost, enum score_need need,
                     const struct weight **out, struct errmsg *em);
/* A weight of a rewritten query that runs inside of another, over the same view: without names, with an error of its own. */
enum err weight_inner(const struct weight **out, const struct weight_context *cx, const struct query *q,
                      enum score_need need, struct errmsg *em);
/* Allocates the concrete struct (which begins with struct weight) and fills the common part. */
void *weight_alloc(struct weight_shared *sh, size_t size, const struct weight_ops *ops, const struct query *q,
                   float boost, enum score_need need);
/* Leaves a run-time failure; the first one stays. */
void weight_fail(struct weight_shared *sh, const struct errmsg *em);

static inline uint64_t weight_cost(const struct weight *w, const struct leaf *leaf)
{
    return w->ops->cost(w, leaf);
}

static inline enum err weight_make_scorer(const struct weight *w, const struct scorer_request *rq,
                                          struct scorer **out)
{
    *out = NULL;
    return w->ops->scorer(w, rq, out);
}

/* ---- explanations (explain.c) ---- */
struct explanation *explain_new(struct arena *a, bool match, float value, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
struct explanation *explain_whole(struct arena *a, int64_t value, const char *text);
struct explanation *explain_double(struct arena *a, double value, const char *text);
/* Appends; NULL detail or parent (no memory) give NULL. */
struct explanation *explain_add(struct arena *a, struct explanation *parent, struct explanation *detail);
/* The text of a query in the arena. */
struct str query_text(const struct query *q, struct arena *a);
/* Without its own boost: what a weight is made for. */
struct str query_text_plain(const struct query *q, struct arena *a);
/* The scorer of w at the document: *out NULL when it does not match. */
enum err explain_scorer(const struct weight *w, const struct explain_request *rq, struct scorer **out);
enum err explain_weight(const struct weight *w, const struct explain_request *rq, struct explanation **out);

#endif
