/* Recovery, the side that receives: operations, and the end. */
#include "data/recovery/recovery_int.h"
#include "data/replication/op_bytes.h"
#include "data/replication/replication.h"

#include <stdlib.h>

#define APPLY_OPS 128 /* in one turn of the strand */

/* ---- operations ---------------------------------------------------------------------------------------- */

void target_take(struct recovery_target *t)
{
    struct shard *sh = t->sh;
    shard_take_engine(sh, t->engine, (int64_t)t->plan.primary_term);
    t->engine = NULL;
    t->taken = true;
    replication_took_history(sh, t->plan.primary_term);
    engine_set_global_checkpoint(sh->engine, t->plan.global_checkpoint);
    target_enter_stage(t, RECOVERY_TRANSLOG);
    sh->recovery->figures.ops_total = sh->recovery->figures.ops_total_on_start = t->plan.ops;
    t->step = TARGET_OPS;
}

static void ops_done(struct transport_rq *rq)
{
    struct recovery_target *t = rq->user;
    if (target_answered(t)) {
        struct recovery_ops m;
        t->ops = bytes_in(rq->answer);
        recovery_ops_decode(&m, &t->ops);
        if (t->ops.bad || m.batch != t->batch) {
            target_unreadable(t);
        } else {
            t->failures = 0;
            t->left = m.n;
            t->more = m.more;
            t->mapping_version = m.mapping_version;
            t->step = TARGET_APPLY;
        }
    }
    target_turn(t);
}

void target_ask_ops(struct recovery_target *t)
{
    struct recovery_ops_wish m = {t->plan.session, t->batch};
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    recovery_ops_wish_encode(&m, &b);
    target_ask(t, MESSAGE_RECOVERY_OPS, &b, ops_done);
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

/* What is there now has to be durable: later writes are answered for by themselves. */
static void begin_sync(struct recovery_target *t)
{
    t->sync_to = engine_location(t->sh->engine);
    t->step = TARGET_SYNC;
}

static void apply_more(void *arg)
{
    struct recovery_target *t = arg;
    t->out--;
    target_turn(t);
}

void target_apply(struct recovery_target *t)
{
    struct shard *sh = t->sh;
    struct errmsg em;
    enum err e = ERR_OK;
    if (sh->index->mapping_version < t->mapping_version) {
        return; /* the state that has it is on its way */
    }
    for (unsigned i = 0; i < APPLY_OPS && t->left > 0 && e == ERR_OK; i++) {
        struct bytes_in before = t->ops;
        struct engine_op op;
        op_decode(&op, &t->ops);
        if (t->ops.bad) {
            target_unreadable(t);
            return;
        }
        op.origin = ORIGIN_RECOVERY;
        e = apply_op(sh, &op, &em);
        if (e == ERR_OK) {
            t->left--;
            sh->recovery->figures.ops_recovered++;
        } else {
            t->ops = before;
        }
    }
    shard_drop_replay_mapping(sh);
    shard_buffer_changed(sh);
    if (e == ERR_REJECTED || e == ERR_NO_MEMORY) {
        t->waits = true;
        shard_start_sync(sh);
    } else if (e != ERR_OK) {
        target_fail(t, &em);
    } else if (t->left > 0) {
        t->out++; /* others on the strand first */
        shard_post_back(sh, apply_more, t);
    } else {
        t->batch++;
        t->failures = 0;
        t->step = TARGET_OPS;
        buf_fini(&t->rq.answer_memory);
        if (!t->more) {
            begin_sync(t);
        }
    }
}

/* ---- the end ------------------------------------------------------------------------------------------- */

void target_sync(struct recovery_target *t)
{
    struct shard *sh = t->sh;
    if (engine_durable(sh->engine) >= t->sync_to) {
        t->step = TARGET_FINALIZE;
        return;
    }
    shard_start_sync(sh); /* its end looks here again */
}

static void finalize_done(struct transport_rq *rq)
{
    struct recovery_target *t = rq->user;
    struct recovery_finalized m;
    struct bytes_in in = bytes_in(rq->answer);
    if (target_answered(t)) {
        recovery_finalized_decode(&m, &in);
        if (in.bad) {
            target_unreadable(t);
        } else {
            engine_set_global_checkpoint(t->sh->engine, m.global_checkpoint);
            t->step = t->sh->recovery->figures.primary ? TARGET_HANDOFF : TARGET_DONE;
            if (!m.in_sync) {
                begin_sync(t);
            }
        }
    }
    target_turn(t);
}

void target_ask_finalize(struct recovery_target *t)
{
    struct recovery_finalize m = {t->plan.session, engine_persisted_checkpoint(t->sh->engine)};
    struct buf b;
    target_enter_stage(t, RECOVERY_FINALIZE);
    buf_init(&b, NULL, BUF_UNLIMITED);
    recovery_finalize_encode(&m, &b);
    target_ask(t, MESSAGE_RECOVERY_FINALIZE, &b, finalize_done);
}

static bool keep_handoff(struct recovery_target *t, struct bytes_in *in)
{
    struct recovery_handoff head;
    struct shard_handoff *h = &t->sh->recovery->handoff;
    arena_reset(&h->arena);
    recovery_handoff_decode(&head, in);
    h->v = ARENA_ARRAY(&h->arena, struct recovery_copy, head.n);
    h->n = 0;
    h->global_checkpoint = head.global_checkpoint;
    for (size_t i = 0; h->v != NULL && i < head.n && !in->bad; i++) {
        struct recovery_copy c;
        recovery_copy_decode(&c, in);
        c.allocation_id = arena_str(&h->arena, c.allocation_id);
        if (c.allocation_id.p == NULL) {
            return false;
        }
        h->v[h->n++] = c;
    }
    return h->v != NULL && !in->bad;
}

static void handoff_done(struct transport_rq *rq)
{
    struct recovery_target *t = rq->user;
    struct bytes_in in = bytes_in(rq->answer);
    if (target_answered(t)) {
        if (keep_handoff(t, &in)) {
            t->step = TARGET_DONE;
        } else {
            target_unreadable(t);
        }
    }
    target_turn(t);
}

void target_ask_handoff(struct recovery_target *t)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    put_varint(&b, t->plan.session);
    target_ask(t, MESSAGE_RECOVERY_HANDOFF, &b, handoff_done);
}

static void cleaned(struct transport_rq *rq)
{
    struct shard *sh = rq->user;
    buf_fini(&rq->answer_memory);
    free(rq);
    shard_unref(sh);
}

/* The source may let go; whether it hears of it changes nothing. */
static void say_clean(struct recovery_target *t)
{
    struct shard *sh = t->sh;
    struct transport_rq *rq = malloc(sizeof(*rq));
    if (rq == NULL) {
        return;
    }
    *rq = (struct transport_rq){.cls = TRANSPORT_RECOVERY,
                                .kind = MESSAGE_RECOVERY_CLEAN,
                                .timeout_ms = RECOVERY_REQUEST_MS,
                                .on = strand_executor(sh->strand),
                                .done = cleaned,
                                .user = sh};
    buf_init(&rq->payload, NULL, BUF_UNLIMITED);
    put_varint(&rq->payload, t->plan.session);
    shard_ref(sh);
    target_transport(t)->send(target_transport(t)->self, &t->peer, rq);
}

void target_done(struct recovery_target *t)
{
    struct shard *sh = t->sh;
    const struct clock *clock = sh->service->o.clock;
    struct shard_recovery *f = &sh->recovery->figures;
    struct errmsg em;
    target_enter_stage(t, RECOVERY_DONE);
    f->ops_total = f->ops_recovered;
    f->stop_ms = clock_wall_ms(clock);
    f->total_ms = MAX_OF(f->stop_ms - f->start_ms, (int64_t)0);
    engine_refresh(sh->engine, NULL, &em); /* a copy that may be searched shows all that it was given */
    shard_hide(sh, false);
    say_clean(t);
    target_leave(t);
}
