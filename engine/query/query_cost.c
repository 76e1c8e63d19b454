/* The cost of a query before it runs, in documents to examine: estimated from the segments' statistics of terms and points. */
#include "engine/query/query_ops.h"

#include "engine/index/view.h"

uint64_t cost_of_term(const struct view *v, struct str field, struct str term)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < v->n_leaves; i++) {
        const struct seg_field *f = segment_field(v->leaves[i].segment, field);
        struct term_info t;
        sum += f != NULL && seg_term(f, term, &t) ? t.doc_freq : 0;
    }
    return sum;
}

uint64_t cost_of_terms(const struct view *v, struct str field, const struct str *terms, uint32_t n)
{
    uint64_t sum = n; /* looking for them */
    for (uint32_t i = 0; i < n; i++) {
        sum += cost_of_term(v, field, terms[i]);
    }
    return sum;
}

uint64_t query_cost(const struct view *v, const struct query *q)
{
    return q->ops->cost != NULL ? q->ops->cost(v, q) : QUERY_COST_UNKNOWN;
}
