/* ask_rig.h - coordinators of several nodes, whose shards answer as a test says, over a transport that is a list. */
#ifndef TESTS_ASK_RIG_H
#define TESTS_ASK_RIG_H

#include "coordinator/core/active.h"
#include "coordinator/core/ask.h"
#include "coordinator/ops/writes.h"
#include "engine/index/engine.h"
#include "engine/search/search.h"
#include "proto/remote_shards.h"
#include "tests/seams/sim_exec.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define NODES  3
#define KINDS  160
#define SECOND (1000LL * 1000 * 1000)

struct cluster;

/* ---- one node: its shards answer as the test says, its transport is a list -------------------------------- */

struct node {
    struct cluster *c;
    uint32_t at;
    bool dead;
    struct sim_lane *lane;
    struct transport transport;
    struct {
        void (*handle)(void *arg, struct transport_call *call);
        void *arg;
    } served[KINDS];
    struct shard_api shards;
    struct remote_shards *remote;
    struct coordinator *co;
    /* what its shards do */
    enum err get_error, write_error;
    bool die_after_write; /* it has written, and nobody hears of it */
    unsigned gets, writes, queries, fetches, freed, acts, cancelled;
    struct shard_query *held; /* a query that does not end by itself */
    bool hold;
    uint64_t session, counter;
    bool retried;
};

struct flight {
    struct transport_rq *rq; /* NULL: nobody waits any more */
    struct node *from, *to;
    struct transport_call call;
    struct buf payload;
    struct errmsg error;
    struct arena error_memory;
    struct flight *next;
};

struct cluster {
    struct clock_sim clock;
    struct sim_exec *sim;
    struct node nodes[NODES];
    struct cluster_state *state;
    struct flight *messages; /* under way or answered */
    unsigned sent;
    uint64_t version;
};

static inline struct str id_of(uint32_t at)
{
    static const char *const ids[] = {"n0", "n1", "n2"};
    return str_of(ids[at]);
}

/* ---- transport ------------------------------------------------------------------------------------------- */

static inline void run_done(void *arg)
{
    struct transport_rq *rq = arg;
    rq->done(rq);
}

static inline void finish(struct flight *m)
{
    struct transport_rq *rq = m->rq;
    if (rq == NULL) {
        return;
    }
    m->rq = NULL;
    err_copy(&rq->error, &m->error);
    if (!err_is(&m->error)) {
        rq->answer_memory = m->payload;
        rq->answer = buf_view(&rq->answer_memory);
        buf_init(&m->payload, NULL, BUF_UNLIMITED);
    }
    buf_fini(&rq->payload);
    executor_submit_force(rq->on, run_done, rq);
}

static inline void arrive(void *arg)
{
    struct flight *m = arg;
    if (!m->to->dead) {
        m->to->served[m->call.kind].handle(m->to->served[m->call.kind].arg, &m->call);
    }
}

static inline void send(void *self, const struct transport_peer *to, struct transport_rq *rq)
{
    struct node *from = self;
    struct cluster *c = from->c;
    struct flight *m = calloc(1, sizeof(*m));
    *m = (struct flight){.rq = rq, .from = from, .next = c->messages, .error = err_in(&m->error_memory)};
    transport_rq_take(rq);
    c->messages = m;
    c->sent++;
    buf_init(&m->payload, NULL, BUF_UNLIMITED);
    for (uint32_t i = 0; i < NODES; i++) {
        m->to = str_eq(to->ephemeral_id, id_of(i)) && !c->nodes[i].dead ? &c->nodes[i] : m->to;
    }
    if (m->to == NULL) {
        err_set(&m->error, ERR_NODE_NOT_CONNECTED, "not connected");
        finish(m);
        return;
    }
    m->call = (struct transport_call){rq->cls, rq->kind, id_of(from->at), buf_view(&rq->payload), m};
    /* The payload outlives the sender's interest in it. */
    buf_str(&m->payload, buf_view(&rq->payload));
    m->call.payload = buf_view(&m->payload);
    executor_submit_force(sim_lane_executor(m->to->lane), arrive, m);
}

static inline void cancel(void *self, struct transport_rq *rq)
{
    struct node *from = self;
    for (struct flight *m = from->c->messages; m != NULL; m = m->next) {
        if (m->rq == rq) {
            err_set(&m->error, ERR_CANCELLED, "cancelled");
            finish(m);
        }
    }
}

static inline void serve(void *self, uint16_t kind, const struct executor *where,
                         void (*handle)(void *arg, struct transport_call *call), void *arg)
{
    struct node *n = self;
    (void)where;
    n->served[kind].handle = handle;
    n->served[kind].arg = arg;
}

static inline void reply(void *self, struct transport_call *call, struct buf *payload)
{
    struct flight *m = call->slot;
    (void)self;
    buf_fini(&m->payload);
    m->payload = *payload;
    if (!m->to->dead) {
        finish(m);
    }
}

static inline void refuse(void *self, struct transport_call *call, const struct errmsg *error)
{
    struct flight *m = call->slot;
    (void)self;
    err_copy(&m->error, error);
    finish(m);
}

static inline void kill_node(struct node *n)
{
    n->dead = true;
    for (struct flight *m = n->c->messages; m != NULL; m = m->next) {
        if (m->to == n && m->rq != NULL) {
            err_set(&m->error, ERR_NODE_DISCONNECTED, "disconnected");
            finish(m);
        }
    }
}

/* ---- shards ---------------------------------------------------------------------------------------------- */

static inline void fail_with(struct shard_rq *rq, enum err e)
{
    if (e != ERR_OK) {
        err_set(&rq->error, e, "as told");
    }
}

static inline void shard_get(void *self, struct shard_get *rq)
{
    struct node *n = self;
    n->gets++;
    fail_with(&rq->rq, n->get_error);
    rq->found = true;
    rq->source = arena_printf(&rq->rq.arena, "{\"from\":%u}", n->at);
    shard_rq_answer(&rq->rq);
}

static inline void shard_write(void *self, struct shard_write *rq)
{
    struct node *n = self;
    n->writes++;
    n->session = rq->op_session;
    n->counter = rq->items[0].op_counter;
    n->retried = rq->retry;
    for (uint32_t i = 0; i < rq->n; i++) {
        rq->items[i].outcome = WRITE_CREATED;
        rq->items[i].seq_no = 7;
    }
    fail_with(&rq->rq, n->write_error);
    if (n->die_after_write) {
        kill_node(n);
    }
    shard_rq_answer(&rq->rq);
}

static inline void shard_query(void *self, struct shard_query *rq)
{
    struct node *n = self;
    n->queries++;
    if (n->hold) {
        n->held = rq;
        return;
    }
    rq->result = ARENA_NEW(&rq->rq.arena, struct query_result);
    rq->rq.context = 100 + n->at;
    shard_rq_answer(&rq->rq);
}

static inline void shard_scroll(void *self, struct shard_query *rq)
{
    shard_query(self, rq);
}

static inline void shard_can_match(void *self, struct shard_can_match *rq)
{
    (void)self;
    shard_rq_answer(&rq->rq);
}

static inline void shard_dfs(void *self, struct shard_dfs *rq)
{
    (void)self;
    shard_rq_answer(&rq->rq);
}

static inline void shard_fetch(void *self, struct shard_fetch *rq)
{
    struct node *n = self;
    n->fetches++;
    rq->hits = ARENA_ARRAY(&rq->rq.arena, struct str, rq->n);
    shard_rq_answer(&rq->rq);
}

static inline void shard_free(void *self, struct shard_free *rq)
{
    struct node *n = self;
    for (uint32_t i = 0; i < rq->n; i++) {
        n->freed += rq->contexts[i] == 100 + n->at;
    }
    shard_rq_answer(&rq->rq);
}

static inline void shard_act(void *self, struct shard_act *rq)
{
    struct node *n = self;
    n->acts++;
    shard_rq_answer(&rq->rq);
}

static inline void shard_explain(void *self, struct shard_explain *rq)
{
    (void)self;
    shard_rq_answer(&rq->rq);
}

static inline void shard_term_vectors(void *self, struct shard_term_vectors *rq)
{
    (void)self;
    shard_rq_answer(&rq->rq);
}

static inline void serve_shard(void *self, struct shard_rq *rq)
{
    shard_rq_take(rq);
    switch (rq->op->id) {
#define SERVE(name, type)                                      \
    case SHARD_OP_##name:                                      \
        shard_##name(self, CONTAINER_OF(rq, struct type, rq)); \
        break;
        SHARD_OPS(SERVE)
    case SHARD_OP_COUNT:
        break;
    }
}

/* ---- the cluster ----------------------------------------------------------------------------------------- */

static inline struct cluster_state *state_of(void *self)
{
    return cluster_state_ref(((struct node *)self)->c->state);
}

/* One index of one shard; the nodes of its started copies, the primary's first; -1: it is unassigned. */
static inline void publish(struct cluster *c, int primary, int replica, bool master)
{
    struct state_builder b;
    ck_assert(state_builder_init(&b, NULL));
    struct index_meta *m = index_meta_new();
    m->name = STR("i");
    m->uuid = STR("uuid");
    m->n_shards = m->routing_shards = m->routing_partition = 1;
    m->n_replicas = 1;
    m->mapping = STR("{}");
    m->primary_terms = ARENA_ARRAY(&m->part.arena, uint64_t, 1);
    m->in_sync = ARENA_ARRAY(&m->part.arena, struct str_set, 1);
    struct index_routing *r = index_routing_new(m->name, m->uuid, 1, 1);
    int at[2] = {primary, replica};
    for (uint32_t k = 0; k < 2; k++) {
        struct shard_copy *copy = &r->shards[0].copies[k];
        copy->state = at[k] >= 0 ? COPY_STARTED : COPY_UNASSIGNED;
        copy->node = at[k] >= 0 ? id_of((uint32_t)at[k]) : STR_NULL;
    }
    struct nodes_part *p = nodes_part_new();
    p->v = ARENA_ARRAY(&p->part.arena, struct node_meta, NODES);
    for (uint32_t i = 0; i < NODES; i++) {
        if (!c->nodes[i].dead) {
            p->v[p->n++] = (struct node_meta){.id = id_of(i),
                                              .name = id_of(i),
                                              .ephemeral_id = id_of(i),
                                              .transport_address = id_of(i),
                                              .host = id_of(i),
                                              .roles = ROLE_DATA};
        }
    }
    p->master = master ? id_of(0) : STR_NULL;
    ck_assert(state_put_index(&b, m) && state_put_routing(&b, r));
    state_put_nodes(&b, p);
    cluster_state_unref(c->state);
    c->state = state_builder_seal(&b, STR("state"));
    c->state->version = ++c->version;
    for (uint32_t i = 0; i < NODES && c->nodes[NODES - 1].co != NULL; i++) {
        coordinator_applied(c->nodes[i].co, -1);
    }
}

static inline void refuse_meta(void *arg)
{
    struct meta_request *rq = arg;
    err_set(&rq->error, ERR_NO_MASTER, "as told");
    rq->done(rq);
}

static inline void ask_master(void *self, struct meta_request *rq)
{
    struct node *n = self;
    executor_submit_force(sim_lane_executor(n->lane), refuse_meta, rq);
}

static inline void open_node(struct cluster *c, uint32_t at)
{
    struct node *n = &c->nodes[at];
    n->c = c;
    n->at = at;
    n->lane = sim_lane_new(c->sim, SIM_LOOP, 0);
    n->transport = (struct transport){
        .self = n, .send = send, .cancel = cancel, .serve = serve, .reply = reply, .refuse = refuse};
    n->shards = (struct shard_api){.self = n, .serve = serve_shard};
    const struct executor *x = sim_lane_executor(n->lane);
    struct remote_shards_opts ro = {&n->transport, &n->shards, x, x};
    ck_assert_int_eq(remote_shards_new(&n->remote, &ro, NULL), ERR_OK);
    struct coordinator_opts co = {.clock = &c->clock.base,
                                  .shards = &n->shards,
                                  .remote = n->remote,
                                  .state = state_of,
                                  .master = ask_master,
                                  .self = n,
                                  .timers = sim_lane_timers(n->lane),
                                  .timer_loop = x,
                                  .workers = x,
                                  .node_id = id_of(at),
                                  .node_name = id_of(at),
                                  .seed = 11 + at};
    ck_assert_int_eq(coordinator_new(&n->co, &co, NULL), ERR_OK);
}

static inline struct cluster *cluster_open(void)
{
    struct cluster *c = calloc(1, sizeof(*c));
    clock_sim_init(&c->clock, 1600000000000);
    struct sim_exec_opts o = {.clock = &c->clock, .seed = 3, .task_delay_ns_max = 1000};
    c->sim = sim_exec_new(&o);
    for (uint32_t i = 0; i < NODES; i++) {
        open_node(c, i);
    }
    publish(c, 1, 2, true);
    return c;
}

static inline void cluster_close(struct cluster *c)
{
    for (uint32_t i = 0; i < NODES; i++) {
        coordinator_stop(c->nodes[i].co);
    }
    sim_exec_run_for(c->sim, SECOND);
    for (uint32_t i = 0; i < NODES; i++) {
        coordinator_free(c->nodes[i].co);
        remote_shards_free(c->nodes[i].remote);
    }
    while (c->messages != NULL) {
        struct flight *m = c->messages;
        c->messages = m->next;
        buf_fini(&m->payload);
        arena_fini(&m->error_memory);
        free(m);
    }
    cluster_state_unref(c->state);
    sim_exec_free(c->sim);
    free(c);
}

static inline void note(struct shard_rq *rq)
{
    (*(unsigned *)rq->user)++;
}

static const struct shard_ref shard0 = {{"i", 1}, {"uuid", 4}, 0};

static inline void get_from(struct cluster *c, uint32_t coordinator, const char *preference,
                            struct shard_get *g)
{
    unsigned done = 0;
    struct ask_where where = ask_anywhere(c->nodes[coordinator].co, c->state, str_of(preference));
    *g = (struct shard_get){.id = STR("1")};
    shard_rq_init(&g->rq, &shard_op_get, note, &done);
    g->rq.shard = shard0;
    ask_get(c->nodes[coordinator].co, &where, g);
    sim_exec_run_for(c->sim, 10 * SECOND);
    ck_assert_uint_eq(done, 1);
}

#endif
