#include "tests/sim/network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KINDS              256
#define FRAME_HEADER_BYTES 66 /* as frame_encode() has them, with ids of 22 characters */

struct process { /* one life of a place */
    struct network *net;
    unsigned at;
    bool alive, started;
    char address[64], ephemeral_id[64];
    struct transport api;
    struct {
        const struct executor *where;
        void (*handle)(void *arg, struct transport_call *call);
        void *arg;
    } served[KINDS];
    struct {
        const struct executor *on;
        void (*lost)(void *arg, const struct transport_peer *peer);
        void *arg;
    } watch;
    bool *connected; /* by place: with the process there now */
};

/* A request, from send() to the end of its answer. */
struct message {
    struct message *next, **at; /* in the list of those under way; at: what points to it */
    struct process *from, *to;
    struct transport_rq *rq; /* NULL: its sender hears nothing any more */
    struct transport_call call;
    struct buf payload, answer;
    struct errmsg error;
    struct timer *timer; /* of the time-out */
    bool answered;
};

/* What travels one way over one connection, in order. */
struct parcel {
    struct parcel *next;
    struct message *m;
    bool is_answer;
};

struct link {
    struct parcel *first, **last; /* last: unless there is none */
    int64_t until_ms;             /* no later parcel arrives before */
    bool cut;
};

struct network {
    struct sim_exec *x;
    struct sim_lane *lane;
    const struct timers *timers;
    struct rng *rng;
    int64_t delay_ms_max, now_ms;
    unsigned loss;
    unsigned places;
    struct process **at;
    struct link *links; /* by sender, receiver and class */
    struct message *under_way;
    uint64_t messages, bytes;
    void (*sent)(void *self, unsigned from, unsigned to, uint16_t kind, bool is_answer);
    void *sent_self;
};

static struct link *link_of(struct network *n, unsigned from, unsigned to, enum transport_class cls)
{
    return &n->links[((size_t)from * n->places + to) * TRANSPORT_CLASSES + cls];
}

static void run_done(void *arg)
{
    struct transport_rq *rq = arg;
    rq->done(rq);
}

static void link_message(struct network *n, struct message *m)
{
    m->next = n->under_way;
    m->at = &n->under_way;
    if (m->next != NULL) {
        m->next->at = &m->next;
    }
    n->under_way = m;
}

static void unlink_message(struct message *m)
{
    *m->at = m->next;
    if (m->next != NULL) {
        m->next->at = m->at;
    }
}

/* The sender hears what came of it, once. The message's memory stays: its target may still answer. */
static void end(struct message *m)
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
    rq->error = m->error;
    if (m->error.n == 0) {
        rq->answer_memory = m->answer;
        rq->answer = buf_view(&rq->answer_memory);
        buf_init(&m->answer, NULL, BUF_UNLIMITED);
    }
    buf_fini(&rq->payload);
    executor_submit_force(rq->on, run_done, rq);
}

static void fail(struct message *m, enum err e, const char *why)
{
    if (m->rq != NULL) {
        err_set(&m->error, e, "%s", why);
        end(m);
    }
}

/* ---- delivery ---- */

static void handle(void *arg)
{
    struct message *m = arg;
    struct process *p = m->to;
    if (p->alive && p->served[m->call.kind].handle != NULL) {
        p->served[m->call.kind].handle(p->served[m->call.kind].arg, &m->call);
    }
}

static void deliver(void *arg);

static void put(struct network *n, struct link *l, struct message *m, bool is_answer)
{
    struct parcel *p = calloc(1, sizeof(*p));
    p->m = m;
    p->is_answer = is_answer;
    *(l->first == NULL ? &l->first : l->last) = p;
    l->last = &p->next;
    n->messages++;
    n->bytes += FRAME_HEADER_BYTES + (is_answer ? m->answer.n : m->payload.n);
    if (n->sent != NULL) {
        n->sent(n->sent_self, is_answer ? m->to->at : m->from->at, is_answer ? m->from->at : m->to->at,
                m->call.kind, is_answer);
    }
    if (!l->cut) {
        n->timers->start(n->timers->self, (int64_t)rng_below(n->rng, (uint64_t)n->delay_ms_max + 1), deliver,
                         l);
    }
}

/* One timer a parcel: whichever fires takes the first. */
static void deliver(void *arg)
{
    struct link *l = arg;
    struct parcel *p = l->cut ? NULL : l->first;
    if (p == NULL) {
        return;
    }
    l->first = p->next;
    struct message *m = p->m;
    bool is_answer = p->is_answer;
    free(p);
    if (is_answer) {
        end(m);
    } else if (m->to->alive && m->rq != NULL) {
        struct process *t = m->to;
        const struct executor *where = t->served[m->call.kind].where;
        if (!t->started || where == NULL) {
            fail(m, ERR_NODE_NOT_CONNECTED, "nobody serves this there");
        } else if (!executor_submit(where, handle, m)) {
            fail(m, ERR_REJECTED, "busy");
        }
    }
}

/* ---- the transport ---- */

static void time_out(void *arg)
{
    struct message *m = arg;
    m->timer = NULL;
    fail(m, ERR_RECEIVE_TIMEOUT, "no answer in time");
}

static void break_connections(struct network *n, unsigned a, unsigned b);

static void transport_send(void *self, const struct transport_peer *to, struct transport_rq *rq)
{
    struct process *from = self;
    struct network *n = from->net;
    struct message *m = calloc(1, sizeof(*m));
    struct process *target = NULL;
    for (unsigned i = 0; i < n->places; i++) {
        struct process *p = n->at[i];
        if (p != NULL && p->alive && p->started && str_is(to->address, p->address)
            && (to->ephemeral_id.n == 0 || str_is(to->ephemeral_id, p->ephemeral_id))) {
            target = p;
        }
    }
    *m = (struct message){.from = from, .to = target, .rq = rq};
    rq->slot = m;
    link_message(n, m);
    buf_init(&m->payload, NULL, BUF_UNLIMITED);
    buf_init(&m->answer, NULL, BUF_UNLIMITED);
    if (target == NULL) {
        fail(m, ERR_NODE_NOT_CONNECTED, "nobody is there");
        return;
    }
    buf_str(&m->payload, buf_view(&rq->payload));
    m->call =
        (struct transport_call){rq->cls, rq->kind, str_of(from->ephemeral_id), buf_view(&m->payload), m};
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
    struct message *m = rq->slot;
    (void)self;
    if (m != NULL && m->rq == rq) {
        fail(m, ERR_CANCELLED, "cancelled");
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

static void answer(struct message *m)
{
    if (m->rq != NULL && m->to->alive && !m->answered) {
        m->answered = true;
        put(m->to->net, link_of(m->to->net, m->to->at, m->from->at, m->call.cls), m, true);
    }
}

static void transport_reply(void *self, struct transport_call *call, struct buf *payload)
{
    struct message *m = call->slot;
    (void)self;
    buf_fini(&m->payload);
    m->answer = *payload;
    buf_init(payload, NULL, BUF_UNLIMITED);
    answer(m);
}

static void transport_refuse(void *self, struct transport_call *call, const struct errmsg *error)
{
    struct message *m = call->slot;
    (void)self;
    buf_fini(&m->payload);
    m->error = *error;
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

/* ---- faults ---- */

struct loss {
    struct process *who, *peer;
};

static void tell_loss(void *arg)
{
    struct loss *l = arg;
    if (l->who->alive && l->who->watch.lost != NULL) {
        struct transport_peer p = {str_of(l->peer->address), str_of(l->peer->ephemeral_id)};
        l->who->watch.lost(l->who->watch.arg, &p);
    }
    free(l);
}

static void lose(struct process *who, struct process *peer)
{
    if (who == NULL || peer == NULL || !who->alive || !who->connected[peer->at] || who->watch.on == NULL) {
        return;
    }
    struct loss *l = malloc(sizeof(*l));
    *l = (struct loss){who, peer};
    executor_submit_force(who->watch.on, tell_loss, l);
}

static void drop_parcels(struct link *l)
{
    while (l->first != NULL) {
        struct parcel *p = l->first;
        l->first = p->next;
        free(p);
    }
}

static void fail_between(struct network *n, const struct process *a, const struct process *b)
{
    for (struct message *m = n->under_way; m != NULL;) {
        struct message *next = m->next;
        if ((m->from == a && m->to == b) || (m->from == b && m->to == a)) {
            fail(m, ERR_NODE_DISCONNECTED, "the connection is gone");
            next = n->under_way;
        }
        m = next;
    }
}

static void break_connections(struct network *n, unsigned a, unsigned b)
{
    for (unsigned c = 0; c < TRANSPORT_CLASSES; c++) {
        drop_parcels(link_of(n, a, b, c));
        drop_parcels(link_of(n, b, a, c));
    }
    fail_between(n, n->at[a], n->at[b]);
    lose(n->at[a], n->at[b]);
    lose(n->at[b], n->at[a]);
}

void network_kill(struct network *n, unsigned at)
{
    struct process *dead = n->at[at];
    if (dead == NULL || !dead->alive) {
        return;
    }
    dead->alive = false;
    for (unsigned i = 0; i < n->places; i++) {
        struct process *p = n->at[i];
        if (p == NULL || i == at) {
            continue;
        }
        for (unsigned c = 0; c < TRANSPORT_CLASSES; c++) {
            drop_parcels(link_of(n, at, i, c));
            drop_parcels(link_of(n, i, at, c));
        }
        /* Behind a cut nobody hears that it died; requests end with their time-outs, or when it heals. */
        if (!link_of(n, at, i, 0)->cut) {
            fail_between(n, dead, p);
            lose(p, dead);
        }
        p->connected[at] = false;
    }
}

void network_cut(struct network *n, unsigned from, unsigned to, bool cut)
{
    bool was = link_of(n, from, to, 0)->cut;
    for (unsigned c = 0; c < TRANSPORT_CLASSES; c++) {
        link_of(n, from, to, c)->cut = cut;
    }
    if (!was || cut) {
        return;
    }
    struct process *a = n->at[from], *b = n->at[to];
    bool dead = a == NULL || b == NULL || !a->alive || !b->alive;
    if (dead || rng_below(n->rng, 2) == 0) {
        for (struct message *m = n->under_way; m != NULL;) { /* of processes that died meanwhile, too */
            struct message *next = m->next;
            if ((m->from->at == from && m->to->at == to) || (m->from->at == to && m->to->at == from)) {
                fail(m, ERR_NODE_DISCONNECTED, "the connection is gone");
                next = n->under_way;
            }
            m = next;
        }
        break_connections(n, from, to);
        return;
    }
    for (unsigned c = 0; c < TRANSPORT_CLASSES; c++) {
        for (struct parcel *p = link_of(n, from, to, c)->first; p != NULL; p = p->next) {
            n->timers->start(n->timers->self, (int64_t)rng_below(n->rng, (uint64_t)n->delay_ms_max + 1),
                             deliver, link_of(n, from, to, c));
        }
    }
}

void network_heal(struct network *n)
{
    n->loss = 0;
    for (unsigned i = 0; i < n->places; i++) {
        for (unsigned k = 0; k < n->places; k++) {
            network_cut(n, i, k, false);
        }
    }
}

void network_set_loss(struct network *n, unsigned per_thousand)
{
    n->loss = per_thousand;
}

void network_trace(struct network *n,
                   void (*sent)(void *self, unsigned from, unsigned to, uint16_t kind, bool is_answer),
                   void *self)
{
    n->sent = sent;
    n->sent_self = self;
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
