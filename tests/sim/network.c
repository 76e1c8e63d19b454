#include "tests/sim/network_int.h"

#include "common/base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGE_BYTES        ((size_t)64 << 10)
#define FRAME_HEADER_BYTES 66 /* as frame_encode() has them, with ids of 22 characters */

static void shared_drop(struct shared *s)
{
    if (s != NULL && --s->refs == 0) {
        buf_fini(&s->bytes);
        free(s);
    }
}

static struct shared *share(struct network *n, struct buf *bytes)
{
    bool large = bytes->n >= LARGE_BYTES;
    uint64_t hash = large ? hash_bytes(bytes->p, bytes->n, 0) : 0;
    struct shared *s = n->large;
    if (large && s != NULL && s->hash == hash && s->bytes.n == bytes->n) {
        buf_fini(bytes);
        s->refs++;
        return s;
    }
    s = calloc(1, sizeof(*s));
    *s = (struct shared){.refs = 1, .hash = hash, .bytes = *bytes};
    buf_init(bytes, NULL, BUF_UNLIMITED);
    if (large) {
        shared_drop(n->large);
        n->large = s;
        s->refs++;
    }
    return s;
}

static void payload_done(struct flight *m)
{
    shared_drop(m->payload);
    m->payload = NULL;
}

static void run_done(void *arg)
{
    struct transport_rq *rq = arg;
    rq->done(rq);
}

static void link_message(struct network *n, struct flight *m)
{
    m->next = n->under_way;
    m->at = &n->under_way;
    if (m->next != NULL) {
        m->next->at = &m->next;
    }
    n->under_way = m;
}

static void unlink_message(struct flight *m)
{
    *m->at = m->next;
    if (m->next != NULL) {
        m->next->at = m->at;
    }
}

/* The sender hears what came of it, once. The message's memory stays: its target may still answer. */
static void end(struct flight *m)
{
    struct network *n = m->from->net;
    struct transport_rq *rq = m->rq;
    if (rq == NULL) {
        return;
    }
    m->rq = NULL;
    rq->slot = NULL;
    if (m->timer != NULL) {
        n->timers->cancel(n->timers->self, m->timer);
        m->timer = NULL;
    }
    unlink_message(m);
    if (!m->from->alive) {
        return;
    }
    err_copy(&rq->error, &m->error);
    if (!err_is(&m->error)) {
        rq->answer_memory = m->answer;
        rq->answer = buf_view(&rq->answer_memory);
        buf_init(&m->answer, NULL, BUF_UNLIMITED);
    }
    buf_fini(&rq->payload);
    executor_submit_force(rq->on, run_done, rq);
}

void message_fail(struct flight *m, enum err e, const char *why)
{
    if (m->rq != NULL) {
        err_set(&m->error, e, "%s", why);
        end(m);
    }
}

/* Both sides are done with it. */
static void message_free(struct flight *m)
{
    shared_drop(m->payload);
    buf_fini(&m->answer);
    arena_fini(&m->error_memory);
    free(m);
}

/* ---- delivery ---- */

static void handle(void *arg)
{
    struct flight *m = arg;
    struct process *p = m->to;
    if (p->alive && p->served[m->call.kind].handle != NULL) {
        p->served[m->call.kind].handle(p->served[m->call.kind].arg, &m->call);
    }
}

static void put(struct network *n, struct link *l, struct flight *m, bool is_answer)
{
    struct parcel *p = calloc(1, sizeof(*p));
    p->m = m;
    p->is_answer = is_answer;
    *(l->first == NULL ? &l->first : l->last) = p;
    l->last = &p->next;
    n->messages++;
    n->bytes += FRAME_HEADER_BYTES + (is_answer ? m->answer.n : m->payload->bytes.n);
    if (n->sent != NULL) {
        n->sent(n->sent_self, is_answer ? m->to->at : m->from->at, is_answer ? m->from->at : m->to->at,
                m->call.kind, is_answer);
    }
    if (n->watch != NULL && !err_is(&m->error)) {
        n->watch(n->watch_self, is_answer ? m->to->at : m->from->at, m->call.kind, is_answer,
                 buf_view(is_answer ? &m->answer : &m->payload->bytes));
    }
    if (!l->cut) {
        n->timers->start(n->timers->self, (int64_t)rng_below(n->rng, (uint64_t)n->delay_ms_max + 1),
                         link_deliver, l);
    }
}

/* What was sent arrives, also when its sender has given up. */
void request_arrives(void *arg)
{
    struct flight *m = arg;
    struct process *t = m->to;
    if (!t->alive) {
        return;
    }
    const struct executor *where = t->served[m->call.kind].where;
    if (!t->started || where == NULL) {
        message_fail(m, ERR_NODE_NOT_CONNECTED, "nobody serves this there");
    } else if (!executor_submit(where, handle, m)) {
        message_fail(m, ERR_REJECTED, "busy");
    }
}

void link_deliver(void *arg)
{
    struct link *l = arg;
    struct parcel *p = l->cut ? NULL : l->first;
    if (p == NULL) {
        return;
    }
    l->first = p->next;
    struct flight *m = p->m;
    bool is_answer = p->is_answer;
    free(p);
    if (is_answer) {
        end(m);
        message_free(m);
    } else {
        request_arrives(m);
    }
}

/* ---- the transport ---- */

static void time_out(void *arg)
{
    struct flight *m = arg;
    m->timer = NULL;
    message_fail(m, ERR_RECEIVE_TIMEOUT, "no answer in time");
}

static void transport_send(void *self, const struct transport_peer *to, struct transport_rq *rq)
{
    struct process *from = self;
    struct network *n = from->net;
    struct flight *m = calloc(1, sizeof(*m));
    struct process *target = NULL;
    for (unsigned i = 0; i < n->places; i++) {
        struct process *p = n->at[i];
        if (p != NULL && p->alive && p->started && str_is(to->address, p->address)
            && (to->ephemeral_id.n == 0 || str_is(to->ephemeral_id, p->ephemeral_id))) {
            target = p;
        }
    }
    *m = (struct flight){.from = from, .to = target, .rq = rq, .error = err_in(&m->error_memory)};
    transport_rq_take(rq);
    rq->slot = m;
    link_message(n, m);
    buf_init(&m->answer, NULL, BUF_UNLIMITED);
    if (target == NULL) {
        message_fail(m, ERR_NODE_NOT_CONNECTED, "nobody is there");
        return;
    }
    m->payload = share(n, &rq->payload);
    m->call = (struct transport_call){rq->cls, rq->kind, str_of(from->ephemeral_id),
                                      buf_view(&m->payload->bytes), m};
    from->connected[target->at] = true;
    if (rq->timeout_ms > 0) {
        m->timer = n->timers->start(n->timers->self, rq->timeout_ms, time_out, m);
    }
    put(n, link_of(n, from->at, target->at, rq->cls), m, false);
    if (n->loss > 0 && rng_below(n->rng, 1000) < n->loss) {
        break_connections(n, from->at, target->at);
    }
}

static void transport_cancel(void *self, struct transport_rq *rq)
{
    struct flight *m = rq->slot;
    (void)self;
    if (m != NULL && m->rq == rq) {
        message_fail(m, ERR_CANCELLED, "cancelled");
    }
}

static void transport_serve(void *self, uint16_t kind, const struct executor *where,
                            void (*fn)(void *arg, struct transport_call *call), void *arg)
{
    struct process *p = self;
    p->served[kind].where = where;
    p->served[kind].handle = fn;
    p->served[kind].arg = arg;
}

static void answer(struct flight *m)
{
    if (m->rq == NULL) { /* nobody waits for it any more */
        message_free(m);
    } else if (m->to->alive && !m->answered) {
        m->answered = true;
        put(m->to->net, link_of(m->to->net, m->to->at, m->from->at, m->call.cls), m, true);
    }
}

static void transport_reply(void *self, struct transport_call *call, struct buf *payload)
{
    struct flight *m = call->slot;
    (void)self;
    payload_done(m);
    m->answer = *payload;
    buf_init(payload, NULL, BUF_UNLIMITED);
    answer(m);
}

static void transport_refuse(void *self, struct transport_call *call, const struct errmsg *error)
{
    struct flight *m = call->slot;
    (void)self;
    payload_done(m);
    err_copy(&m->error, error);
    answer(m);
}

static void transport_connect(void *self, const struct transport_peer *to)
{
    struct process *p = self;
    for (unsigned i = 0; i < p->net->places; i++) {
        struct process *t = p->net->at[i];
        if (t != NULL && t->alive && str_is(to->ephemeral_id, t->ephemeral_id)) {
            p->connected[i] = true;
        }
    }
}

static void transport_forget(void *self, const struct transport_peer *to)
{
    struct process *p = self;
    for (unsigned i = 0; i < p->net->places; i++) {
        struct process *t = p->net->at[i];
        if (t != NULL && str_is(to->ephemeral_id, t->ephemeral_id)) {
            p->connected[i] = false;
        }
    }
}

static void transport_watch(void *self, const struct executor *on,
                            void (*lost)(void *arg, const struct transport_peer *peer), void *arg)
{
    struct process *p = self;
    p->watch.on = on;
    p->watch.lost = lost;
    p->watch.arg = arg;
}

void network_trace(struct network *n,
                   void (*sent)(void *self, unsigned from, unsigned to, uint16_t kind, bool is_answer),
                   void *self)
{
    n->sent = sent;
    n->sent_self = self;
}

void network_watch(struct network *n,
                   void (*watch)(void *self, unsigned from, uint16_t kind, bool is_answer,
                                 struct str payload),
                   void *self)
{
    n->watch = watch;
    n->watch_self = self;
}

uint64_t network_messages(const struct network *n)
{
    return n->messages;
}

uint64_t network_bytes(const struct network *n)
{
    return n->bytes;
}

/* ---- life ---- */

struct network *network_new(struct sim_exec *x, struct rng *rng, unsigned places, int64_t delay_ms_max)
{
    struct network *n = calloc(1, sizeof(*n));
    n->x = x;
    n->rng = rng;
    n->delay_ms_max = delay_ms_max;
    n->lane = sim_lane_new(x, SIM_LOOP, 0);
    n->timers = sim_lane_timers(n->lane);
    n->places = places;
    n->at = calloc(places, sizeof(struct process *));
    n->links = calloc((size_t)places * places * TRANSPORT_CLASSES, sizeof(struct link));
    return n;
}

const struct transport *network_open(struct network *n, unsigned at, struct str address,
                                     struct str ephemeral_id)
{
    struct process *p = calloc(1, sizeof(*p));
    p->net = n;
    p->at = at;
    p->alive = true;
    p->connected = calloc(n->places, sizeof(bool));
    snprintf(p->address, sizeof(p->address), "%.*s", STR_ARG(address));
    snprintf(p->ephemeral_id, sizeof(p->ephemeral_id), "%.*s", STR_ARG(ephemeral_id));
    p->api = (struct transport){p,
                                transport_send,
                                transport_cancel,
                                transport_serve,
                                transport_reply,
                                transport_refuse,
                                transport_connect,
                                transport_forget,
                                transport_watch};
    n->at[at] = p;
    return &p->api;
}

void network_start(struct network *n, unsigned at)
{
    n->at[at]->started = true;
}
