/* Writes on a primary: parsed on the pool, applied on the shard's strand, answered once they are durable.
 *
 * A request walks: parse (pool) -> apply (strand) -> sync (pool, grouped), and the other copies (replication.h) ->
 * refresh, if asked for -> done.
 * Where a document needs fields that the mapping lacks, the request waits for the master's new state beside
 * the strand, and its item is parsed again. A big request goes between the pool and the strand slice by
 * slice: a parsed document is a hundred times the size of its source, so that the memory of a slice is what
 * stays in the processor's cache, whatever a bulk holds. */
#include "common/base/memory_account.h"
#include "data/service/write_int.h"

#define TURN_NS 5000000 /* updates give way to others on the strand after that */

static void finish(struct write_run *r)
{
    struct shard_write *rq = r->rq;
    arena_fini(&r->scratch);
    rq->copies_ok = 1;
    if (r->fanout != NULL) {
        fanout_count(r->fanout, &rq->copies_ok, &rq->copies_failed);
        fanout_free(r->fanout);
    }
    if (r->begun) {
        replication_leave(r->sh);
    }
    for (struct held_mapping *h = r->held; h != NULL; h = h->next) {
        mapping_unref(h->m);
    }
    rq->mapping_version = r->sh->index->mapping_version;
    shard_unref(r->sh);
    shard_rq_answer(&rq->rq);
}

static void fail_all(struct write_run *r, const struct errmsg *em)
{
    err_copy(&r->rq->rq.error, em);
    finish(r);
}

void write_fail_item(struct write_run *r, struct write_item *it, const struct errmsg *em)
{
    it->error = err_keep(&r->rq->rq.arena, em);
}

static void name_shard(const struct write_run *r, struct errmsg *em)
{
    err_about_index(em, r->sh->index->name, r->sh->index->uuid);
    err_about_shard(em, (int)r->sh->number);
}

/* ---- on its way ---------------------------------------------------------------------------------------- */

static void apply_task(void *arg);

void write_resume(struct write_run *r)
{
    if (r->applying) {
        shard_post_back(r->sh, apply_task, r);
    } else {
        executor_submit_force(r->sh->service->o.write_pool, write_parse_task, r);
    }
}

/* ---- applied, durable, searchable ---------------------------------------------------------------------- */

static void refreshed(struct shard_waiter *w, const struct errmsg *error)
{
    (void)error; /* it was promised a place on disk, and has it */
    finish((struct write_run *)w);
}

/* Everything is applied, and durable on all copies. */
static void durable(struct write_run *r)
{
    struct shard *sh = r->sh;
    ERR_LOCAL(em);
    shard_wrote(sh);
    if (!shard_readable(sh, &em)) { /* it failed meanwhile; what was promised is kept */
        finish(r);
        return;
    }
    if (r->rq->refresh == REFRESH_NOW || (r->rq->refresh == REFRESH_CHANGED && r->written > 0)) {
        bool changed;
        later_run(); /* others became durable with it, and do not want to be seen */
        if (shard_refresh(sh, &changed, &em) != ERR_OK) {
            fail_all(r, &em);
            return;
        }
        r->rq->forced_refresh = true;
        shard_ref(sh);
        finish(r);
        shard_maintain(sh);
        shard_unref(sh);
        return;
    }
    if (r->rq->refresh == REFRESH_WAIT && engine_refreshed(sh->engine) < r->written && !sh->life.leaving) {
        r->waiter.location = r->written;
        r->waiter.wake = refreshed;
        shard_wait_refreshed(sh, &r->waiter);
        return;
    }
    finish(r);
}

static int64_t deadline_of(const struct write_run *r)
{
    return r->rq->timeout_ms > 0 ? clock_mono_ms(r->sh->service->o.clock) + r->rq->timeout_ms : 0;
}

static void copies_have_it(struct shard_waiter *w, const struct errmsg *error)
{
    struct write_run *r = (struct write_run *)w;
    if (error != NULL) {
        fail_all(r, error);
    } else {
        durable(r);
    }
}

/* Applied, and then the copy went: what says that nothing was written must not be said. */
static void fail_applied(struct write_run *r, const struct errmsg *error)
{
    struct errmsg em = *error;
    enum err e = err_code(error);
    if (e == ERR_NO_SHARD || e == ERR_NOT_PRIMARY || e == ERR_REJECTED) {
        err_set(&em, ERR_STALE_TERM, "whether the operations are kept is unknown: %s", err_reason(error));
    }
    fail_all(r, &em);
}

/* This copy has it on disk. */
static void on_disk(struct shard_waiter *w, const struct errmsg *error)
{
    struct write_run *r = (struct write_run *)w;
    ERR_LOCAL(em);
    if (error != NULL) {
        fail_applied(r, error);
    } else if (r->fanout == NULL) {
        durable(r);
    } else if (fanout_settled(r->fanout, &em)) {
        copies_have_it(w, err_is(&em) ? &em : NULL);
    } else {
        w->wake = copies_have_it;
        fanout_wait(r->fanout, w, deadline_of(r));
    }
}

static void wait_until_durable(struct write_run *r)
{
    struct engine *en = r->sh->engine;
    if (r->waiter.location <= engine_durable(en) || r->sh->index->async) {
        on_disk(&r->waiter, NULL);
        return;
    }
    r->waiter.wake = on_disk;
    shard_wait_durable(r->sh, &r->waiter);
}

static void unparked(struct shard_waiter *w, const struct errmsg *error)
{
    if (error != NULL) {
        fail_all((struct write_run *)w, error);
    } else {
        apply_task(w);
    }
}

/* May the slice be applied? Else the request is parked, or has ended. */
static bool may_apply(struct write_run *r)
{
    struct shard *sh = r->sh;
    struct errmsg *em = &r->rq->rq.error;
    bool can = shard_writable(sh, em);
    if (can && r->begun && replication_tracker(sh) == NULL) {
        can = false;
        err_set(em, ERR_NOT_PRIMARY, "shard [%.*s][%u] is not the primary any more", STR_ARG(sh->index->name),
                sh->number);
    }
    if (can && !r->begun) {
        r->waiter.wake = unparked;
        r->parked.waiter = &r->waiter;
        enum admission a = replication_enter(sh, &r->parked, deadline_of(r), em);
        if (a == PARKED) {
            return false;
        }
        r->begun = can = a == ADMITTED;
    }
    if (can && r->fanout == NULL) { /* a copy may have come since the slice before */
        r->fanout = fanout_new(sh, em);
        can = !err_is(em);
    }
    if (can) {
        return true;
    }
    /* Items that were applied before: nobody knows whether they are there afterwards. */
    if (r->written > 0) {
        bool led = err_code(em) == ERR_NOT_PRIMARY;
        struct errmsg why = *em;
        err_set(em, led ? ERR_STALE_TERM : ERR_IO, "shard [%.*s][%u] failed during the request: %s",
                STR_ARG(sh->index->name), sh->number, err_reason(&why));
    }
    finish(r);
    return false;
}

/* The copy cannot write any more (its disk is full): it fails, and whoever sent the request asks the next primary. */
static void fail_engine(struct write_run *r, const struct errmsg *why)
{
    struct shard *sh = r->sh;
    struct errmsg em = *why;
    if (err_code(why) != ERR_IO) {
        err_set(&em, ERR_IO, "the shard copy failed: %s", err_reason(why));
    }
    name_shard(r, &em);
    shard_ref(sh); /* r is answered */
    fail_all(r, &em);
    shard_check(sh);
    shard_unref(sh);
}

/* What was applied goes to the other copies; the rest of the slice comes later. */
static void pause(struct write_run *r)
{
    if (r->fanout != NULL) {
        fanout_send(r->fanout, REFRESH_NONE, true, false);
    }
}

static void apply_task(void *arg)
{
    struct write_run *r = arg;
    struct shard_write *rq = r->rq;
    const struct clock *clock = r->sh->service->o.clock;
    int64_t since = clock->mono_ns(clock->self);
    uint32_t first = r->at;
    if (!may_apply(r)) {
        return;
    }
    for (; r->at < r->slice_end; r->at++, r->mapping_rounds = 0) {
        struct write_item *it = &rq->items[r->at];
        ERR_LOCAL(em);
        enum err e = ERR_OK;
        bool wait = false;
        if (it->error != NULL) {
            continue;
        }
        if (it->kind == WRITE_UPDATE && r->at > first && clock->mono_ns(clock->self) - since > TURN_NS) {
            pause(r); /* scripts may take long: others on the strand first */
            write_resume(r);
            return;
        }
        err_clear(&em);
        e = write_apply_item(r, it, &wait, &em);
        if (wait) {
            pause(r);
            return;
        }
        if (e != ERR_OK && engine_failure(r->sh->engine, &em) != ERR_OK) { /* no item is to blame */
            fail_engine(r, &em);
            return;
        }
        if (e != ERR_OK) {
            if (e == ERR_CONFLICT || e == ERR_DOCUMENT_MISSING || e == ERR_SOURCE_MISSING) {
                name_shard(r, &em);
                write_confirm(r);
            }
            write_fail_item(r, it, &em);
        }
    }
    shard_buffer_changed(r->sh);
    if (r->fanout != NULL) {
        fanout_send(r->fanout, rq->refresh == REFRESH_CHANGED ? REFRESH_NOW : rq->refresh, false,
                    r->slice_end == rq->n);
    }
    if (r->slice_end < rq->n) {
        if (write_begin_slice(r, r->slice_end)) {
            write_resume(r);
        } else {
            ERR_LOCAL(em);
            err_no_memory(&em);
            fail_all(r, &em);
        }
        return;
    }
    arena_fini(&r->scratch);
    struct shard *sh = r->sh;
    shard_ref(sh); /* r may be answered below */
    wait_until_durable(r);
    shard_check(sh);
    shard_unref(sh);
}

void data_write(struct data_service *s, struct shard_write *rq)
{
    struct shard *sh = shard_find(s, &rq->rq.shard, &rq->rq.error);
    struct write_run *r = sh != NULL ? ARENA_NEW(&rq->rq.arena, struct write_run) : NULL;
    if (r == NULL) {
        if (sh != NULL) {
            err_no_memory(&rq->rq.error);
            shard_unref(sh);
        }
        shard_rq_answer(&rq->rq);
        return;
    }
    *r = (struct write_run){.rq = rq, .sh = sh};
    memory_request_arena(&r->scratch);
    if (!write_begin_slice(r, 0)) {
        ERR_LOCAL(em);
        err_no_memory(&em);
        fail_all(r, &em);
        return;
    }
    if (sh->index->slow.on[SLOW_INDEX]) {
        r->parse_ns = ARENA_ARRAY(&rq->rq.arena, int64_t, rq->n);
    }
    if (!executor_submit(s->o.write_pool, write_parse_task, r)) {
        ERR_LOCAL(em);
        err_set(&em, ERR_REJECTED, "rejected execution of write on shard [%.*s][%u]: queue is full",
                STR_ARG(sh->index->name), sh->number);
        fail_all(r, &em);
    }
}
