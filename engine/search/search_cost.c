#include "engine/search/search_cost.h"

#include "engine/search/whole_query.h"

#define TEXT_BYTES_MAX 2048 /* of a request: queries may take longer to read than to run */
#define HIT_COST       500  /* of a hit that is read and printed */
#define BARE_HIT_COST  16   /* of one that shows nothing that is stored */
#define SKIP_RATIO     8 /* a single term's documents to those looked at, where its total is known beforehand */
#define COUNT_RATIO    8 /* a document that is only counted costs so much less than one that is scored */
#define POSITIONS_COST 4 /* a document whose positions are read */

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > SEARCH_COST_UNKNOWN - b ? SEARCH_COST_UNKNOWN : a + b;
}

static uint64_t times(uint64_t a, uint64_t n)
{
    return n > 0 && a > SEARCH_COST_UNKNOWN / n ? SEARCH_COST_UNKNOWN : a * n;
}

static uint64_t term_docs(const struct view *v, struct str field, struct str term)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < v->n_leaves; i++) {
        const struct seg_field *f = segment_field(v->leaves[i].segment, field);
        struct term_info t;
        sum += f != NULL && seg_term(f, term, &t) ? t.doc_freq : 0;
    }
    return sum;
}

static uint64_t terms_docs(const struct view *v, struct str field, const struct str *terms, uint32_t n)
{
    uint64_t sum = n; /* looking for them */
    for (uint32_t i = 0; i < n; i++) {
        sum += term_docs(v, field, terms[i]);
    }
    return sum;
}

static uint64_t range_docs(const struct view *v, const struct query *q)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < v->n_leaves; i++) {
        const struct seg_field *f = segment_field(v->leaves[i].segment, q->field_name);
        if (f != NULL && (f->has & SEG_POINTS) == 0) {
            return SEARCH_COST_UNKNOWN;
        }
        sum += f != NULL ? seg_points_count(f, q->num.lo, q->num.hi) : 0;
    }
    return sum;
}

static uint64_t phrase_docs(const struct view *v, const struct query *q)
{
    uint64_t least = SEARCH_COST_UNKNOWN;
    if (q->phrase.prefix_last) {
        return SEARCH_COST_UNKNOWN;
    }
    for (uint32_t i = 0; i < q->phrase.n; i++) {
        least = MIN_OF(least, terms_docs(v, q->field_name, q->phrase.v[i].terms, q->phrase.v[i].n));
    }
    return times(least, (uint64_t)q->phrase.n * POSITIONS_COST);
}

static uint64_t query_cost(const struct view *v, const struct query *q);

/* The rarest clause that must match leads, and the others are asked about its documents. */
static uint64_t bool_cost(const struct view *v, const struct query *q)
{
    uint64_t lead = SEARCH_COST_UNKNOWN, any = 0;
    bool required = false;
    for (uint32_t i = 0; i < q->boolean.n; i++) {
        const struct bool_clause *c = &q->boolean.v[i];
        uint64_t cost = query_cost(v, c->query);
        if (cost == SEARCH_COST_UNKNOWN) {
            return cost;
        }
        if (c->occur == OCCUR_MUST || c->occur == OCCUR_FILTER) {
            lead = MIN_OF(lead, cost);
            required = true;
        } else if (c->occur == OCCUR_SHOULD) {
            any = add(any, cost);
        }
    }
    return required ? times(lead, q->boolean.n) : any;
}

static uint64_t function_cost(const struct view *v, const struct query *q)
{
    for (uint32_t i = 0; i < q->function_score.n; i++) {
        const struct score_function *f = &q->function_score.v[i];
        if (f->kind != FUNC_WEIGHT
            || (f->filter != NULL && query_cost(v, f->filter) == SEARCH_COST_UNKNOWN)) {
            return SEARCH_COST_UNKNOWN;
        }
    }
    return times(query_cost(v, q->function_score.child), 1 + (uint64_t)q->function_score.n);
}

static uint64_t query_cost(const struct view *v, const struct query *q)
{
    switch (q->kind) {
    case Q_MATCH_NONE:
        return 0;
    case Q_MATCH_ALL:
        return v->doc_count;
    case Q_TERM:
        return term_docs(v, q->field_name, q->term.term);
    case Q_TERMS:
    case Q_SYNONYM:
        return terms_docs(v, q->field_name, q->terms.v, q->terms.n);
    case Q_IDS:
        return times(q->terms.n, v->n_leaves);
    case Q_PHRASE:
        return phrase_docs(v, q);
    case Q_NUM_RANGE:
        return range_docs(v, q);
    case Q_BOOL:
        return bool_cost(v, q);
    case Q_CONSTANT:
    case Q_BOOST:
        return query_cost(v, q->one.child);
    case Q_FUNCTION_SCORE:
        return function_cost(v, q);
    default:
        return SEARCH_COST_UNKNOWN;
    }
}

/* Is all that the query asks whether any of some terms is there? */
static bool any_of_terms(const struct query *q)
{
    bool all = q->kind == Q_BOOL && q->boolean.min_should <= 1;
    for (uint32_t i = 0; all && i < q->boolean.n; i++) {
        all = q->boolean.v[i].occur == OCCUR_SHOULD && q->boolean.v[i].query->kind == Q_TERM;
    }
    return all;
}

/* Requests of nothing but a query and a page of its hits, best first. */
static bool is_plain(const struct search_context *cx)
{
    const struct search_source *s = cx->source;
    return s->text.n <= TEXT_BYTES_MAX && cx->shard->n_alias_filters == 0 && !cx->shard->scroll
           && s->agg_spec == NULL && s->suggest_spec == NULL && s->highlight_spec == NULL
           && s->post_filter == NULL && s->n_sort == 0 && s->n_rescore == 0 && s->n_script_fields == 0
           && s->n_fields == 0 && s->n_docvalue_fields == 0 && s->collapse.field.p == NULL
           && s->search_after == NULL && s->slice == NULL && !s->names && !s->nested_hits && !s->explain
           && !s->profile && s->from >= 0 && s->size >= 0;
}

uint64_t search_cost(const struct search_context *cx, const struct query **q)
{
    const struct search_source *s = cx->source;
    const struct view *v = cx->shard->view;
    struct errmsg em;
    *q = NULL;
    if (!is_plain(cx)) {
        return SEARCH_COST_UNKNOWN;
    }
    err_clear(&em);
    if (whole_query(q, cx, QUERY_RUN, &em) != ERR_OK) {
        *q = NULL;
        return SEARCH_COST_UNKNOWN;
    }
    uint64_t cost = query_cost(v, *q), hits = (uint64_t)s->from + (uint64_t)s->size;
    if ((*q)->kind == Q_TERM && !s->has_min_score && s->terminate_after == 0) {
        cost /= SKIP_RATIO;
    } else if (hits == 0 && !s->has_min_score && any_of_terms(*q)) {
        cost /= COUNT_RATIO;
    }
    return add(cost, times(hits, s->stored_none ? BARE_HIT_COST : HIT_COST));
}
