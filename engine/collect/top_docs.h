/* top_docs.h - the best k documents of a shard, by score or by sort keys, optionally one a group.
 *
 * Documents come in ascending order. Ties go to the lower document, as in Lucene. A heap keeps the worst of
 * the best at its root, so that most documents cost one comparison. One thread. */
#ifndef ENGINE_COLLECT_TOP_DOCS_H
#define ENGINE_COLLECT_TOP_DOCS_H

#include "engine/collect/sort.h"

struct top_docs;

struct top_docs_opts {
    uint32_t k;                      /* at most so many; > 0 */
    struct sort_plan *sort;          /* NULL: by score */
    bool want_scores;                /* with a sort: remember scores too (track_scores) */
    const struct json *after;        /* search_after; NULL: none */
    const struct top_doc *after_doc; /* scroll: documents behind this one alone; NULL: none */
    const struct field *group;       /* collapse by this field; NULL: no */
    struct arena *arena;             /* of the entries: as many as documents come, up to k */
};

enum err top_docs_new(struct top_docs **out, const struct top_docs_opts *opts, struct errmsg *em);
void top_docs_free(struct top_docs *t); /* NULL ok */
enum err top_docs_leaf(struct top_docs *t, const struct leaf *leaf, struct scorer *scorer, struct errmsg *em);
/* One matching document, with its score when the heap is by score or wants scores. */
void top_docs_add(struct top_docs *t, doc_id doc, float score);
/* By score only: what a document must beat to come in; -INFINITY while the heap is not full. */
float top_docs_min(const struct top_docs *t);
/* Best first, in `arena`; doc is the number within the view. */
enum err top_docs_take(struct top_docs *t, uint32_t slot, struct arena *arena, struct top_doc **out,
                       uint32_t *n, struct errmsg *em);

#endif
