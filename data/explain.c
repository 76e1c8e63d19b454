/* How a query reads on a shard, and how it scores one document there. */
#include "data/data_int.h"
#include "engine/query/query.h"
#include "engine/query/scorer.h"

static enum err explain_document(struct shard_explain *rq, const struct search_context *cx, const struct query *q, struct view *v)
{
    struct engine_doc doc = {0};
    const struct weight *weight;
    struct buf b;
    struct jsonw w;
    struct arena *a = &rq->rq.arena;
    struct errmsg *em = &rq->rq.error;
    enum err e = engine_view_get(v, rq->id, rq->want_source, a, &doc, em);
    rq->found = e == ERR_OK && doc.found;
    if (!rq->found) {
        return e;
    }
    rq->source = doc.source;
    rq->seq_no = doc.seq_no;
    rq->primary_term = doc.primary_term;
    e = weight_new(&weight, &cx->weight, q, NEED_SCORES, em);
    if (e != ERR_OK) {
        return e;
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    e = weight_explain(weight, &v->leaves[doc.leaf], doc.doc, a, &w, &rq->matched, em);
    rq->explanation = arena_str(a, buf_view(&b));
    buf_fini(&b);
    return e;
}

static enum err explain(struct shard_explain *rq, const struct search_shard *d, struct view *v)
{
    struct arena *a = &rq->rq.arena;
    struct search_source *src = ARENA_NEW(a, struct search_source);
    struct json *all = ARENA_NEW(a, struct json);
    struct search_context cx;
    const struct query *q;
    if (src == NULL || all == NULL) {
        return err_no_memory(&rq->rq.error);
    }
    search_source_init(src);
    *all = json_mk_object();
    if (rq->query == NULL && !json_put(all, a, STR("match_all"), json_mk_object())) {
        return err_no_memory(&rq->rq.error);
    }
    src->text = rq->text;
    src->query = rq->query != NULL ? rq->query : all;
    enum err e = search_context_init(&cx, d, src, a, &rq->rq.error);
    e = e == ERR_OK ? query_build(&q, &cx.query, src->query, &rq->rq.error) : e;
    if (e != ERR_OK) {
        return e;
    }
    if (rq->id.p != NULL) {
        return explain_document(rq, &cx, q, v);
    }
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    query_print(q, &b);
    rq->printed = arena_str(a, buf_view(&b));
    buf_fini(&b);
    return ERR_OK;
}

static void explain_task(void *arg)
{
    struct search_run *r = arg;
    struct shard_explain *rq = (struct shard_explain *)r->rq;
    struct shard *sh = r->sh;
    struct view *v = r->view;
    struct settings_part *settings = index_settings(sh->index);
    struct search_shard d;
    shard_describe(&d, sh, v, settings);
    d.n_shards = 1;
    d.now_ms = rq->now_ms;
    (void)explain(rq, &d, v); /* its error is the request's */
    state_part_unref(&settings->part);
    search_finish(sh, v, &rq->rq);
}

void data_explain(void *self, struct shard_explain *rq)
{
    struct shard *sh = shard_acquire(self, &rq->rq);
    if (sh == NULL) {
        rq->rq.done(&rq->rq);
        return;
    }
    struct view *v = shard_view(sh);
    if (v == NULL) {
        err_set(&rq->rq.error, ERR_NO_SHARD, "the shard is not there");
        shard_release(sh);
        rq->rq.done(&rq->rq);
        return;
    }
    search_submit(self, &rq->rq, sh, v, explain_task);
}
