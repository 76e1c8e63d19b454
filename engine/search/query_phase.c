/* The query phase: which documents, how many, in what order; and what is computed over all of them. */
#include "common/settings/setting_read.h"
#include "engine/aggs/aggs.h"
#include "engine/collect/top_docs.h"
#include "engine/collect/whole_query.h"
#include "engine/fetch/fetch.h"
#include "engine/fetch/script_fields.h"
#include "engine/highlight/highlight.h"
#include "engine/query/query_ops.h"
#include "engine/search/search.h"
#include "engine/suggest/suggest.h"

#include "common/base/bits.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"

#include <math.h>
#include <stdlib.h>

#define TIMEOUT_GRACE_MS \
    100             /* what is not collecting, and so has nothing to show for it, gets so much more time */
#define WINDOW 4096 /* documents that are collected as bits at a time */

struct run {
    const struct search_shard *shard;
    const struct search_source *source;
    struct search_context cx;
    struct arena *arena;
    struct errmsg *em;

    const struct query *query;
    const struct weight *weight, *post_filter;
    enum score_need need;
    struct sort_plan *sort;
    struct top_docs *top;
    struct doc_collector *aggs;

    int64_t hits;       /* counted so far */
    int64_t known_hits; /* the total, known without counting; -1 */
    int64_t threshold;  /* counting may stop being exact above it */
    int64_t collected;  /* for terminate_after */
    float best;
    bool done, terminated, timed_out, skipping, first_key_refused;
    bool paged; /* page_left holds */
    int64_t deadline_ns;
    uint32_t polls;
    struct scorer *scorer;
    const struct leaf *leaf;
    uint32_t page_start; /* first document of a scroll's page in index order; 0: no such page */
    int64_t page_left;   /* documents that it still wants; INT64_MAX: no limit */
    uint64_t *post_bits; /* post_filter's matches in the segment; NULL: no post_filter */
};

/* ---- preparing ---------------------------------------------------------------------------------------------------------- */

static bool sorted_by_score_only(const struct search_source *s)
{
    return s->n_sort == 0 || (s->n_sort == 1 && s->sort[0].kind == SORT_SCORE && s->sort[0].descending);
}

static enum err check_window(const struct run *r)
{
    const struct search_source *s = r->source;
    const int64_t max = setting_i64(r->shard->index_settings, SET_INDEX_MAX_RESULT_WINDOW),
                  rescore_max = setting_i64(r->shard->index_settings, SET_INDEX_MAX_RESCORE_WINDOW);
    if (r->shard->scope.scroll && s->size > max) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT,
                       "Batch size is too large, size must be less than or equal to: [%lld] but was [%lld]. "
                       "Scroll batch sizes cost as "
                       "much memory as result windows so they are controlled by the "
                       "[index.max_result_window] index level setting.",
                       (long long)max, (long long)s->size);
    }
    if (s->from < 0 && s->size > 0 && s->from + s->size <= 0) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT,
                       "numHits must be > 0; please use TotalHitCountCollector if you just need the total "
                       "hit count");
    }
    if (s->from < 0 && s->size > 0) {
        return err_set(r->em, ERR_ARRAY_BOUNDS, "Index %lld out of bounds", (long long)s->from);
    }
    if (!r->shard->scope.scroll && s->from + s->size > max) {
        return err_set(
            r->em, ERR_ILLEGAL_ARGUMENT,
            "Result window is too large, from + size must be less than or equal to: [%lld] but was [%lld]. "
            "See the scroll api "
            "for a more efficient way to request large data sets. This limit can be set by changing the "
            "[index.max_result_window] index level setting.",
            (long long)max, (long long)(s->from + s->size));
    }
    if (s->n_rescore > 0 && s->n_sort > 0 && !sorted_by_score_only(s)) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT,
                       "Cannot use [sort] option in conjunction with [rescore].");
    }
    for (uint32_t i = 0; i < s->n_rescore; i++) {
        if (s->rescore[i].window > rescore_max) {
            return err_set(r->em, ERR_ILLEGAL_ARGUMENT,
                           "Rescore window [%lld] is too large. It must be less than [%lld]. This prevents "
                           "allocating massive heaps for "
                           "storing the results to be rescored. This limit can be set by changing the "
                           "[index.max_rescore_window] index "
                           "level setting.",
                           (long long)s->rescore[i].window, (long long)rescore_max);
        }
    }
    if (s->size < 0) {
        return err_set(
            r->em, ERR_ILLEGAL_ARGUMENT,
            "numHits must be > 0; please use TotalHitCountCollector if you just need the total hit count");
    }
    return ERR_OK;
}

/* What search_after has is read also where no document is there to be compared with it. */
static enum err read_after(struct run *r)
{
    const struct json *after = r->source->search_after;
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < MIN_OF(after->n, r->source->n_sort) && e == ERR_OK; i++) {
        struct sort_cell cell = {0};
        if (r->source->size == 0 && after->items[i].type == JSON_NULL) {
            continue; /* nothing is compared with it */
        }
        buf_init(&cell.text, NULL, BUF_UNLIMITED);
        e = sort_cell_parse(r->sort, i, &after->items[i], &cell, r->em);
        buf_fini(&cell.text);
    }
    return e;
}

/* Combinations that Elasticsearch refuses on the shard, in its order. */
static enum err check_search_after(struct run *r)
{
    const struct search_source *s = r->source;
    if (s->search_after == NULL) {
        return ERR_OK;
    }
    if (r->shard->scope.scroll) {
        return err_set(r->em, ERR_SEARCH, "`search_after` cannot be used in a scroll context.");
    }
    if (s->from > 0) {
        return err_set(r->em, ERR_SEARCH, "`from` parameter must be set to 0 when `search_after` is used.");
    }
    if (sorted_by_score_only(s)) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "Sort must contain at least one field.");
    }
    if (s->search_after->n != s->n_sort) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "search_after has %u value(s) but sort has %u.",
                       s->search_after->n, s->n_sort);
    }
    return r->sort != NULL ? read_after(r) : ERR_OK;
}

static enum err check_stored_none(const struct run *r)
{
    const struct search_source *s = r->source;
    if (s->stored_none && s->source.given && s->source.enabled) {
        return err_set(r->em, ERR_SEARCH, "[stored_fields] cannot be disabled if [_source] is requested");
    }
    if (s->stored_none && s->n_fields > 0) {
        return err_set(r->em, ERR_SEARCH,
                       "[stored_fields] cannot be disabled when using the [fields] option");
    }
    return ERR_OK;
}

static enum err check_collapse(const struct run *r)
{
    const struct search_source *s = r->source;
    if (s->collapse.field.p == NULL) {
        return ERR_OK;
    }
    if (r->shard->scope.scroll) {
        return err_set(r->em, ERR_SEARCH, "cannot use `collapse` in a scroll context");
    }
    if (s->search_after != NULL) {
        return err_set(r->em, ERR_SEARCH, "cannot use `collapse` in conjunction with `search_after`");
    }
    if (s->n_rescore > 0) {
        return err_set(r->em, ERR_SEARCH, "cannot use `collapse` in conjunction with `rescore`");
    }
    return ERR_OK;
}

static enum err collapse_field(const struct run *r, const struct field **out)
{
    struct str name = r->source->collapse.field;
    *out = NULL;
    if (name.p == NULL) {
        return ERR_OK;
    }
    const struct field *f = mapping_field(r->shard->view->mapping, name);
    if (f == NULL) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "no mapping found for `%.*s` in order to collapse on",
                       STR_ARG(name));
    }
    bool fits = f->type == FT_KEYWORD || (field_type_is_numeric(f->type) && f->type != FT_SCALED_FLOAT);
    if (!fits || !f->doc_values) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT,
                       "collapse is not supported for the field [%.*s] of the type [%s]", STR_ARG(name),
                       field_type_name(f->type));
    }
    if (!f->index && r->source->collapse.n_inner > 0) {
        return err_set(
            r->em, ERR_ILLEGAL_ARGUMENT,
            "cannot expand `inner_hits` for collapse field `%.*s`, only indexed field can retrieve "
            "`inner_hits`",
            STR_ARG(name));
    }
    *out = f;
    return ERR_OK;
}

static enum err prepare_sort(struct run *r)
{
    const struct search_source *s = r->source;
    if (s->n_sort == 0 || sorted_by_score_only(s)) {
        return ERR_OK;
    }
    return sort_plan_new(&r->sort, &r->cx, s->sort, s->n_sort, r->em);
}

static enum err prepare_top(struct run *r)
{
    const struct search_source *s = r->source;
    const struct field *group;
    enum err e = collapse_field(r, &group);
    if (e != ERR_OK) {
        return e;
    }
    int64_t k = s->from + s->size;
    for (uint32_t i = 0; i < s->n_rescore; i++) {
        k = MAX_OF(k, s->rescore[i].window);
    }
    k = MIN_OF(k, (int64_t)r->shard->view->live_count);
    if (s->size == 0 || k <= 0) {
        return ERR_OK;
    }
    struct top_docs_opts o = {.k = (uint32_t)k,
                              .sort = r->sort,
                              .want_scores =
                                  s->track_scores || (r->sort != NULL && sort_plan_shows_scores(r->sort)),
                              .after = s->search_after,
                              .after_doc = r->shard->after_doc,
                              .group = group,
                              .arena = r->arena};
    return top_docs_new(&r->top, &o, r->em);
}

/* Scores are needed for the order, when asked for, for min_score, and by aggregations. */
static void choose_need(struct run *r)
{
    const struct search_source *s = r->source;
    bool by_score = r->top != NULL && r->sort == NULL;
    bool scores = by_score || s->has_min_score || (r->top != NULL && s->track_scores)
                  || (r->sort != NULL && r->top != NULL && sort_plan_needs_scores(r->sort))
                  || (r->aggs != NULL && r->aggs->needs_scores);
    bool may_skip = by_score && !s->has_min_score && r->aggs == NULL && s->collapse.field.p == NULL
                    && s->terminate_after == 0 && s->post_filter == NULL
                    && (r->threshold < INT32_MAX || r->known_hits >= 0);
    r->cx.weight.unasked_scores = r->sort != NULL && sort_plan_needs_scores(r->sort)
                                  && !sort_plan_shows_scores(r->sort) && !s->has_min_score && !s->track_scores
                                  && (r->aggs == NULL || !r->aggs->needs_scores);
    r->need = !scores ? NEED_NO_SCORES : may_skip ? NEED_TOP_SCORES : NEED_SCORES;
}

static int64_t count_without_visiting(const struct run *r)
{
    const struct search_source *s = r->source;
    if (s->post_filter != NULL || s->has_min_score || s->terminate_after != 0
        || s->collapse.field.p != NULL) {
        return -1;
    }
    int64_t sum = 0;
    for (uint32_t i = 0; i < r->shard->view->n_leaves; i++) {
        int64_t n = weight_count(r->weight, &r->shard->view->leaves[i]);
        if (n < 0) {
            return -1;
        }
        sum += n;
    }
    return sum;
}

static enum err make_weight(struct run *r)
{
    r->known_hits = -1;
    choose_need(r);
    enum err e = weight_new(&r->weight, &r->cx.weight, r->query, r->need, r->em);
    if (e != ERR_OK) {
        return e;
    }
    r->known_hits = count_without_visiting(r);
    if (r->known_hits >= 0 && r->need == NEED_SCORES) { /* the total is known: skipping is fine after all */
        choose_need(r);
        if (r->need == NEED_TOP_SCORES) {
            return weight_new(&r->weight, &r->cx.weight, r->query, r->need, r->em);
        }
    }
    return ERR_OK;
}

/* Several shards are asked first whether they can match at all, which needs the first sort key and comes before all else. */
static enum err check_first_key(struct run *r)
{
    const struct search_source *s = r->source;
    struct sort_plan *first = NULL;
    if (s->n_sort == 0 || s->sort[0].kind != SORT_FIELD || r->shard->scope.n_shards <= 1 || r->shard->dfs) {
        return ERR_OK;
    }
    enum err e = sort_plan_new(&first, &r->cx, s->sort, 1, r->em);
    sort_plan_fini(first);
    r->first_key_refused = e != ERR_OK;
    return e;
}

static enum err prepare(struct run *r)
{
    const struct search_source *s = r->source;
    search_context_init(&r->cx, r->shard, s, r->arena);
    enum err e = check_first_key(r);
    r->query = r->shard->query;
    if (e == ERR_OK && r->query == NULL) {
        e = whole_query(&r->query, &r->cx, QUERY_RUN, r->em);
    }
    const struct query *post_filter = NULL;
    if (e == ERR_OK && s->post_filter != NULL) {
        e = query_build(&post_filter, &r->cx.query, s->post_filter, r->em);
        if (e == ERR_OK) {
            e = weight_new(&r->post_filter, &r->cx.weight, post_filter, NEED_NO_SCORES, r->em);
        }
    }
    if (e == ERR_OK && s->nested_hits) {
        e = inner_hits_check(&r->cx, r->query, post_filter, r->em);
    }
    e = e == ERR_OK ? prepare_sort(r) : e;
    e = e == ERR_OK ? docvalue_fields_limit(&r->cx, s, r->em) : e;
    e = e == ERR_OK && s->highlight_spec != NULL ? highlight_check(s->highlight_spec, &r->cx, r->em) : e;
    e = e == ERR_OK && s->size != 0 ? script_fields_limit(&r->cx, s, r->em) : e;
    e = e == ERR_OK && s->size != 0 ? script_fields_check(&r->cx, r->em) : e;
    e = e == ERR_OK ? check_search_after(r) : e;
    e = e == ERR_OK ? check_stored_none(r) : e;
    e = e == ERR_OK ? check_collapse(r) : e;
    e = e == ERR_OK ? prepare_top(r) : e;
    e = e == ERR_OK ? check_window(r) : e;
    e = e == ERR_OK && r->sort != NULL ? sort_plan_check_missing(r->sort, r->em) : e;
    r->threshold = s->track_total == TRACK_TOTAL_DISABLED ? 0 : s->track_total;
    if (e == ERR_OK && s->agg_spec != NULL) {
        /* Aggregations ask the weight for global and filtered documents: it is made with them in mind. */
        const struct weight *all;
        e = weight_new(&all, &r->cx.weight, r->query,
                       aggs_need_scores(s->agg_spec) ? NEED_SCORES : NEED_NO_SCORES, r->em);
        if (e == ERR_OK) {
            e = aggs_collector_new(&r->aggs, s->agg_spec, &r->cx, all, r->em);
        }
    }
    return e == ERR_OK ? make_weight(r) : e;
}

/* ---- collecting ----------------------------------------------------------------------------------------------------------- */

#define POLL_EVERY 256

static bool look_whether_to_stop(struct run *r)
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
static inline bool should_stop(struct run *r)
{
    return ++r->polls % POLL_EVERY == 0 && look_whether_to_stop(r);
}

static enum err post_filter_bits(struct run *r)
{
    r->post_bits = NULL;
    if (r->post_filter == NULL) {
        return ERR_OK;
    }
    r->post_bits = ARENA_ARRAY(r->arena, uint64_t, bits_words((size_t)r->leaf->doc_count + 64));
    struct scorer *s = NULL;
    if (r->post_bits == NULL) {
        return err_no_memory(r->em);
    }
    enum err e = weight_scorer(r->post_filter, r->leaf, r->arena, &s, r->em);
    if (e != ERR_OK || s == NULL) {
        return e;
    }
    for (doc_id d = s->ops->next(s); d != DOC_END && !stop_often(); d = s->ops->next(s)) {
        if (scorer_accepts(s)) {
            bits_set(r->post_bits, d);
        }
    }
    return ERR_OK;
}

/* One live, matching document. */
static void take(struct run *r, doc_id doc)
{
    float score = 0;
    bool taken = r->post_bits == NULL || bits_test(r->post_bits, doc);
    if (!taken && r->aggs == NULL) {
        return; /* nobody asks for its score */
    }
    if (r->need != NEED_NO_SCORES) {
        score = r->scorer->ops->score(r->scorer);
        if (r->source->has_min_score && !(score >= r->source->min_score)) {
            return;
        }
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

static void collect_one_by_one(struct run *r)
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
static void collect_windows(struct run *r)
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
        for (uint32_t w = 0; r->post_bits != NULL && r->aggs == NULL && w < bits_words(n); w++) {
            bits[w] &= r->post_bits[from / 64 + w];
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
static bool by_doc_order(const struct run *r)
{
    const struct query *q = r->query;
    if (sorted_by_score_only(r->source)) {
        return r->source->n_rescore == 0 && q->ops->one_score && q->boost == 1;
    }
    return r->source->n_sort == 1 && r->source->sort[0].kind == SORT_DOC && !r->source->sort[0].descending;
}

static enum err search_leaf(struct run *r)
{
    enum err e = post_filter_bits(r);
    if (e == ERR_OK) {
        e = weight_scorer(r->weight, r->leaf, r->arena, &r->scorer, r->em);
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
                   && r->scorer->ops->fill != NULL && (r->post_bits == NULL || r->aggs == NULL);
    if (windows) {
        collect_windows(r);
    } else {
        collect_one_by_one(r);
    }
    return weight_error(r->weight, r->em);
}

/* Nothing to find out by visiting: no documents wanted, total known, no aggregations. */
static bool nothing_to_visit(const struct run *r)
{
    return r->aggs == NULL && r->top == NULL
           && (r->known_hits >= 0 || r->source->track_total == TRACK_TOTAL_DISABLED)
           && !r->source->has_min_score;
}

static enum err collect(struct run *r)
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
    if (r->sort != NULL && r->sort->error.n > 0) {
        *r->em = r->sort->error;
        return err_code(r->em);
    }
    return ERR_OK;
}

/* ---- rescoring -------------------------------------------------------------------------------------------------------------- */

static float combine(const struct rescore_spec *s, float first, bool matched, float second)
{
    /* In Elasticsearch's order of operations: both weighted in float, then combined. */
    float a = first * (float)s->query_weight;
    if (!matched) {
        return a;
    }
    float b = second * (float)s->rescore_weight;
    switch (s->mode) {
    case RESCORE_MULTIPLY:
        return a * b;
    case RESCORE_AVG:
        return (a + b) / 2;
    case RESCORE_MAX:
        return MAX_OF(a, b);
    case RESCORE_MIN:
        return MIN_OF(a, b);
    case RESCORE_TOTAL:
        break;
    }
    return a + b;
}

static int by_doc(const void *a, const void *b)
{
    uint32_t x = ((const struct top_doc *)a)->doc, y = ((const struct top_doc *)b)->doc;
    return x < y ? -1 : x > y;
}

static int by_score(const void *a, const void *b)
{
    const struct top_doc *x = a, *y = b;
    if (x->score != y->score) {
        return x->score > y->score ? -1 : 1;
    }
    return by_doc(a, b);
}

static enum err rescore(struct run *r, const struct rescore_spec *s, struct top_doc *docs, uint32_t n)
{
    const struct query *q;
    const struct weight *w;
    struct query_context cx = r->cx.query;
    cx.raw_errors = true;
    enum err e = query_build(&q, &cx, s->query, r->em);
    if (e == ERR_OK) {
        e = weight_new(&w, &r->cx.weight, q, NEED_SCORES, r->em);
    }
    if (e != ERR_OK) {
        return e;
    }
    if (n == 0) {
        return ERR_OK;
    }
    uint32_t all = n;
    n = MIN_OF(n, (uint32_t)MAX_OF(s->window, 0));
    sort_items(docs, n, sizeof(*docs), by_doc);
    const struct leaf *leaf = NULL;
    struct scorer *scorer = NULL;
    for (uint32_t i = 0; i < n && !stop_often(); i++) {
        const struct leaf *l = view_leaf(r->shard->view, docs[i].doc);
        if (l != leaf) {
            leaf = l;
            e = weight_scorer(w, leaf, r->arena, &scorer, r->em);
            if (e != ERR_OK) {
                return e;
            }
        }
        doc_id doc = docs[i].doc - leaf->base;
        if (scorer != NULL && (scorer->doc == POSTINGS_UNPOSITIONED || scorer->doc < doc)) {
            scorer->ops->seek(scorer, doc);
        }
        bool matched = scorer != NULL && scorer->doc == doc && scorer_accepts(scorer);
        docs[i].score = combine(s, docs[i].score, matched, matched ? scorer->ops->score(scorer) : 0);
    }
    for (uint32_t i = n; i < all; i++) { /* beyond the window: as if the second query had not matched */
        docs[i].score *= (float)s->query_weight;
    }
    sort_items(docs, all, sizeof(*docs), by_score);
    return weight_error(w, r->em);
}

/* ---- the result --------------------------------------------------------------------------------------------------------------- */

static void set_total(const struct run *r, struct query_result *out)
{
    int32_t track = r->source->track_total;
    int64_t hits = r->known_hits >= 0 ? r->known_hits : r->hits;
    out->total = hits;
    out->relation = TOTAL_EQ;
    if (track == TRACK_TOTAL_DISABLED) {
        out->total = 0;
        out->relation = TOTAL_NONE;
    } else if (track != TRACK_TOTAL_ACCURATE && hits > track) {
        out->total = track;
        out->relation = TOTAL_GTE;
    }
}

static enum err take_bytes(struct buf *b, struct arena *arena, struct str *out, struct errmsg *em)
{
    *out = arena_str(arena, buf_view(b));
    bool ok = !b->failed && out->p != NULL;
    buf_fini(b);
    return ok ? ERR_OK : err_no_memory(em);
}

static enum err finish(struct run *r, struct query_result *out)
{
    const struct search_source *s = r->source;
    enum err e = ERR_OK;
    *out = (struct query_result){.slot = r->shard->scope.slot,
                                 .max_score = NAN,
                                 .timed_out = r->timed_out,
                                 .terminated_early = r->terminated,
                                 .limited = r->paged};
    set_total(r, out);
    if (r->top != NULL) {
        e = top_docs_take(r->top, r->shard->scope.slot, r->arena, &out->docs, &out->n, r->em);
    }
    out->n_sort = r->sort != NULL ? s->n_sort : 0;
    for (uint32_t i = 0; e == ERR_OK && i < s->n_rescore; i++) {
        e = rescore(r, &s->rescore[i], out->docs, out->n);
    }
    if (s->n_rescore > 0) {
        out->n = MIN_OF(out->n, (uint32_t)(s->from + s->size));
    }
    if (e == ERR_OK && out->n > 0 && r->sort == NULL && s->collapse.field.p == NULL) {
        out->max_score = out->docs[0].score;
    } else if (e == ERR_OK && r->top != NULL && r->hits > 0 && s->track_scores
               && s->collapse.field.p == NULL) {
        out->max_score = r->best;
    }
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    if (e == ERR_OK && r->aggs != NULL) {
        e = aggs_result(r->aggs, &b, r->em);
        e = e == ERR_OK ? take_bytes(&b, r->arena, &out->aggs, r->em) : e;
    }
    if (e == ERR_OK && s->suggest_spec != NULL) {
        e = suggest_run(s->suggest_spec, &r->cx, &b, r->em);
        e = e == ERR_OK ? take_bytes(&b, r->arena, &out->suggest, r->em) : e;
    }
    buf_fini(&b);
    return e;
}

/* Preparing took all the time there was: the answer is that of a search that found nothing. */
static enum err prepare_nothing(struct run *r)
{
    const struct search_source *s = r->source;
    struct query *none = ARENA_NEW(r->arena, struct query);
    aggs_collector_free(r->aggs);
    sort_plan_fini(r->sort);
    top_docs_free(r->top);
    r->aggs = NULL;
    r->sort = NULL;
    r->top = NULL;
    r->weight = r->post_filter = NULL;
    err_clear(r->em);
    if (none == NULL) {
        return err_no_memory(r->em);
    }
    none->ops = &q_match_none;
    none->boost = 1;
    r->query = none;
    r->known_hits = 0;
    r->hits = 0;
    r->timed_out = true;
    search_context_init(&r->cx, r->shard, s, r->arena);
    enum err e = prepare_sort(r);
    if (e == ERR_OK && s->agg_spec != NULL) {
        const struct weight *all;
        e = weight_new(&all, &r->cx.weight, none, NEED_NO_SCORES, r->em);
        e = e == ERR_OK ? aggs_collector_new(&r->aggs, s->agg_spec, &r->cx, all, r->em) : e;
    }
    return e;
}

/* Preparing and collecting, as long as the request's time lasts. */
static enum err run_query(struct run *r)
{
    struct stop until = {
        .clock = r->shard->clock, .deadline_ns = r->deadline_ns + TIMEOUT_GRACE_MS * 1000000, .within = true};
    bool timed = r->source->timeout_ms >= 0 && r->shard->clock != NULL;
    if (timed) {
        stop_enter(&until);
    }
    enum err e = prepare(r);
    e = e == ERR_OK ? collect(r) : e;
    if (timed) {
        stop_leave(&until);
    }
    r->timed_out |= until.late;
    return until.late && (e != ERR_OK || r->weight == NULL) ? prepare_nothing(r) : e;
}

/* A request of suggestions alone finds no documents. */
static bool suggest_only(const struct search_source *s)
{
    return s->suggest_spec != NULL && s->query == NULL && s->agg_spec == NULL && s->search_after == NULL;
}

enum err search_query_check(const struct search_shard *shard, const struct search_source *source,
                            struct arena *arena, struct errmsg *em)
{
    struct run r = {.shard = shard, .source = source, .arena = arena, .em = em, .known_hits = -1};
    enum err e = suggest_only(source) ? ERR_OK : prepare(&r);
    aggs_collector_free(r.aggs);
    sort_plan_fini(r.sort);
    top_docs_free(r.top);
    return e;
}

enum err search_query_phase(struct query_result *out, const struct search_shard *shard,
                            const struct search_source *source, struct arena *arena, struct errmsg *em)
{
    struct errmsg own;
    struct run r = {.shard = shard,
                    .source = source,
                    .arena = arena,
                    .em = em != NULL ? em : &own,
                    .known_hits = -1,
                    .best = -INFINITY};
    err_clear(r.em);
    if (source->timeout_ms >= 0 && shard->clock != NULL) {
        r.deadline_ns = shard->clock->mono_ns(shard->clock->self) + source->timeout_ms * 1000000;
    }
    enum err e = ERR_OK;
    if (suggest_only(source)) {
        search_context_init(&r.cx, shard, source, arena);
        r.known_hits = 0;
    } else {
        e = run_query(&r);
        if (e == ERR_OK && r.shard->cancelled != NULL && r.shard->cancelled(r.shard->self)) {
            e = err_set(r.em, ERR_CANCELLED, "task cancelled");
        }
    }
    if (e == ERR_OK) {
        e = finish(&r, out);
    } else {
        *out = (struct query_result){.slot = shard->scope.slot, .first_key_refused = r.first_key_refused};
    }
    aggs_collector_free(r.aggs);
    sort_plan_fini(r.sort);
    top_docs_free(r.top);
    return e;
}
