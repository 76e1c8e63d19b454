/* The way of requests and of words on shards to the master, whoever that is by then, and back. */
#include "master/cluster_int.h"

#include "common/base/bytes.h"
#include "master/meta_bytes.h"

#include <stdlib.h>

#define EVENT_TIMEOUT_MS 15000 /* then it is told to whoever is master */

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

bool next_master_may(enum err e)
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
    cluster_set_timer(c, cluster_now_ms(c) + RETRY_MS);
}

static void finished_here(struct task *t, uint64_t version)
{
    struct journey *j = t->user;
    struct errmsg em = t->error;
    task_free(t);
    if (em.n > 0 && next_master_may(err_code(&em)) && !j->c->stopping) {
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
    } else if ((next_master_may(e) || (e == ERR_RECEIVE_TIMEOUT && is_event(j))) && !c->stopping) {
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
    j->transport.timeout_ms = is_event(j) ? EVENT_TIMEOUT_MS : MAX_OF(j->deadline_ms - cluster_now_ms(c), 1);
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

void journeys_look(struct cluster *c)
{
    struct journey *list = c->waiting;
    int64_t now = cluster_now_ms(c);
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
    j->deadline_ms = cluster_now_ms(c) + (rq->timeout_ms > 0 ? rq->timeout_ms : MASTER_TIMEOUT_DEFAULT_MS);
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
    j->deadline_ms = cluster_now_ms(c) + (rq->timeout_ms > 0 ? rq->timeout_ms : MASTER_TIMEOUT_DEFAULT_MS);
    post(c, j);
}

bool shard_event_keep(struct shard_event *to, const struct shard_event *from, struct arena *a)
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
    if (j == NULL || !shard_event_keep(&j->event, event, &j->arena)) {
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

void journeys_invariant(const struct cluster *c)
{
    for (const struct journey *j = c->waiting; j != NULL; j = j->next) {
        assert(j->c == c && (j->rq == NULL || j->pending == NULL));
        assert(j->version == 0 || c->state->version < j->version || c->applying != NULL);
        assert(!is_event(j) || j->event.allocation_id.p != NULL);
        assert(!c->stopping);
    }
}
