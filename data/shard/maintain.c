/* What a shard does by itself: refresh, flush, merge; and the actions that ask for them. All on the strand,
 * but for the jobs themselves, which run in the background. */
#include "data/recovery/recovery.h"
#include "data/replication/replication.h"
#include "data/service/figures.h"

#include <stdlib.h>

#define IDLE_FLUSH_MS    300000 /* a shard without writes for five minutes is flushed */
#define MERGE_PAUSE_MS   30000  /* after one that failed */
#define LOOK_MS          10000  /* are the files of segments there? */
#define DOUBT_MS         600000 /* so long a block that was found right is trusted */
#define LEASE_RENEWAL_MS 30000  /* index.soft_deletes.retention_lease.sync_interval */

static void finish_act(struct shard_act *a)
{
    shard_rq_answer(&a->rq);
}

/* ---- flush --------------------------------------------------------------------------------------------- */

/* A flush begins when all operations so far are durable: then its commit can be the only one, and older
 * translog goes with it. It runs when those that came in between are durable too. Both waits are group
 * commits like any other; neither holds the strand. */
struct flush_run {
    struct shard *sh;
    struct engine_flush *flush;
};

static void answer_flush_waiters(struct shard *sh, const struct errmsg *em)
{
    struct shard_act *list = sh->flush_waiters;
    sh->flush_waiters = NULL;
    while (list != NULL) {
        struct shard_act *a = list;
        list = (struct shard_act *)a->rq.next;
        if (em != NULL) {
            a->rq.error = *em;
        }
        finish_act(a);
    }
}

static void flush_finished(void *arg)
{
    struct flush_run *f = arg;
    struct shard *sh = f->sh;
    struct errmsg em;
    enum err e = engine_flush_finish(sh->engine, f->flush, &em);
    free(f);
    sh->flush_out = false;
    if (e != ERR_OK) {
        log_error(sh->service->o.log, "data", "flush of [%.*s][%u]: %s", STR_ARG(sh->index->name), sh->number,
                  em.frame[0].reason);
    }
    if (!sh->flush_wanted) { /* else they wait for the one to come */
        answer_flush_waiters(sh, e != ERR_OK ? &em : NULL);
    }
    shard_check(sh);
    shard_maintain(sh);
    shard_release(sh);
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
    *f = (struct flush_run){sh, sh->sealed};
    sh->sealed = NULL;
    sh->flush_out = true;
    shard_use(sh);
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
    struct errmsg em;
    bool force = sh->flush_forced;
    sh->flush_wanted = sh->flush_forced = sh->flush_synced = false;
    replication_persisted(sh);
    enum err e = engine_flush_begin(sh->engine, force, &sh->sealed, &em);
    if (e != ERR_OK || sh->sealed == NULL) {
        answer_flush_waiters(sh, e != ERR_OK ? &em : NULL);
        shard_check(sh);
    }
}

void shard_flush_step(struct shard *sh)
{
    if (sh->engine == NULL || sh->failing || sh->flush_out) {
        return;
    }
    if (sh->sealed == NULL && sh->flush_wanted) {
        /* One sync: under steady writes something always waits. */
        if (!sh->flush_synced && !all_durable(sh, engine_location(sh->engine))) {
            sh->flush_synced = true;
            return;
        }
        if (sh->flush_synced && sh->sync_out) {
            return;
        }
        begin_flush(sh);
    }
    if (sh->sealed != NULL && all_durable(sh, engine_flush_location(sh->sealed))) {
        run_flush(sh);
    }
}

void shard_want_flush(struct shard *sh, bool force)
{
    sh->flush_wanted = true;
    sh->flush_forced |= force;
    shard_flush_step(sh);
}

/* ---- merges -------------------------------------------------------------------------------------------- */

struct merge_run {
    struct shard *sh;
    struct engine_merge *merge;
};

static void next_forced_merge(struct shard *sh);

static void cancel_merge(void *arg)
{
    struct shard *sh = arg;
    if (sh->merge != NULL) {
        engine_merge_cancel(sh->merge);
    }
    shard_release(sh);
}

void shard_cancel_merge(struct shard *sh)
{
    shard_use(sh);
    if (!executor_submit_force(strand_executor(sh->strand), cancel_merge, sh)) {
        sh->users--; /* nothing runs any more; the caller's reference remains */
    }
}

static void merge_finished(void *arg)
{
    struct merge_run *m = arg;
    struct shard *sh = m->sh;
    struct errmsg em;
    sh->merge = NULL;
    enum err e = engine_merge_commit(sh->engine, m->merge, &em);
    free(m);
    sh->merge_out = false;
    if (e != ERR_OK) {
        log_error(sh->service->o.log, "data", "merge of [%.*s][%u]: %s", STR_ARG(sh->index->name), sh->number,
                  em.frame[0].reason);
        sh->merge_again_ms = clock_mono_ms(sh->service->o.clock) + MERGE_PAUSE_MS;
        shard_fail_merges(sh, &em);
    } else if (!sh->failing) {
        engine_show_merged(sh->engine, &em);
        shard_keep_filters(sh);
    }
    shard_check(sh);
    if (sh->merge_waiters != NULL) {
        next_forced_merge(sh);
    } else if (e == ERR_OK) {
        shard_maintain(sh);
    }
    shard_release(sh);
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
    struct errmsg em;
    struct merge_run *m = sh->merge_out ? NULL : malloc(sizeof(*m));
    if (m == NULL) {
        return sh->merge_out;
    }
    *m = (struct merge_run){.sh = sh};
    if (sh->service->stopping || engine_merge_plan(sh->engine, wish, &m->merge, &em) != ERR_OK
        || m->merge == NULL) {
        free(m);
        return false;
    }
    sh->merge_out = true;
    sh->merge = m->merge;
    shard_use(sh);
    if (!executor_submit(sh->service->o.background_pool, merge_run, m)) {
        engine_merge_run(m->merge);
        merge_finished(m);
    }
    return true;
}

/* The first waiter's wish, until the planner has nothing more for it. */
static void next_forced_merge(struct shard *sh)
{
    while (sh->merge_waiters != NULL) {
        struct shard_act *a = sh->merge_waiters;
        struct engine_merge_wish wish = {.max_segments = a->max_segments > 0 ? (uint32_t)a->max_segments : 1,
                                         .only_expunge_deletes = a->only_expunge_deletes};
        if (a->max_segments <= 0 && !a->only_expunge_deletes) {
            wish.max_segments = 0;
        }
        if (start_merge(sh, a->max_segments <= 0 && !a->only_expunge_deletes ? NULL : &wish)) {
            return;
        }
        sh->merge_waiters = (struct shard_act *)a->rq.next;
        struct errmsg em;
        engine_show_merged(sh->engine, &em);
        if (a->flush_after) {
            a->rq.next = (struct shard_rq *)sh->flush_waiters;
            sh->flush_waiters = a;
            shard_want_flush(sh, false);
            continue;
        }
        finish_act(a);
    }
}

void shard_fail_merges(struct shard *sh, const struct errmsg *em)
{
    while (sh->merge_waiters != NULL) {
        struct shard_act *a = sh->merge_waiters;
        sh->merge_waiters = (struct shard_act *)a->rq.next;
        a->rq.error = *em;
        finish_act(a);
    }
}

void shard_fail_acts(struct shard *sh, const struct errmsg *em)
{
    sh->flush_wanted = sh->flush_forced = sh->flush_synced = false;
    answer_flush_waiters(sh, em);
    shard_fail_merges(sh, em);
}

/* ---- by itself ----------------------------------------------------------------------------------------- */

void shard_maintain(struct shard *sh)
{
    if (sh->engine == NULL || sh->failing) {
        return;
    }
    shard_serve_waiters(sh);
    if (engine_flush_needed(sh->engine)) {
        sh->flush_wanted = true;
    }
    shard_flush_step(sh);
    if (sh->engine != NULL && !sh->failing && !sh->merge_out
        && clock_mono_ms(sh->service->o.clock) >= sh->merge_again_ms) {
        start_merge(sh, NULL);
    }
}

/* Nobody has searched for a while, and nobody said how often to refresh: the next search will. */
static bool refresh_can_wait(struct shard *sh, int64_t now)
{
    return !sh->index->refresh_explicit && sh->refresh_waiters == NULL
           && now - sh->last_search_ms >= sh->index->idle_after_ms;
}

static void refresh_due(struct shard *sh, int64_t now)
{
    struct errmsg em;
    /* Who waits for an operation that left nothing to search (a delete of nothing) waits all the same. */
    if (!engine_refresh_needed(sh->engine) && sh->refresh_waiters == NULL) {
        return;
    }
    if (refresh_can_wait(sh, now)) {
        sh->refresh_owed = true;
        return;
    }
    if (engine_refresh(sh->engine, NULL, &em) != ERR_OK) {
        log_error(sh->service->o.log, "data", "refresh of [%.*s][%u]: %s", STR_ARG(sh->index->name),
                  sh->number, em.frame[0].reason);
        shard_check(sh);
    }
    shard_maintain(sh);
}

static void look_after(struct shard *sh)
{
    int64_t now = clock_mono_ms(sh->service->o.clock);
    int64_t every = sh->index->refresh_ms;
    bool leave = sh->service->draining && sh->refresh_waiters != NULL;
    if (leave || (every > 0 && now - sh->last_refresh_ms >= every)) {
        sh->last_refresh_ms = now;
        refresh_due(sh, now);
    }
    if (sh->engine == NULL || sh->failing) {
        return;
    }
    if (now - sh->lease_renewed_ms >= LEASE_RENEWAL_MS) {
        sh->lease_renewed_ms = now;
        replication_retain(sh);
    }
    if (engine_sync_due(sh->engine)) {
        shard_start_sync(sh);
    }
    if (sh->last_write_ms != 0 && now - sh->last_write_ms >= IDLE_FLUSH_MS) {
        sh->last_write_ms = 0;
        sh->flush_wanted = true;
    }
    shard_flush_step(sh);
}

/* What a disk does to a file that is open shows once its pages are read again. */
static void look_at_files(struct shard *sh)
{
    int64_t now = clock_mono_ms(sh->service->o.clock);
    if (sh->engine == NULL || sh->failing || now - sh->files_seen_ms < LOOK_MS) {
        return;
    }
    bool doubt = now - sh->doubted_ms >= DOUBT_MS;
    sh->files_seen_ms = now;
    sh->doubted_ms = doubt ? now : sh->doubted_ms;
    engine_look(sh->engine, doubt);
}

static void tick(void *arg)
{
    struct shard *sh = arg;
    sh->tick_queued = false;
    look_at_files(sh);
    shard_check(sh);
    replication_tick(sh, clock_mono_ms(sh->service->o.clock));
    if (sh->engine != NULL && !sh->failing) {
        look_after(sh);
    }
    recovery_step(sh, true);
    shard_release(sh);
}

void data_drain(struct data_service *s, int64_t grace_ms)
{
    s->drained_at_ms = clock_mono_ms(s->o.clock) + grace_ms;
    s->draining = true;
}

void data_tick(struct data_service *s)
{
    contexts_expire(s, false);
    recovery_tick(s);
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->n_shards; i++) {
        struct shard *sh = s->shards[i];
        if (sh->tick_queued) {
            continue;
        }
        sh->tick_queued = true;
        sh->users++;
        if (!shard_post(sh, tick, sh)) {
            sh->tick_queued = false;
            sh->users--; /* the table's reference remains */
        }
    }
    pthread_mutex_unlock(&s->lock);
}

/* ---- actions ------------------------------------------------------------------------------------------- */

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
    (void)error;      /* a copy that does not answer leaves; this one has done what it was asked */
    finish_act(r->a); /* r is in its memory */
    fanout_drop(f);
    shard_release(sh);
}

/* true: the answer comes later. Who asks goes to the copies that it knows to be started. One that recovers has what was
 * written all the same, and may be started, and searched, before its own next refresh. */
static bool refresh_copies(struct act_run *r)
{
    struct errmsg em;
    struct fanout *f = r->a->rq.error.n == 0 ? fanout_new(r->sh, &em) : NULL;
    if (f == NULL) {
        return false;
    }
    fanout_refresh(f);
    if (fanout_settled(f, &em)) {
        fanout_drop(f);
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
        finish_act(a);
        shard_release(sh);
        return;
    }
    switch (a->action) {
    case SHARD_REFRESH:
        engine_refresh(sh->engine, &changed, &a->rq.error);
        sh->last_refresh_ms = clock_mono_ms(sh->service->o.clock);
        sh->refresh_owed = false;
        shard_check(sh);
        shard_maintain(sh);
        if (refresh_copies(r)) {
            return;
        }
        break;
    case SHARD_FLUSH:
        a->rq.next = (struct shard_rq *)sh->flush_waiters;
        sh->flush_waiters = a;
        shard_want_flush(sh, a->force);
        a = NULL;
        break;
    case SHARD_FORCE_MERGE:
        engine_spill(sh->engine, &a->rq.error);
        a->rq.next = (struct shard_rq *)sh->merge_waiters;
        sh->merge_waiters = a;
        a = NULL;
        if (!sh->merge_out) {
            next_forced_merge(sh);
        }
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
        finish_act(a);
    }
    shard_release(sh);
}

void data_act(struct data_service *s, struct shard_act *rq)
{
    struct shard *sh = shard_acquire(s, &rq->rq);
    struct act_run *r = sh != NULL ? ARENA_NEW(&rq->rq.arena, struct act_run) : NULL;
    if (r == NULL || !(*r = (struct act_run){.sh = sh, .a = rq}, shard_post(sh, act, r))) {
        if (sh != NULL) {
            err_set(&rq->rq.error, ERR_REJECTED, "rejected execution on shard [%.*s][%u]",
                    STR_ARG(sh->index->name), sh->number);
            shard_release(sh);
        }
        finish_act(rq);
    }
}
