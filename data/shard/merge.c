/* Merges of a shard: those that its policy wants, and those that are asked for. One at a time, in the background. */
#include "data/shard/shard.h"

#include <stdlib.h>

#define MERGE_PAUSE_MS 30000 /* after one that failed */

struct merge_run {
    struct shard *sh;
    struct engine_merge *merge;
};

static void next_forced_merge(struct shard *sh);

void shard_cancel_merge(struct shard *sh)
{
    if (sh->upkeep.merge != NULL) {
        engine_merge_cancel(sh->upkeep.merge);
    }
}

static void merge_finished(void *arg)
{
    struct merge_run *m = arg;
    struct shard *sh = m->sh;
    ERR_LOCAL(em);
    sh->upkeep.merge = NULL;
    enum err e = engine_merge_commit(sh->engine, m->merge, &em);
    free(m);
    sh->upkeep.merge_out = false;
    if (e != ERR_OK) {
        log_error(sh->service->o.log, "data", "merge of [%.*s][%u]: %s", STR_ARG(sh->index->name), sh->number,
                  err_reason(&em));
        sh->upkeep.merge_again_ms = clock_mono_ms(sh->service->o.clock) + MERGE_PAUSE_MS;
        shard_fail_merges(sh, &em);
    } else if (!sh->life.failing) {
        engine_show_merged(sh->engine, &em);
        shard_keep_filters(sh);
    }
    shard_check(sh);
    if (sh->upkeep.merge_waiters != NULL) {
        next_forced_merge(sh);
    } else if (e == ERR_OK) {
        shard_maintain(sh);
    }
    shard_unref(sh);
}

static void merge_run(void *arg)
{
    struct merge_run *m = arg;
    engine_merge_run(m->merge);
    shard_post_back(m->sh, merge_finished, m);
}

/* false: nothing worth merging (or one is out). */
static bool start_merge(struct shard *sh, const struct engine_merge_wish *wish)
{
    ERR_LOCAL(em);
    struct merge_run *m = sh->upkeep.merge_out ? NULL : malloc(sizeof(*m));
    if (m == NULL) {
        return sh->upkeep.merge_out;
    }
    *m = (struct merge_run){.sh = sh};
    if (sh->service->stopping || engine_merge_plan(sh->engine, wish, &m->merge, &em) != ERR_OK
        || m->merge == NULL) {
        free(m);
        return false;
    }
    sh->upkeep.merge_out = true;
    sh->upkeep.merge = m->merge;
    shard_ref(sh);
    if (!executor_submit(sh->service->o.background_pool, merge_run, m)) {
        engine_merge_run(m->merge);
        merge_finished(m);
    }
    return true;
}

/* The first waiter's wish, until the planner has nothing more for it. */
static void next_forced_merge(struct shard *sh)
{
    while (sh->upkeep.merge_waiters != NULL) {
        struct shard_act *a = sh->upkeep.merge_waiters;
        struct engine_merge_wish wish = {.max_segments = a->max_segments > 0 ? (uint32_t)a->max_segments : 1,
                                         .only_expunge_deletes = a->only_expunge_deletes};
        if (a->max_segments <= 0 && !a->only_expunge_deletes) {
            wish.max_segments = 0;
        }
        if (start_merge(sh, a->max_segments <= 0 && !a->only_expunge_deletes ? NULL : &wish)) {
            return;
        }
        sh->upkeep.merge_waiters = (struct shard_act *)a->rq.next;
        ERR_LOCAL(em);
        engine_show_merged(sh->engine, &em);
        if (a->flush_after) {
            shard_flush_for(sh, a);
            continue;
        }
        shard_rq_answer(&a->rq);
    }
}

void shard_fail_merges(struct shard *sh, const struct errmsg *em)
{
    while (sh->upkeep.merge_waiters != NULL) {
        struct shard_act *a = sh->upkeep.merge_waiters;
        sh->upkeep.merge_waiters = (struct shard_act *)a->rq.next;
        err_copy(&a->rq.error, em);
        shard_rq_answer(&a->rq);
    }
}

bool shard_start_merge(struct shard *sh)
{
    return !sh->upkeep.merge_out && clock_mono_ms(sh->service->o.clock) >= sh->upkeep.merge_again_ms
           && start_merge(sh, NULL);
}

void shard_merge_for(struct shard *sh, struct shard_act *a)
{
    a->rq.next = (struct shard_rq *)sh->upkeep.merge_waiters;
    sh->upkeep.merge_waiters = a;
    if (!sh->upkeep.merge_out) {
        next_forced_merge(sh);
    }
}
