/* Requests to the master, and events of shards: forwarded to whoever is the master by then, tried again when another one is, and
 * finished once the state that has their effect is applied here. */
#include "master/cluster_int.h"

#include <stdlib.h>

static void forward(struct cluster *c, struct master_request *r);

static void finish(struct master_request *r, const struct errmsg *error)
{
    struct cluster *c = r->c;
    if (r->rq != NULL) {
        if (error != NULL) {
            err_copy(&r->rq->error, error);
        }
        r->rq->done(r->rq);
    } else if (r->pending != NULL) {
        if (error != NULL) {
            err_copy(&r->pending->error, error);
        }
        r->pending->done(r->pending);
    } else if (r->event_done != NULL) {
        r->event_done(r->event_arg, error);
    }
    arena_fini(&r->arena);
    arena_fini(&r->error_arena);
    free(r);
    cluster_left(c);
}

static void wait(struct cluster *c, struct master_request *r)
{
    r->next = c->waiting;
    c->waiting = r;
    cluster_set_timer(c, r->deadline_ms);
}

/* What the master answered is true here once this version is applied. */
static void await_version(struct master_request *r, uint64_t version)
{
    struct cluster *c = r->c;
    if (c->state->version >= version) {
        finish(r, err_is(&r->error) ? &r->error : NULL);
        return;
    }
    if (c->stopping) { /* no state comes any more */
        err_set(&r->error, ERR_NODE_CLOSED, "this node is stopping");
        finish(r, &r->error);
        return;
    }
    r->version = version;
    wait(c, r);
}

bool next_master_may(enum err e)
{
    return e == ERR_NOT_MASTER || e == ERR_FAILED_TO_COMMIT || e == ERR_NODE_NOT_CONNECTED
           || e == ERR_NODE_DISCONNECTED || e == ERR_NODE_CLOSED || e == ERR_REJECTED;
}

/* The event of a shard: it has no deadline, and the second time it changes nothing. */
static bool is_event(const struct master_request *r)
{
    return r->rq == NULL && r->pending == NULL;
}

static void retry(struct master_request *r)
{
    struct cluster *c = r->c;
    arena_fini(&r->error_arena);
    r->error = err_in(&r->error_arena);
    if (r->rq != NULL) {
        err_clear(&r->rq->error);
    }
    r->version = 0;
    wait(c, r);
    cluster_set_timer(c, cluster_now_ms(c) + RETRY_MS);
}

static void finished_here(struct task *t, uint64_t version)
{
    struct master_request *r = t->user;
    enum err e = err_code(&t->error);
    err_copy(&r->error, &t->error);
    task_free(t);
    if (next_master_may(e) && !r->c->stopping) {
        retry(r);
    } else if (e != ERR_OK) {
        finish(r, &r->error);
    } else {
        await_version(r, version);
    }
}

/* The answer is the request's from here on. */
static enum err take_meta(struct meta_request *rq, const struct meta_answer *a, struct errmsg *em)
{
    rq->changed = a->changed;
    rq->acknowledged = a->acknowledged;
    rq->response = arena_str(&rq->arena, a->response);
    err_copy(&rq->error, &a->error);
    err_copy(em, &a->error);
    return rq->response.p == NULL ? err_no_memory(em) : err_code(em);
}

static enum err take_pending(struct pending_rq *rq, const struct pending_queue *q, struct errmsg *em)
{
    bool ok = true;
    rq->queue = *q;
    rq->queue.v = ARENA_ARRAY(&rq->arena, struct pending_task, q->n);
    for (uint32_t i = 0; ok && rq->queue.v != NULL && i < q->n; i++) {
        rq->queue.v[i] = q->v[i];
        rq->queue.v[i].source = arena_str(&rq->arena, q->v[i].source);
        ok = rq->queue.v[i].source.p != NULL;
    }
    return ok && rq->queue.v != NULL ? ERR_OK : err_no_memory(em);
}

static void answered(struct remote_call *call)
{
    struct master_request *r = CONTAINER_OF(call, struct master_request, call);
    struct cluster *c = r->c;
    uint64_t version = 0;
    enum err e = err_code(&call->error);
    err_copy(&r->error, &call->error);
    if (e == ERR_OK && r->rq != NULL) {
        const struct meta_answer *a = call->answer;
        version = a->version;
        e = take_meta(r->rq, a, &r->error);
    } else if (e == ERR_OK && r->pending != NULL) {
        const struct pending_queue *q = call->answer;
        version = r->pending->at_once ? 0 : q->version;
        e = take_pending(r->pending, q, &r->error);
    } else if (e == ERR_OK) {
        version = *(const uint64_t *)call->answer;
    }
    remote_call_fini(call);
    if (e == ERR_OK) {
        await_version(r, version);
    } else if ((next_master_may(e) || (e == ERR_RECEIVE_TIMEOUT && is_event(r))) && !c->stopping) {
        retry(r);
    } else {
        finish(r, &r->error);
    }
}

static void send_to_master(struct cluster *c, struct master_request *r)
{
    static const struct message *const events[] = {[SHARD_EVENT_STARTED] = &message_shard_started,
                                                   [SHARD_EVENT_FAILED] = &message_shard_failed,
                                                   [SHARD_EVENT_STALE] = &message_mark_stale};
    struct transport_peer to = {c->master.transport_address, c->master.ephemeral_id};
    const struct message *m = r->rq != NULL        ? &message_meta
                              : r->pending != NULL ? &message_pending_tasks
                                                   : events[r->event.kind];
    /* The master that was asked may be gone without a word. */
    r->call =
        (struct remote_call){.on = c->o.loop,
                             .done = answered,
                             .timeout_ms = is_event(r) ? 0 : MAX_OF(r->deadline_ms - cluster_now_ms(c), 1)};
    remote_ask(c->o.transport, &to, m, r->rq != NULL ? (const void *)r->rq : &r->event, &r->call);
}

static void forward(struct cluster *c, struct master_request *r)
{
    if (c->mode == QUORUM_LEADER && r->pending != NULL) {
        pending_fill(&r->pending->queue, c, &r->pending->arena);
        await_version(r, r->pending->at_once ? 0 : r->pending->queue.version);
    } else if (c->mode == QUORUM_LEADER) {
        struct task *t = task_new(r->rq != NULL ? TASK_META : TASK_SHARD);
        if (t == NULL) {
            err_no_memory(&r->error);
            finish(r, &r->error);
            return;
        }
        t->rq = r->rq;
        t->event = r->event;
        t->done = finished_here;
        t->user = r;
        batch_add(c, t);
    } else if (c->master.id.p != NULL) {
        send_to_master(c, r);
    } else {
        wait(c, r);
    }
}

static void no_master(struct master_request *r)
{
    err_set(&r->error, ERR_NO_MASTER, "no master is known");
    finish(r, &r->error);
}

void master_requests_step(struct cluster *c)
{
    struct master_request *list = c->waiting;
    int64_t now = cluster_now_ms(c);
    c->waiting = NULL;
    while (list != NULL) {
        struct master_request *r = list;
        list = r->next;
        if (c->stopping) {
            err_set(&r->error, ERR_NODE_CLOSED, "this node is stopping");
            finish(r, &r->error);
        } else if (r->version != 0 && c->state->version >= r->version) {
            finish(r, err_is(&r->error) ? &r->error : NULL);
        } else if (now >= r->deadline_ms) {
            if (r->version != 0) {
                finish(r, err_is(&r->error) ? &r->error : NULL); /* done, but this node lags behind */
            } else {
                no_master(r);
            }
        } else if (r->version == 0 && (c->mode == QUORUM_LEADER || c->master.id.p != NULL)) {
            forward(c, r);
        } else {
            wait(c, r);
        }
    }
}

static void take_inbox(void *arg)
{
    struct cluster *c = arg;
    pthread_mutex_lock(&c->lock);
    struct master_request *list = c->inbox, *in_order = NULL;
    c->inbox = NULL;
    c->inbox_posted = false;
    pthread_mutex_unlock(&c->lock);
    while (list != NULL) {
        struct master_request *next = list->next;
        list->next = in_order;
        in_order = list;
        list = next;
    }
    while (in_order != NULL) {
        struct master_request *r = in_order;
        in_order = r->next;
        cluster_under_way(c);
        if (c->stopping) {
            err_set(&r->error, ERR_NODE_CLOSED, "this node is stopping");
            finish(r, &r->error);
        } else {
            forward(c, r);
        }
    }
}

static void post(struct cluster *c, struct master_request *r)
{
    pthread_mutex_lock(&c->lock);
    r->next = c->inbox;
    c->inbox = r;
    bool first = !c->inbox_posted;
    c->inbox_posted = true;
    pthread_mutex_unlock(&c->lock);
    if (first) {
        executor_submit_force(c->o.loop, take_inbox, c);
    }
}

static struct master_request *master_request_new(struct cluster *c)
{
    struct master_request *r = calloc(1, sizeof(*r));
    if (r != NULL) {
        r->c = c;
        r->deadline_ms = INT64_MAX;
        arena_init(&r->arena, NULL, ARENA_UNLIMITED);
        r->error = err_in(&r->error_arena);
    }
    return r;
}

static void not_submitted(struct later *l)
{
    struct meta_request *rq = CONTAINER_OF(l, struct meta_request, end);
    rq->done(rq);
}

void cluster_submit(struct cluster *c, struct meta_request *rq)
{
    struct master_request *r = master_request_new(c);
    if (r == NULL) {
        err_no_memory(&rq->error);
        later(&rq->end, not_submitted);
        return;
    }
    r->rq = rq;
    r->deadline_ms = cluster_now_ms(c) + (rq->timeout_ms > 0 ? rq->timeout_ms : MASTER_TIMEOUT_DEFAULT_MS);
    post(c, r);
}

static void not_asked(struct later *l)
{
    struct pending_rq *rq = CONTAINER_OF(l, struct pending_rq, end);
    rq->done(rq);
}

void cluster_pending(struct cluster *c, struct pending_rq *rq)
{
    struct master_request *r = master_request_new(c);
    if (r == NULL) {
        err_no_memory(&rq->error);
        later(&rq->end, not_asked);
        return;
    }
    r->pending = rq;
    r->deadline_ms = cluster_now_ms(c) + (rq->timeout_ms > 0 ? rq->timeout_ms : MASTER_TIMEOUT_DEFAULT_MS);
    post(c, r);
}

bool shard_event_keep(struct shard_event *to, const struct shard_event *from, struct arena *a)
{
    *to = *from;
    to->index_uuid = arena_str(a, from->index_uuid);
    to->allocation_id = arena_str(a, from->allocation_id);
    to->why = arena_str(a, from->why);
    return to->index_uuid.p != NULL && to->allocation_id.p != NULL && to->why.p != NULL;
}

bool cluster_shard_event(struct cluster *c, const struct shard_event *event,
                         void (*done)(void *arg, const struct errmsg *error), void *arg)
{
    struct master_request *r = master_request_new(c);
    if (r == NULL || !shard_event_keep(&r->event, event, &r->arena)) {
        if (r != NULL) {
            arena_fini(&r->arena);
            free(r);
        }
        return false;
    }
    r->event_done = done;
    r->event_arg = arg;
    post(c, r);
    return true;
}

void master_requests_invariant(const struct cluster *c)
{
    for (const struct master_request *r = c->waiting; r != NULL; r = r->next) {
        assert(r->c == c && (r->rq == NULL || r->pending == NULL));
        assert(r->version == 0 || c->state->version < r->version || c->applying != NULL);
        assert(!is_event(r) || r->event.allocation_id.p != NULL);
        assert(!c->stopping);
    }
}
