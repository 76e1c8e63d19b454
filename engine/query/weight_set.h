/* weight_set.h - weights of queries that only select: every match scores the boost. Internal to engine/query.
 *
 * A segment's matches are a bitmap (kept in the filter cache when they come back), a short list, or, when few documents will be
 * looked at, a test by column. A kind has a struct of its own that begins with struct set_weight. */
#ifndef ENGINE_QUERY_WEIGHT_SET_H
#define ENGINE_QUERY_WEIGHT_SET_H

#include "engine/query/scorers.h"

struct set_weight {
    struct weight base;
    struct str key; /* of the filter cache; n == 0: not kept */
};

/* Writes the bytes that tell this filter from all others of its kind and field. */
typedef void (*set_key)(struct buf *b, const struct query *q);
/* Allocates the concrete struct. `key` NULL: its bitmaps are not kept. */
void *set_weight_new(struct weight_shared *sh, size_t size, const struct weight_ops *ops,
                     const struct query *q, float boost, enum score_need need, set_key key);
void set_key_str(struct buf *b, struct str s);

static inline const struct seg_field *set_field(const struct weight *w, const struct leaf *leaf)
{
    return segment_field(leaf->segment, w->query->field_name);
}

/* The cost where nothing is known: half of the documents; 0: the segment does not have the field. */
uint64_t set_cost(const struct weight *w, const struct leaf *leaf);

/* What the cache says of a segment. */
struct set_known {
    const uint64_t *bits; /* NULL: not there */
    uint32_t count;
    bool worth; /* keeping, once they are made */
};
enum err set_known_of(const struct weight *w, const struct scorer_request *rq, struct set_known *out);
/* Sets the bits of what matches; f may be NULL only where the kind asks for it. */
typedef enum err (*set_fill)(const struct weight *w, const struct scorer_request *rq,
                             const struct seg_field *f, uint64_t *bits);
/* By what is known, or by what `fill` finds. */
enum err set_bits_scorer(const struct weight *w, const struct scorer_request *rq, const struct seg_field *f,
                         const struct set_known *known, set_fill fill, struct scorer **out);

/* Sets the bits of the term's documents; p is scratch. */
void postings_bits(struct postings *p, const struct seg_field *f, const struct term_info *t, uint64_t *bits);

/* ---- tests by column ---- */

struct column_test {
    struct num_column column;
    const struct weight *w;
};
/* A column is better when few documents will be examined, as Lucene's IndexOrDocValuesQuery decides; `index` is what the
 * segment has to have (SEG_POINTS, SEG_GEO) for anything else. */
bool set_by_column(const struct weight *w, const struct scorer_request *rq, const struct seg_field *f,
                   uint32_t index);
/* `test` gets a struct column_test. */
enum err set_column_scorer(const struct weight *w, const struct scorer_request *rq, const struct seg_field *f,
                           bool (*test)(void *arg, doc_id doc), struct scorer **out);

#endif
