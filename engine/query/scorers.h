/* scorers.h - the scorers that weights are put together from. Internal to engine/query.
 *
 * Terms are met so often that the loops over them are written out: scorer_term() recognises one, and
 * conjunctions and disjunctions then read its postings without a call per document. */
#ifndef ENGINE_QUERY_SCORERS_H
#define ENGINE_QUERY_SCORERS_H

#include "engine/query/bm25.h"

/* ---- terms ---- */

struct term_scorer {
    struct scorer base;
    struct postings p;
    const struct sim *sim;       /* NULL: not scored */
    const uint8_t *norms;        /* NULL: every length counts as 1 */
    float min;                   /* documents that score no more may be left out; negative: all are wanted */
    float best;                  /* of the whole term; negative: not computed yet */
    doc_id block_from, block_to; /* the range that block_best holds for */
    float block_best;
    doc_id up_to;          /* competitive as far as here */
    uint32_t scored_block; /* the decoded block that scores[] is of; UINT32_MAX: none */
    float scores[POSTINGS_BLOCK];
};

extern const struct scorer_ops term_scorer_ops;
enum err term_scorer_new(struct arena *a, const struct seg_field *f, const struct term_info *t,
                         const struct sim *sim, struct scorer **out, struct errmsg *em);

static inline struct term_scorer *scorer_term(struct scorer *s)
{
    return s->ops == &term_scorer_ops ? (struct term_scorer *)(void *)s : NULL;
}

static inline uint8_t term_norm(const struct term_scorer *t, doc_id doc)
{
    return t->norms != NULL ? t->norms[doc] : 1;
}

/* Scores of all documents of the decoded block, for whoever looks at most of them. */
void term_score_block(struct term_scorer *t);
static inline const float *term_block_scores(struct term_scorer *t)
{
    if (t->scored_block != t->p.block) {
        term_score_block(t);
    }
    return t->scores;
}

static inline float term_score(struct term_scorer *t)
{
    if (t->scored_block == t->p.block) {
        return t->scores[t->p.at];
    }
    return t->sim == NULL ? 0 : sim_score(t->sim, (float)postings_freq(&t->p), term_norm(t, t->p.doc));
}

/* Calls that spare the indirection for terms. */
static inline doc_id scorer_seek(struct scorer *s, doc_id target)
{
    if (s->ops == &term_scorer_ops) {
        return s->doc = postings_seek(&((struct term_scorer *)(void *)s)->p, target);
    }
    return s->ops->seek(s, target);
}

static inline float scorer_score(struct scorer *s)
{
    return s->ops == &term_scorer_ops ? term_score((struct term_scorer *)(void *)s) : s->ops->score(s);
}

/* Stands before its first document or before `doc`. */
static inline bool scorer_is_before(const struct scorer *s, doc_id doc)
{
    return s->doc == POSTINGS_UNPOSITIONED || s->doc < doc;
}

/* Bounds of any scorer: block information when it has it, else its whole maximum. */
doc_id scorer_shallow(struct scorer *s, doc_id target);
float scorer_max(struct scorer *s, doc_id up_to);

/* ---- sets with one score ---- */

/* bits live as long as the arena; count is exact or an estimate. */
enum err bits_scorer_new(struct arena *a, const uint64_t *bits, uint32_t n_docs, uint64_t count, float score,
                         struct scorer **out, struct errmsg *em);
/* Ascending documents. */
enum err docs_scorer_new(struct arena *a, const doc_id *docs, uint32_t n, float score, struct scorer **out,
                         struct errmsg *em);
enum err all_scorer_new(struct arena *a, uint32_t n_docs, float score, struct scorer **out,
                        struct errmsg *em);
/* Candidates (bits; NULL: all documents) that `verify` accepts: for filters that are cheaper to test than to
 * list. */
typedef bool (*verify_fn)(void *self, doc_id doc);
enum err verify_scorer_new(struct arena *a, const uint64_t *bits, uint32_t n_docs, uint64_t cost,
                           verify_fn verify, void *self, float score, struct scorer **out, struct errmsg *em);
/* A scorer's documents with one score. */
enum err constant_scorer_new(struct arena *a, struct scorer *child, float score, struct scorer **out,
                             struct errmsg *em);

/* ---- combinations ---- */

/* Documents of all; scores of `scoring` (some of them, in clause order) are summed. top: skipping allowed. */
enum err term_conjunction_new(struct arena *a, struct scorer **v, uint32_t n, struct scorer **out,
                              struct errmsg *em);
enum err conjunction_new(struct arena *a, struct scorer **all, uint32_t n, struct scorer **scoring,
                         uint32_t n_scoring, bool top, struct scorer **out, struct errmsg *em);
/* Documents of any of them, at least min_should of them. */
struct disjunction_opts {
    uint32_t min_should; /* 0, 1: any */
    bool scored, top;
    uint32_t n_docs;
    uint64_t lead_cost;
    /* dis_max: the best one's score plus tie_breaker × the others' sum; negative: the sum */
    bool dis_max;
    float tie_breaker;
};
enum err disjunction_new(struct arena *a, struct scorer **v, uint32_t n, const struct disjunction_opts *o,
                         struct scorer **out, struct errmsg *em);
/* required without those that `excluded` matches. */
enum err exclusion_new(struct arena *a, struct scorer *required, struct scorer *excluded, struct scorer **out,
                       struct errmsg *em);
/* required, with the score of optional added where it matches. */
enum err optional_new(struct arena *a, struct scorer *required, struct scorer *optional, bool top,
                      struct scorer **out, struct errmsg *em);
/* A float that is not below the sum of n floats added in any order, given their sum in double. */
static inline float sum_bound(double sum, uint32_t n)
{
    return (float)(sum * (1 + (double)n * 0x1p-50));
}

#endif
