/* Validation of a query on a shard, and explanation of its score for one document. */
#include "data/search/search_int.h"
#include "engine/collect/whole_query.h"
#include "engine/query/query.h"
#include "engine/query/scorer.h"

static enum err explain_document(struct shard_explain *rq, const struct search_context *cx,
                                 const struct query *q, struct view *v, const struct engine_doc *doc)
{
    const struct weight *weight;
    struct buf b;
    struct jsonw w;
    struct arena *a = &rq->rq.arena;
    struct errmsg *em = &rq->rq.error;
    rq->source = doc->source;
    rq->seq_no = doc->seq_no;
    rq->primary_term = doc->primary_term;
    enum err e = weight_new(&weight, &cx->weight, q, NEED_SCORES, em);
    if (e != ERR_OK) {
        return e;
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    e = weight_explain(weight, &v->leaves[doc->leaf], doc->doc, a, &w, &rq->matched, em);
    rq->explanation = arena_str(a, buf_view(&b));
    buf_fini(&b);
    return e;
}

static enum err print_query(struct shard_explain *rq, const struct search_context *cx, const struct query *q)
{
    struct buf b;
    const struct query *asked = q;
    enum err e = rq->rewritten ? query_simplify(&q, &cx->weight, q, &rq->rq.error) : ERR_OK;
    if (e != ERR_OK) {
        return e;
    }
    if (q->ops == &q_match_none && q->boost == 1) { /* what became nothing is shown as it was */
        q = asked;
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    query_print(q, &b);
    rq->printed = arena_str(&rq->rq.arena, buf_view(&b));
    buf_fini(&b);
    return ERR_OK;
}

static enum err explain(struct shard_explain *rq, const struct search_shard *d, struct view *v)
{
    struct arena *a = &rq->rq.arena;
    struct search_source *src = ARENA_NEW(a, struct search_source);
    struct engine_doc doc = {0};
    struct errmsg *em = &rq->rq.error;
    struct search_context cx;
    const struct query *q;
    if (src == NULL) {
        return err_no_memory(em);
    }
    enum err e = rq->id.p != NULL ? engine_view_get(v, rq->id, rq->want_source, a, &doc, em) : ERR_OK;
    rq->found = e == ERR_OK && doc.found;
    if (e != ERR_OK || (rq->id.p != NULL && !rq->found)) {
        return e; /* a query is not looked at for a document that is not there */
    }
    search_source_init(src);
    src->text = rq->text;
    src->query = rq->query;
    search_context_init(&cx, d, src, a);
    cx.query.one_phase = true;
    e = whole_query(&q, &cx, QUERY_SHOWN, em);
    if (e != ERR_OK) {
        return e;
    }
    return rq->id.p != NULL ? explain_document(rq, &cx, q, v, &doc) : print_query(rq, &cx, q);
}

static void explain_task(void *arg)
{
    struct search_run *r = arg;
    struct shard_explain *rq = (struct shard_explain *)r->rq;
    struct shard *sh = r->sh;
    struct view *v = r->view;
    struct settings_part *settings = index_settings(sh->index);
    struct search_shard d;
    const struct search_scope scope = {.n_shards = 1,
                                       .index_boost = 1,
                                       .now_ms = rq->now_ms,
                                       .alias_filters = rq->alias_filters,
                                       .n_alias_filters = rq->n_alias_filters};
    search_describe(&d, sh, v, settings, &scope);
    struct shard_stop st;
    shard_stop_begin(&st, sh->service, &rq->rq);
    (void)explain(rq, &d, v); /* its error is the request's */
    shard_stop_end(&st, &rq->rq);
    state_part_unref(&settings->part);
    search_finish(sh, v, &rq->rq);
}

void data_explain(struct data_service *s, struct shard_explain *rq)
{
    struct shard *sh = shard_find(s, &rq->rq.shard, &rq->rq.error);
    if (sh == NULL) {
        shard_rq_answer(&rq->rq);
        return;
    }
    struct view *v = shard_view(sh);
    if (v == NULL) {
        err_set(&rq->rq.error, ERR_NO_SHARD, "the shard is not there");
        shard_unref(sh);
        shard_rq_answer(&rq->rq);
        return;
    }
    search_submit(s, &rq->rq, sh, v, explain_task);
}
