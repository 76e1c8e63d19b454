/* The network of the rig: requests that take their time, get lost, or find nobody. */
#include "tests/unit/data/data_rig.h"

#include "data/data.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

struct flight { /* a request, from send() to done() and to the end of its call */
    struct flight *next;
    struct dr_rig *rig;
    int from, to;
    char target[16];         /* ephemeral id */
    struct transport_rq *rq; /* NULL: done() was called */
    struct transport_call call;
    struct buf payload, answer;
    struct errmsg error;
    struct arena error_memory;
    bool served; /* the target has the call */
};

static struct dr_node *node_by_ephemeral(struct dr_rig *r, struct str id)
{
    for (int i = 0; i < RIG_NODES; i++) {
        if (r->nodes[i].up && str_is(id, r->nodes[i].ephemeral)) {
            return &r->nodes[i];
        }
    }
    return NULL;
}

static void free_flight(struct flight *f)
{
    if (f->rq != NULL || f->served) {
        return;
    }
    struct flight **at = &f->rig->flights;
    while (*at != f) {
        at = &(*at)->next;
    }
    *at = f->next;
    buf_fini(&f->payload);
    buf_fini(&f->answer);
    arena_fini(&f->error_memory);
    free(f);
}

static void call_done(void *arg)
{
    struct transport_rq *rq = arg;
    rq->done(rq);
}

/* The sender learns. */
static void finish(struct flight *f, const struct errmsg *error)
{
    struct transport_rq *rq = f->rq;
    if (rq == NULL) {
        return;
    }
    f->rq = NULL;
    transport_rq_take(rq);
    if (error != NULL) {
        err_copy(&rq->error, error);
    } else {
        buf_add(&rq->answer_memory, f->answer.p, f->answer.n);
    }
    rq->answer = buf_view(&rq->answer_memory);
    ck_assert(executor_submit_force(rq->on, call_done, rq));
}

static void finish_lost(struct flight *f)
{
    ERR_LOCAL(em);
    err_set(&em, ERR_NODE_DISCONNECTED, "the connection is gone");
    finish(f, &em);
}

static bool lost(struct dr_rig *r)
{
    return rng_below(&r->rng, 1000) < r->loss;
}

int64_t dr_delay_ms(struct dr_rig *r)
{
    return (int64_t)rng_below(&r->rng, (uint64_t)(r->delay_ns_max / 1000000 + 1));
}

static void arrived_back(void *arg)
{
    struct flight *f = arg;
    struct dr_rig *r = f->rig;
    if (lost(r) || r->nodes[f->from].cut || r->nodes[f->to].cut) {
        finish_lost(f);
    } else {
        finish(f, err_is(&f->error) ? &f->error : NULL);
    }
    free_flight(f);
}

static void answered(struct flight *f)
{
    f->served = false;
    pthread_mutex_lock(&f->rig->lock);
    ck_assert(timer_start(sim_lane_timers(f->rig->net), dr_delay_ms(f->rig), arrived_back, f) != NULL);
    pthread_mutex_unlock(&f->rig->lock);
}

static void reply(void *self, struct transport_call *call, struct buf *payload)
{
    struct flight *f = call->slot;
    (void)self;
    ck_assert(f->served && !payload->failed);
    f->answer = *payload;
    answered(f);
}

static void refuse(void *self, struct transport_call *call, const struct errmsg *error)
{
    struct flight *f = call->slot;
    (void)self;
    ck_assert(f->served && err_is(error));
    err_copy(&f->error, error);
    answered(f);
}

struct handling {
    struct dr_node *node;
    struct flight *f;
};

static void handle(void *arg)
{
    struct handling h = *(struct handling *)arg;
    uint16_t kind = h.f->call.kind;
    free(arg);
    h.node->served[kind].handle(h.node->served[kind].arg, &h.f->call);
}

static void arrived(void *arg)
{
    struct flight *f = arg;
    struct dr_rig *r = f->rig;
    struct dr_node *to = node_by_ephemeral(r, str_of(f->target));
    uint16_t kind = f->call.kind;
    bool drop = r->drop != NULL && f->rq != NULL && r->drop(r, f->from, f->to, kind);
    if (f->rq == NULL || to == NULL || to->cut || r->nodes[f->from].cut || lost(r) || drop) {
        finish_lost(f);
        free_flight(f);
        return;
    }
    struct handling *h = malloc(sizeof(*h));
    *h = (struct handling){to, f};
    r->sent[kind]++;
    f->served = true;
    ck_assert_msg(to->served[kind].handle != NULL, "nobody serves %u", kind);
    ck_assert(executor_submit_force(to->served[kind].where, handle, h));
}

static void send(void *self, const struct transport_peer *to, struct transport_rq *rq)
{
    struct dr_node *n = self;
    struct dr_rig *r = n->rig;
    struct flight *f = calloc(1, sizeof(*f));
    ck_assert(f != NULL && !rq->payload.failed);
    pthread_mutex_lock(&r->lock);
    struct dr_node *target = node_by_ephemeral(r, to->ephemeral_id);
    *f = (struct flight){.next = r->flights,
                         .rig = r,
                         .from = (int)(n - r->nodes),
                         .rq = rq,
                         .payload = rq->payload,
                         .error = err_in(&f->error_memory)};
    f->to = target != NULL ? (int)(target - r->nodes) : f->from;
    snprintf(f->target, sizeof(f->target), "%.*s", STR_ARG(to->ephemeral_id));
    f->call = (struct transport_call){rq->cls, rq->kind, str_of(n->ephemeral), buf_view(&f->payload), f};
    rq->slot = f;
    r->flights = f;
    ck_assert(timer_start(sim_lane_timers(r->net), dr_delay_ms(r), arrived, f) != NULL);
    pthread_mutex_unlock(&r->lock);
}

static void cancel(void *self, struct transport_rq *rq)
{
    struct dr_node *n = self;
    ERR_LOCAL(em);
    err_set(&em, ERR_CANCELLED, "cancelled");
    pthread_mutex_lock(&n->rig->lock);
    for (struct flight *f = n->rig->flights; f != NULL; f = f->next) {
        if (f->rq == rq) {
            finish(f, &em);
            break;
        }
    }
    pthread_mutex_unlock(&n->rig->lock);
}

static void serve(void *self, uint16_t kind, const struct executor *where,
                  void (*handler)(void *arg, struct transport_call *call), void *arg)
{
    struct dr_node *n = self;
    ck_assert_uint_lt(kind, RIG_KINDS);
    n->served[kind].where = where;
    n->served[kind].handle = handler;
    n->served[kind].arg = arg;
}

static void peer_call(void *self, const struct transport_peer *to)
{
    (void)self;
    (void)to;
}

static void watch(void *self, const struct executor *on,
                  void (*lost_peer)(void *arg, const struct transport_peer *peer), void *arg)
{
    (void)self;
    (void)on;
    (void)lost_peer;
    (void)arg;
}

/* Requests of a node that is going end now; what others ask of it, when they arrive. */
void dr_end_flights(struct dr_rig *r, int node)
{
    for (struct flight *f = r->flights; f != NULL; f = f->next) {
        if (f->rq != NULL && (f->from == node || f->to == node)) {
            finish_lost(f);
        }
    }
}

struct transport dr_transport(struct dr_node *n)
{
    return (struct transport){n, send, cancel, serve, reply, refuse, peer_call, peer_call, watch};
}
