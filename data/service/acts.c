/* Actions on a shard that somebody asks for: refresh, flush, merge, and what it has to tell. */
#include "data/replication/replication.h"
#include "data/service/figures.h"
#include "data/service/service_int.h"

struct act_run {
    struct shard_waiter waiter; /* a primary's refresh waits for the other copies; first */
    struct shard *sh;
    struct shard_act *a;
    struct fanout *fanout;
};

static void copies_refreshed(struct shard_waiter *w, const struct errmsg *error)
{
    struct act_run *r = (struct act_run *)w;
    struct shard *sh = r->sh;
    struct fanout *f = r->fanout;
    (void)error;                /* a copy that does not answer leaves; this one has done what it was asked */
    shard_rq_answer(&r->a->rq); /* r is in its memory */
    fanout_free(f);
    shard_unref(sh);
}

/* true: the answer comes later. Who asks goes to the copies that it knows to be started. One that recovers has what was
 * written all the same, and may be started, and searched, before its own next refresh. */
static bool refresh_copies(struct act_run *r)
{
    ERR_LOCAL(em);
    struct fanout *f = !err_is(&r->a->rq.error) ? fanout_new(r->sh, &em) : NULL;
    if (f == NULL) {
        return false;
    }
    fanout_refresh(f);
    if (fanout_settled(f, &em)) {
        fanout_free(f);
        return false;
    }
    r->fanout = f;
    r->waiter.wake = copies_refreshed;
    fanout_wait(f, &r->waiter, 0);
    return true;
}

static void act(void *arg)
{
    struct act_run *r = arg;
    struct shard *sh = r->sh;
    struct shard_act *a = r->a;
    bool changed;
    if (a->action != SHARD_RECOVERY && !shard_readable(sh, &a->rq.error)) {
        shard_rq_answer(&a->rq);
        shard_unref(sh);
        return;
    }
    switch (a->action) {
    case SHARD_REFRESH:
        shard_refresh(sh, &changed, &a->rq.error);
        shard_check(sh);
        shard_maintain(sh);
        if (refresh_copies(r)) {
            return;
        }
        break;
    case SHARD_FLUSH:
        shard_flush_for(sh, a);
        a = NULL;
        break;
    case SHARD_FORCE_MERGE:
        engine_spill(sh->engine, &a->rq.error);
        shard_merge_for(sh, a);
        a = NULL;
        break;
    case SHARD_STATS:
        shard_tell_stats(sh, a);
        break;
    case SHARD_SEGMENTS:
        shard_tell_segments(sh, a);
        break;
    case SHARD_RECOVERY:
        shard_tell_recovery(sh, a);
        break;
    case SHARD_CLEAR_CACHE:
        if (sh->filters != NULL) {
            filter_cache_clear(sh->filters);
        }
        break;
    }
    if (a != NULL) {
        shard_rq_answer(&a->rq);
    }
    shard_unref(sh);
}

void data_act(struct data_service *s, struct shard_act *rq)
{
    struct shard *sh = shard_find(s, &rq->rq.shard, &rq->rq.error);
    struct act_run *r = sh != NULL ? ARENA_NEW(&rq->rq.arena, struct act_run) : NULL;
    if (r == NULL || !(*r = (struct act_run){.sh = sh, .a = rq}, shard_post(sh, act, r))) {
        if (sh != NULL) {
            err_set(&rq->rq.error, ERR_REJECTED, "rejected execution on shard [%.*s][%u]",
                    STR_ARG(sh->index->name), sh->number);
            shard_unref(sh);
        }
        shard_rq_answer(&rq->rq);
    }
}
