/* The maintenance of a shard: it refreshes, syncs and flushes when that is due, and checks its files. On the strand. */
#include "data/shard/shard.h"

#define IDLE_FLUSH_MS 300000 /* a shard without writes for five minutes is flushed */
#define LOOK_MS       10000  /* are the files of segments there? */
#define DOUBT_MS      600000 /* so long a block that was found right is trusted */

enum err shard_refresh(struct shard *sh, bool *changed, struct errmsg *em)
{
    enum err e = engine_refresh(sh->engine, changed, em);
    sh->upkeep.last_refresh_ms = clock_mono_ms(sh->service->o.clock);
    sh->upkeep.refresh_owed = false;
    return e;
}

void shard_wrote(struct shard *sh)
{
    sh->upkeep.last_write_ms = clock_mono_ms(sh->service->o.clock);
}

void shard_maintain(struct shard *sh)
{
    if (sh->engine == NULL || sh->life.failing) {
        return;
    }
    shard_serve_waiters(sh);
    if (engine_flush_needed(sh->engine)) {
        sh->upkeep.flush_wanted = true;
    }
    shard_flush_step(sh);
    if (shard_is_open(sh)) {
        shard_start_merge(sh);
    }
}

/* Nobody has searched for a while, and nobody said how often to refresh: the next search will. */
static bool refresh_can_wait(struct shard *sh, int64_t now)
{
    return !sh->index->refresh_explicit && sh->upkeep.refresh_waiters == NULL
           && now - sh->upkeep.last_search_ms >= sh->index->idle_after_ms;
}

static void refresh_due(struct shard *sh, int64_t now)
{
    ERR_LOCAL(em);
    /* Who waits for an operation that left nothing to search (a delete of nothing) waits all the same. */
    if (!engine_refresh_needed(sh->engine) && sh->upkeep.refresh_waiters == NULL) {
        return;
    }
    if (refresh_can_wait(sh, now)) {
        sh->upkeep.refresh_owed = true;
        return;
    }
    if (engine_refresh(sh->engine, NULL, &em) != ERR_OK) {
        log_error(sh->service->o.log, "data", "refresh of [%.*s][%u]: %s", STR_ARG(sh->index->name),
                  sh->number, err_reason(&em));
        shard_check(sh);
    }
    shard_maintain(sh);
}

void shard_look_after(struct shard *sh)
{
    int64_t now = clock_mono_ms(sh->service->o.clock);
    int64_t every = sh->index->refresh_ms;
    bool leave = sh->service->draining && sh->upkeep.refresh_waiters != NULL;
    if (leave || (every > 0 && now - sh->upkeep.last_refresh_ms >= every)) {
        sh->upkeep.last_refresh_ms = now;
        refresh_due(sh, now);
    }
    if (sh->engine == NULL || sh->life.failing) {
        return;
    }
    if (engine_sync_due(sh->engine)) {
        shard_start_sync(sh);
    }
    if (sh->upkeep.last_write_ms != 0 && now - sh->upkeep.last_write_ms >= IDLE_FLUSH_MS) {
        sh->upkeep.last_write_ms = 0;
        sh->upkeep.flush_wanted = true;
    }
    shard_flush_step(sh);
}

/* What a disk does to a file that is open shows once its pages are read again. */
void shard_look_at_files(struct shard *sh)
{
    int64_t now = clock_mono_ms(sh->service->o.clock);
    if (sh->engine == NULL || sh->life.failing || now - sh->upkeep.files_seen_ms < LOOK_MS) {
        return;
    }
    bool doubt = now - sh->upkeep.doubted_ms >= DOUBT_MS;
    sh->upkeep.files_seen_ms = now;
    sh->upkeep.doubted_ms = doubt ? now : sh->upkeep.doubted_ms;
    engine_look(sh->engine, doubt);
}
