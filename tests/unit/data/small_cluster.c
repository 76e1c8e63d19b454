/* The master of a small cluster, and its nodes. */
#include "tests/unit/data/small_cluster.h"

#include "engine/index/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct small_cluster sc;

static const char *const node_ids[] = {"n0", "n1", "n2"};
const char *const sc_addresses[] = {"h0:1", "h1:1", "h2:1"};

struct pending_event { /* what a node tells the master */
    int node;
    struct shard_event event;
    char allocation_id[32], uuid[8];
    void (*done)(void *arg, const struct errmsg *error);
    void *arg;
    struct errmsg error;
    struct arena error_memory;
    bool failed;
    struct pending_event *next;
};

/* ---- the master -------------------------------------------------------------------------------------------------- */

static void publish(struct state_builder *b);

static void set_nodes(struct state_builder *b, const bool *up)
{
    struct nodes_part *none = nodes_part_new(), *p = nodes_part_copy(none, NODES);
    state_part_unref(&none->part);
    for (int i = 0; i < NODES; i++) {
        char e[16];
        snprintf(e, sizeof(e), "e%d", i);
        struct node_meta n = {.id = str_of(node_ids[i]),
                              .name = str_of(node_ids[i]),
                              .ephemeral_id = str_of(e),
                              .host = STR("h"),
                              .transport_address = str_of(sc_addresses[i]),
                              .roles = ROLE_DATA};
        ck_assert(!up[i] || nodes_part_put(p, &n));
    }
    state_put_nodes(b, p);
}

static const char *mapping_text = "{\"properties\":{\"v\":{\"type\":\"long\"},\"c\":{\"type\":\"keyword\"}}}";

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
    ck_assert(settings_put(&m->settings, STR("index.translog.durability"),
                           str_of(sc.durability != NULL ? sc.durability : "request")));
    m->primary_terms = ARENA_ARRAY(a, uint64_t, 1);
    m->in_sync = ARENA_ARRAY(a, struct str_set, 1);
    m->primary_terms[0] = 1;
    ck_assert(state_put_index(&b, m));
    struct index_routing *r = index_routing_new(STR("docs"), STR("u1"), 1, (uint32_t)replicas);
    for (int i = 0; i <= replicas; i++) {
        struct shard_copy *c = &r->shards[0].copies[i];
        c->state = COPY_INITIALIZING;
        c->node = str_of(node_ids[i]);
        c->allocation_id = arena_printf(&r->part.arena, "id%llu", (unsigned long long)++sc.next_id);
        c->source = RECOVER_EMPTY_STORE; /* nothing is written before all have started */
    }
    ck_assert(state_put_routing(&b, r));
    publish(&b);
}

const struct shard_routing *sc_routing(void)
{
    return &cluster_routing(sc.newest, STR("docs"))->shards[0];
}

int sc_node_number(struct str id)
{
    return id.p == NULL ? -1 : id.p[1] - '0';
}

static void confirm(void *arg)
{
    struct small_node *n = arg;
    while (n->unconfirmed != NULL) {
        struct pending_event *p = n->unconfirmed;
        n->unconfirmed = p->next;
        if (p->done != NULL) {
            p->done(p->arg, p->failed ? &p->error : NULL);
        }
        arena_fini(&p->error_memory);
        free(p);
    }
}

static void apply_newest(void *arg);

static void state_applied(void *arg)
{
    struct small_node *n = arg;
    n->applying = false;
    if (n->applied == sc.newest) {
        executor_submit_force(sim_lane_executor(sc.net), confirm, n);
    } else {
        sc_later(sc_delay_ms(), apply_newest, n);
    }
}

static void apply_newest(void *arg)
{
    struct small_node *n = arg;
    if (n->cut || n->applying || n->applied == sc.newest) {
        return;
    }
    n->applying = true;
    cluster_state_unref(n->applied);
    n->applied = cluster_state_ref(sc.newest);
    ck_assert(data_apply(n->data, n->applied, state_applied, n));
}

void sc_heal(void)
{
    sc.lose_percent = 0;
    for (int i = 0; i < NODES; i++) {
        sc.nodes[i].cut = sc.nodes[i].unheard = false;
        sc_later(0, apply_newest, &sc.nodes[i]);
    }
}

static void publish(struct state_builder *b)
{
    char uuid[24];
    snprintf(uuid, sizeof(uuid), "s%llu", (unsigned long long)++sc.next_id);
    struct cluster_state *s = state_builder_seal(b, str_of(uuid));
    ck_assert_ptr_nonnull(s);
    cluster_state_unref(sc.newest);
    sc.newest = s;
    for (int i = 0; i < NODES; i++) {
        sc_later(sc.nodes[i].slow_states ? 500 : sc_delay_ms(), apply_newest, &sc.nodes[i]);
    }
}

void sc_change(void (*fn)(struct index_meta *m, struct shard_routing *r, struct arena *ra, void *arg),
               void *arg)
{
    struct state_builder b;
    struct index_meta *m = index_meta_copy(cluster_index(sc.newest, STR("docs")));
    struct index_routing *r = index_routing_copy(cluster_routing(sc.newest, STR("docs")), 0);
    m->version++;
    fn(m, &r->shards[0], &r->part.arena, arg);
    ck_assert(state_builder_init(&b, sc.newest));
    ck_assert(state_put_index(&b, m));
    ck_assert(state_put_routing(&b, r));
    publish(&b);
}

static void unassign(struct shard_copy *c)
{
    *c = (struct shard_copy){.state = COPY_UNASSIGNED, .primary = c->primary, .source = RECOVER_PEER};
    sc.dropped_copies++;
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
    struct small_node *n = &sc.nodes[p->node];
    if (n->cut || n->unheard) {
        sc_later(50, event_arrives, p); /* again and again */
        return;
    }
    uint64_t term = cluster_index(sc.newest, STR("docs"))->primary_terms[0];
    if (p->event.kind == SHARD_EVENT_STALE && p->event.primary_term != term) {
        p->failed = true;
        err_set(&p->error, ERR_STALE_TERM, "term %llu, not %llu", (unsigned long long)p->event.primary_term,
                (unsigned long long)term);
        sc.stale_refused++;
    } else {
        sc_change(take_event, p);
    }
    p->next = n->unconfirmed;
    n->unconfirmed = p;
    if (n->applied == sc.newest && !n->applying) {
        confirm(n);
    }
}

static bool shard_event(void *self, const struct shard_event *e, void (*done)(void *, const struct errmsg *),
                        void *arg)
{
    struct small_node *n = self;
    struct pending_event *p = calloc(1, sizeof(*p));
    *p = (struct pending_event){.node = n->number, .event = *e, .done = done, .arg = arg};
    p->error = err_in(&p->error_memory);
    snprintf(p->allocation_id, sizeof(p->allocation_id), "%.*s", STR_ARG(e->allocation_id));
    p->event.allocation_id = str_of(p->allocation_id);
    p->event.index_uuid = STR("u1");
    p->event.why = STR_NULL;
    sc_later(1 + sc_delay_ms(), event_arrives, p);
    return true;
}

/* The primary's node has left: a copy in sync takes over under a new term. */
static void promote(struct index_meta *m, struct shard_routing *r, struct arena *ra, void *arg)
{
    bool *up = arg;
    (void)ra;
    for (uint32_t i = 0; i < r->n; i++) {
        int at = sc_node_number(r->copies[i].node);
        if (at >= 0 && !up[at] && i > 0) {
            unassign(&r->copies[i]);
        }
    }
    if (up[sc_node_number(r->copies[0].node)]) {
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
    uint32_t k = can[rng_below(&sc.rng, n)];
    for (uint32_t i = 0; i < n; i++) {
        k = sc_node_number(r->copies[can[i]].node) == sc.next_primary ? can[i] : k;
    }
    struct shard_copy old = r->copies[0];
    r->copies[0] = r->copies[k];
    r->copies[0].primary = true;
    r->copies[k] = old;
    r->copies[k].primary = false;
    m->in_sync[0] = str_set_without(&m->in_sync[0], old.allocation_id, &m->part.arena);
    unassign(&r->copies[k]);
    m->primary_terms[0]++;
    sc.promotions++;
}

void sc_leave(int node)
{
    struct state_builder b;
    bool up[NODES];
    for (int i = 0; i < NODES; i++) {
        up[i] = cluster_node(sc.newest, str_of(node_ids[i])) != NULL && i != node;
    }
    struct index_meta *m = index_meta_copy(cluster_index(sc.newest, STR("docs")));
    struct index_routing *r = index_routing_copy(cluster_routing(sc.newest, STR("docs")), 0);
    m->version++;
    promote(m, &r->shards[0], &r->part.arena, up);
    ck_assert(state_builder_init(&b, sc.newest));
    set_nodes(&b, up);
    ck_assert(state_put_index(&b, m));
    ck_assert(state_put_routing(&b, r));
    publish(&b);
}

/* ---- a cluster ----------------------------------------------------------------------------------------------------- */

/* No fields are added here. */
static bool update_mapping(void *self, struct str index, struct str uuid, struct str type, struct str mapping,
                           void (*done)(void *arg, const struct errmsg *error), void *arg)
{
    (void)type;
    (void)self;
    (void)index;
    (void)uuid;
    (void)mapping;
    (void)done;
    (void)arg;
    return false;
}

static void tick_node(void *arg)
{
    struct small_node *n = arg;
    if (!sc.ending) {
        data_tick(n->data);
        sc_later(100, tick_node, n);
    }
}

void sc_start(uint64_t seed, int replicas)
{
    rng_seed(&sc.rng, seed * 2654435761U + 1);
    clock_sim_init(&sc.clock, 1600000000000);
    sc.exec =
        sim_exec_new(&(struct sim_exec_opts){.clock = &sc.clock, .seed = seed, .task_delay_ns_max = 200000});
    sc.net = sim_lane_new(sc.exec, SIM_LOOP, 0);
    sc.next_id = 0;
    sc.newest = NULL;
    sc.ending = false;
    sc.deaf = sc.next_primary = -1;
    sc.lose_percent = sc.stale_refused = sc.promotions = sc.dropped_copies = 0;
    for (int i = 0; i < NODES; i++) {
        struct small_node *n = &sc.nodes[i];
        ERR_LOCAL(em);
        *n = (struct small_node){.number = i, .disk = fs_mem_new()};
        n->write = sim_lane_new(sc.exec, SIM_POOL, 0);
        n->search = sim_lane_new(sc.exec, SIM_POOL, 0);
        n->back = sim_lane_new(sc.exec, SIM_POOL, 0);
        n->transport = sc_transport(n);
        struct data_opts o = {.fs = fs_mem_fs(n->disk),
                              .clock = &sc.clock.base,
                              .dir = "/data",
                              .write_pool = sim_lane_executor(n->write),
                              .search_pool = sim_lane_executor(n->search),
                              .background_pool = sim_lane_executor(n->back),
                              .node_id = str_of(node_ids[i]),
                              .update_mapping = update_mapping,
                              .shard_event = shard_event,
                              .node_self = n,
                              .transport = &n->transport};
        ck_assert_msg(data_service_new(&n->data, &o, &em) == ERR_OK, "%s", err_reason(&em));
        sc_later(100, tick_node, n);
    }
    first_state(replicas);
}

void sc_run_ms(int64_t ms)
{
    sim_exec_run_for(sc.exec, ms * MS);
}

bool sc_all_started(void *arg)
{
    (void)arg;
    const struct shard_routing *r = sc_routing();
    for (uint32_t i = 0; i < r->n; i++) {
        if (r->copies[i].state != COPY_STARTED) {
            return false;
        }
    }
    for (int i = 0; i < NODES; i++) {
        if (sc.nodes[i].applied != sc.newest || sc.nodes[i].applying) {
            return false;
        }
    }
    return true;
}

void sc_end(void)
{
    sc.ending = true;
    sc_heal();
    sc_run_ms(200000); /* nothing is under way any more */
    for (int i = 0; i < NODES; i++) {
        struct small_node *n = &sc.nodes[i];
        sim_lane_kill(n->write);
        sim_lane_kill(n->search);
        sim_lane_kill(n->back);
        data_service_free(n->data);
        cluster_state_unref(n->applied);
    }
    cluster_state_unref(sc.newest);
    sim_exec_free(sc.exec);
    for (int i = 0; i < NODES; i++) {
        fs_mem_free(sc.nodes[i].disk);
    }
}

/* ---- looking ------------------------------------------------------------------------------------------------------- */

void sc_look_done(struct shard_rq *rq)
{
    (void)rq;
    sc.answered = true;
}

bool sc_is_answered(void *arg)
{
    (void)arg;
    return sc.answered;
}

struct shard_stats sc_stats(int node)
{
    struct shard_act a = {.action = SHARD_STATS};
    shard_rq_init(&a.rq, &shard_op_act, sc_look_done, NULL);
    a.rq.shard = (struct shard_ref){STR("docs"), STR("u1"), 0};
    sc.answered = false;
    data_serve(sc.nodes[node].data, &a.rq);
    ck_assert(sim_exec_run_until(sc.exec, sc_is_answered, NULL, 60000 * MS));
    ck_assert_msg(!err_is(&a.rq.error), "%s", err_reason(&a.rq.error));
    struct shard_stats s = *a.stats;
    shard_rq_fini(&a.rq);
    return s;
}

struct seen sc_look(int node, const char *id)
{
    struct shard_get g = {.id = str_of(id), .realtime = true, .want_source = true};
    shard_rq_init(&g.rq, &shard_op_get, sc_look_done, NULL);
    g.rq.shard = (struct shard_ref){STR("docs"), STR("u1"), 0};
    sc.answered = false;
    data_serve(sc.nodes[node].data, &g.rq);
    ck_assert(sim_exec_run_until(sc.exec, sc_is_answered, NULL, 60000 * MS));
    ck_assert_msg(!err_is(&g.rq.error), "%s", err_reason(&g.rq.error));
    struct seen s = {.found = g.found};
    if (g.found) {
        char text[128];
        snprintf(text, sizeof(text), "%.*s", STR_ARG(g.source));
        s = (struct seen){true, g.seq_no, g.primary_term, g.version, atoll(strstr(text, "\"v\":") + 4)};
    }
    shard_rq_fini(&g.rq);
    return s;
}
