/* view.h - a point in time of one shard: what a search reads.
 *
 * A view is an immutable list of segments with their live bitmaps and the mapping of that moment. It is
 * reference-counted: scrolls and points in time keep one, and the files stay for as long. Thread-safe. */
#ifndef ENGINE_INDEX_VIEW_H
#define ENGINE_INDEX_VIEW_H

#include "engine/index/segment.h"
#include "engine/mapping/mapping.h"

struct leaf {
    const struct segment *segment;
    const uint64_t *live;  /* bitmap; NULL: all live */
    const uint64_t *roots; /* bitmap of root documents; NULL: all */
    uint32_t doc_count;    /* all documents */
    uint32_t live_count;   /* live root documents */
    uint32_t base;         /* number of its first document within the view */
    uint32_t index;        /* its place in the view */
};

struct view {
    const struct leaf *leaves;
    uint32_t n_leaves;
    uint32_t doc_count; /* sum over the leaves, deleted and nested ones too */
    uint32_t live_count;
    struct mapping *mapping;
    uint64_t generation; /* grows with every refresh that changed something */
    int64_t max_seq_no;  /* highest sequence number that may be visible */
    /* private */
    _Atomic uint32_t refs;
    void (*free)(struct view *v);
};

static inline struct view *view_ref(struct view *v)
{
    v->refs++;
    return v;
}

static inline void view_unref(struct view *v)
{
    if (v != NULL && --v->refs == 0) {
        v->free(v);
    }
}

static inline bool leaf_live(const struct leaf *l, doc_id doc)
{
    return l->live == NULL || ((l->live[doc >> 6] >> (doc & 63)) & 1) != 0;
}

/* segment_damage() of the leaves: to be asked before anything that was read in the view is believed. */
enum err view_damage(const struct view *v, struct errmsg *em);
/* The leaf that holds the view's document number `doc`. */
const struct leaf *view_leaf(const struct view *v, uint32_t doc);

#endif
