/* Single documents: read on the strand of their shard, which may be taken for it by the thread that asks. */
#include "data/search/search_int.h"

#define GET_HERE_MAX \
    (256 * KIB) /* that are read for a document on the thread that asks: half a millisecond */

struct get_run {
    struct shard *sh;
    struct shard_get *rq;
    bool here; /* on the thread that asks */
};

static void get_task(void *arg);

/* What takes long to be read is not read on a loop. false: it was refused there. */
static bool get_elsewhere(struct get_run *r)
{
    r->here = false;
    return shard_post(r->sh, get_task, r);
}

/* Of a document in a segment: what else is stored is there. */
static enum err read_stored(struct get_run *r, struct engine_doc *doc)
{
    struct shard_get *rq = r->rq;
    struct engine *engine = r->sh->engine;
    struct view *v = NULL;
    enum err e;
    if (rq->realtime) {
        e = engine_get_view(engine, rq->id, rq->want_source, &rq->rq.arena, &v, doc, &rq->rq.error);
    } else {
        v = engine_view_ref(engine);
        e = engine_view_get(v, rq->id, rq->want_source, &rq->rq.arena, doc, &rq->rq.error);
    }
    if (e == ERR_OK && doc->found && rq->n_stored_fields > 0) {
        e = stored_fields_json(v, doc, rq->stored_fields, rq->n_stored_fields, &rq->rq.arena, &rq->fields,
                               &rq->rq.error);
    }
    view_unref(v);
    return e;
}

/* false: it goes on elsewhere, and r may be gone. */
static bool read(struct get_run *r, struct engine_doc *doc, enum err *e)
{
    struct shard_get *rq = r->rq;
    struct engine *engine = r->sh->engine;
    bool refresh = rq->refresh && !rq->realtime; /* what is read in real time needs none */
    *e = refresh ? engine_refresh(engine, NULL, &rq->rq.error) : ERR_OK;
    if (*e != ERR_OK) {
        return true;
    }
    if (!rq->realtime || rq->n_stored_fields > 0) {
        if (r->here && engine_stored_max(engine) > GET_HERE_MAX / 4 && get_elsewhere(r)) {
            return false;
        }
        *e = read_stored(r, doc);
        return true;
    }
    size_t max = r->here ? GET_HERE_MAX : SIZE_MAX;
    *e = engine_get_upto(engine, rq->id, rq->want_source, max, &rq->rq.arena, doc, &rq->rq.error);
    if (doc->large) {
        if (get_elsewhere(r)) {
            return false;
        }
        *e = engine_get(engine, rq->id, rq->want_source, &rq->rq.arena, doc, &rq->rq.error);
    }
    return true;
}

static void take_over(struct shard_get *rq, const struct engine_doc *doc)
{
    rq->found = doc->found;
    rq->version = doc->version;
    rq->seq_no = doc->seq_no;
    rq->primary_term = doc->primary_term;
    rq->source = doc->source;
    rq->routing = doc->routing;
    rq->ignored = doc->ignored;
    /* What stands behind a routing is not always read: see shows_ignored() of the fetch phase. */
    bool hidden =
        doc->routing.p != NULL && rq->n_stored_fields == 0 && (!rq->want_source || doc->stores_more);
    rq->n_ignored = hidden ? 0 : doc->n_ignored;
}

static void get_task(void *arg)
{
    struct get_run *r = arg;
    struct shard_get *rq = r->rq;
    struct shard *sh = r->sh;
    struct engine_doc doc = {0};
    enum err e = ERR_OK;
    bool open = shard_readable(sh, &rq->rq.error), gone = shard_rq_cancelled(&rq->rq);
    if (open && sh->hidden) {
        err_set(&rq->rq.error, ERR_NO_SHARD, "the copy recovers");
    } else if (open && gone) { /* while it waited for its turn */
        err_set(&rq->rq.error, ERR_CANCELLED, "task cancelled");
    } else if (open) {
        if (!read(r, &doc, &e)) {
            return;
        }
        if (e == ERR_OK) {
            take_over(rq, &doc);
        } else {
            shard_check(sh);
        }
    }
    shard_unref(sh);
    shard_rq_answer(&rq->rq);
}

void data_get(struct data_service *s, struct shard_get *rq)
{
    struct shard *sh = shard_find(s, &rq->rq.shard, &rq->rq.error);
    struct get_run *r = sh != NULL ? ARENA_NEW(&rq->rq.arena, struct get_run) : NULL;
    bool ok = r != NULL;
    if (ok) {
        *r = (struct get_run){sh, rq, rq->here && (rq->realtime || !rq->refresh)};
        ok = r->here && executor_run_here(strand_executor(sh->strand), get_task, r);
        if (!ok) {
            r->here = false;
            ok = shard_post(sh, get_task, r);
        }
    }
    if (!ok) {
        if (sh != NULL) {
            err_set(&rq->rq.error, ERR_REJECTED, "rejected execution of get on shard [%.*s][%u]",
                    STR_ARG(sh->index->name), sh->number);
            shard_unref(sh);
        }
        shard_rq_answer(&rq->rq);
    }
}
