/* Flushes of a shard: a commit of all that is durable, after which older parts of the log go.
 *
 * A flush begins when all operations so far are durable: then its commit can be the only one, and older
 * translog goes with it. It runs when those that came in between are durable too. Both waits are group
 * commits like any other; neither holds the strand. */
#include "data/shard/shard.h"

#include <stdlib.h>

struct flush_run {
    struct shard *sh;
    struct engine_flush *flush;
};

static void answer_flush_waiters(struct shard *sh, const struct errmsg *em)
{
    struct shard_act *list = sh->upkeep.flush_waiters;
    sh->upkeep.flush_waiters = NULL;
    while (list != NULL) {
        struct shard_act *a = list;
        list = (struct shard_act *)a->rq.next;
        if (em != NULL) {
            err_copy(&a->rq.error, em);
        }
        shard_rq_answer(&a->rq);
    }
}

static void flush_finished(void *arg)
{
    struct flush_run *f = arg;
    struct shard *sh = f->sh;
    ERR_LOCAL(em);
    enum err e = engine_flush_finish(sh->engine, f->flush, &em);
    free(f);
    sh->upkeep.flush_out = false;
    if (e != ERR_OK) {
        log_error(sh->service->o.log, "data", "flush of [%.*s][%u]: %s", STR_ARG(sh->index->name), sh->number,
                  err_reason(&em));
    }
    if (!sh->upkeep.flush_wanted) { /* else they wait for the one to come */
        answer_flush_waiters(sh, e != ERR_OK ? &em : NULL);
    }
    shard_check(sh);
    shard_maintain(sh);
    shard_unref(sh);
}

static void flush_run(void *arg)
{
    struct flush_run *f = arg;
    engine_flush_run(f->flush);
    shard_post_back(f->sh, flush_finished, f);
}

static void run_flush(struct shard *sh)
{
    struct flush_run *f = malloc(sizeof(*f));
    if (f == NULL) {
        return; /* at the next tick */
    }
    *f = (struct flush_run){sh, sh->upkeep.sealed};
    sh->upkeep.sealed = NULL;
    sh->upkeep.flush_out = true;
    shard_ref(sh);
    if (!executor_submit(sh->service->o.background_pool, flush_run, f)) {
        engine_flush_run(f->flush);
        shard_post_back(sh, flush_finished, f);
    }
}

/* true: nothing to wait for. */
static bool all_durable(struct shard *sh, uint64_t location)
{
    if (engine_durable(sh->engine) >= location) {
        return true;
    }
    shard_start_sync(sh); /* its end looks here again */
    return false;
}

static void begin_flush(struct shard *sh)
{
    ERR_LOCAL(em);
    bool force = sh->upkeep.flush_forced;
    sh->upkeep.flush_wanted = sh->upkeep.flush_forced = sh->upkeep.flush_synced = false;
    sh->service->watch->persisted(sh);
    enum err e = engine_flush_begin(sh->engine, force, &sh->upkeep.sealed, &em);
    if (e != ERR_OK || sh->upkeep.sealed == NULL) {
        answer_flush_waiters(sh, e != ERR_OK ? &em : NULL);
        shard_check(sh);
    }
}

void shard_flush_step(struct shard *sh)
{
    if (sh->engine == NULL || sh->life.failing || sh->upkeep.flush_out) {
        return;
    }
    if (sh->upkeep.sealed == NULL && sh->upkeep.flush_wanted) {
        /* One sync: under steady writes something always waits. */
        if (!sh->upkeep.flush_synced && !all_durable(sh, engine_location(sh->engine))) {
            sh->upkeep.flush_synced = true;
            return;
        }
        if (sh->upkeep.flush_synced && sh->upkeep.sync_out) {
            return;
        }
        begin_flush(sh);
    }
    if (sh->upkeep.sealed != NULL && all_durable(sh, engine_flush_location(sh->upkeep.sealed))) {
        run_flush(sh);
    }
}

void shard_want_flush(struct shard *sh, bool force)
{
    sh->upkeep.flush_wanted = true;
    sh->upkeep.flush_forced |= force;
    shard_flush_step(sh);
}

void shard_give_up_flush(struct shard *sh)
{
    if (sh->upkeep.sealed != NULL && !sh->upkeep.flush_out) {
        ERR_LOCAL(em);
        engine_flush_run(sh->upkeep.sealed); /* refuses: nothing is written */
        engine_flush_finish(sh->engine, sh->upkeep.sealed, &em);
        sh->upkeep.sealed = NULL;
    }
}

void shard_flush_for(struct shard *sh, struct shard_act *a)
{
    a->rq.next = (struct shard_rq *)sh->upkeep.flush_waiters;
    sh->upkeep.flush_waiters = a;
    shard_want_flush(sh, a->force);
}

void shard_fail_flushes(struct shard *sh, const struct errmsg *em)
{
    sh->upkeep.flush_wanted = sh->upkeep.flush_forced = sh->upkeep.flush_synced = false;
    answer_flush_waiters(sh, em);
}
