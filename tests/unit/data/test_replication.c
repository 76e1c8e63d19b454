/* Three data services in one process, on one simulated clock: a master that is a list of states, a network that loses,
 * delays and cuts. Clients write through whatever primary the master names, and try again with the same names until they
 * have an answer. Then: every write has happened exactly once, none that was acknowledged is gone, and the copies in sync
 * are equal. */
#include "data/data.h"

#include "common/base/rand.h"
#include "common/sys/fs_mem.h"
#include "common/sys/sim_exec.h"
#include "engine/index/engine.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES   3
#define CLIENTS 6
#define MS      ((int64_t)1000000)

static struct rng rng;
static struct clock_sim the_clock;
static struct sim_exec *x;
static struct sim_lane *net; /* the network's, the master's, and the clients' */

static const char *const node_ids[] = {"n0", "n1", "n2"};
static const char *const addresses[] = {"h0:1", "h1:1", "h2:1"};

struct pending_event { /* what a node tells the master */
    int node;
    struct shard_event event;
    char allocation_id[32], uuid[8];
    void (*done)(void *arg, const struct errmsg *error);
    void *arg;
    struct errmsg error;
    bool failed;
    struct pending_event *next;
};

static struct node {
    int number;
    struct fs_mem *disk;
    struct sim_lane *write, *search, *back;
    struct data_service *data;
    struct transport transport;
    struct served {
        const struct executor *where;
        void (*handle)(void *arg, struct transport_call *call);
        void *arg;
    } served[256];
    bool cut;     /* from everybody */
    bool unheard; /* by the master */
    bool applying;
    struct cluster_state *applied;     /* or being applied */
    struct pending_event *unconfirmed; /* the master has taken them; the state is not applied here yet */
    bool slow_states;
} nodes[NODES];

/* ---- the network ------------------------------------------------------------------------------------------------- */

static int lose_percent;
static int deaf = -1; /* a node that no message reaches */

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
};

static int64_t delay_ms(void)
{
    return rng_below(&rng, 10) == 0 ? (int64_t)rng_below(&rng, 40) : (int64_t)rng_below(&rng, 3);
}

static void later(int64_t ms, void (*run)(void *), void *arg)
{
    ck_assert_ptr_nonnull(timer_start(sim_lane_timers(net), ms, run, arg));
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
        rq->error = l->error;
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
    bool gone = nodes[l->from].cut || nodes[l->to].cut || (int)rng_below(&rng, 100) < lose_percent;
    end_letter(l, gone ? ERR_NODE_DISCONNECTED : ERR_OK);
    free_letter(l);
}

static void handle_letter(void *arg)
{
    struct letter *l = arg;
    struct served *s = &nodes[l->to].served[l->call.kind];
    s->handle(s->arg, &l->call);
}

static void arrive(void *arg)
{
    struct letter *l = arg;
    struct served *s = &nodes[l->to].served[l->call.kind];
    if (nodes[l->from].cut || nodes[l->to].cut || l->to == deaf || (int)rng_below(&rng, 100) < lose_percent) {
        l->answered = true;
        lost(l);
        return;
    }
    ck_assert(executor_submit(s->where, handle_letter, l));
}

static void net_send(void *self, const struct transport_peer *to, struct transport_rq *rq)
{
    struct node *n = self;
    struct letter *l = calloc(1, sizeof(*l));
    l->rq = rq;
    l->from = n->number;
    for (l->to = 0; !str_is(to->address, addresses[l->to]); l->to++) {
        ck_assert_int_lt(l->to, NODES - 1);
    }
    l->payload = rq->payload;
    buf_init(&rq->payload, NULL, BUF_UNLIMITED);
    buf_init(&l->answer, NULL, BUF_UNLIMITED);
    err_clear(&rq->error);
    buf_init(&rq->answer_memory, NULL, BUF_UNLIMITED);
    rq->slot = l;
    snprintf(l->from_id, sizeof(l->from_id), "e%d", n->number);
    l->call = (struct transport_call){rq->cls, rq->kind, str_of(l->from_id), buf_view(&l->payload), l};
    later(delay_ms(), arrive, l);
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
    struct node *n = self;
    n->served[kind] = (struct served){where, handle, arg};
}

static void net_reply(void *self, struct transport_call *call, struct buf *payload)
{
    struct letter *l = call->slot;
    (void)self;
    ck_assert(!l->answered);
    l->answered = true;
    l->answer = *payload;
    later(delay_ms(), arrive_back, l);
}

static void net_refuse(void *self, struct transport_call *call, const struct errmsg *error)
{
    struct letter *l = call->slot;
    (void)self;
    ck_assert(!l->answered);
    l->answered = true;
    l->refused = true;
    l->error = *error;
    later(delay_ms(), arrive_back, l);
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

/* ---- the master -------------------------------------------------------------------------------------------------- */

static struct cluster_state *newest;
static uint64_t next_id;
static int next_primary = -1; /* the node that the master prefers */
static int stale_refused, promotions, dropped_copies;

static void publish(struct state_builder *b);

static void set_nodes(struct state_builder *b, const bool *up)
{
    struct nodes_part *none = nodes_part_new(), *p = nodes_part_copy(none, NODES);
    state_part_unref(&none->part);
    for (int i = 0; i < NODES; i++) {
        char e[8];
        snprintf(e, sizeof(e), "e%d", i);
        struct node_meta n = {.id = str_of(node_ids[i]),
                              .name = str_of(node_ids[i]),
                              .ephemeral_id = str_of(e),
                              .host = STR("h"),
                              .transport_address = str_of(addresses[i]),
                              .roles = ROLE_DATA};
        ck_assert(!up[i] || nodes_part_put(p, &n));
    }
    state_put_nodes(b, p);
}

static const char *mapping_text = "{\"properties\":{\"v\":{\"type\":\"long\"},\"c\":{\"type\":\"keyword\"}}}";
static const char *durability = "request";

static void first_state(int replicas)
{
    struct state_builder b;
    bool up[NODES] = {true, true, true};
    ck_assert(state_builder_init(&b, NULL));
    ck_assert(state_set_names(&b, STR("c"), STR("cu")));
    set_nodes(&b, up);
    struct index_meta *m = index_meta_new();
    struct arena *a = &m->part.arena;
    m->name = STR("docs");
    m->uuid = STR("u1");
    m->version = m->mapping_version = m->settings_version = 1;
    m->n_shards = 1;
    m->n_replicas = (uint32_t)replicas;
    m->routing_shards = 1;
    m->routing_partition = 1;
    m->mapping = str_of(mapping_text);
    settings_init(&m->settings, a);
    ck_assert(settings_put(&m->settings, STR("index.translog.durability"), str_of(durability)));
    m->primary_terms = ARENA_ARRAY(a, uint64_t, 1);
    m->in_sync = ARENA_ARRAY(a, struct str_set, 1);
    m->primary_terms[0] = 1;
    ck_assert(state_put_index(&b, m));
    struct index_routing *r = index_routing_new(STR("docs"), STR("u1"), 1, (uint32_t)replicas);
    for (int i = 0; i <= replicas; i++) {
        struct shard_copy *c = &r->shards[0].copies[i];
        c->state = COPY_INITIALIZING;
        c->node = str_of(node_ids[i]);
        c->allocation_id = arena_printf(&r->part.arena, "id%llu", (unsigned long long)++next_id);
        c->source = RECOVER_EMPTY_STORE; /* nothing is written before all have started */
    }
    ck_assert(state_put_routing(&b, r));
    publish(&b);
}

static const struct shard_routing *routing_now(void)
{
    return &cluster_routing(newest, STR("docs"))->shards[0];
}

static int node_number(struct str id)
{
    return id.p == NULL ? -1 : id.p[1] - '0';
}

static void confirm(void *arg)
{
    struct node *n = arg;
    while (n->unconfirmed != NULL) {
        struct pending_event *p = n->unconfirmed;
        n->unconfirmed = p->next;
        if (p->done != NULL) {
            p->done(p->arg, p->failed ? &p->error : NULL);
        }
        free(p);
    }
}

static void apply_newest(void *arg);

static void state_applied(void *arg)
{
    struct node *n = arg;
    n->applying = false;
    if (n->applied == newest) {
        executor_submit_force(sim_lane_executor(net), confirm, n);
    } else {
        later(delay_ms(), apply_newest, n);
    }
}

static void apply_newest(void *arg)
{
    struct node *n = arg;
    if (n->cut || n->applying || n->applied == newest) {
        return;
    }
    n->applying = true;
    cluster_state_unref(n->applied);
    n->applied = cluster_state_ref(newest);
    data_apply(n->data, n->applied, state_applied, n);
}

static void heal(void)
{
    lose_percent = 0;
    for (int i = 0; i < NODES; i++) {
        nodes[i].cut = nodes[i].unheard = false;
        later(0, apply_newest, &nodes[i]);
    }
}

static void publish(struct state_builder *b)
{
    char uuid[24];
    snprintf(uuid, sizeof(uuid), "s%llu", (unsigned long long)++next_id);
    struct cluster_state *s = state_builder_seal(b, str_of(uuid));
    ck_assert_ptr_nonnull(s);
    cluster_state_unref(newest);
    newest = s;
    for (int i = 0; i < NODES; i++) {
        later(nodes[i].slow_states ? 500 : delay_ms(), apply_newest, &nodes[i]);
    }
}

static void change(void (*fn)(struct index_meta *m, struct shard_routing *r, struct arena *ra, void *arg),
                   void *arg)
{
    struct state_builder b;
    struct index_meta *m = index_meta_copy(cluster_index(newest, STR("docs")));
    struct index_routing *r = index_routing_copy(cluster_routing(newest, STR("docs")), 0);
    m->version++;
    fn(m, &r->shards[0], &r->part.arena, arg);
    ck_assert(state_builder_init(&b, newest));
    ck_assert(state_put_index(&b, m));
    ck_assert(state_put_routing(&b, r));
    publish(&b);
}

static void unassign(struct shard_copy *c)
{
    *c = (struct shard_copy){.state = COPY_UNASSIGNED, .primary = c->primary, .source = RECOVER_PEER};
    dropped_copies++;
}

static void take_event(struct index_meta *m, struct shard_routing *r, struct arena *ra, void *arg)
{
    struct pending_event *p = arg;
    struct arena *ma = &m->part.arena;
    (void)ra;
    for (uint32_t i = 0; i < r->n; i++) {
        struct shard_copy *c = &r->copies[i];
        if (c->allocation_id.p == NULL || !str_eq(c->allocation_id, p->event.allocation_id)) {
            continue;
        }
        if (p->event.kind == SHARD_EVENT_STARTED) {
            c->state = COPY_STARTED;
            m->in_sync[0] = str_set_with(&m->in_sync[0], c->allocation_id, ma);
        } else if (!c->primary) {
            unassign(c);
        }
    }
    if (p->event.kind == SHARD_EVENT_STALE) {
        m->in_sync[0] = str_set_without(&m->in_sync[0], p->event.allocation_id, ma);
    }
}

static void event_arrives(void *arg)
{
    struct pending_event *p = arg;
    struct node *n = &nodes[p->node];
    if (n->cut || n->unheard) {
        later(50, event_arrives, p); /* again and again */
        return;
    }
    uint64_t term = cluster_index(newest, STR("docs"))->primary_terms[0];
    if (p->event.kind == SHARD_EVENT_STALE && p->event.primary_term != term) {
        p->failed = true;
        err_set(&p->error, ERR_STALE_TERM, "term %llu, not %llu", (unsigned long long)p->event.primary_term,
                (unsigned long long)term);
        stale_refused++;
    } else {
        change(take_event, p);
    }
    p->next = n->unconfirmed;
    n->unconfirmed = p;
    if (n->applied == newest && !n->applying) {
        confirm(n);
    }
}

static void shard_event(void *self, const struct shard_event *e, void (*done)(void *, const struct errmsg *),
                        void *arg)
{
    struct node *n = self;
    struct pending_event *p = calloc(1, sizeof(*p));
    *p = (struct pending_event){.node = n->number, .event = *e, .done = done, .arg = arg};
    snprintf(p->allocation_id, sizeof(p->allocation_id), "%.*s", STR_ARG(e->allocation_id));
    p->event.allocation_id = str_of(p->allocation_id);
    p->event.index_uuid = STR("u1");
    p->event.why = STR_NULL;
    later(1 + delay_ms(), event_arrives, p);
}

/* The primary's node has left: a copy in sync takes over under a new term. */
static void promote(struct index_meta *m, struct shard_routing *r, struct arena *ra, void *arg)
{
    bool *up = arg;
    (void)ra;
    for (uint32_t i = 0; i < r->n; i++) {
        int at = node_number(r->copies[i].node);
        if (at >= 0 && !up[at] && i > 0) {
            unassign(&r->copies[i]);
        }
    }
    if (up[node_number(r->copies[0].node)]) {
        return;
    }
    uint32_t can[NODES], n = 0;
    for (uint32_t i = 1; i < r->n; i++) {
        if (copy_active(&r->copies[i]) && str_set_has(&m->in_sync[0], r->copies[i].allocation_id)) {
            can[n++] = i;
        }
    }
    if (n == 0) {
        return;
    }
    uint32_t k = can[rng_below(&rng, n)];
    for (uint32_t i = 0; i < n; i++) {
        k = node_number(r->copies[can[i]].node) == next_primary ? can[i] : k;
    }
    struct shard_copy old = r->copies[0];
    r->copies[0] = r->copies[k];
    r->copies[0].primary = true;
    r->copies[k] = old;
    r->copies[k].primary = false;
    m->in_sync[0] = str_set_without(&m->in_sync[0], old.allocation_id, &m->part.arena);
    unassign(&r->copies[k]);
    m->primary_terms[0]++;
    promotions++;
}

static void leave(int node)
{
    struct state_builder b;
    bool up[NODES];
    for (int i = 0; i < NODES; i++) {
        up[i] = cluster_node(newest, str_of(node_ids[i])) != NULL && i != node;
    }
    struct index_meta *m = index_meta_copy(cluster_index(newest, STR("docs")));
    struct index_routing *r = index_routing_copy(cluster_routing(newest, STR("docs")), 0);
    m->version++;
    promote(m, &r->shards[0], &r->part.arena, up);
    ck_assert(state_builder_init(&b, newest));
    set_nodes(&b, up);
    ck_assert(state_put_index(&b, m));
    ck_assert(state_put_routing(&b, r));
    publish(&b);
}

/* ---- a cluster ----------------------------------------------------------------------------------------------------- */

static void update_mapping(void *self, struct str index, struct str uuid, struct str mapping,
                           void (*done)(void *arg, const struct errmsg *error), void *arg)
{
    struct errmsg em;
    (void)self;
    (void)index;
    (void)uuid;
    (void)mapping;
    err_set(&em, ERR_ILLEGAL_STATE, "no new fields here");
    done(arg, &em);
}

static bool ending;

static void tick_node(void *arg)
{
    struct node *n = arg;
    if (!ending) {
        data_tick(n->data);
        later(100, tick_node, n);
    }
}

static void start_cluster(uint64_t seed, int replicas)
{
    rng_seed(&rng, seed * 2654435761U + 1);
    clock_sim_init(&the_clock, 1600000000000);
    x = sim_exec_new(&(struct sim_exec_opts){&the_clock, seed, 200000});
    net = sim_lane_new(x, SIM_LOOP, 0);
    next_id = 0;
    newest = NULL;
    ending = false;
    deaf = next_primary = -1;
    lose_percent = stale_refused = promotions = dropped_copies = 0;
    for (int i = 0; i < NODES; i++) {
        struct node *n = &nodes[i];
        struct errmsg em;
        *n = (struct node){.number = i, .disk = fs_mem_new()};
        n->write = sim_lane_new(x, SIM_POOL, 0);
        n->search = sim_lane_new(x, SIM_POOL, 0);
        n->back = sim_lane_new(x, SIM_POOL, 0);
        n->transport = (struct transport){n,          net_send, net_cancel, net_serve, net_reply,
                                          net_refuse, net_none, net_none,   net_watch};
        struct data_opts o = {.fs = fs_mem_fs(n->disk),
                              .clock = &the_clock.base,
                              .dir = "/data",
                              .write_pool = sim_lane_executor(n->write),
                              .search_pool = sim_lane_executor(n->search),
                              .background_pool = sim_lane_executor(n->back),
                              .node_id = str_of(node_ids[i]),
                              .update_mapping = update_mapping,
                              .shard_event = shard_event,
                              .node_self = n,
                              .transport = &n->transport};
        ck_assert_msg(data_service_new(&n->data, &o, &em) == ERR_OK, "%s", em.frame[0].reason);
        later(100, tick_node, n);
    }
    first_state(replicas);
}

static void run_ms(int64_t ms)
{
    sim_exec_run_for(x, ms * MS);
}

static bool all_started(void *arg)
{
    (void)arg;
    const struct shard_routing *r = routing_now();
    for (uint32_t i = 0; i < r->n; i++) {
        if (r->copies[i].state != COPY_STARTED) {
            return false;
        }
    }
    for (int i = 0; i < NODES; i++) {
        if (nodes[i].applied != newest || nodes[i].applying) {
            return false;
        }
    }
    return true;
}

static void end_cluster(void)
{
    ending = true;
    heal();
    run_ms(200000); /* nothing is under way any more */
    for (int i = 0; i < NODES; i++) {
        struct node *n = &nodes[i];
        sim_lane_kill(n->write);
        sim_lane_kill(n->search);
        sim_lane_kill(n->back);
        data_service_free(n->data);
        cluster_state_unref(n->applied);
    }
    cluster_state_unref(newest);
    sim_exec_free(x);
    for (int i = 0; i < NODES; i++) {
        fs_mem_free(nodes[i].disk);
    }
}

/* ---- clients ------------------------------------------------------------------------------------------------------- */

/* Each has documents of its own, and writes one after the other; so it knows what every answer must be. */
static struct client {
    int number;
    bool busy, stop, waiting;
    struct shard_write w;
    struct write_item items[3];
    char ids[3][16], sources[3][64], routings[3][8];
    uint32_t n;
    uint64_t counter;
    int tries;
    enum refresh_policy refresh;
    struct doc {
        bool there;
        int64_t version, value;
    } docs[4], next[4];
    int target[3];
    int64_t writes;
} clients[CLIENTS];
static int64_t acknowledged, retried;
static bool quiet;

static void client_next(void *arg);
static void client_send(void *arg);

static void check_item(struct client *c, uint32_t i)
{
    const struct write_item *it = &c->items[i];
    struct doc *d = &c->next[c->target[i]];
    ck_assert_msg(it->error == NULL, "client %d, %s: %s", c->number, c->ids[i],
                  it->error != NULL ? it->error->frame[0].reason : "");
    if (it->kind == WRITE_DELETE) {
        ck_assert_int_eq(it->outcome, d->there ? WRITE_DELETED : WRITE_NOT_FOUND);
        d->there = false;
    } else {
        ck_assert_msg(it->outcome == (d->there ? WRITE_UPDATED : WRITE_CREATED),
                      "client %d, %s: outcome %d, version %lld", c->number, c->ids[i], (int)it->outcome,
                      (long long)it->result_version);
        d->there = true;
        d->value = atoll(strstr(c->sources[i], "\"v\":") + 4);
    }
    d->version++;
    ck_assert_int_eq(it->result_version, d->version);
}

static void written(void *arg)
{
    struct client *c = arg;
    bool ok = c->w.rq.error.n == 0;
    if (ok) {
        memcpy(c->next, c->docs, sizeof(c->docs));
        for (uint32_t i = 0; i < c->n; i++) {
            check_item(c, i);
        }
        memcpy(c->docs, c->next, sizeof(c->docs));
        acknowledged += c->n;
        c->writes += c->n;
    }
    shard_rq_fini(&c->w.rq);
    if (ok) {
        c->busy = false;
        if (!quiet) {
            later((int64_t)rng_below(&rng, 20), client_next, c);
        }
    } else {
        retried++;
        c->tries++;
        later(5 + (int64_t)rng_below(&rng, 30), client_send, c);
    }
}

static void write_done(struct shard_rq *rq)
{
    executor_submit_force(sim_lane_executor(net), written, rq->user);
}

static void client_send(void *arg)
{
    struct client *c = arg;
    int at = node_number(routing_now()->copies[0].node);
    /* A client beside a primary that was cut off does not know better. */
    for (int i = 0; i < NODES && c->tries == 0; i++) {
        at = nodes[i].cut && rng_below(&rng, 2) == 0 ? i : at;
    }
    shard_rq_init(&c->w.rq, write_done, c);
    c->w.rq.shard = (struct shard_ref){STR("docs"), STR("u1"), 0};
    c->w.retry = c->tries > 0;
    for (uint32_t i = 0; i < c->n; i++) {
        c->items[i].error = NULL;
    }
    data_api(nodes[at].data)->write(data_api(nodes[at].data)->self, &c->w);
}

static void client_next(void *arg)
{
    struct client *c = arg;
    if (quiet) {
        return;
    }
    c->busy = true;
    c->tries = 0;
    c->n = 1 + (uint32_t)rng_below(&rng, 3);
    uint32_t first = (uint32_t)rng_below(&rng, 4);
    for (uint32_t i = 0; i < c->n; i++) {
        int t = c->target[i] = (int)((first + i) % 4);
        bool fresh = !c->docs[t].there;
        snprintf(c->ids[i], sizeof(c->ids[i]), "c%dd%d", c->number, t);
        snprintf(c->sources[i], sizeof(c->sources[i]), "{\"c\":\"k%d\",\"v\":%lld}", c->number,
                 (long long)(c->writes * 10 + i));
        c->items[i] = (struct write_item){.id = str_of(c->ids[i]),
                                          .source = str_of(c->sources[i]),
                                          .auto_id_ms = -1,
                                          .version = VERSION_ANY,
                                          .if_seq_no = SEQ_UNASSIGNED,
                                          .op_counter = ++c->counter};
        switch (rng_below(&rng, 5)) {
        case 0:
            c->items[i].kind = WRITE_DELETE;
            break;
        case 1:
            if (!fresh) {
                c->items[i].kind = WRITE_UPDATE;
                snprintf(c->sources[i], sizeof(c->sources[i]), "{\"doc\":{\"v\":%lld}}",
                         (long long)(c->writes * 10 + i));
                c->items[i].source = str_of(c->sources[i]);
                break;
            }
            /* fall through */
        default:
            c->items[i].kind = WRITE_INDEX;
            c->items[i].create = fresh; /* applied twice, it would be refused */
        }
    }
    c->w = (struct shard_write){.items = c->items,
                                .n = c->n,
                                .refresh = rng_below(&rng, 8) == 0    ? REFRESH_NOW
                                           : rng_below(&rng, 16) == 0 ? REFRESH_WAIT
                                                                      : REFRESH_NONE,
                                .timeout_ms = 10000,
                                .op_session = 1000 + (uint64_t)c->number,
                                .settled_below = c->items[0].op_counter};
    client_send(c);
}

static void start_clients(void)
{
    quiet = false;
    acknowledged = retried = 0;
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){.number = i};
        for (int k = 0; k < 4; k++) {
            clients[i].docs[k] = (struct doc){false, 0, 0};
        }
        later((int64_t)rng_below(&rng, 30), client_next, &clients[i]);
    }
}

static bool clients_idle(void *arg)
{
    (void)arg;
    for (int i = 0; i < CLIENTS; i++) {
        if (clients[i].busy) {
            return false;
        }
    }
    return true;
}

/* ---- looking ------------------------------------------------------------------------------------------------------- */

static bool answered_now;
static void look_done(struct shard_rq *rq)
{
    (void)rq;
    answered_now = true;
}

static bool is_answered(void *arg)
{
    (void)arg;
    return answered_now;
}

static struct shard_stats stats_of(int node)
{
    struct shard_act a = {.action = SHARD_STATS};
    shard_rq_init(&a.rq, look_done, NULL);
    a.rq.shard = (struct shard_ref){STR("docs"), STR("u1"), 0};
    answered_now = false;
    data_api(nodes[node].data)->act(data_api(nodes[node].data)->self, &a);
    ck_assert(sim_exec_run_until(x, is_answered, NULL, 60000 * MS));
    ck_assert_msg(a.rq.error.n == 0, "%s", a.rq.error.frame[0].reason);
    struct shard_stats s = *a.stats;
    shard_rq_fini(&a.rq);
    return s;
}

/* What a copy has of a document: seq_no, term, version and value. */
struct seen {
    bool found;
    int64_t seq_no, term, version, value;
};

static struct seen look(int node, const char *id)
{
    struct shard_get g = {.id = str_of(id), .realtime = true, .want_source = true};
    shard_rq_init(&g.rq, look_done, NULL);
    g.rq.shard = (struct shard_ref){STR("docs"), STR("u1"), 0};
    answered_now = false;
    data_api(nodes[node].data)->get(data_api(nodes[node].data)->self, &g);
    ck_assert(sim_exec_run_until(x, is_answered, NULL, 60000 * MS));
    ck_assert_msg(g.rq.error.n == 0, "%s", g.rq.error.frame[0].reason);
    struct seen s = {.found = g.found};
    if (g.found) {
        char text[128];
        snprintf(text, sizeof(text), "%.*s", STR_ARG(g.source));
        s = (struct seen){true, g.seq_no, g.primary_term, g.version, atoll(strstr(text, "\"v\":") + 4)};
    }
    shard_rq_fini(&g.rq);
    return s;
}

static void check_copies(uint64_t seed)
{
    const struct shard_routing *r = routing_now();
    const struct index_meta *m = cluster_index(newest, STR("docs"));
    int primary = node_number(r->copies[0].node);
    struct shard_stats s = stats_of(primary);
    ck_assert_int_eq(s.max_seq_no, s.local_checkpoint);
    ck_assert_int_eq(s.global_checkpoint, s.max_seq_no);
    uint32_t n = 0;
    for (uint32_t k = 0; k < r->n; k++) {
        if (!copy_active(&r->copies[k])) {
            continue;
        }
        n++;
        int at = node_number(r->copies[k].node);
        struct shard_stats o = stats_of(at);
        ck_assert_msg(o.max_seq_no == s.max_seq_no && o.local_checkpoint == s.local_checkpoint
                          && o.global_checkpoint == s.global_checkpoint,
                      "seed %llu node %d: max %lld of %lld, local %lld, global %lld",
                      (unsigned long long)seed, at, (long long)o.max_seq_no, (long long)s.max_seq_no,
                      (long long)o.local_checkpoint, (long long)o.global_checkpoint);
        for (int c = 0; c < CLIENTS; c++) {
            for (int d = 0; d < 4; d++) {
                char id[16];
                snprintf(id, sizeof(id), "c%dd%d", c, d);
                struct seen here = look(at, id), there = look(primary, id);
                const struct doc *want = &clients[c].docs[d];
                ck_assert_msg(here.found == want->there, "seed %llu, %s at node %d", (unsigned long long)seed,
                              id, at);
                ck_assert(!here.found || (here.version == want->version && here.value == want->value));
                ck_assert(!here.found || (here.seq_no == there.seq_no && here.term == there.term));
            }
        }
    }
    ck_assert_uint_eq(m->in_sync[0].n, n);
}

static void settle_down(uint64_t seed)
{
    heal();
    quiet = true;
    ck_assert_msg(sim_exec_run_until(x, clients_idle, NULL, 200000 * MS), "seed %llu hangs",
                  (unsigned long long)seed);
    run_ms(5000); /* the checkpoints, too */
    check_copies(seed);
}

/* ---- tests --------------------------------------------------------------------------------------------------------- */

START_TEST(test_quiet)
{
    start_cluster((uint64_t)_i, 2);
    ck_assert(sim_exec_run_until(x, all_started, NULL, 10000 * MS));
    start_clients();
    run_ms(3000);
    settle_down((uint64_t)_i);
    ck_assert_int_gt(acknowledged, 100);
    ck_assert_int_eq(dropped_copies, 0);
    ck_assert_int_eq(retried, 0);
    end_cluster();
}
END_TEST

START_TEST(test_asynchronous)
{
    durability = "async";
    start_cluster(17, 1);
    ck_assert(sim_exec_run_until(x, all_started, NULL, 10000 * MS));
    start_clients();
    run_ms(3000);
    quiet = true;
    ck_assert(sim_exec_run_until(x, clients_idle, NULL, 200000 * MS));
    run_ms(15000); /* syncs of their own, and the questions after them */
    check_copies(17);
    ck_assert_int_gt(acknowledged, 100);
    ck_assert_int_eq(dropped_copies + (int)retried, 0);
    end_cluster();
}
END_TEST

START_TEST(test_copy_fails)
{
    start_cluster((uint64_t)_i, 2);
    ck_assert(sim_exec_run_until(x, all_started, NULL, 10000 * MS));
    start_clients();
    run_ms(500);
    int replica = node_number(routing_now()->copies[1].node);
    if (_i % 2 == 0) {
        lose_percent = 3;
    } else {
        nodes[replica].cut = true;
    }
    run_ms(1500);
    settle_down((uint64_t)_i);
    ck_assert_int_ge(dropped_copies, 1);
    ck_assert_int_eq(promotions, 0);
    end_cluster();
}
END_TEST

START_TEST(test_failover)
{
    uint64_t seed = (uint64_t)_i;
    start_cluster(seed, 2);
    ck_assert(sim_exec_run_until(x, all_started, NULL, 10000 * MS));
    start_clients();
    for (int round = 0; round < 2; round++) {
        run_ms(round > 0 && rng_below(&rng, 2) == 0 ? (int64_t)rng_below(&rng, 15)
                                                    : 200 + (int64_t)rng_below(&rng, 500));
        int primary = node_number(routing_now()->copies[0].node);
        bool another = false;
        for (uint32_t k = 1; k < 3; k++) {
            another |= copy_active(&routing_now()->copies[k]);
        }
        if (!another) {
            break;
        }
        if (rng_below(&rng, 3) != 0) { /* a partition; else the master alone does not hear of it */
            nodes[primary].cut = true;
        }
        run_ms((int64_t)rng_below(&rng, 300));
        leave(primary);
        if (rng_below(&rng, 3) == 0) { /* it learns of it late */
            nodes[primary].slow_states = true;
        }
    }
    run_ms(1000);

    settle_down(seed);
    ck_assert_int_gt(acknowledged, 10);
    ck_assert_int_ge(promotions, 1);
    end_cluster();
}
END_TEST

/* One write, whatever comes of it. */
static enum err write_one(int node, const char *id, const char *source, uint64_t counter, bool retry,
                          struct write_item *it)
{
    struct shard_write w = {.items = it, .n = 1, .timeout_ms = 3000, .op_session = 7, .retry = retry};
    *it = (struct write_item){.kind = WRITE_INDEX,
                              .id = str_of(id),
                              .source = str_of(source),
                              .create = true,
                              .auto_id_ms = -1,
                              .version = VERSION_ANY,
                              .if_seq_no = SEQ_UNASSIGNED,
                              .op_counter = counter};
    shard_rq_init(&w.rq, look_done, NULL);
    w.rq.shard = (struct shard_ref){STR("docs"), STR("u1"), 0};
    answered_now = false;
    data_api(nodes[node].data)->write(data_api(nodes[node].data)->self, &w);
    ck_assert(sim_exec_run_until(x, is_answered, NULL, 60000 * MS));
    enum err e = err_code(&w.rq.error);
    e = e == ERR_OK && it->error != NULL ? err_code(it->error) : e;
    it->error = NULL;
    shard_rq_fini(&w.rq);
    return e;
}

START_TEST(test_deposed_primary)
{
    /* A primary that is cut off never says yes; what only it has is nowhere afterwards, and the retry is applied. */
    struct write_item it;
    start_cluster(1, 1);
    ck_assert(sim_exec_run_until(x, all_started, NULL, 10000 * MS));
    ck_assert_int_eq(write_one(0, "a", "{\"v\":1}", 1, false, &it), ERR_OK);
    nodes[0].cut = true;
    ck_assert_int_eq(write_one(0, "b", "{\"v\":2}", 2, false, &it), ERR_TIMEOUT);
    ck_assert(look(0, "b").found && !look(1, "b").found);
    leave(0);
    run_ms(100);
    ck_assert_int_eq(write_one(1, "b", "{\"v\":2}", 2, true, &it), ERR_OK);
    ck_assert_int_eq(it.primary_term, 2);
    ck_assert_int_eq(it.result_version, 1);
    ck_assert_int_eq(write_one(1, "b", "{\"v\":2}", 2, true, &it), ERR_OK); /* once */
    ck_assert_int_eq(it.result_version, 1);
    ck_assert_int_eq(write_one(1, "b", "{\"v\":2}", 3, false, &it), ERR_CONFLICT);
    ck_assert_int_eq(write_one(0, "c", "{\"v\":3}", 4, false, &it), ERR_TIMEOUT);
    heal();
    run_ms(500);
    ck_assert_int_eq(stale_refused, 1);
    ck_assert_int_ne(write_one(0, "d", "{\"v\":3}", 5, false, &it), ERR_OK);
    end_cluster();
}
END_TEST

/* An operation that one of two copies has when the primary goes. */
static void half_written(int deaf_node, int heir, struct write_item *it)
{
    start_cluster(4, 2);
    ck_assert(sim_exec_run_until(x, all_started, NULL, 10000 * MS));
    ck_assert_int_eq(write_one(0, "a", "{\"v\":1}", 1, false, it), ERR_OK);
    deaf = deaf_node;
    next_primary = heir;
    struct shard_write w = {.items = it, .n = 1, .timeout_ms = 3000, .op_session = 7};
    *it = (struct write_item){.id = STR("b"),
                              .source = STR("{\"v\":2}"),
                              .create = true,
                              .auto_id_ms = -1,
                              .version = VERSION_ANY,
                              .if_seq_no = SEQ_UNASSIGNED,
                              .op_counter = 2};
    shard_rq_init(&w.rq, look_done, NULL);
    w.rq.shard = (struct shard_ref){STR("docs"), STR("u1"), 0};
    answered_now = false;
    data_api(nodes[0].data)->write(data_api(nodes[0].data)->self, &w);
    nodes[0].unheard = true; /* nor does the master hear of the copy that failed */
    run_ms(60);
    ck_assert(!answered_now);
    nodes[0].cut = true;
    deaf = -1;
    leave(0);
    ck_assert(sim_exec_run_until(x, is_answered, NULL, 60000 * MS));
    ck_assert_int_ne(w.rq.error.n, 0); /* unknown */
    shard_rq_fini(&w.rq);
}

START_TEST(test_new_primary_has_more)
{
    struct write_item it;
    half_written(1, 2, &it);
    ck_assert(look(2, "b").found);
    ck_assert_msg(look(1, "b").found, "it was sent again");
    ck_assert_int_eq(look(1, "b").term, 1);
    ck_assert_int_eq(write_one(2, "b", "{\"v\":2}", 2, true, &it), ERR_OK);
    ck_assert_int_eq(it.seq_no, 1);
    ck_assert_int_eq(it.primary_term, 1); /* the first result */
    ck_assert_int_eq(dropped_copies, 1);  /* the old primary's alone */
    ck_assert_uint_eq(cluster_index(newest, STR("docs"))->in_sync[0].n, 2);
    end_cluster();
}
END_TEST

START_TEST(test_new_primary_has_less)
{
    /* The other copy has an operation that the primary has not: it is taken out before it forgets anything. */
    struct write_item it;
    half_written(1, 1, &it);
    ck_assert_int_eq(write_one(1, "c", "{\"v\":3}", 3, false, &it), ERR_OK);
    ck_assert_int_eq(it.seq_no, 1);
    ck_assert_int_eq(it.primary_term, 2);
    ck_assert_int_eq(dropped_copies, 2);
    ck_assert_uint_eq(cluster_index(newest, STR("docs"))->in_sync[0].n, 1);
    ck_assert(!look(1, "b").found);
    ck_assert_int_eq(write_one(1, "b", "{\"v\":2}", 2, true, &it), ERR_OK);
    ck_assert_int_eq(it.seq_no, 2);
    end_cluster();
}
END_TEST

START_TEST(test_node_without_its_copy)
{
    /* A copy in sync whose node has left must be out of the set before a write is acknowledged. */
    struct write_item it;
    start_cluster(2, 2);
    ck_assert(sim_exec_run_until(x, all_started, NULL, 10000 * MS));
    leave(2);
    run_ms(200);
    ck_assert_uint_eq(cluster_index(newest, STR("docs"))->in_sync[0].n, 3);
    ck_assert_int_eq(write_one(0, "a", "{\"v\":1}", 1, false, &it), ERR_OK);
    ck_assert_uint_eq(cluster_index(newest, STR("docs"))->in_sync[0].n, 2);
    ck_assert(look(1, "a").found);
    end_cluster();
}
END_TEST

static void new_field(struct index_meta *m, struct shard_routing *r, struct arena *ra, void *arg)
{
    (void)r;
    (void)ra;
    (void)arg;
    m->mapping_version++;
    m->mapping = STR("{\"properties\":{\"v\":{\"type\":\"long\"},\"c\":{\"type\":\"keyword\"},\"w\":{"
                     "\"type\":\"long\"}}}");
}

START_TEST(test_waits_for_mapping)
{
    struct write_item it;
    start_cluster(3, 1);
    ck_assert(sim_exec_run_until(x, all_started, NULL, 10000 * MS));
    run_ms(200);
    nodes[1].slow_states = true;
    change(new_field, NULL);
    run_ms(100);
    int64_t before = the_clock.mono_ns;
    ck_assert_int_eq(write_one(0, "a", "{\"v\":1,\"w\":2}", 1, false, &it), ERR_OK);
    ck_assert_int_gt(the_clock.mono_ns - before, 300 * MS);
    ck_assert(look(1, "a").found);
    ck_assert_int_eq(dropped_copies, 0);
    end_cluster();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("replication");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, test_quiet, 0, 5);
    tcase_add_test(c, test_asynchronous);
    tcase_add_loop_test(c, test_copy_fails, 0, 10);
    tcase_add_loop_test(c, test_failover, 0, 40);
    tcase_add_test(c, test_deposed_primary);
    tcase_add_test(c, test_new_primary_has_more);
    tcase_add_test(c, test_new_primary_has_less);
    tcase_add_test(c, test_node_without_its_copy);
    tcase_add_test(c, test_waits_for_mapping);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed > 0;
}
