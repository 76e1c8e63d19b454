/* A network of letters: each is delayed, some are lost, there or on the way back. */
#include "tests/unit/data/small_cluster.h"

#include <stdio.h>
#include <stdlib.h>

struct letter {
    struct transport_rq *rq;
    int from, to;
    struct transport_call call;
    char from_id[8];
    struct buf payload;
    bool answered, over; /* at its target; for its sender */
    bool refused;
    struct buf answer;
    struct errmsg error;
    struct arena error_memory;
};

int64_t sc_delay_ms(void)
{
    return rng_below(&sc.rng, 10) == 0 ? (int64_t)rng_below(&sc.rng, 40) : (int64_t)rng_below(&sc.rng, 3);
}

void sc_later(int64_t ms, void (*run)(void *), void *arg)
{
    ck_assert_ptr_nonnull(timer_start(sim_lane_timers(sc.net), ms, run, arg));
}

static void tell_sender(void *arg)
{
    struct transport_rq *rq = arg;
    rq->done(rq);
}

static void end_letter(struct letter *l, enum err e)
{
    struct transport_rq *rq = l->rq;
    if (l->over) {
        return;
    }
    l->over = true;
    rq->slot = NULL;
    if (e != ERR_OK) {
        err_set(&rq->error, e, "the network");
    } else if (l->refused) {
        err_copy(&rq->error, &l->error);
    } else {
        rq->answer_memory = l->answer;
        buf_init(&l->answer, NULL, BUF_UNLIMITED);
        rq->answer = buf_view(&rq->answer_memory);
    }
    ck_assert(executor_submit_force(rq->on, tell_sender, rq));
}

static void free_letter(struct letter *l)
{
    if (l->over && l->answered) {
        buf_fini(&l->payload);
        buf_fini(&l->answer);
        arena_fini(&l->error_memory);
        free(l);
    }
}

static void lost(void *arg)
{
    struct letter *l = arg;
    end_letter(l, ERR_NODE_DISCONNECTED);
    free_letter(l);
}

static void arrive_back(void *arg)
{
    struct letter *l = arg;
    bool gone =
        sc.nodes[l->from].cut || sc.nodes[l->to].cut || (int)rng_below(&sc.rng, 100) < sc.lose_percent;
    end_letter(l, gone ? ERR_NODE_DISCONNECTED : ERR_OK);
    free_letter(l);
}

static void handle_letter(void *arg)
{
    struct letter *l = arg;
    struct served *s = &sc.nodes[l->to].served[l->call.kind];
    s->handle(s->arg, &l->call);
}

static void arrive(void *arg)
{
    struct letter *l = arg;
    struct served *s = &sc.nodes[l->to].served[l->call.kind];
    if (sc.nodes[l->from].cut || sc.nodes[l->to].cut || l->to == sc.deaf
        || (int)rng_below(&sc.rng, 100) < sc.lose_percent) {
        l->answered = true;
        lost(l);
        return;
    }
    ck_assert(executor_submit(s->where, handle_letter, l));
}

static void net_send(void *self, const struct transport_peer *to, struct transport_rq *rq)
{
    struct small_node *n = self;
    struct letter *l = calloc(1, sizeof(*l));
    l->rq = rq;
    l->from = n->number;
    for (l->to = 0; !str_is(to->address, sc_addresses[l->to]); l->to++) {
        ck_assert_int_lt(l->to, NODES - 1);
    }
    l->payload = rq->payload;
    buf_init(&rq->payload, NULL, BUF_UNLIMITED);
    buf_init(&l->answer, NULL, BUF_UNLIMITED);
    l->error = err_in(&l->error_memory);
    transport_rq_take(rq);
    rq->slot = l;
    snprintf(l->from_id, sizeof(l->from_id), "e%d", n->number);
    l->call = (struct transport_call){rq->cls, rq->kind, str_of(l->from_id), buf_view(&l->payload), l};
    sc_later(sc_delay_ms(), arrive, l);
}

static void net_cancel(void *self, struct transport_rq *rq)
{
    (void)self;
    struct letter *l = rq->slot;
    if (l != NULL) {
        end_letter(l, ERR_CANCELLED);
    }
}

static void net_serve(void *self, uint16_t kind, const struct executor *where,
                      void (*handle)(void *arg, struct transport_call *call), void *arg)
{
    struct small_node *n = self;
    n->served[kind] = (struct served){where, handle, arg};
}

static void net_reply(void *self, struct transport_call *call, struct buf *payload)
{
    struct letter *l = call->slot;
    (void)self;
    ck_assert(!l->answered);
    l->answered = true;
    l->answer = *payload;
    sc_later(sc_delay_ms(), arrive_back, l);
}

static void net_refuse(void *self, struct transport_call *call, const struct errmsg *error)
{
    struct letter *l = call->slot;
    (void)self;
    ck_assert(!l->answered);
    l->answered = true;
    l->refused = true;
    err_copy(&l->error, error);
    sc_later(sc_delay_ms(), arrive_back, l);
}

static void net_none(void *self, const struct transport_peer *to)
{
    (void)self;
    (void)to;
}

static void net_watch(void *self, const struct executor *on,
                      void (*gone)(void *, const struct transport_peer *), void *arg)
{
    (void)self;
    (void)on;
    (void)gone;
    (void)arg;
}

struct transport sc_transport(struct small_node *n)
{
    return (struct transport){n,          net_send, net_cancel, net_serve, net_reply,
                              net_refuse, net_none, net_none,   net_watch};
}
