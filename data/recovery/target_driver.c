/* Recovery, the side that receives: what its core decides (target.h) is done here, and in files.c and replay.c. */
#include "data/recovery/recovery_int.h"

#include <stdio.h>
#include <stdlib.h>

const struct transport *target_transport(const struct recovery_target *t)
{
    return t->sh->service->o.transport;
}

/* ---- questions and jobs -------------------------------------------------------------------------------- */

static void job_done(void *arg)
{
    struct recovery_target *t = arg;
    if (t->job_event == TARGET_WRITTEN) {
        target_count_written(t);
    }
    target_happened(t, &(struct target_event){.kind = t->job_event,
                                              .error = t->job_result != ERR_OK ? &t->job_em : NULL});
}

void target_clear_error(struct recovery_target *t)
{
    arena_fini(&t->job_arena);
    t->job_em = err_in(&t->job_arena);
}

static void job_run(void *arg)
{
    struct recovery_target *t = arg;
    t->job(t);
    shard_post_back(t->sh, job_done, t);
}

void target_job(struct recovery_target *t, void (*job)(struct recovery_target *t),
                enum target_event_kind event)
{
    t->job = job;
    t->job_event = event;
    target_clear_error(t);
    if (!executor_submit_force(t->sh->service->o.write_pool, job_run, t)) {
        job_run(t);
    }
}

void target_ask(struct recovery_target *t, const struct message *m, const void *rq,
                void (*done)(struct remote_call *c))
{
    remote_call_fini(&t->call);
    t->call = (struct remote_call){.on = strand_executor(t->sh->strand), .done = done};
    t->asking = true;
    remote_ask(target_transport(t), &t->peer, m, rq, &t->call);
}

const void *target_answer(struct recovery_target *t)
{
    const struct remote_call *c = &t->call;
    t->asking = false;
    if (t->core.end == TARGET_GOES_ON && !err_is(&c->error)) {
        return c->answer;
    }
    target_happened(t, c->unreadable ? &(struct target_event){.kind = TARGET_UNREADABLE}
                                     : &(struct target_event){.kind = TARGET_LOST, .error = &c->error});
    return NULL;
}

void target_heard(struct recovery_target *t, bool kept, const struct target_event *e)
{
    target_happened(t, kept ? e : &(struct target_event){.kind = TARGET_UNREADABLE});
}

static void abandon(struct recovery_target *t)
{
    const struct transport *tr = target_transport(t);
    if (t->asking) {
        tr->cancel(tr->self, &t->call.t);
    }
    for (unsigned i = 0; i < t->core.n_chunks; i++) {
        unsigned slot = (t->core.first + i) % TARGET_CHUNKS_MAX;
        if (t->core.chunks[slot].state == CHUNK_ASKED) {
            tr->cancel(tr->self, &t->chunks[slot].call.t);
        }
    }
}

/* ---- what is on disk ----------------------------------------------------------------------------------- */

static void open_job(struct recovery_target *t)
{
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
                     STR_ARG(sh->index->name), sh->number, err_reason(&t->job_em));
        }
    }
    arena_fini(&scratch);
    t->job_result = e == ERR_OK && t->history.failed ? err_no_memory(&t->job_em) : e;
}

/* All operations above what every copy has may be others elsewhere: they go. Before that the copy takes its new
 * name, for under the old one it promised to have them. */
static void rollback_job(struct recovery_target *t)
{
    struct copy_data d = {str_of(t->allocation_id), buf_view(&t->history)};
    struct errmsg *em = &t->job_em;
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    copy_data_encode(&d, &b);
    enum err e = b.failed ? err_no_memory(em) : engine_set_user_data(t->engine, buf_view(&b), em);
    e = e == ERR_OK ? engine_flush(t->engine, true, em) : e;
    e = e == ERR_OK ? engine_rollback(t->engine, t->from - 1, em) : e;
    buf_fini(&b);
    shard_unref_replay_mapping(t->sh);
    t->job_result = e;
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

static void start_done(struct remote_call *c)
{
    struct recovery_target *t = CONTAINER_OF(c, struct recovery_target, call);
    const struct recovery_plan *plan = target_answer(t);
    if (plan != NULL) {
        t->plan = *plan;
        t->plan.manifest = arena_str(&t->arena, plan->manifest);
        target_heard(t, t->plan.manifest.p != NULL,
                     &(struct target_event){.kind = TARGET_STARTED,
                                            .started = {t->plan.primary_term, t->plan.manifest.n > 0}});
    }
}

/* false: the primary is on no node yet. */
static bool ask_start(struct recovery_target *t)
{
    struct shard *sh = t->sh;
    arena_reset(&t->arena);
    if (!find_source(t)) {
        return false;
    }
    struct recovery_start m = {.index_uuid = sh->index->uuid,
                               .shard = sh->number,
                               .allocation_id = str_of(t->allocation_id),
                               .node_id = sh->service->node_id,
                               .history_uuid = t->core.no_history ? STR("") : buf_view(&t->history),
                               .from = t->core.no_history || t->engine == NULL ? SEQ_UNASSIGNED : t->from};
    target_ask(t, &message_recovery_start, &m, start_done);
    return true;
}

/* ---- figures ------------------------------------------------------------------------------------------- */

void target_enter_stage(struct recovery_target *t, enum recovery_stage stage)
{
    struct shard_recovery *f = &t->sh->recovery->figures;
    int64_t now = shard_now_ms(t->sh);
    if (f->stage == RECOVERY_INDEX) {
        f->index_ms += now - t->stage_ms;
    } else if (f->stage == RECOVERY_TRANSLOG) {
        f->translog_ms += now - t->stage_ms;
    }
    f->stage = stage;
    t->stage_ms = now;
}

static void begin_files(struct recovery_target *t)
{
    struct shard_recovery *f = &t->sh->recovery->figures;
    target_enter_stage(t, RECOVERY_INDEX);
    f->files_total = f->files_reused = f->files_recovered = 0;
    f->bytes_total = f->bytes_reused = f->bytes_recovered = 0;
    for (size_t i = 0; i < t->n_files; i++) {
        f->files_total++;
        f->bytes_total += t->files[i].bytes;
        f->files_reused += t->have[i];
        f->bytes_reused += t->have[i] ? t->files[i].bytes : 0;
    }
    target_chunks_fini(t);
}

/* ---- what the core wants ------------------------------------------------------------------------------- */

static void free_target(struct recovery_target *t)
{
    target_chunks_fini(t);
    remote_call_fini(&t->call);
    buf_fini(&t->history);
    arena_fini(&t->arena);
    arena_fini(&t->job_arena);
    arena_fini(&t->why_arena);
    engine_close(t->engine);
    free(t);
}

static void leave(struct recovery_target *t, enum target_end end)
{
    struct shard *sh = t->sh;
    ERR_LOCAL(why);
    err_copy(&why, &t->core.why);
    if (end == TARGET_GOES_ON) {
        target_complete(t);
    }
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

static void yielded(void *arg)
{
    target_happened(arg, &(struct target_event){.kind = TARGET_RESUMED});
}

/* true: *e is what came of it; TARGET_CHANGED: that is still out. false: its event comes later, if it has one. */
static bool perform(struct recovery_target *t, const struct target_effect *f, struct target_event *e)
{
    switch (f->kind) {
    case TARGET_DO_OPEN:
        target_job(t, open_job, TARGET_OPENED);
        return false;
    case TARGET_DO_LOOK:
        target_job(t, target_look, TARGET_LOOKED);
        return false;
    case TARGET_DO_WRITE:
        target_job(t, target_write, TARGET_WRITTEN);
        return false;
    case TARGET_DO_INSTALL:
        target_job(t, target_install, TARGET_INSTALLED);
        return false;
    case TARGET_DO_ROLLBACK:
        target_job(t, rollback_job, TARGET_ROLLED_BACK);
        return false;
    case TARGET_DO_YIELD:
        shard_post_back(t->sh, yielded, t);
        return false;
    case TARGET_DO_OPS:
        target_ask_ops(t, f->batch);
        return false;
    case TARGET_DO_FINALIZE:
        target_ask_finalize(t);
        return false;
    case TARGET_DO_HANDOFF:
        target_ask_handoff(t);
        return false;
    case TARGET_DO_ABANDON:
        abandon(t);
        return false;
    case TARGET_DO_RESET:
        target_chunks_fini(t);
        remote_call_fini(&t->call);
        return false;
    case TARGET_DO_LEAVE: /* seen to by the caller */
        return false;
    case TARGET_DO_START:
        e->kind = ask_start(t) ? TARGET_CHANGED : TARGET_NO_SOURCE;
        return true;
    case TARGET_DO_CHUNK:
        e->kind = target_ask_chunk(t, f->slot, f->again) ? TARGET_CHANGED : TARGET_CHUNK_HELD;
        return true;
    case TARGET_DO_TAKE:
        target_take(t);
        e->kind = TARGET_TAKEN;
        return true;
    case TARGET_DO_APPLY:
        target_apply(t, e);
        return true;
    case TARGET_DO_SYNC:
        target_sync(t, f->first, e);
        return true;
    case TARGET_DO_CLOSE:
        e->kind = shard_close_engine(t->sh) ? TARGET_CLOSED : TARGET_BUSY;
        return true;
    }
    return false;
}

static struct target_view view_of(const struct recovery_target *t)
{
    const struct shard *sh = t->sh;
    return (struct target_view){.wanted = !sh->life.leaving && !sh->life.broken && sh->role.initializing
                                          && sh->role.source == RECOVER_PEER
                                          && str_is(sh->role.allocation_id, t->allocation_id),
                                .term = (uint64_t)sh->role.term};
}

static void target_continue(struct recovery_target *t)
{
    for (;;) {
        struct target_view v = view_of(t);
        struct target_effect f;
        struct target_event e = {0};
        if (!target_effect(&t->core, &v, &f)) {
            return;
        }
        if (f.kind == TARGET_DO_LEAVE) {
            leave(t, f.end);
            return;
        }
        if (perform(t, &f, &e) && e.kind != TARGET_CHANGED) {
            target_step(&t->core, &e);
        }
    }
}

void target_happened(struct recovery_target *t, const struct target_event *e)
{
    struct target_event known = *e;
    if (e->kind == TARGET_OPENED) {
        known.has_engine = t->engine != NULL;
    } else if (e->kind == TARGET_LOOKED) {
        known.files.bytes = t->bytes;
        known.files.have = t->have;
        known.files.n = e->error == NULL ? t->n_files : 0;
        if (e->error == NULL) {
            begin_files(t);
        }
    }
    target_step(&t->core, &known);
    target_continue(t);
}

/* ---- what happens to the shard -------------------------------------------------------------------------- */

static bool source_moved(const struct recovery_target *t)
{
    struct cluster_state *state = data_state(t->sh->service);
    struct str source = t->sh->recovery->figures.source_node;
    const struct node_meta *n = state != NULL ? cluster_node(state, source) : NULL;
    bool moved = t->core.step > TARGET_ASK && t->core.step < TARGET_DONE
                 && (n == NULL || !str_eq(n->ephemeral_id, t->peer.ephemeral_id));
    cluster_state_unref(state);
    return moved;
}

void recovery_step_target(struct shard *sh, bool tick)
{
    struct recovery_target *t = sh->recovery->target;
    if (t != NULL) {
        enum target_event_kind kind = source_moved(t) ? TARGET_SOURCE_GONE
                                      : tick          ? TARGET_TICK
                                                      : TARGET_CHANGED;
        target_happened(t, &(struct target_event){.kind = kind});
    }
}

void recovery_abandon_target(struct shard *sh)
{
    struct recovery_target *t = sh->recovery->target;
    if (t == NULL) {
        return;
    }
    sh->recovery->target = NULL;
    shard_set_opening(sh, false);
    if (t->core.out == 0) { /* else a request may still point to it, and it ends with the process */
        free_target(t);
    }
    shard_unref(sh); /* the caller has another */
}

void recovery_begin(struct shard *sh)
{
    struct data_service *s = sh->service;
    ERR_LOCAL(em);
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
    t->sh = shard_ref(sh);
    target_init(&t->core, TRANSPORT_CHUNK_BYTES, &t->why_arena);
    snprintf(t->allocation_id, sizeof(t->allocation_id), "%.*s", STR_ARG(sh->role.allocation_id));
    arena_init(&t->arena, NULL, ARENA_UNLIMITED);
    buf_init(&t->history, NULL, BUF_UNLIMITED);
    sh->recovery->figures = (struct shard_recovery){
        .source = RECOVER_PEER, .target_node = s->node_id, .start_ms = clock_wall_ms(s->o.clock)};
    sh->recovery->target = t;
    shard_set_opening(sh, true);
    shard_hide(sh, true);
    target_continue(t);
}
