/* scorer.h - iterators over the documents of one segment that match a query.
 *
 * A weight is a query prepared for one view: statistics gathered, scores' constants computed; it makes a
 * scorer for each segment. Scorers live in the arena they were made with, belong to one thread, and end at
 * DOC_END. Deleted documents are NOT filtered by scorers;
 * collectors look at leaf->live.
 *
 * Two phases: when ops->matches is not NULL, next() and seek() stop at candidates; a candidate counts only if
 * matches() says so (cheap conditions first, expensive ones, phrases and geometry, after the conjunction
 * agreed).
 *
 * Skipping: shallow(target) moves block-max information only and returns the last document for which
 * max_score() holds (inclusive); max_score(up_to) bounds the score of every document from the last shallow
 * target to up_to. A collector that has its k best calls min_score(): from then on the scorer may skip
 * documents that cannot score above it.
 *
 * Scores equal Lucene 8.8's, float by float: clause scores in its order of operations, a conjunction and a
 * disjunction sum in double and round once. */
#ifndef ENGINE_QUERY_SCORER_H
#define ENGINE_QUERY_SCORER_H

#include "engine/index/view.h"
#include "engine/query/query.h"

struct scorer;

struct scorer_ops {
    doc_id (*next)(struct scorer *s); /* sets and returns s->doc */
    doc_id (*seek)(struct scorer *s,
                   doc_id target);     /* first doc >= target; target > s->doc (or unpositioned) */
    bool (*matches)(struct scorer *s); /* NULL: every stop is a match */
    float (*score)(struct scorer *s);  /* of s->doc, which matched; at most once per doc */
    /* NULL: no block information: max_score(DOC_END) holds throughout */
    doc_id (*shallow)(struct scorer *s, doc_id target);
    float (*max_score)(struct scorer *s, doc_id up_to);
    void (*min_score)(struct scorer *s, float min); /* NULL: ignored */
    /* ORs the matching documents of [from, to) into bits (bit 0 is document `from`), and stands at the first
     * document >= to afterwards. NULL: callers use next() and matches(). */
    void (*fill)(struct scorer *s, doc_id from, doc_id to, uint64_t *bits);
};

struct scorer {
    const struct scorer_ops *ops;
    doc_id doc;    /* POSTINGS_UNPOSITIONED before the first move */
    uint64_t cost; /* estimate of how many documents it visits */
};

enum score_need { NEED_SCORES, NEED_TOP_SCORES /* skipping allowed */, NEED_NO_SCORES };

/* Term and collection statistics: gathered from the view, or given (dfs_query_then_fetch). */
struct term_stats {
    int64_t doc_freq, total_freq;
};
struct field_stats {
    int64_t max_doc, doc_count, sum_df, sum_ttf;
};
struct search_stats;
/* NULL from these: take the view's own. */
struct search_stats {
    const void *self;
    bool (*term)(const void *self, struct str field, struct str term, struct term_stats *out);
    bool (*field)(const void *self, struct str field, struct field_stats *out);
};

struct filter_cache; /* the shard's: see filter_cache.h */

struct weight_context {
    const struct view *view;
    struct arena *arena;
    const struct search_stats *stats; /* NULL: the view's */
    struct filter_cache *cache;       /* NULL: none */
    struct str index_name;
    int32_t shard;
    int64_t now_ms;
    /* Scores that nobody asked for, which a script sees all the same: Lucene gives them by made-up
     * statistics, a collection of one document with one term. */
    bool unasked_scores;
    bool plain_scores; /* by Lucene's own BM25, whatever the fields' similarities are */
    /* nested documents may match (sub-searches of nested aggregations and sorts); else only roots do */
    bool nested_too;
    bool (*cancelled)(void *self); /* polled by long loops; may be NULL */
    void *self;
};

struct weight;

/* The rewritten query (Lucene's rewrite), in cx->arena. */
enum err query_simplify(const struct query **out, const struct weight_context *cx, const struct query *q,
                        struct errmsg *em);
/* Prepares a query. The weight lives in cx->arena and may be used by several threads, each with its own
 * arena. */
enum err weight_new(const struct weight **out, const struct weight_context *cx, const struct query *q,
                    enum score_need need, struct errmsg *em);
/* *out is NULL when nothing in the segment matches. */
enum err weight_scorer(const struct weight *w, const struct leaf *leaf, struct arena *arena,
                       struct scorer **out, struct errmsg *em);
/* A run-time failure inside a scorer (script error, missing value, cancellation): scorers end early and leave
 * it here; collectors check once a segment is done. ERR_OK when there was none. */
enum err weight_error(const struct weight *w, struct errmsg *em);
/* Matching documents of a segment without visiting them, when that is known (match_all, a single term without
 * deletions); -1 otherwise. */
int64_t weight_count(const struct weight *w, const struct leaf *leaf);

/* The explanation of one document's score as the API prints it
 * ({"value":…,"description":…,"details":[…]}). */
enum err weight_explain(const struct weight *w, const struct leaf *leaf, doc_id doc, struct arena *arena,
                        struct jsonw *out, bool *matched, struct errmsg *em);
/* Whether a query in it has that name. */
bool weight_has_name(const struct weight *w, struct str name);
/* Names of the _name'd queries that match a document, in the order of Elasticsearch's map. */
enum err weight_matched_names(const struct weight *w, const struct leaf *leaf, doc_id doc,
                              struct arena *arena, struct str **out, uint32_t *n, struct errmsg *em);
/* The terms (field, term) that the query would score by: what the dfs phase gathers. */
enum err query_scored_terms(const struct query *q, const struct view *v, struct arena *arena,
                            struct str (**out)[2], uint32_t *n, struct errmsg *em);

/* Helpers of scorers and collectors. */
static inline bool scorer_accepts(struct scorer *s)
{
    return s->ops->matches == NULL || s->ops->matches(s);
}

#endif
