/* Recovery, the side that receives: operations, and the end. */
#include "data/recovery/recovery_int.h"
#include "data/replication/op_bytes.h"
#include "data/replication/replication.h"

#define APPLY_OPS 128 /* in one turn of the strand */

/* ---- operations ---------------------------------------------------------------------------------------- */

void target_take(struct recovery_target *t)
{
    struct shard *sh = t->sh;
    shard_take_engine(sh, t->engine, (int64_t)t->plan.primary_term);
    t->engine = NULL;
    replication_took_history(sh, t->plan.primary_term);
    engine_set_global_checkpoint(sh->engine, t->plan.global_checkpoint);
    target_enter_stage(t, RECOVERY_TRANSLOG);
    sh->recovery->figures.ops_total = sh->recovery->figures.ops_total_on_start = t->plan.ops;
}

static void ops_done(struct remote_call *c)
{
    struct recovery_target *t = CONTAINER_OF(c, struct recovery_target, call);
    const struct recovery_ops *m = target_answer(t);
    if (m != NULL) {
        t->ops = bytes_in(m->ops);
        t->mapping_version = m->mapping_version;
        target_happened(t, &(struct target_event){.kind = TARGET_GOT_OPS,
                                                  .ops = {.batch = m->batch, .n = m->n, .more = m->more}});
    }
}

void target_ask_ops(struct recovery_target *t, uint64_t batch)
{
    target_ask(t, &message_recovery_ops, &(struct recovery_ops_wish){t->plan.session, batch}, ops_done);
}

/* ERR_REJECTED: no room before the log is synced. */
static enum err apply_op(struct shard *sh, const struct engine_op *op, struct errmsg *em)
{
    struct engine_result res;
    enum err e = engine_apply(sh->engine, op, &res, em);
    if (e == ERR_REJECTED) {
        e = engine_spill(sh->engine, em);
        e = e == ERR_OK ? engine_apply(sh->engine, op, &res, em) : e;
    }
    return e;
}

void target_apply(struct recovery_target *t, struct target_event *e)
{
    struct shard *sh = t->sh;
    enum err result = ERR_OK;
    uint64_t n = 0;
    target_clear_error(t);
    if (sh->index->mapping_version < t->mapping_version) {
        e->kind = TARGET_NOT_YET; /* the state that has it is on its way */
        return;
    }
    while (n < MIN_OF(t->core.left, (uint64_t)APPLY_OPS) && result == ERR_OK) {
        struct bytes_in before = t->ops;
        struct engine_op op;
        op_decode(&op, &t->ops);
        if (t->ops.bad) {
            e->kind = TARGET_UNREADABLE;
            return;
        }
        op.origin = ORIGIN_RECOVERY;
        result = apply_op(sh, &op, &t->job_em);
        if (result == ERR_OK) {
            n++;
        } else {
            t->ops = before;
        }
    }
    sh->recovery->figures.ops_recovered += n;
    shard_unref_replay_mapping(sh);
    shard_buffer_changed(sh);
    if (result == ERR_REJECTED || result == ERR_NO_MEMORY) {
        shard_start_sync(sh);
    }
    *e = (struct target_event){
        .kind = TARGET_APPLIED, .error = result != ERR_OK ? &t->job_em : NULL, .ops = {.n = n}};
}

/* ---- the end ------------------------------------------------------------------------------------------- */

/* What is there now has to be durable: later writes are answered for by themselves. */
void target_sync(struct recovery_target *t, bool first, struct target_event *e)
{
    struct shard *sh = t->sh;
    t->sync_to = first ? engine_location(sh->engine) : t->sync_to;
    e->kind = TARGET_SYNCED;
    if (engine_durable(sh->engine) < t->sync_to) {
        e->kind = TARGET_NOT_YET;
        shard_start_sync(sh); /* its end looks here again */
    }
}

static void finalize_done(struct remote_call *c)
{
    struct recovery_target *t = CONTAINER_OF(c, struct recovery_target, call);
    const struct recovery_finalized *m = target_answer(t);
    if (m != NULL) {
        engine_set_global_checkpoint(t->sh->engine, m->global_checkpoint);
        target_happened(t,
                        &(struct target_event){.kind = TARGET_FINALIZED,
                                               .finalized = {m->in_sync, t->sh->recovery->figures.primary}});
    }
}

void target_ask_finalize(struct recovery_target *t)
{
    struct recovery_finalize m = {t->plan.session, engine_persisted_checkpoint(t->sh->engine)};
    target_enter_stage(t, RECOVERY_FINALIZE);
    target_ask(t, &message_recovery_finalize, &m, finalize_done);
}

static bool keep_handoff(struct recovery_target *t, const struct recovery_handoff *m)
{
    struct shard_handoff *h = &t->sh->recovery->handoff;
    arena_reset(&h->arena);
    h->v = ARENA_ARRAY(&h->arena, struct recovery_copy, m->n);
    h->n = 0;
    while (h->v != NULL && h->n < m->n) {
        struct recovery_copy *c = &h->v[h->n];
        *c = m->v[h->n];
        c->allocation_id = arena_str(&h->arena, c->allocation_id);
        if (c->allocation_id.p == NULL) {
            return false;
        }
        h->n++;
    }
    return h->v != NULL;
}

static void handoff_done(struct remote_call *c)
{
    struct recovery_target *t = CONTAINER_OF(c, struct recovery_target, call);
    const struct recovery_handoff *m = target_answer(t);
    if (m != NULL) {
        target_heard(t, keep_handoff(t, m), &(struct target_event){.kind = TARGET_HANDED_OVER});
    }
}

void target_ask_handoff(struct recovery_target *t)
{
    target_ask(t, &message_recovery_handoff, &t->plan.session, handoff_done);
}

/* The source may release the session; whether it gets the message changes nothing. */
static void say_clean(const struct recovery_target *t)
{
    remote_tell(target_transport(t), &t->peer, &message_recovery_clean, &t->plan.session,
                t->sh->service->o.write_pool);
}

void target_complete(struct recovery_target *t)
{
    struct shard *sh = t->sh;
    struct shard_recovery *f = &sh->recovery->figures;
    ERR_LOCAL(em);
    target_enter_stage(t, RECOVERY_DONE);
    f->ops_total = f->ops_recovered;
    f->stop_ms = clock_wall_ms(sh->service->o.clock);
    f->total_ms = MAX_OF(f->stop_ms - f->start_ms, (int64_t)0);
    engine_refresh(sh->engine, NULL, &em); /* a copy that may be searched shows all that it was given */
    shard_hide(sh, false);
    say_clean(t);
}
