/* Recovery, the side that gives: what is sent. Files off the strand, the rest on it. */
#include "common/base/hash.h"
#include "data/recovery/recovery_int.h"
#include "data/replication/op_bytes.h"
#include "data/replication/replication.h"
#include "engine/index/manifest.h"
#include "engine/index/translog.h"

#include <stdio.h>
#include <stdlib.h>

struct chunk_call {
    struct remote_rq *call;
    struct buf bytes;
    struct chunk_call *next;
};

struct session_call { /* in its call's arena */
    struct recovery_session *r;
    struct remote_rq *call;
};

/* ---- files --------------------------------------------------------------------------------------------- */

/* A file that is not what its commit says goes nowhere; the copy that has it should not be the primary for long. */
static enum err verify(struct recovery_session *r, uint32_t i, struct errmsg *em)
{
    const struct engine_file *f = &r->files[i];
    if (r->maps[i].n == f->bytes && hash_bytes(r->maps[i].p, r->maps[i].n, 0) == f->checksum) {
        return ERR_OK;
    }
    struct view *v = shard_view(r->sh);
    bool whole = v != NULL;
    for (uint32_t k = 0; v != NULL && k < v->n_leaves; k++) {
        whole &= segment_verify(v->leaves[k].segment, em) == ERR_OK;
    }
    view_unref(v);
    uint64_t number;
    bool segment = file_number(f->name, SEGMENT_PREFIX, &number);
    if (whole) {
        shard_report_file(r->sh, segment ? number : SHARD_FILE_OTHER);
    } else {
        shard_report_damage(r->sh);
    }
    r->fs->unmap(r->fs->self, &r->maps[i]);
    return err_set(em, ERR_CORRUPT, "file [%.*s] of the source does not match its checksum",
                   STR_ARG(f->name));
}

/* The file's bytes, as its commit has them; they stay as long as the session does. */
static enum err map_file(struct recovery_session *r, uint32_t i, struct fs_map *out, struct errmsg *em)
{
    struct arena scratch;
    enum err e = ERR_OK;
    pthread_mutex_lock(&r->lock);
    if (!r->mapped[i]) {
        arena_init(&scratch, NULL, ARENA_UNLIMITED);
        struct str path = arena_printf(&scratch, "%.*s/%.*s", STR_ARG(r->sh->dir), STR_ARG(r->files[i].name));
        e = path.p == NULL ? err_no_memory(em) : r->fs->map(r->fs->self, path.p, &r->maps[i], em);
        e = e == ERR_OK ? verify(r, i, em) : e;
        r->mapped[i] = e == ERR_OK;
        arena_fini(&scratch);
    }
    *out = r->maps[i];
    pthread_mutex_unlock(&r->lock);
    return e;
}

static enum err read_chunk(struct recovery_session *r, const struct recovery_chunk *m, struct buf *out,
                           struct errmsg *em)
{
    struct fs_map map;
    if (r->over) {
        return err_set(em, ERR_NO_SHARD, "no such recovery here");
    }
    if (m->file >= r->n_files) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "no such file in the recovery");
    }
    enum err e = map_file(r, m->file, &map, em);
    if (e != ERR_OK) {
        return e;
    }
    if (m->offset > map.n || m->length > map.n - m->offset) {
        return err_set(em, ERR_CORRUPT, "file [%.*s] of the source is of another size",
                       STR_ARG(r->files[m->file].name));
    }
    buf_add(out, map.p + m->offset, m->length);
    return out->failed ? err_no_memory(em) : ERR_OK;
}

/* In the order they came: what is over the limit waits for the tick. */
static void send_chunk(struct data_service *s, struct remote_rq *call, struct buf *b)
{
    struct recoveries *all = s->recoveries;
    struct chunk_call *c = ARENA_NEW(&call->arena, struct chunk_call);
    if (c == NULL) {
        remote_reply_bytes(call, b);
        return;
    }
    *c = (struct chunk_call){call, *b, NULL};
    pthread_mutex_lock(&all->lock);
    *all->held_end = c;
    all->held_end = &c->next;
    pthread_mutex_unlock(&all->lock);
    recovery_serve_held(s);
}

static struct chunk_call *take_held(struct recoveries *all)
{
    pthread_mutex_lock(&all->lock);
    struct chunk_call *c = all->held;
    if (c != NULL) {
        all->held = c->next;
        all->held_end = c->next != NULL ? all->held_end : &all->held;
    }
    pthread_mutex_unlock(&all->lock);
    return c;
}

static void put_back(struct recoveries *all, struct chunk_call *c)
{
    pthread_mutex_lock(&all->lock);
    c->next = all->held;
    all->held_end = c->next != NULL ? all->held_end : &c->next;
    all->held = c;
    pthread_mutex_unlock(&all->lock);
}

void recovery_serve_held(struct data_service *s)
{
    struct recoveries *all = s->recoveries;
    for (struct chunk_call *c = take_held(all); c != NULL; c = take_held(all)) {
        if (!s->stopping && !recovery_may_pass(s, RECOVERY_OUT, c->bytes.n)) {
            put_back(all, c);
            return;
        }
        remote_reply_bytes(c->call, &c->bytes);
    }
}

void recovery_serve_chunk(void *self, struct remote_rq *rq)
{
    struct data_service *s = self;
    const struct recovery_chunk *m = remote_body(rq);
    struct recovery_session *r = recovery_find_session(s, m->session);
    ERR_LOCAL(em);
    struct buf b;
    if (r == NULL) {
        recovery_refuse_no_session(rq);
        return;
    }
    r->heard_ms = clock_mono_ms(s->o.clock);
    buf_init(&b, NULL, BUF_UNLIMITED);
    if (read_chunk(r, m, &b, &em) == ERR_OK) {
        send_chunk(s, rq, &b);
    } else {
        buf_fini(&b);
        remote_refuse(rq, &em);
    }
    recovery_session_unref(r);
}

/* ---- operations ---------------------------------------------------------------------------------------- */

static void answer_batch(const struct recovery_session *r, struct remote_rq *call)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_add(&b, r->bytes.p, r->bytes.n);
    remote_reply_bytes(call, &b);
}

struct read_run {
    struct recovery_session *r; /* a reference */
    struct remote_rq *call;
    enum err result;
    struct errmsg em;
    struct arena em_arena;
};

static void batch_read(void *arg)
{
    struct read_run *run = arg;
    struct recovery_session *r = run->r;
    source_read(&r->core, !r->over && run->result == ERR_OK);
    if (r->over) {
        recovery_refuse_no_session(run->call);
    } else if (run->result != ERR_OK) {
        if (run->result == ERR_CORRUPT) {
            shard_doubt_disk(r->sh, &run->em);
        }
        remote_refuse(run->call, &run->em);
        recovery_session_free(r);
    } else {
        answer_batch(r, run->call);
    }
    recovery_session_unref(r);
    arena_fini(&run->em_arena);
    free(run);
}

static enum err read_batch(struct recovery_session *r, struct errmsg *em)
{
    struct buf ops;
    uint64_t n = 0;
    bool more = true;
    enum err e = ERR_OK;
    buf_init(&ops, NULL, BUF_UNLIMITED);
    while (e == ERR_OK && more && ops.n < RECOVERY_OPS_BYTES) {
        struct engine_op op;
        e = engine_history_next(r->history, &op, &more, em);
        if (e == ERR_OK && more) {
            op_encode(&op, &ops);
            n++;
        }
    }
    struct recovery_ops head = {.batch = r->core.batch,
                                .n = n,
                                .total = engine_history_total(r->history),
                                .more = more,
                                .mapping_version = r->sh->index->mapping_version,
                                .ops = buf_view(&ops)};
    buf_reset(&r->bytes);
    message_recovery_ops.answer->encode(&head, &r->bytes);
    e = e == ERR_OK && (ops.failed || r->bytes.failed) ? err_no_memory(em) : e;
    buf_fini(&ops);
    return e;
}

static void read_run(void *arg)
{
    struct read_run *run = arg;
    run->result = read_batch(run->r, &run->em);
    shard_post_back(run->r->sh, batch_read, run);
}

/* From here on every write goes to the target; those before are in the history. */
static enum err begin_operations(struct recovery_session *r, struct errmsg *em)
{
    struct shard *sh = r->sh;
    if (!replication_track(sh, r->allocation_id, r->node_id)) {
        return err_set(em, ERR_NO_SHARD, "copy [%.*s] is not on node [%.*s] any more",
                       STR_ARG(r->allocation_id), STR_ARG(r->node_id));
    }
    enum err e = engine_history_open(&r->history, sh->engine, r->from, INT64_MAX, em);
    if (e == ERR_CORRUPT) {
        shard_doubt_disk(sh, em);
    }
    if (e == ERR_OK) { /* it has the log's files open: nothing else need stay */
        recovery_commit_unref(r);
        r->from = INT64_MAX;
        recovery_hold_history(sh);
    }
    return e;
}

static enum err start_reading(struct recovery_session *r, struct remote_rq *call, bool first,
                              struct errmsg *em)
{
    enum err e = first && r->history == NULL ? begin_operations(r, em) : ERR_OK;
    struct read_run *run = e == ERR_OK ? malloc(sizeof(*run)) : NULL;
    if (run == NULL) {
        if (!first) {
            source_read(&r->core, false);
        }
        return e == ERR_OK ? err_no_memory(em) : e;
    }
    if (first) {
        source_begun(&r->core);
    }
    *run = (struct read_run){.r = r, .call = call, .em = err_in(&run->em_arena)};
    r->refs++;
    if (!executor_submit_force(r->sh->service->o.write_pool, read_run, run)) {
        read_run(run);
    }
    return ERR_OK;
}

static void serve_ops(struct recovery_session *r, struct remote_rq *call)
{
    const struct recovery_ops_wish *m = remote_body(call);
    ERR_LOCAL(em);
    enum source_answer a = source_ask_ops(&r->core, m->batch);
    if (a == SOURCE_ANSWER_LAST) {
        answer_batch(r, call);
    } else if (a != SOURCE_BEGIN && a != SOURCE_READ) {
        err_set(&em, a == SOURCE_BUSY ? ERR_REJECTED : ERR_ILLEGAL_STATE,
                "batch [%llu] of operations is not next", (unsigned long long)m->batch);
        remote_refuse(call, &em);
    } else if (start_reading(r, call, a == SOURCE_BEGIN, &em) != ERR_OK) {
        remote_refuse(call, &em);
    }
}

/* ---- the end ------------------------------------------------------------------------------------------- */

void recovery_answer_finalize(struct recovery_session *r, struct remote_rq *rq)
{
    struct recovery_finalized m = {r->core.in_sync, replication_tracker(r->sh)->global_checkpoint};
    remote_reply(rq, &m);
}

static void serve_finalize(struct recovery_session *r, struct remote_rq *call)
{
    const struct recovery_finalize *m = remote_body(call);
    ERR_LOCAL(em);
    bool in_sync = false;
    bool caught_up =
        !r->core.waits && replication_catch_up(r->sh, r->allocation_id, m->local_checkpoint, &in_sync);
    enum source_answer a = source_ask_finalize(&r->core, caught_up, in_sync);
    if (a == SOURCE_ANSWER) {
        recovery_answer_finalize(r, call);
    } else if (a == SOURCE_LATER) {
        r->waiting = call;
    } else {
        err_set(&em, a == SOURCE_BUSY ? ERR_REJECTED : ERR_NO_SHARD, "copy [%.*s] cannot be finished",
                STR_ARG(r->allocation_id));
        remote_refuse(call, &em);
    }
}

static void answer_handoff(struct recovery_session *r)
{
    const struct tracker *t = replication_tracker(r->sh);
    struct remote_rq *call = r->handover;
    struct recovery_handoff m = {.global_checkpoint = t->global_checkpoint,
                                 .v = ARENA_ARRAY(&call->arena, struct recovery_copy, t->n),
                                 .n = t->n};
    r->handover = NULL;
    if (m.v == NULL) {
        ERR_LOCAL(em);
        err_no_memory(&em);
        remote_refuse(call, &em);
        return;
    }
    for (uint32_t i = 0; i < t->n; i++) {
        m.v[i] = (struct recovery_copy){t->v[i].allocation_id, t->v[i].local_checkpoint, t->v[i].in_sync};
    }
    remote_reply(call, &m);
}

/* Requests that wait for a refresh are under way too, and nobody knows when the next one would be. */
void recovery_refresh_waiting(struct shard *sh)
{
    ERR_LOCAL(em);
    if (sh->upkeep.refresh_waiters != NULL && shard_refresh(sh, NULL, &em) == ERR_OK) {
        shard_maintain(sh);
    }
}

static void drained(void *arg)
{
    struct shard *sh = arg;
    bool leads = replication_tracker(sh) != NULL; /* else sessions end soon */
    for (struct recovery_session *r = sh->recovery->sessions; leads && r != NULL; r = r->next) {
        if (source_drained(&r->core)) {
            answer_handoff(r);
        }
    }
}

/* From here on no new write begins until a role says who the primary is: with the answer the target may become it
 * at any time. It is this copy's role that counts, not the newest state: what of that is not taken yet is not known to
 * the rest of the shard either. */
static void serve_handoff(struct recovery_session *r, struct remote_rq *call)
{
    struct shard *sh = r->sh;
    if (source_ask_handoff(&r->core, str_is(r->allocation_id, sh->role.moving_to)) != SOURCE_LATER) {
        ERR_LOCAL(em);
        err_set(&em, ERR_REJECTED, "shard [%.*s][%u] does not move to [%.*s] now", STR_ARG(sh->index->name),
                sh->number, STR_ARG(r->allocation_id));
        remote_refuse(call, &em);
        return;
    }
    r->handover = call;
    snprintf(sh->recovery->handed_to, sizeof(sh->recovery->handed_to), "%s", sh->role.moving_to);
    replication_drain(sh, drained, sh);
    recovery_refresh_waiting(sh);
}

static void serve_clean(struct recovery_session *r, struct remote_rq *call)
{
    remote_reply(call, NULL);
    recovery_session_free(r);
}

static const struct session_row {
    const struct message *message;
    void (*serve)(struct recovery_session *r, struct remote_rq *call);
    bool
        knows; /* of the copies: another copy that takes this one's place knows only what it was told, and is asked then */
} session_rows[] = {{&message_recovery_ops, serve_ops, true},
                    {&message_recovery_finalize, serve_finalize, true},
                    {&message_recovery_handoff, serve_handoff, false},
                    {&message_recovery_clean, serve_clean, false}};

static void session_call(void *arg)
{
    struct session_call *c = arg; /* gone when the call is answered */
    struct recovery_session *r = c->r;
    struct remote_rq *call = c->call;
    const struct session_row *row = session_rows;
    while (row->message != call->message) {
        row++;
    }
    if (r->over || r->sh->engine == NULL || r->sh->life.failing || replication_tracker(r->sh) == NULL) {
        recovery_refuse_no_session(call);
    } else if (row->knows && replication_handing_over(r->sh)
               && !str_is(r->allocation_id, r->sh->recovery->handed_to)) {
        ERR_LOCAL(em);
        err_set(&em, ERR_REJECTED, "shard [%.*s][%u] moves to another node", STR_ARG(r->sh->index->name),
                r->sh->number);
        remote_refuse(call, &em);
    } else {
        r->heard_ms = shard_now_ms(r->sh);
        row->serve(r, call);
    }
    recovery_session_unref(r);
}

void recovery_serve_session(void *self, struct remote_rq *rq)
{
    struct data_service *s = self;
    const uint64_t *id = remote_body(rq); /* all of these begin with it */
    struct recovery_session *r = recovery_find_session(s, *id);
    struct session_call *c = r != NULL ? ARENA_NEW(&rq->arena, struct session_call) : NULL;
    if (c == NULL) {
        recovery_refuse_no_session(rq);
        if (r != NULL) {
            recovery_session_unref(r);
        }
        return;
    }
    *c = (struct session_call){r, rq};
    shard_post_back(r->sh, session_call, c);
}
