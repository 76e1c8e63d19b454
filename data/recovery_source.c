/* Recovery, the side that gives: the primary of a shard. */
#include "data/op_bytes.h"
#include "data/recovery_int.h"
#include "data/replication.h"

#include <stdio.h>
#include <stdlib.h>

#define FINALIZE_WAIT_MS 1000 /* then the target is asked to look at its own checkpoint again */

/* A START that cannot be answered yet: the state that names the target, or makes this copy the primary, is on its
 * way. */
struct parked_start {
    struct shard *sh; /* a user of it */
    struct transport_call *call;
    struct recovery_start m;
    int64_t since_ms;
    struct parked_start *next;
};

struct chunk_call {
    struct transport_call *call;
    struct buf bytes;
    struct chunk_call *next;
};

struct session_call {
    struct recovery_session *r;
    struct transport_call *call;
};

static int64_t now_ms(const struct shard *sh)
{
    return clock_mono_ms(sh->service->o.clock);
}

static void reply(struct data_service *s, struct transport_call *call, struct buf *b)
{
    const struct transport *t = s->o.transport;
    if (b->failed) {
        struct errmsg em;
        buf_fini(b);
        err_no_memory(&em);
        t->refuse(t->self, call, &em);
        return;
    }
    t->reply(t->self, call, b);
}

static void refuse(struct data_service *s, struct transport_call *call, const struct errmsg *em)
{
    s->o.transport->refuse(s->o.transport->self, call, em);
}

static void refuse_no_session(struct data_service *s, struct transport_call *call)
{
    struct errmsg em;
    err_set(&em, ERR_NO_SHARD, "no such recovery here");
    refuse(s, call, &em);
}

/* ---- sessions ------------------------------------------------------------------------------------------ */

void recovery_session_unref(struct recovery_session *r)
{
    if (--r->refs != 0) {
        return;
    }
    struct shard *sh = r->sh;
    for (size_t i = 0; i < r->n_files; i++) {
        if (r->mapped[i]) {
            r->fs->unmap(r->fs->self, &r->maps[i]);
        }
    }
    engine_history_close(r->history);
    buf_fini(&r->bytes);
    pthread_mutex_destroy(&r->lock);
    arena_fini(&r->arena);
    free(r);
    shard_release(sh);
}

static struct recovery_session *find_session(struct data_service *s, uint64_t id)
{
    struct recoveries *all = s->recoveries;
    pthread_mutex_lock(&all->lock);
    struct recovery_session *r = all->sessions;
    while (r != NULL && r->id != id) {
        r = r->table;
    }
    if (r != NULL) {
        r->refs++;
    }
    pthread_mutex_unlock(&all->lock);
    return r;
}

/* What sessions still have to send stays in the log. */
static void hold_history(struct shard *sh)
{
    int64_t from = INT64_MAX;
    for (const struct recovery_session *r = sh->sessions; r != NULL; r = r->next) {
        from = MIN_OF(from, r->from);
    }
    if (sh->engine != NULL) {
        engine_hold_history(sh->engine, from);
    }
}

static void let_files_go(struct recovery_session *r)
{
    if (r->commit != NULL && r->sh->engine != NULL) {
        engine_commit_release(r->sh->engine, r->commit);
    }
    r->commit = NULL;
}

static void drop_session(struct recovery_session *r)
{
    struct shard *sh = r->sh;
    struct data_service *s = sh->service;
    struct recovery_session **at = &sh->sessions;
    while (*at != r) {
        at = &(*at)->next;
    }
    *at = r->next;
    pthread_mutex_lock(&s->recoveries->lock);
    for (at = &s->recoveries->sessions; *at != r;) {
        at = &(*at)->table;
    }
    *at = r->table;
    pthread_mutex_unlock(&s->recoveries->lock);
    r->over = true;
    let_files_go(r);
    hold_history(sh);
    if (r->waiting != NULL) {
        refuse_no_session(s, r->waiting);
    }
    if (r->handover != NULL) {
        refuse_no_session(s, r->handover);
    }
    r->waiting = r->handover = NULL;
    recovery_session_unref(r);
}

void recovery_drop_sessions(struct shard *sh)
{
    while (sh->sessions != NULL) {
        drop_session(sh->sessions);
    }
}

/* ---- the beginning ------------------------------------------------------------------------------------- */

static bool can_serve(const struct shard *sh)
{
    return sh->engine != NULL && !sh->failing && sh->primary && sh->tracking && !sh->handing_over;
}

static bool same_history(const struct shard *sh, const struct recovery_start *m)
{
    struct copy_data d;
    struct errmsg em;
    return m->history_uuid.n > 0 && copy_data_decode(&d, engine_user_data(sh->engine), &em) == ERR_OK
           && str_eq(d.history_uuid, m->history_uuid);
}

static bool operations_do(const struct shard *sh, const struct recovery_start *m)
{
    struct engine_stats st;
    int64_t max = engine_max_seq_no(sh->engine);
    if (m->from < 0 || m->from > max + 1 || !same_history(sh, m)
        || engine_history_from(sh->engine) > m->from) {
        return false;
    }
    engine_stats(sh->engine, &st);
    int64_t lacks = max + 1 - m->from;
    return lacks <= RECOVERY_OPS_ALWAYS || (uint64_t)lacks <= st.docs / 10;
}

static enum err pin_files(struct recovery_session *r, struct engine *e, struct errmsg *em)
{
    const struct engine_commit *c = engine_commit_acquire(e, true);
    c = c != NULL ? c : engine_commit_acquire(e, false);
    if (c == NULL) {
        return err_set(em, ERR_ILLEGAL_STATE, "the primary has no commit");
    }
    r->commit = c;
    r->from = c->local_checkpoint + 1;
    r->files = ARENA_ARRAY(&r->arena, struct engine_file, c->n_files);
    r->maps = ARENA_ARRAY(&r->arena, struct fs_map, c->n_files);
    r->mapped = ARENA_ARRAY(&r->arena, bool, c->n_files);
    bool ok = r->files != NULL && r->maps != NULL && r->mapped != NULL;
    for (size_t i = 0; ok && i < c->n_files; i++) {
        r->files[i] = c->files[i];
        r->files[i].name = arena_str(&r->arena, c->files[i].name);
        ok = r->files[i].name.p != NULL;
    }
    r->n_files = ok ? c->n_files : 0;
    return ok ? ERR_OK : err_no_memory(em);
}

static struct recovery_session *session_new(struct shard *sh, const struct recovery_start *m)
{
    struct recovery_session *r = calloc(1, sizeof(*r));
    if (r == NULL) {
        return NULL;
    }
    r->refs = 1;
    r->sh = sh;
    r->fs = sh->service->o.fs;
    r->heard_ms = now_ms(sh);
    r->from = m->from;
    pthread_mutex_init(&r->lock, NULL);
    arena_init(&r->arena, NULL, ARENA_UNLIMITED);
    buf_init(&r->bytes, NULL, BUF_UNLIMITED);
    r->allocation_id = arena_str(&r->arena, m->allocation_id);
    r->node_id = arena_str(&r->arena, m->node_id);
    struct recoveries *all = sh->service->recoveries;
    pthread_mutex_lock(&all->lock);
    r->id = ++all->next_id;
    r->table = all->sessions;
    all->sessions = r;
    pthread_mutex_unlock(&all->lock);
    r->next = sh->sessions;
    sh->sessions = r;
    shard_use(sh);
    return r;
}

static void forget_target(struct shard *sh, struct str allocation_id)
{
    for (struct recovery_session *r = sh->sessions; r != NULL; r = r->next) {
        if (str_eq(r->allocation_id, allocation_id)) {
            drop_session(r);
            return;
        }
    }
}

static enum err start(struct shard *sh, const struct recovery_start *m, struct buf *out, struct errmsg *em)
{
    forget_target(sh, m->allocation_id); /* it begins again */
    struct recovery_session *r = session_new(sh, m);
    if (r == NULL) {
        return err_no_memory(em);
    }
    bool ops = operations_do(sh, m);
    enum err e = r->allocation_id.p == NULL || r->node_id.p == NULL ? err_no_memory(em) : ERR_OK;
    e = e == ERR_OK && !ops ? pin_files(r, sh->engine, em) : e;
    if (e != ERR_OK) {
        drop_session(r);
        return e;
    }
    hold_history(sh);
    struct recovery_plan plan = {.session = r->id,
                                 .primary_term = (uint64_t)sh->term,
                                 .global_checkpoint = engine_global_checkpoint(sh->engine),
                                 .manifest = ops ? STR("") : r->commit->manifest,
                                 .ops = (uint64_t)(engine_max_seq_no(sh->engine) + 1 - r->from)};
    recovery_plan_encode(&plan, out);
    log_info(sh->service->o.log, "data", "shard [%.*s][%u] recovers at %.*s by %s", STR_ARG(sh->index->name),
             sh->number, STR_ARG(r->node_id), ops ? "operations" : "files");
    return ERR_OK;
}

/* false: not yet. */
static bool try_start(struct parked_start *p, bool last)
{
    struct shard *sh = p->sh;
    struct data_service *s = sh->service;
    struct errmsg em;
    struct buf b;
    const struct tracked *c = can_serve(sh) ? tracker_find(&sh->tracker, p->m.allocation_id) : NULL;
    if ((c == NULL || c->node.p == NULL) && !last) {
        return false;
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    if (c == NULL || c->node.p == NULL) {
        err_set(&em, ERR_NOT_PRIMARY, "shard [%.*s][%u] cannot recover from here now",
                STR_ARG(sh->index->name), sh->number);
        refuse(s, p->call, &em);
    } else if (start(sh, &p->m, &b, &em) == ERR_OK) {
        reply(s, p->call, &b);
        buf_init(&b, NULL, BUF_UNLIMITED);
    } else {
        refuse(s, p->call, &em);
    }
    buf_fini(&b);
    free(p);
    shard_release(sh);
    return true;
}

static void try_parked(struct shard *sh, bool all)
{
    for (struct parked_start **at = &sh->parked; *at != NULL;) {
        struct parked_start *p = *at, *next = p->next;
        bool last = all || now_ms(sh) - p->since_ms >= RECOVERY_PARK_MS;
        if (try_start(p, last)) {
            *at = next;
        } else {
            at = &p->next;
        }
    }
}

static void start_arrived(void *arg)
{
    struct parked_start *p = arg;
    struct shard *sh = p->sh;
    p->since_ms = now_ms(sh);
    if (!try_start(p, sh->leaving)) {
        p->next = sh->parked;
        sh->parked = p;
    }
}

void recovery_serve_start(void *arg, struct transport_call *call)
{
    struct data_service *s = arg;
    struct bytes_in in = bytes_in(call->payload);
    struct parked_start *p = calloc(1, sizeof(*p));
    struct shard_rq rq = {0};
    if (p == NULL) {
        err_no_memory(&rq.error);
        refuse(s, call, &rq.error);
        return;
    }
    recovery_start_decode(&p->m, &in);
    if (in.bad) {
        err_set(&rq.error, ERR_CORRUPT, "a recovery's request cannot be read");
    } else {
        rq.shard = (struct shard_ref){.index = p->m.index_uuid, .uuid = p->m.index_uuid, .shard = p->m.shard};
        p->sh = shard_acquire(s, &rq);
    }
    if (p->sh == NULL) {
        refuse(s, call, &rq.error);
        free(p);
        return;
    }
    p->call = call;
    shard_post_back(p->sh, start_arrived, p);
}

/* ---- files --------------------------------------------------------------------------------------------- */

/* The file's bytes; they stay as long as the session does. */
static enum err map_file(struct recovery_session *r, uint32_t i, struct fs_map *out, struct errmsg *em)
{
    struct arena scratch;
    enum err e = ERR_OK;
    pthread_mutex_lock(&r->lock);
    if (!r->mapped[i]) {
        arena_init(&scratch, NULL, ARENA_UNLIMITED);
        struct str path = arena_printf(&scratch, "%.*s/%.*s", STR_ARG(r->sh->dir), STR_ARG(r->files[i].name));
        e = path.p == NULL ? err_no_memory(em) : r->fs->map(r->fs->self, path.p, &r->maps[i], em);
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
    if (map.n != r->files[m->file].bytes || m->offset > map.n || m->length > map.n - m->offset) {
        return err_set(em, ERR_CORRUPT, "file [%.*s] of the source is of another size",
                       STR_ARG(r->files[m->file].name));
    }
    buf_add(out, map.p + m->offset, m->length);
    return out->failed ? err_no_memory(em) : ERR_OK;
}

/* In the order they came: what is over the limit waits for the tick. */
static void send_chunk(struct data_service *s, struct transport_call *call, struct buf *b)
{
    struct recoveries *all = s->recoveries;
    struct chunk_call *c = malloc(sizeof(*c));
    if (c == NULL) {
        reply(s, call, b);
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
        reply(s, c->call, &c->bytes);
        free(c);
    }
}

void recovery_serve_chunk(void *arg, struct transport_call *call)
{
    struct data_service *s = arg;
    struct bytes_in in = bytes_in(call->payload);
    struct recovery_chunk m;
    struct errmsg em;
    struct buf b;
    recovery_chunk_decode(&m, &in);
    struct recovery_session *r = in.bad ? NULL : find_session(s, m.session);
    if (r == NULL) {
        refuse_no_session(s, call);
        return;
    }
    r->heard_ms = clock_mono_ms(s->o.clock);
    buf_init(&b, NULL, BUF_UNLIMITED);
    if (read_chunk(r, &m, &b, &em) == ERR_OK) {
        send_chunk(s, call, &b);
    } else {
        buf_fini(&b);
        refuse(s, call, &em);
    }
    recovery_session_unref(r);
}

/* ---- operations ---------------------------------------------------------------------------------------- */

static void answer_batch(struct recovery_session *r, struct transport_call *call)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_add(&b, r->bytes.p, r->bytes.n);
    reply(r->sh->service, call, &b);
}

struct read_run {
    struct recovery_session *r; /* a reference */
    struct transport_call *call;
    enum err result;
    struct errmsg em;
};

static void batch_read(void *arg)
{
    struct read_run *run = arg;
    struct recovery_session *r = run->r;
    r->reading = false;
    if (r->over) {
        refuse_no_session(r->sh->service, run->call);
    } else if (run->result != ERR_OK) {
        refuse(r->sh->service, run->call, &run->em);
        drop_session(r);
    } else {
        r->batch++;
        answer_batch(r, run->call);
    }
    recovery_session_unref(r);
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
    struct recovery_ops head = {.batch = r->batch,
                                .n = n,
                                .total = engine_history_total(r->history),
                                .more = more,
                                .mapping_version = r->sh->index->mapping_version};
    buf_reset(&r->bytes);
    recovery_ops_encode(&head, &r->bytes);
    buf_add(&r->bytes, ops.p, ops.n);
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
    if (e == ERR_OK) { /* it has the log's files open: nothing else need stay */
        let_files_go(r);
        r->from = INT64_MAX;
        hold_history(sh);
    }
    return e;
}

static void serve_ops(struct recovery_session *r, struct transport_call *call, struct bytes_in *in)
{
    struct data_service *s = r->sh->service;
    struct recovery_ops_wish m;
    struct errmsg em;
    recovery_ops_wish_decode(&m, in);
    if (!in->bad && !r->reading && m.batch + 1 == r->batch) {
        answer_batch(r, call); /* the answer was lost */
        return;
    }
    enum err e = ERR_OK;
    if (in->bad || r->reading || m.batch != r->batch) {
        e = err_set(&em, r->reading ? ERR_REJECTED : ERR_ILLEGAL_STATE,
                    "batch [%llu] of operations is not next", (unsigned long long)m.batch);
    }
    e = e == ERR_OK && r->history == NULL ? begin_operations(r, &em) : e;
    struct read_run *run = e == ERR_OK ? malloc(sizeof(*run)) : NULL;
    e = e == ERR_OK && run == NULL ? err_no_memory(&em) : e;
    if (e != ERR_OK) {
        refuse(s, call, &em);
        return;
    }
    *run = (struct read_run){.r = r, .call = call};
    r->refs++;
    r->reading = true;
    if (!executor_submit_force(s->o.write_pool, read_run, run)) {
        read_run(run);
    }
}

/* ---- the end ------------------------------------------------------------------------------------------- */

static void answer_finalize(struct recovery_session *r, struct transport_call *call)
{
    struct buf b;
    struct recovery_finalized m = {r->in_sync, r->sh->tracker.global_checkpoint};
    buf_init(&b, NULL, BUF_UNLIMITED);
    recovery_finalized_encode(&m, &b);
    reply(r->sh->service, call, &b);
}

static void serve_finalize(struct recovery_session *r, struct transport_call *call, struct bytes_in *in)
{
    struct recovery_finalize m;
    struct errmsg em;
    recovery_finalize_decode(&m, in);
    if (in->bad || r->waiting != NULL
        || !replication_catch_up(r->sh, r->allocation_id, m.local_checkpoint, &r->in_sync)) {
        err_set(&em, r->waiting != NULL ? ERR_REJECTED : ERR_NO_SHARD, "copy [%.*s] cannot be finished",
                STR_ARG(r->allocation_id));
        refuse(r->sh->service, call, &em);
        return;
    }
    if (r->in_sync) {
        answer_finalize(r, call);
    } else {
        r->waiting = call; /* the writes that are under way may bring it up */
    }
}

static void answer_handoff(struct recovery_session *r)
{
    struct tracker *t = &r->sh->tracker;
    struct recovery_handoff head = {t->global_checkpoint, t->n};
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    recovery_handoff_encode(&head, &b);
    for (uint32_t i = 0; i < t->n; i++) {
        struct recovery_copy c = {t->v[i].allocation_id, t->v[i].local_checkpoint, t->v[i].in_sync};
        recovery_copy_encode(&c, &b);
    }
    struct transport_call *call = r->handover;
    r->handover = NULL;
    reply(r->sh->service, call, &b);
}

/* Requests that wait for a refresh are under way too, and nobody knows when the next one would be. */
static void refresh_for_those_that_wait(struct shard *sh)
{
    struct errmsg em;
    if (sh->refresh_waiters != NULL && engine_refresh(sh->engine, NULL, &em) == ERR_OK) {
        sh->last_refresh_ms = now_ms(sh);
        shard_maintain(sh);
    }
}

static void drained(void *arg)
{
    struct shard *sh = arg;
    for (struct recovery_session *r = sh->sessions; r != NULL; r = r->next) {
        if (r->handover != NULL) {
            answer_handoff(r);
        }
    }
}

/* From here on no new write begins until a role says who the primary is: with the answer the target may become it
 * at any time. It is this copy's role that counts, not the newest state: what of that is not taken yet is not known to
 * the rest of the shard either. */
static void serve_handoff(struct recovery_session *r, struct transport_call *call)
{
    struct shard *sh = r->sh;
    if (!r->in_sync || r->handover != NULL || !str_is(r->allocation_id, sh->moving_to)) {
        struct errmsg em;
        err_set(&em, ERR_REJECTED, "shard [%.*s][%u] does not move to [%.*s] now", STR_ARG(sh->index->name),
                sh->number, STR_ARG(r->allocation_id));
        refuse(sh->service, call, &em);
        return;
    }
    r->handover = call;
    snprintf(sh->handed_to, sizeof(sh->handed_to), "%s", sh->moving_to);
    replication_drain(sh, drained, sh);
    refresh_for_those_that_wait(sh);
}

static void serve_clean(struct recovery_session *r, struct transport_call *call)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    reply(r->sh->service, call, &b);
    drop_session(r);
}

static void session_call(void *arg)
{
    struct session_call *c = arg;
    struct recovery_session *r = c->r;
    struct bytes_in in = bytes_in(c->call->payload);
    if (r->over || r->sh->engine == NULL || r->sh->failing || !r->sh->tracking) {
        refuse_no_session(r->sh->service, c->call);
    } else {
        r->heard_ms = now_ms(r->sh);
        switch (c->call->kind) {
        case MESSAGE_RECOVERY_OPS:
            serve_ops(r, c->call, &in);
            break;
        case MESSAGE_RECOVERY_FINALIZE:
            serve_finalize(r, c->call, &in);
            break;
        case MESSAGE_RECOVERY_HANDOFF:
            serve_handoff(r, c->call);
            break;
        default:
            serve_clean(r, c->call);
        }
    }
    recovery_session_unref(r);
    free(c);
}

void recovery_serve_session(void *arg, struct transport_call *call)
{
    struct data_service *s = arg;
    struct bytes_in in = bytes_in(call->payload);
    uint64_t id = get_varint(&in);
    struct recovery_session *r = in.bad ? NULL : find_session(s, id);
    struct session_call *c = r != NULL ? malloc(sizeof(*c)) : NULL;
    if (c == NULL) {
        refuse_no_session(s, call);
        if (r != NULL) {
            recovery_session_unref(r);
        }
        return;
    }
    *c = (struct session_call){r, call};
    shard_post_back(r->sh, session_call, c);
}

/* ---- when something has changed ------------------------------------------------------------------------ */

/* true: it is over. */
static bool step_session(struct recovery_session *r, bool tick)
{
    struct shard *sh = r->sh;
    const struct tracked *c = tracker_find(&sh->tracker, r->allocation_id);
    int64_t silent = now_ms(sh) - r->heard_ms;
    if (c == NULL || c->node.p == NULL || silent >= RECOVERY_SESSION_MS) {
        return true;
    }
    if (r->waiting != NULL && (c->in_sync || (tick && silent >= FINALIZE_WAIT_MS))) {
        struct transport_call *call = r->waiting;
        r->in_sync = c->in_sync;
        r->waiting = NULL;
        answer_finalize(r, call);
    }
    if (r->handover != NULL) {
        refresh_for_those_that_wait(sh);
    }
    return false;
}

void recovery_step_sessions(struct shard *sh, bool tick)
{
    if (sh->handing_over && (!sh->primary || strcmp(sh->moving_to, sh->handed_to) != 0)) {
        replication_undrain(sh); /* as the state says: done, or called off */
    }
    if (sh->engine == NULL || sh->failing || !sh->primary || !sh->tracking || sh->leaving) {
        recovery_drop_sessions(sh);
    }
    for (struct recovery_session *r = sh->sessions, *next; r != NULL; r = next) {
        next = r->next;
        if (step_session(r, tick)) {
            drop_session(r);
        }
    }
    try_parked(sh, sh->leaving);
}

void recovery_abandon_sessions(struct shard *sh)
{
    while (sh->sessions != NULL) {
        sh->sessions->refs = 1;
        drop_session(sh->sessions);
    }
    try_parked(sh, true);
}
