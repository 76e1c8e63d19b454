/* Coordinators of three nodes in one process, over a transport that a script breaks: requests go where copies
 * are, and come back as if nothing had happened. */
#include "common/sys/sim_exec.h"
#include "coordinator/core/active.h"
#include "coordinator/core/ask.h"
#include "coordinator/ops/writes.h"
#include "engine/index/engine.h"
#include "engine/search/search.h"
#include "proto/remote_shards.h"

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

struct message {
    struct transport_rq *rq; /* NULL: nobody waits any more */
    struct node *from, *to;
    struct transport_call call;
    struct buf payload;
    struct errmsg error;
    struct message *next;
};

struct cluster {
    struct clock_sim clock;
    struct sim_exec *sim;
    struct node nodes[NODES];
    struct cluster_state *state;
    struct message *messages; /* under way or answered */
    unsigned sent;
    uint64_t version;
};

static struct str id_of(uint32_t at)
{
    static const char *const ids[] = {"n0", "n1", "n2"};
    return str_of(ids[at]);
}

/* ---- transport ------------------------------------------------------------------------------------------- */

static void run_done(void *arg)
{
    struct transport_rq *rq = arg;
    rq->done(rq);
}

static void finish(struct message *m)
{
    struct transport_rq *rq = m->rq;
    if (rq == NULL) {
        return;
    }
    m->rq = NULL;
    rq->error = m->error;
    if (m->error.n == 0) {
        rq->answer_memory = m->payload;
        rq->answer = buf_view(&rq->answer_memory);
        buf_init(&m->payload, NULL, BUF_UNLIMITED);
    }
    buf_fini(&rq->payload);
    executor_submit_force(rq->on, run_done, rq);
}

static void arrive(void *arg)
{
    struct message *m = arg;
    if (!m->to->dead) {
        m->to->served[m->call.kind].handle(m->to->served[m->call.kind].arg, &m->call);
    }
}

static void send(void *self, const struct transport_peer *to, struct transport_rq *rq)
{
    struct node *from = self;
    struct cluster *c = from->c;
    struct message *m = calloc(1, sizeof(*m));
    *m = (struct message){.rq = rq, .from = from, .next = c->messages};
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

static void cancel(void *self, struct transport_rq *rq)
{
    struct node *from = self;
    for (struct message *m = from->c->messages; m != NULL; m = m->next) {
        if (m->rq == rq) {
            err_set(&m->error, ERR_CANCELLED, "cancelled");
            finish(m);
        }
    }
}

static void serve(void *self, uint16_t kind, const struct executor *where,
                  void (*handle)(void *arg, struct transport_call *call), void *arg)
{
    struct node *n = self;
    (void)where;
    n->served[kind].handle = handle;
    n->served[kind].arg = arg;
}

static void reply(void *self, struct transport_call *call, struct buf *payload)
{
    struct message *m = call->slot;
    (void)self;
    buf_fini(&m->payload);
    m->payload = *payload;
    if (!m->to->dead) {
        finish(m);
    }
}

static void refuse(void *self, struct transport_call *call, const struct errmsg *error)
{
    struct message *m = call->slot;
    (void)self;
    m->error = *error;
    finish(m);
}

static void kill_node(struct node *n)
{
    n->dead = true;
    for (struct message *m = n->c->messages; m != NULL; m = m->next) {
        if (m->to == n && m->rq != NULL) {
            err_set(&m->error, ERR_NODE_DISCONNECTED, "disconnected");
            finish(m);
        }
    }
}

/* ---- shards ---------------------------------------------------------------------------------------------- */

static void fail_with(struct shard_rq *rq, enum err e)
{
    if (e != ERR_OK) {
        err_set(&rq->error, e, "as told");
    }
}

static void shard_get(void *self, struct shard_get *rq)
{
    struct node *n = self;
    n->gets++;
    fail_with(&rq->rq, n->get_error);
    rq->found = true;
    rq->source = arena_printf(&rq->rq.arena, "{\"from\":%u}", n->at);
    rq->rq.done(&rq->rq);
}

static void shard_write(void *self, struct shard_write *rq)
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
    rq->rq.done(&rq->rq);
}

static void shard_query(void *self, struct shard_query *rq)
{
    struct node *n = self;
    n->queries++;
    if (n->hold) {
        n->held = rq;
        return;
    }
    rq->result = ARENA_NEW(&rq->rq.arena, struct query_result);
    rq->rq.context = 100 + n->at;
    rq->rq.done(&rq->rq);
}

static void shard_scroll(void *self, struct shard_query *rq)
{
    shard_query(self, rq);
}

static void shard_can_match(void *self, struct shard_can_match *rq)
{
    (void)self;
    rq->rq.done(&rq->rq);
}

static void shard_dfs(void *self, struct shard_dfs *rq)
{
    (void)self;
    rq->rq.done(&rq->rq);
}

static void shard_fetch(void *self, struct shard_fetch *rq)
{
    struct node *n = self;
    n->fetches++;
    rq->hits = ARENA_ARRAY(&rq->rq.arena, struct str, rq->n);
    rq->rq.done(&rq->rq);
}

static void shard_free(void *self, struct shard_free *rq)
{
    struct node *n = self;
    for (uint32_t i = 0; i < rq->n; i++) {
        n->freed += rq->contexts[i] == 100 + n->at;
    }
    rq->rq.done(&rq->rq);
}

static void shard_act(void *self, struct shard_act *rq)
{
    struct node *n = self;
    n->acts++;
    rq->rq.done(&rq->rq);
}

static void shard_explain(void *self, struct shard_explain *rq)
{
    (void)self;
    rq->rq.done(&rq->rq);
}

static void serve_shard(void *self, struct shard_rq *rq)
{
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

static struct cluster_state *state_of(void *self)
{
    return cluster_state_ref(((struct node *)self)->c->state);
}

/* One index of one shard; the nodes of its started copies, the primary's first; -1: it is unassigned. */
static void publish(struct cluster *c, int primary, int replica, bool master)
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

static void open_node(struct cluster *c, uint32_t at)
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
                                  .self = n,
                                  .timers = sim_lane_timers(n->lane),
                                  .timer_loop = x,
                                  .workers = x,
                                  .node_id = id_of(at),
                                  .node_name = id_of(at),
                                  .seed = 11 + at};
    ck_assert_int_eq(coordinator_new(&n->co, &co, NULL), ERR_OK);
}

static struct cluster *cluster_open(void)
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

static void cluster_close(struct cluster *c)
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
        struct message *m = c->messages;
        c->messages = m->next;
        buf_fini(&m->payload);
        free(m);
    }
    cluster_state_unref(c->state);
    sim_exec_free(c->sim);
    free(c);
}

static void note(struct shard_rq *rq)
{
    (*(unsigned *)rq->user)++;
}

static const struct shard_ref shard0 = {{"i", 1}, {"uuid", 4}, 0};

static void get_from(struct cluster *c, uint32_t coordinator, const char *preference, struct shard_get *g)
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

/* ---- tests ----------------------------------------------------------------------------------------------- */

START_TEST(reads)
{
    struct cluster *c = cluster_open();
    struct shard_get g;
    for (int i = 0; i < 8; i++) { /* by turns */
        get_from(c, 0, "", &g);
        ck_assert(g.rq.error.n == 0 && g.found && g.source.n > 0);
        shard_rq_fini(&g.rq);
    }
    ck_assert(c->nodes[1].gets == 4 && c->nodes[2].gets == 4 && c->sent == 8);
    get_from(c, 1, "_local", &g); /* what is here is not sent */
    ck_assert(str_is(g.rq.node, "n1") && c->sent == 8);
    shard_rq_fini(&g.rq);
    c->nodes[1].get_error = ERR_IO; /* one copy's trouble */
    get_from(c, 1, "_local", &g);
    ck_assert(g.rq.error.n == 0 && str_is(g.rq.node, "n2"));
    shard_rq_fini(&g.rq);
    c->nodes[1].get_error = ERR_OK;
    kill_node(&c->nodes[2]);
    for (int i = 0; i < 4; i++) {
        get_from(c, 0, "", &g);
        ck_assert(g.rq.error.n == 0 && str_is(g.rq.node, "n1"));
        shard_rq_fini(&g.rq);
    }
    c->nodes[1].get_error = ERR_IO; /* nobody left: what the one said that could say something */
    get_from(c, 0, "_prefer_nodes:n1", &g);
    ck_assert(err_code(&g.rq.error) == ERR_IO || err_code(&g.rq.error) == ERR_NODE_NOT_CONNECTED);
    shard_rq_fini(&g.rq);
    publish(c, -1, -1, true);
    get_from(c, 0, "", &g);
    ck_assert_int_eq(err_code(&g.rq.error), ERR_NO_SHARD);
    ck_assert(g.rq.node.p == NULL);
    shard_rq_fini(&g.rq);
    cluster_close(c);
}
END_TEST

START_TEST(a_later_state)
{
    struct cluster *c = cluster_open();
    struct shard_get g = {.id = STR("1")};
    unsigned done = 0;
    struct cluster_state *old = cluster_state_ref(c->state);
    kill_node(&c->nodes[1]);
    kill_node(&c->nodes[2]);
    publish(c, 0, -1, true); /* it has moved */
    struct ask_where where = ask_anywhere(c->nodes[0].co, old, STR_NULL);
    shard_rq_init(&g.rq, &shard_op_get, note, &done);
    g.rq.shard = shard0;
    ask_get(c->nodes[0].co, &where, &g);
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(done == 1 && g.rq.error.n == 0 && str_is(g.rq.node, "n0"));
    shard_rq_fini(&g.rq);
    cluster_state_unref(old);
    cluster_close(c);
}
END_TEST

static bool cancelled;
static bool is_cancelled(void *self)
{
    (void)self;
    return cancelled;
}

START_TEST(contexts_and_cancelling)
{
    struct cluster *c = cluster_open();
    struct coordinator *co = c->nodes[0].co;
    struct ask_where where = ask_anywhere(co, c->state, STR("_prefer_nodes:n2"));
    unsigned done = 0;
    struct shard_query q = {.body = {.text = STR("{}")}};
    shard_rq_init(&q.rq, &shard_op_query, note, &done);
    q.rq.shard = shard0;
    ask_search(co, &where, &q.rq);
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(done == 1 && q.rq.error.n == 0 && q.rq.context == 102 && str_is(q.rq.node, "n2"));
    struct top_doc doc = {.doc = 3};
    struct shard_fetch f = {.rq.context = q.rq.context, .docs = &doc, .n = 1};
    shard_rq_init(&f.rq, &shard_op_fetch, note, &done);
    f.rq.shard = shard0;
    f.rq.node = q.rq.node;
    ask_fetch(co, &f);
    ask_forget(co, q.rq.node, q.rq.context);
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(done == 2 && c->nodes[2].fetches == 1 && c->nodes[2].freed == 1 && c->nodes[1].freed == 0);
    shard_rq_fini(&f.rq);
    shard_rq_fini(&q.rq);
    /* A search that does not end is told to. */
    c->nodes[2].hold = true;
    cancelled = false;
    q = (struct shard_query){.body = {.text = STR("{}")}, .rq.cancelled = is_cancelled};
    shard_rq_init(&q.rq, &shard_op_query, note, &done);
    q.rq.shard = shard0;
    ask_search(co, &where, &q.rq);
    sim_exec_run_for(c->sim, 2 * SECOND);
    struct shard_query *held = c->nodes[2].held;
    ck_assert(held != NULL && !shard_rq_cancelled(&held->rq));
    cancelled = true;
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(shard_rq_cancelled(&held->rq) && done == 2);
    err_set(&held->rq.error, ERR_CANCELLED, "task cancelled");
    held->rq.done(&held->rq);
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(done == 3 && err_code(&q.rq.error) == ERR_CANCELLED);
    shard_rq_fini(&q.rq);
    /* A node that says nothing and leaves the cluster: the search goes on elsewhere. */
    q = (struct shard_query){.body = {.text = STR("{}")}};
    shard_rq_init(&q.rq, &shard_op_query, note, &done);
    q.rq.shard = shard0;
    ask_search(co, &where, &q.rq);
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(done == 3);
    c->nodes[2].dead = true; /* without a word */
    publish(c, 1, -1, true);
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(done == 4 && q.rq.error.n == 0 && str_is(q.rq.node, "n1"));
    shard_rq_fini(&q.rq);
    held = c->nodes[2].held;
    held->rq.done(&held->rq); /* too late */
    cluster_close(c);
}
END_TEST

/* ---- writes ---------------------------------------------------------------------------------------------- */

struct writing {
    struct arena arena;
    struct op_env env;
    struct write_entry entry;
    struct write_set set;
    bool done;
};

static void written(struct write_set *s)
{
    ((struct writing *)s->user)->done = true;
}

static struct writing *write_begin(struct cluster *c, uint32_t coordinator, int64_t timeout_ms)
{
    struct writing *w = calloc(1, sizeof(*w));
    arena_init(&w->arena, NULL, ARENA_UNLIMITED);
    w->env = (struct op_env){
        .co = c->nodes[coordinator].co, .arena = &w->arena, .state = cluster_state_ref(c->state)};
    w->entry = (struct write_entry){.target = STR("i"), .action = "index"};
    w->entry.item = (struct write_item){.kind = WRITE_INDEX,
                                        .id = STR("1"),
                                        .source = STR("{}"),
                                        .auto_id_ms = -1,
                                        .version = VERSION_ANY,
                                        .if_seq_no = SEQ_UNASSIGNED};
    w->set = (struct write_set){.r = &w->env,
                                .v = &w->entry,
                                .n = 1,
                                .timeout_ms = timeout_ms,
                                .active = 0,
                                .done = written,
                                .user = w};
    writes_run(&w->set);
    return w;
}

static void write_end(struct writing *w)
{
    writes_fini(&w->set);
    cluster_state_unref(w->env.state);
    arena_fini(&w->arena);
    free(w);
}

static const struct errmsg *error_of(const struct writing *w)
{
    return w->entry.error != NULL ? w->entry.error : w->entry.item.error;
}

START_TEST(a_primary_that_dies)
{
    struct cluster *c = cluster_open();
    c->nodes[1].die_after_write = true;
    struct writing *w = write_begin(c, 0, 60000);
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(!w->done && c->nodes[1].writes == 1 && !c->nodes[1].retried);
    publish(c, 2, -1, true);
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(w->done && error_of(w) == NULL && w->entry.item.seq_no == 7);
    ck_assert(c->nodes[2].writes == 1 && c->nodes[2].retried && c->nodes[2].session != 0);
    ck_assert(c->nodes[2].session == c->nodes[1].session && c->nodes[2].counter == c->nodes[1].counter);
    write_end(w);
    cluster_close(c);
}
END_TEST

START_TEST(a_primary_that_moves)
{
    struct cluster *c = cluster_open();
    c->nodes[1].write_error = ERR_NOT_PRIMARY;
    struct writing *w = write_begin(c, 1, 60000);
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(!w->done && c->nodes[1].writes > 1 && c->sent == 0);
    publish(c, 2, 1, true);
    sim_exec_run_for(c->sim, SECOND / 10);
    ck_assert(w->done && error_of(w) == NULL && c->nodes[2].writes == 1 && !c->nodes[2].retried);
    write_end(w);
    w = write_begin(c, 0, 60000); /* others go to it as well */
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(w->done && c->nodes[2].writes == 2 && c->nodes[2].counter != 0);
    write_end(w);
    cluster_close(c);
}
END_TEST

START_TEST(no_primary)
{
    struct cluster *c = cluster_open();
    publish(c, -1, -1, true);
    struct writing *w = write_begin(c, 0, 1000);
    sim_exec_run_for(c->sim, SECOND / 2);
    ck_assert(!w->done);
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(w->done && err_code(error_of(w)) == ERR_UNAVAILABLE_SHARDS);
    ck_assert_int_eq(err_http_status(error_of(w)), 503);
    write_end(w);
    cluster_close(c);
}
END_TEST

START_TEST(no_master)
{
    struct cluster *c = cluster_open();
    struct shard_get g;
    publish(c, 1, 2, false);
    struct writing *w = write_begin(c, 0, 1000);
    get_from(c, 0, "", &g); /* reads go on */
    ck_assert(g.rq.error.n == 0 && w->done);
    ck_assert(w->set.blocked && err_code(error_of(w)) == ERR_CLUSTER_BLOCK);
    ck_assert(err_http_status(error_of(w)) == 503 && c->nodes[1].writes == 0);
    shard_rq_fini(&g.rq);
    write_end(w);
    w = write_begin(c, 0, 60000);
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(!w->done);
    publish(c, 1, 2, true);
    sim_exec_run_for(c->sim, SECOND / 10);
    ck_assert(w->done && error_of(w) == NULL && c->nodes[1].writes == 1);
    write_end(w);
    cluster_close(c);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ask");
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, reads);
    tcase_add_test(t, a_later_state);
    tcase_add_test(t, contexts_and_cancelling);
    tcase_add_test(t, a_primary_that_dies);
    tcase_add_test(t, a_primary_that_moves);
    tcase_add_test(t, no_primary);
    tcase_add_test(t, no_master);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
