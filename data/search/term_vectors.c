/* The terms of a document: it is found on the shard's strand where it is asked for as it is now, and taken apart on the search
 * pool. */
#include "engine/fetch/term_vectors.h"
#include "data/search/search_int.h"

struct term_vectors_run {
    struct search_run run; /* first */
    struct engine_doc doc;
};

static bool version_clashes(struct shard_term_vectors *rq, const struct shard *sh,
                            const struct engine_doc *doc)
{
    if (rq->version == VERSION_ANY || !doc->found || doc->version == rq->version) {
        return false;
    }
    struct errmsg *em = &rq->rq.error;
    err_set(em, ERR_CONFLICT,
            "[%.*s]: version conflict, current version [%lld] is different than the one provided [%lld]",
            STR_ARG(rq->id), (long long)doc->version, (long long)rq->version);
    err_about_index(em, sh->index->name, sh->index->uuid);
    err_about_shard(em, (int)sh->number);
    err_wrap(em, ERR_INTERNAL, "failed to execute term vector request");
    return true;
}

/* Its error is the request's. */
static void make(const struct term_vectors_run *t)
{
    struct shard_term_vectors *rq = SHARD_RQ(t->run.rq, shard_term_vectors);
    struct term_vectors_source src = {.view = t->run.view, .index_name = t->run.sh->index->name};
    bool indexed = rq->id.p != NULL;
    rq->found = !indexed || t->doc.found;
    rq->found_version = indexed ? t->doc.version : 0;
    if (!rq->found || version_clashes(rq, t->run.sh, &t->doc)) {
        return;
    }
    src.doc = indexed ? &t->doc : NULL;
    src.text = rq->doc;
    src.routing = indexed ? t->doc.routing : rq->routing;
    (void)term_vectors_json(&rq->vectors, &rq->options, &src, &rq->rq.arena, &rq->rq.error);
}

static void term_vectors_task(void *arg)
{
    struct term_vectors_run *t = arg;
    struct shard_term_vectors *rq = SHARD_RQ(t->run.rq, shard_term_vectors);
    struct shard_stop st;
    rq->rq.arena.bytes_max = t->run.sh->service->searches->request_bytes_max;
    shard_stop_begin(&st, t->run.sh->service, &rq->rq);
    enum err e = ERR_OK;
    if (rq->id.p != NULL && !rq->realtime) {
        e = engine_view_get(t->run.view, rq->id, false, &rq->rq.arena, &t->doc, &rq->rq.error);
    }
    if (e == ERR_OK) {
        make(t);
    }
    shard_stop_end(&st, &rq->rq);
    search_finish(t->run.sh, t->run.view, &rq->rq);
}

static void term_vectors_submit(struct term_vectors_run *t)
{
    struct shard *sh = t->run.sh;
    if (!executor_submit(sh->service->o.search_pool, term_vectors_task, t)) {
        err_set(&t->run.rq->error, ERR_REJECTED,
                "rejected execution of search on shard [%.*s][%u]: queue is full", STR_ARG(sh->index->name),
                sh->number);
        search_finish(sh, t->run.view, t->run.rq);
    }
}

/* On the strand. */
static void find_now(void *arg)
{
    struct term_vectors_run *t = arg;
    struct shard_term_vectors *rq = SHARD_RQ(t->run.rq, shard_term_vectors);
    struct shard *sh = t->run.sh;
    struct errmsg *em = &rq->rq.error;
    enum err e = shard_readable(sh, em) ? ERR_OK : err_code(em);
    if (e == ERR_OK && sh->hidden) {
        e = err_set(em, ERR_NO_SHARD, "the copy recovers");
    }
    if (e == ERR_OK && shard_rq_cancelled(&rq->rq)) {
        e = err_set(em, ERR_CANCELLED, "task cancelled");
    }
    if (e == ERR_OK) {
        e = engine_get_view(sh->engine, rq->id, false, &rq->rq.arena, &t->run.view, &t->doc, em);
        if (e != ERR_OK) {
            shard_check(sh);
        }
    }
    if (e == ERR_OK && t->run.view != NULL) {
        term_vectors_submit(t);
        return;
    }
    shard_unref(sh); /* it failed, or there is no such document */
    shard_rq_answer(&rq->rq);
}

void data_term_vectors(struct data_service *s, struct shard_term_vectors *rq)
{
    struct term_vectors_run *t = ARENA_NEW(&rq->rq.arena, struct term_vectors_run);
    if (t == NULL) {
        err_no_memory(&rq->rq.error);
        shard_rq_answer(&rq->rq);
        return;
    }
    *t = (struct term_vectors_run){.run = {.rq = &rq->rq}};
    if (rq->id.p == NULL || !rq->realtime) {
        if (search_view(s, &rq->rq, 0, &t->run.sh, &t->run.view)) {
            term_vectors_submit(t);
        } else {
            shard_rq_answer(&rq->rq);
        }
        return;
    }
    t->run.sh = shard_find(s, &rq->rq.shard, &rq->rq.error);
    if (t->run.sh == NULL) {
        shard_rq_answer(&rq->rq);
    } else if (!shard_post(t->run.sh, find_now, t)) {
        err_set(&rq->rq.error, ERR_REJECTED, "rejected execution of get on shard [%.*s][%u]",
                STR_ARG(t->run.sh->index->name), t->run.sh->number);
        shard_unref(t->run.sh);
        shard_rq_answer(&rq->rq);
    }
}
