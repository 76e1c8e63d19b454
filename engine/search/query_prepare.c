/* The query phase's first step: refusals, query, weights, sort keys. */
#include "engine/search/query_int.h"

#include "common/settings/setting_read.h"
#include "engine/aggs/aggs.h"
#include "engine/collect/whole_query.h"
#include "engine/fetch/fetch.h"
#include "engine/fetch/script_fields.h"
#include "engine/highlight/highlight.h"
#include "engine/query/query_ops.h"

static enum err check_window(const struct query_run *r)
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
    if (s->n_rescore > 0 && s->n_sort > 0 && !search_source_by_score(s)) {
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
static enum err read_after(struct query_run *r)
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
static enum err check_search_after(struct query_run *r)
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
    if (search_source_by_score(s)) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "Sort must contain at least one field.");
    }
    if (s->search_after->n != s->n_sort) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "search_after has %u value(s) but sort has %u.",
                       s->search_after->n, s->n_sort);
    }
    return r->sort != NULL ? read_after(r) : ERR_OK;
}

static enum err check_stored_none(const struct query_run *r)
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

static enum err check_collapse(const struct query_run *r)
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

static enum err collapse_field(const struct query_run *r, const struct field **out)
{
    struct str name = r->source->collapse.field;
    *out = NULL;
    if (name.p == NULL) {
        return ERR_OK;
    }
    const struct field *f = mapping_field_in(r->shard->view->mapping, name, r->cx.arena);
    if (f == NULL) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "no mapping found for `%.*s` in order to collapse on",
                       STR_ARG(name));
    }
    if (!f->class->collapses) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT,
                       "collapse is not supported for the field [%.*s] of the type [%s]", STR_ARG(f->path),
                       f->class->name);
    }
    if (!f->doc_values) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "cannot collapse on field `%.*s` without `doc_values`",
                       STR_ARG(name));
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

enum err query_prepare_sort(struct query_run *r)
{
    const struct search_source *s = r->source;
    if (s->n_sort == 0 || search_source_by_score(s)) {
        return ERR_OK;
    }
    return sort_plan_new(&r->sort, &r->cx, s->sort, s->n_sort, r->em);
}

static enum err prepare_top(struct query_run *r)
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
static void choose_need(struct query_run *r)
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

static int64_t count_without_visiting(const struct query_run *r)
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

static enum err make_weight(struct query_run *r)
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
static enum err check_first_key(struct query_run *r)
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

enum err query_prepare(struct query_run *r)
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
    e = e == ERR_OK ? query_prepare_sort(r) : e;
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
        e = e == ERR_OK ? aggs_collector_new(&r->aggs, s->agg_spec, &r->cx, all, r->em) : e;
    }
    return e == ERR_OK ? make_weight(r) : e;
}
