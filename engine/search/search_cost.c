#include "engine/search/search_cost.h"

#include "engine/collect/whole_query.h"

#define TEXT_BYTES_MAX 2048 /* of a request: queries may take longer to read than to run */
#define HIT_COST       500  /* of a hit that is read and printed */
#define BARE_HIT_COST  16   /* of one that shows nothing that is stored */
#define STORED_BYTES_MAX \
    (64 * KIB)        /* packed, of what a hit may have to be read of: more takes longer than such a search */
#define SKIP_RATIO  8 /* a single term's documents to those looked at, where its total is known beforehand */
#define COUNT_RATIO 8 /* a document that is only counted costs so much less than one that is scored */

/* Is all that the query asks whether any of some terms is there? */
static bool any_of_terms(const struct query *q)
{
    bool all = q->ops == &q_bool && q->boolean.min_should <= 1;
    for (uint32_t i = 0; all && i < q->boolean.n; i++) {
        all = q->boolean.v[i].occur == OCCUR_SHOULD && q->boolean.v[i].query->ops == &q_term;
    }
    return all;
}

/* Requests of nothing but a query and a page of its hits, best first. */
static bool is_plain(const struct search_context *cx)
{
    const struct search_source *s = cx->source;
    return s->text.n <= TEXT_BYTES_MAX && cx->shard->scope.n_alias_filters == 0 && !cx->shard->scope.scroll
           && s->agg_spec == NULL && s->suggest_spec == NULL && s->highlight_spec == NULL
           && s->post_filter == NULL && s->n_sort == 0 && s->n_rescore == 0 && s->n_script_fields == 0
           && s->n_fields == 0 && s->n_docvalue_fields == 0 && s->collapse.field.p == NULL
           && s->search_after == NULL && s->slice == NULL && !s->names && !s->nested_hits && !s->percolates
           && !s->explain && !s->profile && s->from >= 0 && s->size >= 0;
}

/* Does it take long to read any of the documents? */
static bool stores_much(const struct view *v)
{
    for (uint32_t i = 0; i < v->n_leaves; i++) {
        if (segment_stored_max(v->leaves[i].segment) > STORED_BYTES_MAX) {
            return true;
        }
    }
    return false;
}

uint64_t search_cost(const struct search_context *cx, const struct query **q)
{
    const struct search_source *s = cx->source;
    const struct view *v = cx->shard->view;
    ERR_LOCAL(em);
    *q = NULL;
    if (!is_plain(cx) || (s->query != NULL && !query_is_plain(s->query))
        || (s->size > 0 && !s->stored_none && stores_much(v))) {
        return SEARCH_COST_UNKNOWN;
    }
    err_clear(&em);
    if (whole_query(q, cx, QUERY_RUN, &em) != ERR_OK) {
        *q = NULL;
        return SEARCH_COST_UNKNOWN;
    }
    uint64_t cost = query_cost(v, *q), hits = (uint64_t)s->from + (uint64_t)s->size;
    if ((*q)->ops == &q_term && !s->has_min_score && s->terminate_after == 0) {
        cost /= SKIP_RATIO;
    } else if (hits == 0 && !s->has_min_score && any_of_terms(*q)) {
        cost /= COUNT_RATIO;
    }
    return cost_add(cost, cost_times(hits, s->stored_none ? BARE_HIT_COST : HIT_COST));
}
