/* The query phase's second step: the matching documents of each segment, in order. */
#include "engine/search/query_int.h"

#include "common/base/bits.h"
#include "common/base/stop.h"
#include "engine/query/query_ops.h"
#include "engine/query/scorers.h"

#include <math.h>

#define WINDOW     4096 /* documents that are collected as bits at a time */
#define POLL_EVERY 256

static bool check_stop(struct query_run *r)
{
    if (stop_now()) {
        r->done = true;
    }
    if (r->shard->cancelled != NULL && r->shard->cancelled(r->shard->self)) {
        r->done = true;
    }
    if (r->source->timeout_ms >= 0 && r->shard->clock != NULL
        && r->shard->clock->mono_ns(r->shard->clock->self) > r->deadline_ns) {
        r->timed_out = r->done = true;
    }
    return r->done;
}

/* For every document. */
static inline bool should_stop(struct query_run *r)
{
    return ++r->polls % POLL_EVERY == 0 && check_stop(r);
}

/* Documents are asked about in their order. */
static bool post_filter_accepts(struct query_run *r, doc_id doc)
{
    struct scorer *s = r->post;
    if (s == NULL) {
        return r->post_filter == NULL;
    }
    if (scorer_is_before(s, doc)) {
        scorer_seek(s, doc);
    }
    return s->doc == doc && scorer_accepts(s);
}

/* One live, matching document. */
static void take(struct query_run *r, doc_id doc)
{
    bool least = r->source->has_min_score; /* it comes before post_filter */
    float score = least ? scorer_score(r->scorer) : 0;
    if (least && !(score >= r->source->min_score)) {
        return;
    }
    bool taken = post_filter_accepts(r, doc);
    if (!taken && r->aggs == NULL) {
        return; /* nobody asks for its score */
    }
    if (!least && r->need != NEED_NO_SCORES) {
        score = scorer_score(r->scorer);
    }
    if (taken) {
        bool enough =
            r->source->terminate_after != 0 && !r->paged && r->collected++ >= r->source->terminate_after;
        if (enough || r->page_left == 0) {
            r->terminated = r->done = true;
            return;
        }
        r->hits++;
        if (score > r->best) {
            r->best = score;
        }
        if (r->top != NULL) {
            top_docs_add(r->top, doc, score);
            r->page_left--;
        }
    }
    if (r->aggs != NULL) {
        r->aggs->collect(r->aggs->self, doc, score);
    }
}

static void collect_one_by_one(struct query_run *r)
{
    struct scorer *s = r->scorer;
    float min = -INFINITY;
    bool skips = r->need == NEED_TOP_SCORES && s->ops->min_score != NULL;
    doc_id first = r->page_start > r->leaf->base ? r->page_start - r->leaf->base : 0;
    for (doc_id d = first > 0 ? s->ops->seek(s, first) : s->ops->next(s); d != DOC_END && !r->done;
         d = s->ops->next(s)) {
        if (!leaf_live(r->leaf, d) || !scorer_accepts(s)) {
            continue;
        }
        take(r, d);
        if (skips && !r->paged && (r->known_hits >= 0 || r->hits > r->threshold)) {
            float now = top_docs_min(r->top);
            if (now > min) {
                min = now;
                r->skipping = true;
                s->ops->min_score(s, min);
            }
        }
        if (should_stop(r)) {
            break;
        }
    }
}

/* Nobody asks which documents: only counts and aggregations. Windows of bits are filled by the scorer. */
static void collect_windows(struct query_run *r)
{
    struct scorer *s = r->scorer;
    uint64_t bits[WINDOW / 64];
    for (doc_id from = 0; from < r->leaf->doc_count && !r->done; from += WINDOW) {
        uint32_t n = MIN_OF((uint32_t)WINDOW, r->leaf->doc_count - from);
        memset(bits, 0, sizeof(bits));
        s->ops->fill(s, from, from + n, bits);
        for (uint32_t w = 0; r->leaf->live != NULL && w < bits_words(n); w++) {
            bits[w] &= r->leaf->live[from / 64 + w];
        }
        r->hits += (int64_t)bits_count(bits, n);
        if (r->aggs != NULL) {
            if (r->aggs->collect_bits != NULL) {
                r->aggs->collect_bits(r->aggs->self, from, bits, n);
            } else {
                for (size_t i = bits_next(bits, 0, n); i < n; i = bits_next(bits, i + 1, n)) {
                    r->aggs->collect(r->aggs->self, from + (doc_id)i, 0);
                }
            }
        }
        r->polls += WINDOW / 4;
        should_stop(r);
    }
}

/* Where documents come in the order that is asked for - sorted by _doc alone, or all with one score - a later page of a scroll
 * begins behind the last document, and ends with its last one. */
static bool by_doc_order(const struct query_run *r)
{
    const struct query *q = r->query;
    if (search_source_by_score(r->source)) {
        return r->source->n_rescore == 0 && q->ops->one_score && q->boost == 1;
    }
    return r->source->n_sort == 1 && r->source->sort[0].kind == SORT_DOC && !r->source->sort[0].descending;
}

static enum err search_leaf(struct query_run *r)
{
    enum err e = weight_scorer(r->weight, r->leaf, r->arena, &r->scorer, r->em);
    if (e == ERR_OK && r->post_filter != NULL) {
        e = weight_scorer(r->post_filter, r->leaf, r->arena, &r->post, r->em);
    }
    if (e == ERR_OK && r->aggs != NULL) {
        e = r->aggs->leaf(r->aggs->self, r->leaf, r->scorer, r->em);
    }
    if (e != ERR_OK || r->scorer == NULL) {
        return e;
    }
    if (r->top != NULL) {
        e = top_docs_leaf(r->top, r->leaf, r->scorer, r->em);
        if (e != ERR_OK) {
            return e;
        }
    }
    if (r->need == NEED_TOP_SCORES && r->skipping && r->scorer->ops->min_score != NULL) {
        r->scorer->ops->min_score(r->scorer, top_docs_min(r->top));
    }
    bool windows = r->top == NULL && r->need == NEED_NO_SCORES && r->source->terminate_after == 0
                   && r->scorer->ops->fill != NULL && r->post_filter == NULL;
    if (windows) {
        collect_windows(r);
    } else {
        collect_one_by_one(r);
    }
    e = weight_error(r->weight, r->em);
    return e == ERR_OK && r->post_filter != NULL ? weight_error(r->post_filter, r->em) : e;
}

/* Nothing to find out by visiting: no documents wanted, total known, no aggregations. */
static bool nothing_to_visit(const struct query_run *r)
{
    return r->aggs == NULL && r->top == NULL
           && (r->known_hits >= 0 || r->source->track_total == TRACK_TOTAL_DISABLED)
           && !r->source->has_min_score;
}

enum err query_collect(struct query_run *r)
{
    if (nothing_to_visit(r)) {
        return ERR_OK;
    }
    r->page_left = INT64_MAX;
    if (r->shard->after_doc != NULL && by_doc_order(r)) { /* the first page counted: this one need not */
        r->page_start = r->shard->after_doc->doc + 1;
        r->page_left = r->source->size;
        r->paged = true;
    }
    const struct view *v = r->shard->view;
    for (uint32_t i = 0; i < v->n_leaves && !r->done; i++) {
        if (r->page_left == 0) {
            r->terminated = true;
            break;
        }
        r->leaf = &v->leaves[i];
        if (r->page_start > 0 && r->leaf->base + r->leaf->doc_count <= r->page_start) {
            continue;
        }
        if (r->source->terminate_after != 0
            && r->collected >= r->source->terminate_after) { /* a new segment is not begun */
            r->terminated = true;
            return ERR_OK;
        }
        enum err e = search_leaf(r);
        if (e != ERR_OK) {
            return e;
        }
    }
    if (r->sort != NULL && err_is(&r->sort->error)) {
        err_copy(r->em, &r->sort->error);
        return err_code(r->em);
    }
    return ERR_OK;
}
