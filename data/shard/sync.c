/* Group commit: one sync of the translog for all that wait, and who waits for what is on disk or in searches. */
#include "data/shard/shard.h"

#include <stdlib.h>

struct sync_run {
    struct shard *sh;
    struct engine_sync *sync;
};

static void sync_finished(void *arg)
{
    struct sync_run *y = arg;
    struct shard *sh = y->sh;
    ERR_LOCAL(em);
    enum err e = engine_sync_finish(sh->engine, y->sync, &em);
    free(y);
    sh->upkeep.sync_out = false;
    if (e != ERR_OK) {
        shard_fail_waiters(sh, &em);
    } else if (!sh->life.failing) {
        sh->service->watch->persisted(sh);
        shard_serve_waiters(sh);
        later_run(); /* a flush may take longer */
        if (sh->upkeep.sync_waiters != NULL) {
            shard_start_sync(sh);
        }
        shard_flush_step(sh);
    }
    shard_check(sh);
    sh->service->watch->synced(sh);
    shard_unref(sh);
}

static void sync_run(void *arg)
{
    struct sync_run *y = arg;
    engine_sync_run(y->sync);
    shard_post_back(y->sh, sync_finished, y);
}

void shard_start_sync(struct shard *sh)
{
    ERR_LOCAL(em);
    struct sync_run *y = sh->upkeep.sync_out ? NULL : malloc(sizeof(*y));
    if (y == NULL) {
        return; /* one is out: its end looks again */
    }
    *y = (struct sync_run){.sh = sh};
    enum err e = engine_sync_begin(sh->engine, &y->sync, &em);
    if (e != ERR_OK) {
        free(y);
        shard_fail_waiters(sh, &em); /* who called looks whether the engine has failed */
        return;
    }
    if (y->sync == NULL) {
        free(y);
        shard_serve_waiters(sh);
        return;
    }
    sh->upkeep.sync_out = true;
    shard_ref(sh);
    if (!executor_submit(sh->service->o.write_pool, sync_run, y)) {
        engine_sync_run(y->sync); /* a full pool: the strand does it itself */
        shard_post_back(sh, sync_finished, y);
    }
}

void shard_wait_durable(struct shard *sh, struct shard_waiter *w)
{
    w->next = sh->upkeep.sync_waiters;
    sh->upkeep.sync_waiters = w;
    shard_start_sync(sh);
}

void shard_wait_refreshed(struct shard *sh, struct shard_waiter *w)
{
    w->next = sh->upkeep.refresh_waiters;
    sh->upkeep.refresh_waiters = w;
}

static struct shard_waiter *take_served(struct shard_waiter **list, uint64_t up_to)
{
    struct shard_waiter *served = NULL;
    for (struct shard_waiter **at = list; *at != NULL;) {
        struct shard_waiter *w = *at;
        if (w->location <= up_to) {
            *at = w->next;
            w->next = served;
            served = w;
        } else {
            at = &w->next;
        }
    }
    return served;
}

static void wake_all(struct shard_waiter *list, const struct errmsg *error)
{
    while (list != NULL) {
        struct shard_waiter *w = list;
        list = w->next;
        w->wake(w, error);
    }
}

void shard_serve_waiters(struct shard *sh)
{
    wake_all(take_served(&sh->upkeep.sync_waiters, engine_durable(sh->engine)), NULL);
    wake_all(take_served(&sh->upkeep.refresh_waiters, engine_refreshed(sh->engine)), NULL);
}

void shard_wake_unrefreshed(struct shard *sh)
{
    struct shard_waiter *durable_ones = sh->upkeep.refresh_waiters;
    sh->upkeep.refresh_waiters = NULL;
    wake_all(durable_ones, NULL);
}

void shard_fail_waiters(struct shard *sh, const struct errmsg *em)
{
    struct shard_waiter *unknown = sh->upkeep.sync_waiters, *durable_ones = sh->upkeep.refresh_waiters;
    sh->upkeep.sync_waiters = sh->upkeep.refresh_waiters = NULL;
    wake_all(unknown, em);
    wake_all(durable_ones, em);
}
