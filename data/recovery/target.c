/* Recovery, the side that receives: from what is on disk to a copy that is in sync.
 *
 * One thing after another, each a request or a job whose end looks what is next (target_turn()). A source that
 * does not answer, or has become another node, is no failure: with the next tick the recovery goes on, or begins
 * again, with whatever the state then says. What is on disk stays what it was until all that takes its place is
 * there. */
#include "data/recovery/recovery_int.h"

#include <stdio.h>
#include <stdlib.h>

#define FAILURES_MAX 3

const struct transport *target_transport(const struct recovery_target *t)
{
    return t->sh->service->o.transport;
}

static int64_t now_ms(const struct recovery_target *t)
{
    return clock_mono_ms(t->sh->service->o.clock);
}

/* ---- ends ---------------------------------------------------------------------------------------------- */

static void target_again(struct recovery_target *t)
{
    t->end = MAX_OF(t->end, TARGET_AGAIN);
}

void target_fail(struct recovery_target *t, const struct errmsg *em)
{
    if (t->end < TARGET_FAILS) {
        t->end = TARGET_FAILS;
        t->why = *em;
    }
}

bool target_answer_lost(struct recovery_target *t, const struct errmsg *em)
{
    switch (err_code(em)) {
    case ERR_NODE_NOT_CONNECTED:
    case ERR_NODE_DISCONNECTED:
    case ERR_RECEIVE_TIMEOUT:
    case ERR_REJECTED:
        t->waits = true;
        return true;
    case ERR_CORRUPT: /* its disk, or the way: a few times, then the master should know */
    case ERR_IO:
        if (++t->failures >= FAILURES_MAX) {
            target_fail(t, em);
            return false;
        }
        break;
    default: /* it knows nothing (any more) of this recovery */
        break;
    }
    target_again(t);
    return false;
}

static void abandon_requests(struct recovery_target *t)
{
    const struct transport *tr = target_transport(t);
    if (t->abandoned) {
        return;
    }
    t->abandoned = true;
    if (t->asking) {
        tr->cancel(tr->self, &t->rq);
    }
    for (unsigned i = 0; i < t->n_chunks; i++) {
        struct target_chunk *c = &t->chunks[(t->first + i) % RECOVERY_CHUNKS_MAX];
        if (c->state == CHUNK_ASKED) {
            tr->cancel(tr->self, &c->rq);
        }
    }
}

static void free_target(struct recovery_target *t)
{
    target_drop_chunks(t);
    buf_fini(&t->rq.answer_memory);
    buf_fini(&t->history);
    arena_fini(&t->arena);
    engine_close(t->engine);
    free(t);
}

void target_leave(struct recovery_target *t)
{
    struct shard *sh = t->sh;
    enum target_end end = t->end;
    struct errmsg why = t->why;
    sh->recovery->target = NULL;
    shard_set_opening(sh, false);
    free_target(t);
    if (end == TARGET_FAILS) {
        shard_fail(sh, &why);
    } else if (end == TARGET_CANCELLED) {
        shard_step(sh);
    } else {
        shard_tell_started(sh);
    }
    shard_unref(sh);
}

/* Nothing is out: from START on, or from the beginning when the engine is the shard's already. */
static void begin_again(struct recovery_target *t)
{
    target_drop_chunks(t);
    buf_fini(&t->rq.answer_memory);
    t->end = TARGET_GOES_ON;
    t->abandoned = false;
    t->waits = true;
    t->batch = t->left = 0;
    if (t->taken) {
        t->step = TARGET_CLOSE;
    } else {
        t->step = t->engine != NULL || t->no_history || t->step == TARGET_ASK ? TARGET_ASK : TARGET_OPEN;
    }
}

/* ---- requests and jobs --------------------------------------------------------------------------------- */

struct job {
    struct recovery_target *t;
    void (*run)(void *t);
    void (*done)(void *t);
};

static void job_done(void *arg)
{
    struct job j = *(struct job *)arg;
    free(arg);
    j.t->out--;
    j.done(j.t);
    target_turn(j.t);
}

static void job_run(void *arg)
{
    struct job *j = arg;
    j->run(j->t);
    shard_post_back(j->t->sh, job_done, j);
}

void target_job(struct recovery_target *t, void (*run)(void *t), void (*done)(void *t))
{
    struct job *j = malloc(sizeof(*j));
    if (j == NULL) {
        err_no_memory(&t->job_em);
        t->job_result = ERR_NO_MEMORY;
        done(t);
        return;
    }
    *j = (struct job){t, run, done};
    t->out++;
    if (!executor_submit_force(t->sh->service->o.write_pool, job_run, j)) {
        job_run(j);
    }
}

static void job_failed_or(struct recovery_target *t, enum target_step next)
{
    if (t->job_result != ERR_OK) {
        target_fail(t, &t->job_em);
        return;
    }
    t->step = next;
}

void target_ask(struct recovery_target *t, enum message_kind kind, struct buf *payload,
                void (*done)(struct transport_rq *rq))
{
    const struct transport *tr = target_transport(t);
    buf_fini(&t->rq.answer_memory);
    t->rq = (struct transport_rq){.cls = TRANSPORT_RECOVERY,
                                  .kind = (uint16_t)kind,
                                  .payload = *payload,
                                  .timeout_ms = RECOVERY_REQUEST_MS,
                                  .on = strand_executor(t->sh->strand),
                                  .done = done,
                                  .user = t};
    t->out++;
    t->asking = true;
    tr->send(tr->self, &t->peer, &t->rq);
}

bool target_answered(struct recovery_target *t)
{
    t->out--;
    t->asking = false;
    if (t->end == TARGET_GOES_ON && t->rq.error.n == 0) {
        return true;
    }
    if (t->end == TARGET_GOES_ON) {
        target_answer_lost(t, &t->rq.error);
    }
    return false;
}

void target_unreadable(struct recovery_target *t)
{
    struct errmsg em;
    err_set(&em, ERR_CORRUPT, "the source's answer cannot be read");
    target_answer_lost(t, &em);
}

/* ---- what is on disk ----------------------------------------------------------------------------------- */

static void open_run(void *arg)
{
    struct recovery_target *t = arg;
    struct shard *sh = t->sh;
    const struct fs *fs = sh->service->o.fs;
    struct arena scratch;
    struct copy_data d;
    bool found;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    buf_reset(&t->history);
    t->from = SEQ_UNASSIGNED;
    enum err e = copy_data_read(fs, sh->dir.p, &scratch, &d, &found, &t->job_em);
    if (e == ERR_OK && found && d.history_uuid.n > 0) {
        /* One that cannot be opened has files that may still be good. */
        if (shard_engine_open(sh, ENGINE_EXISTING, STR_NULL, &t->engine, &t->job_em) == ERR_OK) {
            buf_str(&t->history, d.history_uuid);
            t->from = engine_persisted_global_checkpoint(t->engine) + 1;
        } else {
            log_warn(sh->service->o.log, "data", "shard [%.*s][%u]: what is on disk cannot be opened: %s",
                     STR_ARG(sh->index->name), sh->number, t->job_em.frame[0].reason);
        }
    }
    arena_fini(&scratch);
    t->job_result = e == ERR_OK && t->history.failed ? err_no_memory(&t->job_em) : e;
}

static void opened(void *arg)
{
    job_failed_or(arg, TARGET_ASK);
}

/* All operations above what every copy has may be others elsewhere: they go. Before that the copy takes its new
 * name, for under the old one it promised to have them. */
static void rollback_run(void *arg)
{
    struct recovery_target *t = arg;
    struct copy_data d = {str_of(t->allocation_id), buf_view(&t->history)};
    struct errmsg *em = &t->job_em;
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    copy_data_encode(&d, &b);
    enum err e = b.failed ? err_no_memory(em) : engine_set_user_data(t->engine, buf_view(&b), em);
    e = e == ERR_OK ? engine_flush(t->engine, true, em) : e;
    e = e == ERR_OK ? engine_rollback(t->engine, t->from - 1, em) : e;
    buf_fini(&b);
    shard_drop_replay_mapping(t->sh);
    t->job_result = e;
}

static void rolled_back(void *arg)
{
    struct recovery_target *t = arg;
    if (t->job_result == ERR_OK) {
        t->step = TARGET_TAKE;
        return;
    }
    t->no_history = true; /* files do, whatever has happened to these */
    target_again(t);
}

/* ---- START --------------------------------------------------------------------------------------------- */

/* The primary's node. false: it is not there (yet). */
static bool find_source(struct recovery_target *t)
{
    struct shard *sh = t->sh;
    struct data_service *s = sh->service;
    struct cluster_state *state = data_state(s);
    const struct index_meta *m = state != NULL ? cluster_index_by_uuid(state, sh->index->uuid) : NULL;
    const struct index_routing *r = m != NULL ? cluster_routing(state, m->name) : NULL;
    const struct shard_copy *c = r != NULL && sh->number < r->n ? &r->shards[sh->number].copies[0] : NULL;
    const struct node_meta *n = c != NULL && copy_active(c) ? cluster_node(state, c->node) : NULL;
    bool found = n != NULL && !str_eq(n->id, s->node_id);
    if (found) {
        t->peer.address = arena_str(&t->arena, n->transport_address);
        t->peer.ephemeral_id = arena_str(&t->arena, n->ephemeral_id);
        snprintf(sh->recovery->figures_source, sizeof(sh->recovery->figures_source), "%.*s", STR_ARG(n->id));
        sh->recovery->figures.source_node = str_of(sh->recovery->figures_source);
        sh->recovery->figures.relocation = c->target_id.p != NULL && str_is(c->target_id, t->allocation_id);
        sh->recovery->figures.primary = sh->recovery->figures.relocation;
        found = t->peer.address.p != NULL && t->peer.ephemeral_id.p != NULL;
    }
    cluster_state_unref(state);
    return found;
}

static void start_done(struct transport_rq *rq)
{
    struct recovery_target *t = rq->user;
    struct bytes_in in = bytes_in(rq->answer);
    if (target_answered(t)) {
        recovery_plan_decode(&t->plan, &in);
        t->plan.manifest = arena_str(&t->arena, t->plan.manifest);
        if (in.bad || t->plan.manifest.p == NULL || (t->plan.manifest.n == 0 && t->engine == NULL)) {
            target_unreadable(t);
        } else {
            t->batch = 0;
            t->step = t->plan.manifest.n > 0 ? TARGET_LOOK : TARGET_ROLLBACK;
        }
    }
    target_turn(t);
}

static void ask_start(struct recovery_target *t)
{
    struct shard *sh = t->sh;
    struct buf b;
    arena_reset(&t->arena);
    if (!find_source(t)) {
        t->waits = true;
        return;
    }
    struct recovery_start m = {.index_uuid = sh->index->uuid,
                               .shard = sh->number,
                               .allocation_id = str_of(t->allocation_id),
                               .node_id = sh->service->node_id,
                               .history_uuid = t->no_history ? STR("") : buf_view(&t->history),
                               .from = t->no_history || t->engine == NULL ? SEQ_UNASSIGNED : t->from};
    buf_init(&b, NULL, BUF_UNLIMITED);
    recovery_start_encode(&m, &b);
    target_ask(t, MESSAGE_RECOVERY_START, &b, start_done);
}

/* ---- files --------------------------------------------------------------------------------------------- */

void target_enter_stage(struct recovery_target *t, enum recovery_stage stage)
{
    struct shard_recovery *f = &t->sh->recovery->figures;
    int64_t now = now_ms(t);
    if (f->stage == RECOVERY_INDEX) {
        f->index_ms += now - t->stage_ms;
    } else if (f->stage == RECOVERY_TRANSLOG) {
        f->translog_ms += now - t->stage_ms;
    }
    f->stage = stage;
    t->stage_ms = now;
}

static void looked(void *arg)
{
    struct recovery_target *t = arg;
    struct shard_recovery *f = &t->sh->recovery->figures;
    job_failed_or(t, TARGET_COPY);
    if (t->job_result != ERR_OK) {
        return;
    }
    target_enter_stage(t, RECOVERY_INDEX);
    f->files_total = f->files_reused = f->files_recovered = 0;
    f->bytes_total = f->bytes_reused = f->bytes_recovered = 0;
    for (size_t i = 0; i < t->n_files; i++) {
        f->files_total++;
        f->bytes_total += t->files[i].bytes;
        f->files_reused += t->have[i];
        f->bytes_reused += t->have[i] ? t->files[i].bytes : 0;
    }
    target_drop_chunks(t);
}

static void copy(struct recovery_target *t)
{
    target_copy(t);
    if (t->n_chunks == 0 && t->file == t->n_files && t->end == TARGET_GOES_ON) {
        t->step = TARGET_INSTALL;
    }
}

static void installed(void *arg)
{
    struct recovery_target *t = arg;
    t->no_history = false;
    t->failures = 0;
    job_failed_or(t, TARGET_TAKE);
}

/* ---- turns --------------------------------------------------------------------------------------------- */

static void close_taken(struct recovery_target *t)
{
    if (!shard_let_go(t->sh)) {
        t->waits = true; /* its jobs are out */
        return;
    }
    t->taken = false;
    t->step = TARGET_OPEN;
}

static void go(struct recovery_target *t)
{
    switch (t->step) {
    case TARGET_OPEN:
        target_job(t, open_run, opened);
        break;
    case TARGET_ASK:
        ask_start(t);
        break;
    case TARGET_LOOK:
        target_job(t, target_look, looked);
        break;
    case TARGET_COPY:
        copy(t);
        break;
    case TARGET_INSTALL:
        target_job(t, target_install, installed);
        break;
    case TARGET_ROLLBACK:
        target_job(t, rollback_run, rolled_back);
        break;
    case TARGET_TAKE:
        target_take(t);
        break;
    case TARGET_OPS:
        target_ask_ops(t);
        break;
    case TARGET_APPLY:
        target_apply(t);
        break;
    case TARGET_SYNC:
        target_sync(t);
        break;
    case TARGET_FINALIZE:
        target_ask_finalize(t);
        break;
    case TARGET_HANDOFF:
        target_ask_handoff(t);
        break;
    case TARGET_CLOSE:
        close_taken(t);
        break;
    case TARGET_DONE:
        break;
    }
}

/* Is this still what the state wants here? */
static void look_at_role(struct recovery_target *t)
{
    const struct shard *sh = t->sh;
    if (sh->life.leaving || sh->life.broken || !sh->role.initializing || sh->role.source != RECOVER_PEER
        || !str_is(sh->role.allocation_id, t->allocation_id)) {
        t->end = TARGET_CANCELLED;
    } else if (t->step > TARGET_ASK && t->step < TARGET_CLOSE
               && (uint64_t)sh->role.term > t->plan.primary_term) {
        target_again(t); /* another primary: its word counts */
    }
}

void target_turn(struct recovery_target *t)
{
    for (;;) {
        look_at_role(t);
        if (t->end != TARGET_GOES_ON) {
            abandon_requests(t);
            if (t->out > 0) {
                return;
            }
            if (t->end != TARGET_AGAIN) {
                target_leave(t);
                return;
            }
            begin_again(t);
        }
        if (t->step == TARGET_DONE) {
            target_done(t);
            return;
        }
        enum target_step before = t->step;
        bool busy = t->out > 0 && before != TARGET_COPY;
        if (busy || t->waits) {
            return;
        }
        go(t);
        if (t->end == TARGET_GOES_ON && t->step == before) {
            return;
        }
    }
}

/* With the tick, what waited goes on; a source that is another process by now is not asked again. */
static void tick_passed(struct recovery_target *t)
{
    t->waits = false;
    if (t->step == TARGET_COPY && t->end == TARGET_GOES_ON) {
        target_copy_again(t);
    }
}

static bool source_moved(struct recovery_target *t)
{
    struct cluster_state *state = data_state(t->sh->service);
    bool moved = t->step > TARGET_ASK && t->step < TARGET_DONE
                 && (state == NULL || cluster_node(state, t->sh->recovery->figures.source_node) == NULL
                     || !str_eq(cluster_node(state, t->sh->recovery->figures.source_node)->ephemeral_id,
                                t->peer.ephemeral_id));
    cluster_state_unref(state);
    return moved;
}

void recovery_step_target(struct shard *sh, bool tick)
{
    struct recovery_target *t = sh->recovery->target;
    if (t == NULL) {
        return;
    }
    if (source_moved(t)) {
        target_again(t);
    } else if (tick) {
        tick_passed(t);
    }
    target_turn(t);
}

void recovery_abandon_target(struct shard *sh)
{
    struct recovery_target *t = sh->recovery->target;
    if (t == NULL) {
        return;
    }
    sh->recovery->target = NULL;
    shard_set_opening(sh, false);
    if (t->out == 0) { /* else a request may still point to it, and it ends with the process */
        free_target(t);
    }
    shard_unref(sh); /* the caller has another */
}

void recovery_begin(struct shard *sh)
{
    struct data_service *s = sh->service;
    struct errmsg em;
    if (sh->life.leaving) {
        return;
    }
    struct recovery_target *t = s->o.transport != NULL ? calloc(1, sizeof(*t)) : NULL;
    if (t == NULL) {
        err_set(&em, s->o.transport != NULL ? ERR_NO_MEMORY : ERR_ILLEGAL_STATE,
                "no recovery from another node is possible");
        shard_fail(sh, &em);
        return;
    }
    t->sh = sh;
    snprintf(t->allocation_id, sizeof(t->allocation_id), "%.*s", STR_ARG(sh->role.allocation_id));
    arena_init(&t->arena, NULL, ARENA_UNLIMITED);
    buf_init(&t->history, NULL, BUF_UNLIMITED);
    sh->recovery->figures = (struct shard_recovery){
        .source = RECOVER_PEER, .target_node = s->node_id, .start_ms = clock_wall_ms(s->o.clock)};
    shard_set_opening(sh, true);
    sh->recovery->target = t;
    shard_hide(sh, true);
    shard_ref(sh);
    target_turn(t);
}
