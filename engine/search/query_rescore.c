/* Rescoring: the best documents of a query by another one. */
#include "engine/search/query_int.h"

#include "common/base/sort_items.h"
#include "common/base/stop.h"
#include "engine/collect/rescore.h"

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

enum err query_rescore(struct query_run *r, const struct rescore_spec *s, struct top_doc *docs, uint32_t n)
{
    const struct query *q;
    const struct weight *w;
    struct query_context cx = r->cx.query;
    cx.raw_errors = true;
    enum err e = query_build(&q, &cx, s->query, r->em);
    e = e == ERR_OK ? weight_new(&w, &r->cx.weight, q, NEED_SCORES, r->em) : e;
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
        float first = docs[i].score * (float)s->query_weight;
        docs[i].score = matched
                            ? rescore_combine(s, first, scorer->ops->score(scorer) * (float)s->rescore_weight)
                            : first;
    }
    for (uint32_t i = n; i < all; i++) { /* beyond the window: as if the second query had not matched */
        docs[i].score *= (float)s->query_weight;
    }
    sort_items(docs, all, sizeof(*docs), by_score);
    return weight_error(w, r->em);
}
