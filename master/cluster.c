/* The applied state, and the way of requests to the master. */
#include "master/cluster_int.h"

#include "common/base/bytes.h"
#include "master/meta_bytes.h"
#include "proto/err_bytes.h"

#include <stdlib.h>

#define EVENT_TIMEOUT_MS 15000 /* then it is told to whoever is master */

static int64_t now_ms(const struct cluster *c)
{
    return clock_mono_ms(c->o.clock);
}

void cluster_under_way(struct cluster *c)
{
    c->under_way++;
}

void cluster_left(struct cluster *c)
{
    c->under_way--;
    if (c->stopping && c->under_way == 0 && c->stopped != NULL) {
        void (*stopped)(void *) = c->stopped;
        c->stopped = NULL;
        stopped(c->stopped_arg);
    }
}

/* ---- the applied state ---- */

struct cluster_state *cluster_state(struct cluster *c)
{
    pthread_mutex_lock(&c->lock);
    struct cluster_state *s = cluster_state_ref(c->state);
    pthread_mutex_unlock(&c->lock);
    return s;
}

static void set_state(struct cluster *c, struct cluster_state *s) /* takes the reference */
{
    pthread_mutex_lock(&c->lock);
    struct cluster_state *old = c->state;
    c->state = s;
    pthread_mutex_unlock(&c->lock);
    cluster_state_unref(old);
}

/* The applied state, but that nobody leads: the same version, for readers on this node only. */
static void show_no_master(struct cluster *c)
{
    struct state_builder b;
    if (c->state->nodes == NULL || c->state->nodes->master.p == NULL || !state_builder_init(&b, c->state)) {
        return;
    }
    struct nodes_part *p = nodes_part_copy(c->state->nodes, 0);
    if (p == NULL) {
        state_builder_drop(&b);
        return;
    }
    p->master = STR_NULL;
    state_put_nodes(&b, p);
    b.next->version--;
    struct cluster_state *s = state_builder_seal(&b, c->state->state_uuid);
    if (s != NULL) {
        set_state(c, s);
    }
}

/* ---- journeys ---- */

static void travel(struct cluster *c, struct journey *j);

static void arrive(struct journey *j, const struct errmsg *error)
{
    struct cluster *c = j->c;
    if (j->rq != NULL) {
        if (error != NULL) {
            j->rq->error = *error;
        }
        j->rq->done(j->rq);
    } else if (j->pending != NULL) {
        if (error != NULL) {
            j->pending->error = *error;
        }
        j->pending->done(j->pending);
    } else if (j->event_done != NULL) {
        j->event_done(j->event_arg, error);
    }
    arena_fini(&j->arena);
    free(j);
    cluster_left(c);
}

static void wait(struct cluster *c, struct journey *j)
{
    j->next = c->waiting;
    c->waiting = j;
    cluster_set_timer(c, j->deadline_ms);
}

/* What the master answered is true here once this version is applied. */
static void await_version(struct journey *j, uint64_t version)
{
    struct cluster *c = j->c;
    if (c->state->version >= version) {
        arrive(j, j->error.n > 0 ? &j->error : NULL);
        return;
    }
    if (c->stopping) { /* no state comes any more */
        err_set(&j->error, ERR_NODE_CLOSED, "this node is stopping");
        arrive(j, &j->error);
        return;
    }
    j->version = version;
    wait(c, j);
}

/* Has no master taken it? Then the next one may. */
static bool worth_retrying(enum err e)
{
    return e == ERR_NOT_MASTER || e == ERR_FAILED_TO_COMMIT || e == ERR_NODE_NOT_CONNECTED
           || e == ERR_NODE_DISCONNECTED || e == ERR_NODE_CLOSED || e == ERR_REJECTED;
}

/* What a shard has to say: it has no end, and saying it twice does nothing more. */
static bool is_event(const struct journey *j)
{
    return j->rq == NULL && j->pending == NULL;
}

static void again(struct journey *j)
{
    struct cluster *c = j->c;
    err_clear(&j->error);
    if (j->rq != NULL) {
        err_clear(&j->rq->error);
    }
    j->version = 0;
    wait(c, j);
    cluster_set_timer(c, now_ms(c) + RETRY_MS);
}

static void finished_here(struct task *t, uint64_t version)
{
    struct journey *j = t->user;
    struct errmsg em = t->error;
    task_free(t);
    if (em.n > 0 && worth_retrying(err_code(&em)) && !j->c->stopping) {
        again(j);
        return;
    }
    j->error = em;
    if (em.n > 0) {
        arrive(j, &j->error);
    } else {
        await_version(j, version);
    }
}

static void answered(struct transport_rq *rq)
{
    struct journey *j = rq->user;
    struct cluster *c = j->c;
    uint64_t version = 0;
    enum err e = err_code(&rq->error);
    j->error = rq->error;
    if (e == ERR_OK && j->rq != NULL) {
        e = meta_answer_decode(j->rq, &version, rq->answer, &j->error);
        if (e == ERR_OK && j->rq->error.n > 0) {
            e = err_code(&j->rq->error);
            j->error = j->rq->error;
        }
    } else if (e == ERR_OK && j->pending != NULL) {
        e = pending_decode(j->pending, &version, rq->answer, &j->error);
        version = j->pending->at_once ? 0 : version;
    } else if (e == ERR_OK) {
        struct bytes_in in = bytes_in(rq->answer);
        version = get_varint(&in);
        e = in.bad ? err_set(&j->error, ERR_CORRUPT, "an answer of the master cannot be read") : ERR_OK;
    }
    buf_fini(&rq->answer_memory);
    if (e == ERR_OK) {
        await_version(j, version);
    } else if ((worth_retrying(e) || (e == ERR_RECEIVE_TIMEOUT && is_event(j))) && !c->stopping) {
        again(j);
    } else {
        arrive(j, &j->error);
    }
}

static void put_event(struct buf *b, const struct shard_event *e)
{
    put_u8(b, (uint8_t)e->kind);
    put_str(b, e->index_uuid);
    put_varint(b, e->shard);
    put_str(b, e->allocation_id);
    put_varint(b, e->primary_term);
    put_str(b, e->why);
}

static void send_to_master(struct cluster *c, struct journey *j)
{
    struct transport_peer to = {c->master.transport_address, c->master.ephemeral_id};
    j->transport = (struct transport_rq){.cls = TRANSPORT_DATA, .on = c->o.loop, .done = answered, .user = j};
    buf_init(&j->transport.payload, NULL, BUF_UNLIMITED);
    if (j->rq != NULL) {
        j->transport.kind = MESSAGE_META;
        meta_request_encode(j->rq, &j->transport.payload);
    } else if (j->pending != NULL) {
        j->transport.kind = MESSAGE_PENDING_TASKS;
    } else {
        static const uint16_t kinds[] = {MESSAGE_SHARD_STARTED, MESSAGE_SHARD_FAILED, MESSAGE_MARK_STALE};
        j->transport.kind = kinds[j->event.kind];
        put_event(&j->transport.payload, &j->event);
    }
    /* The master that was asked may be gone without a word. */
    j->transport.timeout_ms = is_event(j) ? EVENT_TIMEOUT_MS : MAX_OF(j->deadline_ms - now_ms(c), 1);
    c->o.transport->send(c->o.transport->self, &to, &j->transport);
}

static void travel(struct cluster *c, struct journey *j)
{
    if (c->mode == QUORUM_LEADER && j->pending != NULL) {
        pending_fill(j->pending, c);
        await_version(j, j->pending->at_once ? 0 : pending_version(c));
    } else if (c->mode == QUORUM_LEADER) {
        struct task *t = task_new(j->rq != NULL ? TASK_META : TASK_SHARD);
        if (t == NULL) {
            err_no_memory(&j->error);
            arrive(j, &j->error);
            return;
        }
        t->rq = j->rq;
        t->event = j->event;
        t->done = finished_here;
        t->user = j;
        batch_add(c, t);
    } else if (c->master.id.p != NULL) {
        send_to_master(c, j);
    } else {
        wait(c, j);
    }
}

static void no_master(struct journey *j)
{
    err_set(&j->error, ERR_NO_MASTER, "no master is known");
    j->error.n = 1;
    arrive(j, &j->error);
}

/* Those whose version is there arrive, those that wait for a master set out, those whose time is up give
 * up. */
static void look_at_waiting(struct cluster *c)
{
    struct journey *list = c->waiting;
    int64_t now = now_ms(c);
    c->waiting = NULL;
    while (list != NULL) {
        struct journey *j = list;
        list = j->next;
        if (c->stopping) {
            err_set(&j->error, ERR_NODE_CLOSED, "this node is stopping");
            arrive(j, &j->error);
        } else if (j->version != 0 && c->state->version >= j->version) {
            arrive(j, j->error.n > 0 ? &j->error : NULL);
        } else if (now >= j->deadline_ms) {
            if (j->version != 0) {
                arrive(j, j->error.n > 0 ? &j->error : NULL); /* done, but this node lags behind */
            } else {
                no_master(j);
            }
        } else if (j->version == 0 && (c->mode == QUORUM_LEADER || c->master.id.p != NULL)) {
            travel(c, j);
        } else {
            wait(c, j);
        }
    }
}

static void take_inbox(void *arg)
{
    struct cluster *c = arg;
    pthread_mutex_lock(&c->lock);
    struct journey *list = c->inbox, *in_order = NULL;
    c->inbox = NULL;
    c->inbox_posted = false;
    pthread_mutex_unlock(&c->lock);
    while (list != NULL) {
        struct journey *next = list->next;
        list->next = in_order;
        in_order = list;
        list = next;
    }
    while (in_order != NULL) {
        struct journey *j = in_order;
        in_order = j->next;
        cluster_under_way(c);
        if (c->stopping) {
            err_set(&j->error, ERR_NODE_CLOSED, "this node is stopping");
            arrive(j, &j->error);
        } else {
            travel(c, j);
        }
    }
}

static void post(struct cluster *c, struct journey *j)
{
    pthread_mutex_lock(&c->lock);
    j->next = c->inbox;
    c->inbox = j;
    bool first = !c->inbox_posted;
    c->inbox_posted = true;
    pthread_mutex_unlock(&c->lock);
    if (first) {
        executor_submit_force(c->o.loop, take_inbox, c);
    }
}

static struct journey *journey_new(struct cluster *c)
{
    struct journey *j = calloc(1, sizeof(*j));
    if (j != NULL) {
        j->c = c;
        j->deadline_ms = INT64_MAX;
        arena_init(&j->arena, NULL, ARENA_UNLIMITED);
    }
    return j;
}

void cluster_submit(struct cluster *c, struct meta_request *rq)
{
    struct journey *j = journey_new(c);
    if (j == NULL) {
        err_no_memory(&rq->error);
        rq->done(rq);
        return;
    }
    j->rq = rq;
    j->deadline_ms = now_ms(c) + (rq->timeout_ms > 0 ? rq->timeout_ms : MASTER_TIMEOUT_DEFAULT_MS);
    post(c, j);
}

void cluster_pending(struct cluster *c, struct pending_rq *rq)
{
    struct journey *j = journey_new(c);
    if (j == NULL) {
        err_no_memory(&rq->error);
        rq->done(rq);
        return;
    }
    j->pending = rq;
    j->deadline_ms = now_ms(c) + (rq->timeout_ms > 0 ? rq->timeout_ms : MASTER_TIMEOUT_DEFAULT_MS);
    post(c, j);
}

static bool keep_event(struct shard_event *to, const struct shard_event *from, struct arena *a)
{
    *to = *from;
    to->index_uuid = arena_str(a, from->index_uuid);
    to->allocation_id = arena_str(a, from->allocation_id);
    to->why = arena_str(a, from->why);
    return to->index_uuid.p != NULL && to->allocation_id.p != NULL && to->why.p != NULL;
}

void cluster_shard_event(struct cluster *c, const struct shard_event *event,
                         void (*done)(void *arg, const struct errmsg *error), void *arg)
{
    struct journey *j = journey_new(c);
    struct errmsg em;
    if (j == NULL || !keep_event(&j->event, event, &j->arena)) {
        if (j != NULL) {
            arena_fini(&j->arena);
            free(j);
        }
        err_no_memory(&em);
        if (done != NULL) {
            done(arg, &em);
        }
        return;
    }
    j->event_done = done;
    j->event_arg = arg;
    post(c, j);
}

/* ---- what other nodes ask of the master ---- */

struct remote {
    struct cluster *c;
    struct transport_call *call;
    struct meta_request rq;
    bool has_rq;
};

static void remote_end(struct remote *r, struct buf *answer, const struct errmsg *error)
{
    const struct transport *tr = r->c->o.transport;
    if (error != NULL) {
        tr->refuse(tr->self, r->call, error);
    } else {
        tr->reply(tr->self, r->call, answer);
    }
    if (r->has_rq) {
        meta_request_fini(&r->rq);
    }
    cluster_left(r->c);
    free(r);
}

static void remote_done(struct task *t, uint64_t version)
{
    struct remote *r = t->user;
    struct errmsg em = t->error;
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    task_free(t);
    if (em.n > 0 && (!r->has_rq || worth_retrying(err_code(&em)))) {
        remote_end(r, NULL, &em);
        return;
    }
    if (r->has_rq) {
        r->rq.error = em;
        meta_answer_encode(&r->rq, version, &b);
    } else {
        put_varint(&b, version);
    }
    remote_end(r, &b, NULL);
}

static void unused_done(struct meta_request *rq)
{
    (void)rq; /* the task's done() answers */
}

static enum err remote_task(struct remote *r, struct task **out, struct errmsg *em)
{
    struct bytes_in in = bytes_in(r->call->payload);
    bool meta = r->call->kind == MESSAGE_META;
    struct task *t = task_new(meta ? TASK_META : TASK_SHARD);
    *out = t;
    if (t == NULL) {
        return err_no_memory(em);
    }
    if (meta) {
        meta_request_init(&r->rq, META_CREATE_INDEX, unused_done, NULL);
        r->has_rq = true;
        t->rq = &r->rq;
        return meta_request_decode(&r->rq, r->call->payload, em);
    }
    uint8_t kind = get_u8(&in);
    struct shard_event e = {.kind = (enum shard_event_kind)kind, .index_uuid = get_str(&in)};
    e.shard = (uint32_t)get_varint(&in);
    e.allocation_id = get_str(&in);
    e.primary_term = get_varint(&in);
    e.why = get_str(&in);
    if (in.bad || kind > SHARD_EVENT_STALE) {
        return err_set(em, ERR_CORRUPT, "a word on a shard cannot be read");
    }
    return keep_event(&t->event, &e, &t->arena) ? ERR_OK : err_no_memory(em);
}

static void receive(void *arg, struct transport_call *call)
{
    struct cluster *c = arg;
    const struct transport *tr = c->o.transport;
    struct errmsg em;
    struct task *t = NULL;
    struct remote *r = c->mode == QUORUM_LEADER && !c->stopping ? calloc(1, sizeof(*r)) : NULL;
    if (r == NULL) {
        err_set(&em, ERR_NOT_MASTER, "this node is not the master");
        tr->refuse(tr->self, call, &em);
        return;
    }
    r->c = c;
    r->call = call;
    cluster_under_way(c);
    if (remote_task(r, &t, &em) != ERR_OK) {
        if (t != NULL) {
            task_free(t);
        }
        remote_end(r, NULL, &em);
        return;
    }
    t->done = remote_done;
    t->user = r;
    batch_add(c, t);
}

/* What copies of these shards are on this node's disk? On the compute pool. */
static void list_copies(void *arg, struct transport_call *call)
{
    struct cluster *c = arg;
    const struct transport *tr = c->o.transport;
    struct bytes_in in = bytes_in(call->payload);
    struct arena scratch;
    struct errmsg em;
    struct found_copy *found;
    uint32_t n_found;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    size_t n = get_count(&in, 2);
    struct shard_id *shards = ARENA_ARRAY(&scratch, struct shard_id, n);
    for (size_t i = 0; shards != NULL && i < n; i++) {
        shards[i].uuid = get_str(&in);
        shards[i].shard = (uint32_t)get_varint(&in);
    }
    enum err e = shards == NULL ? err_no_memory(&em)
                 : in.bad       ? err_set(&em, ERR_CORRUPT, "a list of shards cannot be read")
                                : ERR_OK;
    e = e == ERR_OK ? c->o.list_copies(c->o.self, shards, (uint32_t)n, &scratch, &found, &n_found, &em) : e;
    if (e != ERR_OK) {
        tr->refuse(tr->self, call, &em);
    } else {
        struct buf b;
        buf_init(&b, NULL, BUF_UNLIMITED);
        put_varint(&b, n_found);
        for (uint32_t i = 0; i < n_found; i++) {
            put_str(&b, found[i].index_uuid);
            put_varint(&b, found[i].shard);
            put_str(&b, found[i].allocation_id);
            put_varint(&b, found[i].matching_bytes);
            put_u8(&b, found[i].damaged);
        }
        tr->reply(tr->self, call, &b);
    }
    arena_fini(&scratch);
}

/* ---- what coordination tells ---- */

static void tell_watchers(struct cluster *c)
{
    for (uint32_t i = 0; i < c->n_watchers && !c->stopping; i++) {
        c->watchers[i].watch(c->watchers[i].arg, c->state);
    }
}

static void stop_now(void *arg);

static void on_mode(void *self, enum quorum_mode mode, uint64_t term, const struct node_meta *master)
{
    struct cluster *c = self;
    bool led = c->mode == QUORUM_LEADER;
    c->mode = mode;
    c->term = term;
    arena_reset(&c->master_arena);
    c->master = (struct node_meta){0};
    if (master != NULL && !node_meta_copy(&c->master, master, &c->master_arena)) {
        c->master = (struct node_meta){0};
    }
    if (led && mode != QUORUM_LEADER) {
        batch_stop_leading(c);
    }
    if (mode == QUORUM_LEADER) {
        c->disks_at_ms = now_ms(c); /* copies are placed by it */
        c->n_disks = 0;
        cluster_set_timer(c, c->disks_at_ms);
        wait_clock_begin(&c->wait_clock, quorum_accepted(quorum_driver_core(c->driver)), now_ms(c),
                         clock_wall_ms(c->o.clock));
        batch_begin_leading(c);
        log_info(c->o.log, "master", "elected master of term %llu", (unsigned long long)term);
    } else if (mode == QUORUM_CANDIDATE) {
        show_no_master(c);
        tell_watchers(c);
        log_info(c->o.log, "master", "no master in term %llu", (unsigned long long)term);
    } else {
        log_info(c->o.log, "master", "master of term %llu is %.*s", (unsigned long long)term,
                 STR_ARG(c->master.name));
    }
    look_at_waiting(c);
    if (mode == QUORUM_FOLLOWER && c->leaving != NULL) {
        timer_cancel(c->o.timers, c->leaving);
        c->leaving = NULL;
        executor_submit_force(c->o.loop, stop_now, c); /* not from within coordination */
    }
}

static void applied(void *arg);

static void applied_on_loop(void *arg)
{
    struct cluster *c = arg;
    c->fresh = false;
    int64_t arrived = quorum_driver_arrived_ns(c->driver, c->applying->version);
    c->took_us = arrived != 0 ? (c->o.clock->mono_ns(c->o.clock->self) - arrived) / 1000 : -1;
    set_state(c, c->applying);
    c->applying = NULL;
    if (c->mode == QUORUM_CANDIDATE) {
        show_no_master(c);
    }
    void (*done)(void *) = c->apply_done;
    done(c->apply_arg);
    tell_watchers(c);
    look_at_waiting(c);
    cluster_left(c);
}

static void applied(void *arg)
{
    struct cluster *c = arg;
    executor_submit_force(c->o.loop, applied_on_loop, c);
}

static void on_apply(void *self, struct cluster_state *state, void (*done)(void *arg), void *arg)
{
    struct cluster *c = self;
    c->applying = cluster_state_ref(state);
    c->apply_done = done;
    c->apply_arg = arg;
    cluster_under_way(c);
    c->o.apply(c->o.self, state, applied, c);
}

static void on_change(void *self, enum quorum_change what, const struct node_meta *node, struct str why,
                      const struct str_set *config)
{
    struct cluster *c = self;
    if (what == CHANGE_VOTERS) {
        batch_want_config(c, config);
        return;
    }
    if (what == CHANGE_JOINED) {
        batch_forget_found(c, node->id, STR_NULL, 0); /* another process, perhaps over other files */
    }
    log_info(c->o.log, "master", "node %.*s %s %.*s", STR_ARG(node->name),
             what == CHANGE_JOINED ? "joins" : "left:", STR_ARG(why));
    batch_want_nodes(c, node, what == CHANGE_JOINED, why);
}

static void on_published(void *self, uint64_t version, const struct errmsg *error)
{
    struct cluster *c = self;
    batch_published(c, version, error);
    cluster_set_timer(c, batch_wake(c));
}

static void on_acked(void *self, uint64_t version, bool all)
{
    batch_acked(self, version, all);
}

/* ---- time ---- */

static void tick(void *arg)
{
    struct cluster *c = arg;
    c->timer = NULL;
    c->timer_ms = INT64_MAX;
    batch_tick(c);
    disk_watch_tick(c);
    look_at_waiting(c);
    cluster_set_timer(c, batch_wake(c));
    if (c->mode == QUORUM_LEADER && c->disks_asked == 0) { /* else the last answer sets it */
        cluster_set_timer(c, c->disks_at_ms);
    }
}

void cluster_set_timer(struct cluster *c, int64_t mono_ms)
{
    if (mono_ms == INT64_MAX || c->stopping || (c->timer != NULL && c->timer_ms <= mono_ms)) {
        return;
    }
    if (c->timer != NULL) {
        timer_cancel(c->o.timers, c->timer);
    }
    c->timer_ms = mono_ms;
    c->timer = timer_start(c->o.timers, MAX_OF(mono_ms - now_ms(c), 0), tick, c);
}

/* ---- life ---- */

/* A node that knows nothing begins with no configuration at all: it can neither vote nor be elected before it
 * has one. */
static enum err empty_state(const struct cluster_opts *o, struct cluster_state **out, struct errmsg *em)
{
    struct state_builder b;
    struct coordination_part *p = coordination_part_new();
    if (p == NULL || !state_builder_init(&b, NULL)) {
        state_part_unref(p != NULL ? &p->part : NULL);
        return err_no_memory(em);
    }
    state_put_coordination(&b, p);
    bool ok = state_set_names(&b, o->cluster_name, STR(""));
    b.next->version--;
    *out = ok ? state_builder_seal(&b, STR("_na_")) : NULL;
    if (*out == NULL) {
        state_builder_drop(&b);
        return err_no_memory(em);
    }
    return ERR_OK;
}

enum err cluster_new(struct cluster **out, const struct cluster_opts *opts, struct errmsg *em)
{
    struct cluster *c = calloc(1, sizeof(*c));
    struct cluster_state *accepted = NULL;
    uint64_t term = 0;
    *out = NULL;
    if (c == NULL) {
        return err_no_memory(em);
    }
    c->o = *opts;
    c->fresh = true;
    c->reroute_at_ms = c->timer_ms = INT64_MAX;
    pthread_mutex_init(&c->lock, NULL);
    arena_init(&c->master_arena, NULL, ARENA_UNLIMITED);
    arena_init(&c->config_arena, NULL, ARENA_UNLIMITED);
    arena_init(&c->found_arena, NULL, ARENA_UNLIMITED);
    enum err e = state_log_open(&c->log, opts->fs, opts->dir, &term, &accepted, em);
    e = e == ERR_OK && accepted == NULL ? empty_state(opts, &accepted, em) : e;
    if (e == ERR_OK) {
        struct quorum_driver_opts d = {.loop = opts->loop,
                                       .timers = opts->timers,
                                       .clock = opts->clock,
                                       .transport = opts->transport,
                                       .disk = opts->disk,
                                       .disk_log = c->log,
                                       .log = opts->log,
                                       .events = {c, on_mode, on_apply, on_change, on_published, on_acked},
                                       .quorum = {.local = opts->local,
                                                  .cluster_name = opts->cluster_name,
                                                  .term = term,
                                                  .accepted = accepted,
                                                  .initial_masters = opts->initial_masters,
                                                  .n_initial_masters = opts->n_initial_masters,
                                                  .rng = opts->rng,
                                                  .settings = opts->settings}};
        e = quorum_driver_new(&c->driver, &d, em);
        c->state =
            cluster_state_ref(accepted); /* until something is committed: what was known, led by nobody */
        show_no_master(c);
    }
    cluster_state_unref(accepted);
    if (e != ERR_OK) {
        cluster_free(c);
        return e;
    }
    static const enum message_kind kinds[] = {MESSAGE_META, MESSAGE_SHARD_STARTED, MESSAGE_SHARD_FAILED,
                                              MESSAGE_MARK_STALE};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        opts->transport->serve(opts->transport->self, (uint16_t)kinds[i], opts->loop, receive, c);
    }
    opts->transport->serve(opts->transport->self, MESSAGE_DISK_USAGE, opts->compute, disk_watch_receive, c);
    opts->transport->serve(opts->transport->self, MESSAGE_PENDING_TASKS, opts->loop, pending_receive, c);
    opts->transport->serve(opts->transport->self, MESSAGE_LIST_COPIES, opts->compute, list_copies, c);
    *out = c;
    return ERR_OK;
}

static void start_on_loop(void *arg)
{
    struct cluster *c = arg;
    quorum_driver_start(c->driver, c->o.seeds, c->o.n_seeds);
}

void cluster_start(struct cluster *c)
{
    executor_submit_force(c->o.loop, start_on_loop, c);
}

static void driver_stopped(void *arg)
{
    cluster_left(arg);
}

static void stop_now(void *arg)
{
    struct cluster *c = arg;
    if (c->stopping) { /* time was up, and another leads */
        return;
    }
    c->stopping = true;
    c->leaving = NULL;
    c->mode = QUORUM_CANDIDATE;
    if (c->timer != NULL) {
        timer_cancel(c->o.timers, c->timer);
        c->timer = NULL;
    }
    cluster_under_way(c);
    quorum_driver_stop(c->driver, driver_stopped, c);
    batch_stop_leading(c);
    if (c->batch != NULL && !quorum_publishing(quorum_driver_core(c->driver))) {
        /* computed() will see that nobody leads here */
    } else if (c->batch != NULL) {
        struct errmsg em;
        err_set(&em, ERR_NODE_CLOSED, "this node is stopping");
        batch_published(c, quorum_accepted(quorum_driver_core(c->driver))->version, &em);
    }
    look_at_waiting(c);
}

/* A master hands over first: without it nobody would lead until the others have noticed and elected one. */
static void stop_on_loop(void *arg)
{
    struct cluster *c = arg;
    if (c->mode == QUORUM_LEADER && quorum_driver_hand_over(c->driver)) {
        c->leaving = timer_start(c->o.timers, HAND_OVER_MS, stop_now, c);
    }
    if (c->leaving == NULL) {
        stop_now(c);
    }
}

void cluster_stop(struct cluster *c, void (*done)(void *arg), void *arg)
{
    c->stopped = done;
    c->stopped_arg = arg;
    executor_submit_force(c->o.loop, stop_on_loop, c);
}

void cluster_free(struct cluster *c)
{
    if (c == NULL) {
        return;
    }
    quorum_driver_free(c->driver);
    state_log_close(c->log);
    cluster_state_unref(c->state);
    free(c->found);
    free(c->disks);
    free(c->disks_next);
    arena_fini(&c->master_arena);
    arena_fini(&c->config_arena);
    arena_fini(&c->found_arena);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

int64_t cluster_applied_took_us(const struct cluster *c)
{
    return c->took_us;
}

void cluster_watch(struct cluster *c, void (*watch)(void *arg, struct cluster_state *state), void *arg)
{
    if (c->n_watchers < WATCHERS_MAX) {
        c->watchers[c->n_watchers].watch = watch;
        c->watchers[c->n_watchers++].arg = arg;
    }
}
