#include "tests/unit/data/data_rig.h"

#include "data/data_int.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

enum { LANE_WRITE, LANE_SEARCH, LANE_BACKGROUND, LANE_MAIN };

/* ---- executors ----------------------------------------------------------------------------------------- */

static bool submit(void *self, void (*run)(void *arg), void *arg)
{
    struct dr_lane *l = self;
    pthread_mutex_lock(&l->rig->lock);
    bool ok = executor_submit(sim_lane_executor(l->lane), run, arg);
    pthread_mutex_unlock(&l->rig->lock);
    return ok;
}

static bool submit_force(void *self, void (*run)(void *arg), void *arg)
{
    struct dr_lane *l = self;
    pthread_mutex_lock(&l->rig->lock);
    bool ok = executor_submit_force(sim_lane_executor(l->lane), run, arg);
    pthread_mutex_unlock(&l->rig->lock);
    return ok;
}

bool dr_step(struct dr_rig *r)
{
    pthread_mutex_lock(&r->lock);
    bool more = sim_exec_step(r->x);
    pthread_mutex_unlock(&r->lock);
    return more;
}

/* ---- the network --------------------------------------------------------------------------------------- */

struct flight { /* a request, from send() to done() and to the end of its call */
    struct flight *next;
    struct dr_rig *rig;
    int from, to;
    char target[16];         /* ephemeral id */
    struct transport_rq *rq; /* NULL: done() was called */
    struct transport_call call;
    struct buf payload, answer;
    struct errmsg error;
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
    rq->error = (struct errmsg){0};
    buf_init(&rq->answer_memory, NULL, BUF_UNLIMITED);
    if (error != NULL) {
        rq->error = *error;
    } else {
        buf_add(&rq->answer_memory, f->answer.p, f->answer.n);
    }
    rq->answer = buf_view(&rq->answer_memory);
    ck_assert(executor_submit_force(rq->on, call_done, rq));
}

static void finish_lost(struct flight *f)
{
    struct errmsg em;
    err_set(&em, ERR_NODE_DISCONNECTED, "the connection is gone");
    finish(f, &em);
}

static bool lost(struct dr_rig *r)
{
    return rng_below(&r->rng, 1000) < r->loss;
}

static int64_t delay_ms(struct dr_rig *r)
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
        finish(f, f->error.n > 0 ? &f->error : NULL);
    }
    free_flight(f);
}

static void answered(struct flight *f)
{
    f->served = false;
    pthread_mutex_lock(&f->rig->lock);
    ck_assert(timer_start(sim_lane_timers(f->rig->net), delay_ms(f->rig), arrived_back, f) != NULL);
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
    ck_assert(f->served && error->n > 0);
    f->error = *error;
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
    *f = (struct flight){
        .next = r->flights, .rig = r, .from = (int)(n - r->nodes), .rq = rq, .payload = rq->payload};
    f->to = target != NULL ? (int)(target - r->nodes) : f->from;
    snprintf(f->target, sizeof(f->target), "%.*s", STR_ARG(to->ephemeral_id));
    f->call = (struct transport_call){rq->cls, rq->kind, str_of(n->ephemeral), buf_view(&f->payload), f};
    rq->slot = f;
    r->flights = f;
    ck_assert(timer_start(sim_lane_timers(r->net), delay_ms(r), arrived, f) != NULL);
    pthread_mutex_unlock(&r->lock);
}

static void cancel(void *self, struct transport_rq *rq)
{
    struct dr_node *n = self;
    struct errmsg em;
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

/* ---- time ---------------------------------------------------------------------------------------------- */

static void tick(void *arg)
{
    struct dr_rig *r = arg;
    for (int i = 0; i < RIG_NODES; i++) {
        if (r->nodes[i].up) {
            data_tick(r->nodes[i].s);
        }
    }
    if (!r->ending) {
        ck_assert(timer_start(sim_lane_timers(r->net), 100, tick, r) != NULL);
    }
}

void dr_until(struct dr_rig *r, bool (*cond)(struct dr_rig *r), int64_t ms)
{
    int64_t end = clock_mono_ms(&r->clock.base) + ms;
    while (!cond(r)) {
        ck_assert_msg(clock_mono_ms(&r->clock.base) < end, "nothing comes of it: %s", r->why);
        dr_step(r);
    }
}

void dr_run(struct dr_rig *r, int64_t ms)
{
    int64_t end = clock_mono_ms(&r->clock.base) + ms;
    while (clock_mono_ms(&r->clock.base) < end) {
        dr_step(r);
    }
}

/* ---- nodes --------------------------------------------------------------------------------------------- */

static void update_mapping(void *self, struct str index, struct str uuid, struct str mapping,
                           void (*done)(void *arg, const struct errmsg *error), void *arg)
{
    struct errmsg em;
    (void)self;
    (void)index;
    (void)uuid;
    (void)mapping;
    err_set(&em, ERR_ILLEGAL_STATE, "no fields are added here");
    done(arg, &em);
}

static void shard_event(void *self, const struct shard_event *event,
                        void (*done)(void *arg, const struct errmsg *error), void *arg);

void dr_start(struct dr_rig *r, int node)
{
    struct dr_node *n = &r->nodes[node];
    struct errmsg em;
    n->rig = r;
    snprintf(n->id, sizeof(n->id), "node-%d", node);
    snprintf(n->ephemeral, sizeof(n->ephemeral), "life-%d-%u", node, ++n->lives);
    n->transport = (struct transport){n, send, cancel, serve, reply, refuse, peer_call, peer_call, watch};
    pthread_mutex_lock(&r->lock);
    for (unsigned i = 0; i < RIG_LANES; i++) {
        n->lanes[i] =
            (struct dr_lane){r,
                             sim_lane_new(r->x, SIM_POOL, 0),
                             {.self = &n->lanes[i], .submit = submit, .submit_force = submit_force}};
        ck_assert(n->lanes[i].lane != NULL);
    }
    pthread_mutex_unlock(&r->lock);
    struct data_opts o = {.fs = fs_mem_fs(n->disk),
                          .clock = &r->clock.base,
                          .log = &r->log,
                          .dir = "/data",
                          .write_pool = &n->lanes[LANE_WRITE].executor,
                          .search_pool = &n->lanes[LANE_SEARCH].executor,
                          .background_pool = &n->lanes[LANE_BACKGROUND].executor,
                          .node_id = str_of(n->id),
                          .update_mapping = update_mapping,
                          .shard_event = shard_event,
                          .node_self = n,
                          .transport = &n->transport};
    ck_assert_int_eq(data_service_new(&n->s, &o, &em), ERR_OK);
    n->up = true;
    n->cut = false;
}

struct ending {
    struct data_service *s;
    _Atomic bool done;
};

static void *end_run(void *arg)
{
    struct ending *e = arg;
    data_service_free(e->s);
    e->done = true;
    return NULL;
}

/* Requests of a node that is going end now; what others ask of it, when they arrive. */
static void end_flights(struct dr_rig *r, int node)
{
    for (struct flight *f = r->flights; f != NULL; f = f->next) {
        if (f->rq != NULL && (f->from == node || f->to == node)) {
            finish_lost(f);
        }
    }
}

void dr_stop(struct dr_rig *r, int node, int how)
{
    struct dr_node *n = &r->nodes[node];
    struct ending e = {.s = n->s};
    pthread_t t;
    n->up = false;
    n->cut = true;
    if (how == 0) {
        fs_mem_kill(n->disk);
    } else if (how == 1) {
        fs_mem_drop_unsynced(n->disk);
    } else if (how > 1) {
        fs_mem_crash(n->disk, &r->rng);
    }
    end_flights(r, node);
    ck_assert_int_eq(pthread_create(&t, NULL, end_run, &e), 0);
    while (!e.done) {
        dr_step(r);
        end_flights(r, node);
        sched_yield();
    }
    pthread_join(t, NULL);
    n->s = NULL;
}

/* ---- the master ---------------------------------------------------------------------------------------- */

static struct index_meta *make_meta(const struct dr_rig *r)
{
    struct index_meta *m = index_meta_new();
    struct arena *a = &m->part.arena;
    m->name = STR("i");
    m->uuid = STR(RIG_UUID);
    m->version = r->version;
    m->mapping_version = r->mapping_version;
    m->settings_version = m->aliases_version = 1;
    m->n_shards = m->routing_shards = m->routing_partition = 1;
    m->n_replicas = r->n_copies - 1;
    m->mapping = arena_str(a, str_of(r->mapping));
    settings_init(&m->settings, a);
    ck_assert(settings_put(&m->settings, STR("index.number_of_shards"), STR("1")));
    ck_assert(!r->no_refresh || settings_put(&m->settings, STR("index.refresh_interval"), STR("-1")));
    m->primary_terms = ARENA_ARRAY(a, uint64_t, 1);
    m->primary_terms[0] = r->term;
    m->in_sync = ARENA_ARRAY(a, struct str_set, 1);
    for (unsigned i = 0; i < r->n_in_sync; i++) {
        m->in_sync[0] = str_set_with(&m->in_sync[0], str_of(r->in_sync[i]), a);
    }
    return m;
}

static struct index_routing *make_routing(const struct dr_rig *r)
{
    struct index_routing *ir = index_routing_new(STR("i"), STR(RIG_UUID), 1, r->n_copies - 1);
    struct arena *a = &ir->part.arena;
    for (unsigned i = 0; i < r->n_copies; i++) {
        const struct dr_copy *c = &r->copies[i];
        struct shard_copy *out = &ir->shards[0].copies[i];
        out->state = c->state;
        out->source = c->source;
        if (c->node >= 0) {
            out->node = arena_str(a, str_of(r->nodes[c->node].id));
            out->allocation_id = arena_str(a, str_of(c->id));
        }
        if (c->target >= 0) {
            out->target_node = arena_str(a, str_of(r->nodes[c->target].id));
            out->target_id = arena_str(a, str_of(c->target_id));
        }
    }
    return ir;
}

static struct nodes_part *make_nodes(const struct dr_rig *r)
{
    struct nodes_part *p = nodes_part_new();
    p->v = ARENA_ARRAY(&p->part.arena, struct node_meta, RIG_NODES);
    for (int i = 0; i < RIG_NODES; i++) {
        const struct dr_node *n = &r->nodes[i];
        if (n->up) {
            p->v[p->n++] = (struct node_meta){.id = arena_str(&p->part.arena, str_of(n->id)),
                                              .name = STR("n"),
                                              .ephemeral_id = arena_str(&p->part.arena, str_of(n->ephemeral)),
                                              .host = STR("h"),
                                              .transport_address = STR("a:1"),
                                              .roles = ROLE_MASTER | ROLE_DATA};
        }
    }
    return p;
}

static void applied(void *arg)
{
    ++*(unsigned *)arg;
}

static unsigned count;

struct late_state {
    struct dr_node *node;
    unsigned life;
    struct cluster_state *state;
};

static void state_comes(void *arg)
{
    struct late_state *l = arg;
    if (l->node->up && l->node->lives == l->life) {
        data_apply(l->node->s, l->state, applied, &count);
    }
    cluster_state_unref(l->state);
    free(l);
}

void dr_publish(struct dr_rig *r)
{
    struct state_builder b;
    char uuid[16];
    r->version++;
    ck_assert(state_builder_init(&b, r->state));
    ck_assert(state_put_index(&b, make_meta(r)) && state_put_routing(&b, make_routing(r)));
    state_put_nodes(&b, make_nodes(r));
    if (r->rate[0] != 0) {
        struct settings_part *p = settings_part_new(NULL);
        ck_assert(settings_put(&p->settings, STR("indices.recovery.max_bytes_per_sec"), str_of(r->rate)));
        state_put_settings(&b, p, true);
    }
    snprintf(uuid, sizeof(uuid), "s%llu", (unsigned long long)r->version);
    struct cluster_state *next = state_builder_seal(&b, str_of(uuid));
    ck_assert(next != NULL);
    cluster_state_unref(r->state);
    r->state = next;
    for (int i = 0; i < RIG_NODES; i++) {
        struct dr_node *n = &r->nodes[i];
        struct late_state *late = n->up && !n->cut && n->lag_ms > 0 ? malloc(sizeof(*late)) : NULL;
        if (late != NULL) {
            *late = (struct late_state){n, n->lives, cluster_state_ref(next)};
            ck_assert(timer_start(sim_lane_timers(r->net), n->lag_ms, state_comes, late) != NULL);
        } else if (n->up && !n->cut) {
            data_apply(n->s, next, applied, &count);
        }
    }
}

static void new_id(struct dr_rig *r, char out[16])
{
    snprintf(out, 16, "copy-%u", r->next_id++);
}

static bool in_sync(const struct dr_rig *r, const char *id)
{
    for (unsigned i = 0; i < r->n_in_sync; i++) {
        if (strcmp(r->in_sync[i], id) == 0) {
            return true;
        }
    }
    return false;
}

static void put_in_sync(struct dr_rig *r, const char *id)
{
    if (!in_sync(r, id)) {
        ck_assert_uint_lt(r->n_in_sync, RIG_COPIES);
        snprintf(r->in_sync[r->n_in_sync++], 16, "%s", id);
    }
}

static void take_in_sync(struct dr_rig *r, const char *id)
{
    for (unsigned i = 0; i < r->n_in_sync; i++) {
        if (strcmp(r->in_sync[i], id) == 0) {
            memmove(r->in_sync[i], r->in_sync[--r->n_in_sync], 16);
            return;
        }
    }
}

struct told { /* an event on its way */
    struct dr_rig *rig;
    enum shard_event_kind kind;
    char id[16];
    uint64_t term;
    void (*done)(void *arg, const struct errmsg *error);
    void *arg;
    int node;
    unsigned life;
};

static void copy_started(struct dr_rig *r, struct dr_copy *c, const char *id)
{
    r->started++;
    if (c->target >= 0 && strcmp(c->target_id, id) == 0) {
        take_in_sync(r, c->id);
        c->node = c->target;
        c->target = -1;
        snprintf(c->id, sizeof(c->id), "%s", id);
    }
    put_in_sync(r, id);
    c->state = COPY_STARTED;
}

static void copy_failed(struct dr_rig *r, struct dr_copy *c, const char *id)
{
    r->failed++;
    if (c->target >= 0 && strcmp(c->target_id, id) == 0) {
        c->target = -1;
        c->state = COPY_STARTED;
        return;
    }
    c->state = COPY_UNASSIGNED;
    if (r->again && c != &r->copies[0]) {
        new_id(r, c->id);
        c->state = COPY_INITIALIZING;
        c->source = RECOVER_PEER;
    } else {
        c->node = -1;
    }
}

static void told(void *arg)
{
    struct told *t = arg;
    struct dr_rig *r = t->rig;
    bool changed = false;
    for (unsigned i = 0; i < r->n_copies; i++) {
        struct dr_copy *c = &r->copies[i];
        bool target = c->target >= 0 && strcmp(c->target_id, t->id) == 0;
        if (!target && (c->node < 0 || strcmp(c->id, t->id) != 0)) {
            continue;
        }
        if (t->kind == SHARD_EVENT_STARTED && (target || c->state == COPY_INITIALIZING)
            && (t->term == 0 || t->term == r->term)) {
            copy_started(r, c, t->id);
            changed = true;
        } else if (t->kind == SHARD_EVENT_FAILED || (t->kind == SHARD_EVENT_STALE && i > 0)) {
            copy_failed(r, c, t->id);
            changed = true;
        }
    }
    if (t->kind == SHARD_EVENT_STALE && in_sync(r, t->id)) {
        take_in_sync(r, t->id);
        changed = true;
    }
    if (changed) {
        dr_publish(r);
    }
    if (t->done != NULL && r->nodes[t->node].s != NULL && r->nodes[t->node].lives == t->life) {
        struct errmsg em;
        err_set(&em, ERR_NODE_CLOSED, "the node is closing");
        t->done(t->arg, r->nodes[t->node].up ? NULL : &em);
    }
    free(t);
}

static void shard_event(void *self, const struct shard_event *event,
                        void (*done)(void *arg, const struct errmsg *error), void *arg)
{
    struct dr_node *n = self;
    struct dr_rig *r = n->rig;
    struct told *t = malloc(sizeof(*t));
    *t = (struct told){.rig = r, .kind = event->kind, .term = event->primary_term, .done = done, .arg = arg};
    t->node = (int)(n - r->nodes);
    t->life = n->lives;
    snprintf(t->id, sizeof(t->id), "%.*s", STR_ARG(event->allocation_id));
    if (event->kind != SHARD_EVENT_STARTED) {
        snprintf(r->why, sizeof(r->why), "%.*s", STR_ARG(event->why));
    }
    pthread_mutex_lock(&r->lock);
    if (n->up && !n->cut) {
        ck_assert(timer_start(sim_lane_timers(r->net), delay_ms(r), told, t) != NULL);
        t = NULL;
    }
    pthread_mutex_unlock(&r->lock);
    if (t != NULL) {
        struct errmsg em;
        err_set(&em, ERR_NODE_CLOSED, "there is no master");
        if (done != NULL) {
            done(arg, &em);
        }
        free(t);
    }
}

void dr_create(struct dr_rig *r, int node)
{
    struct dr_copy *c = &r->copies[0];
    *c = (struct dr_copy){
        .state = COPY_INITIALIZING, .node = node, .target = -1, .source = RECOVER_EMPTY_STORE};
    new_id(r, c->id);
    r->n_copies = 1;
    r->term = 1;
    dr_publish(r);
    dr_until(r, dr_green, 5000);
}

int dr_add_copy(struct dr_rig *r, int node)
{
    struct dr_copy *c = &r->copies[r->n_copies];
    *c = (struct dr_copy){.state = COPY_INITIALIZING, .node = node, .target = -1, .source = RECOVER_PEER};
    new_id(r, c->id);
    r->n_copies++;
    dr_publish(r);
    return (int)r->n_copies - 1;
}

void dr_move(struct dr_rig *r, int copy, int node)
{
    struct dr_copy *c = &r->copies[copy];
    c->state = COPY_RELOCATING;
    c->target = node;
    new_id(r, c->target_id);
    dr_publish(r);
}

void dr_drop_copy(struct dr_rig *r, int copy, bool stays_in_sync)
{
    struct dr_copy *c = &r->copies[copy];
    if (!stays_in_sync) {
        take_in_sync(r, c->id);
    }
    c->node = c->target = -1;
    c->state = COPY_UNASSIGNED;
    c->source = copy == 0 ? RECOVER_EXISTING_STORE : RECOVER_PEER;
    if (copy == 0) {
        for (unsigned i = 1; i < r->n_copies; i++) {
            if (r->copies[i].state == COPY_STARTED) {
                struct dr_copy gone = *c;
                *c = r->copies[i];
                r->copies[i] = gone;
                r->copies[i].source = RECOVER_PEER;
                r->term++;
                break;
            }
        }
    }
    dr_publish(r);
}

void dr_assign(struct dr_rig *r, int copy, int node)
{
    struct dr_copy *c = &r->copies[copy];
    c->node = node;
    c->state = COPY_INITIALIZING;
    if (c->source == RECOVER_PEER) {
        new_id(r, c->id);
    }
    dr_publish(r);
}

bool dr_green(struct dr_rig *r)
{
    for (unsigned i = 0; i < r->n_copies; i++) {
        if (r->copies[i].state != COPY_STARTED) {
            return false;
        }
    }
    return true;
}

/* ---- requests ------------------------------------------------------------------------------------------ */

struct writing {
    struct shard_write rq;
    struct write_item item;
    char id[32], source[1200];
    struct dr_rig *rig;
    unsigned *left, *failed;
    bool done;
};

static void write_done(struct shard_rq *rq)
{
    struct writing *w = (struct writing *)(void *)rq;
    w->done = true;
    if (w->left != NULL) {
        *w->failed += rq->error.n > 0 || w->item.error != NULL;
        --*w->left;
        shard_rq_fini(rq);
        free(w);
    }
}

static void write_begin(struct dr_rig *r, struct writing *w, const char *id, const char *source)
{
    snprintf(w->id, sizeof(w->id), "%s", id);
    snprintf(w->source, sizeof(w->source), "%s", source != NULL ? source : "");
    w->rig = r;
    shard_rq_init(&w->rq.rq, write_done, NULL);
    w->rq.rq.shard = (struct shard_ref){STR("i"), STR(RIG_UUID), 0};
    w->rq.items = &w->item;
    w->rq.n = 1;
    w->rq.timeout_ms = 60000;
    w->rq.refresh = r->refresh;
    w->item = (struct write_item){.kind = source != NULL ? WRITE_INDEX : WRITE_DELETE,
                                  .id = str_of(w->id),
                                  .source = str_of(w->source),
                                  .auto_id_ms = -1,
                                  .version = VERSION_ANY,
                                  .if_seq_no = SEQ_UNASSIGNED};
    const struct shard_api *api = data_api(r->nodes[r->copies[0].node].s);
    api->write(api->self, &w->rq);
}

static enum err write_once(struct dr_rig *r, const char *id, const char *source)
{
    struct writing *w = calloc(1, sizeof(*w));
    write_begin(r, w, id, source);
    while (!w->done) {
        dr_step(r);
    }
    enum err e = w->rq.rq.error.n > 0    ? err_code(&w->rq.rq.error)
                 : w->item.error != NULL ? err_code(w->item.error)
                                         : ERR_OK;
    shard_rq_fini(&w->rq.rq);
    free(w);
    return e;
}

/* As a coordinating node: where no state has come yet, it waits for that. */
enum err dr_write(struct dr_rig *r, const char *id, const char *source)
{
    enum err e = write_once(r, id, source);
    for (unsigned i = 0; i < 100 && (e == ERR_NO_SHARD || e == ERR_NOT_PRIMARY); i++) {
        dr_run(r, 5);
        e = write_once(r, id, source);
    }
    return e;
}

void dr_write_later(struct dr_rig *r, const char *id, const char *source, unsigned *left, unsigned *failed)
{
    struct writing *w = calloc(1, sizeof(*w));
    w->left = left;
    w->failed = failed;
    ++*left;
    write_begin(r, w, id, source);
}

static void set_done(struct shard_rq *rq)
{
    *(bool *)rq->user = true;
}

static void act(struct dr_rig *r, int node, struct shard_act *a)
{
    bool done = false;
    shard_rq_init(&a->rq, set_done, &done);
    a->rq.shard = (struct shard_ref){STR("i"), STR(RIG_UUID), 0};
    const struct shard_api *api = data_api(r->nodes[node].s);
    api->act(api->self, a);
    while (!done) {
        dr_step(r);
    }
}

enum err dr_act(struct dr_rig *r, int node, enum shard_action action)
{
    struct shard_act a = {.action = action, .max_segments = 1};
    act(r, node, &a);
    enum err e = err_code(&a.rq.error);
    shard_rq_fini(&a.rq);
    return e;
}

struct shard_recovery dr_figures(struct dr_rig *r, int node)
{
    struct shard_act a = {.action = SHARD_RECOVERY};
    act(r, node, &a);
    ck_assert_int_eq(err_code(&a.rq.error), ERR_OK);
    struct shard_recovery f = *a.recovery;
    f.source_node = f.target_node = STR_NULL;
    shard_rq_fini(&a.rq);
    return f;
}

static void get(struct dr_rig *r, int node, const char *id, struct shard_get *g)
{
    bool done = false;
    *g = (struct shard_get){.id = str_of(id), .realtime = true, .want_source = true};
    shard_rq_init(&g->rq, set_done, &done);
    g->rq.shard = (struct shard_ref){STR("i"), STR(RIG_UUID), 0};
    const struct shard_api *api = data_api(r->nodes[node].s);
    api->get(api->self, g);
    while (!done) {
        dr_step(r);
    }
    ck_assert_msg(g->rq.error.n == 0, "get at %d: %s", node, g->rq.error.frame[0].reason);
}

static void check_stats(struct dr_rig *r, int a, int b)
{
    struct shard_act x = {.action = SHARD_STATS}, y = {.action = SHARD_STATS};
    dr_act(r, a, SHARD_REFRESH);
    dr_act(r, b, SHARD_REFRESH);
    act(r, a, &x);
    act(r, b, &y);
    ck_assert_uint_eq(x.stats->docs, y.stats->docs);
    ck_assert_int_eq(x.stats->max_seq_no, y.stats->max_seq_no);
    ck_assert_int_eq(x.stats->local_checkpoint, y.stats->local_checkpoint);
    shard_rq_fini(&x.rq);
    shard_rq_fini(&y.rq);
}

unsigned dr_check_equal(struct dr_rig *r, unsigned ids)
{
    unsigned found = 0;
    for (unsigned i = 0; i < ids; i++) {
        char id[16];
        struct shard_get a, b;
        snprintf(id, sizeof(id), "%u", i);
        get(r, r->copies[0].node, id, &a);
        found += a.found;
        for (unsigned k = 1; k < r->n_copies; k++) {
            if (r->copies[k].state != COPY_STARTED) {
                continue;
            }
            get(r, r->copies[k].node, id, &b);
            ck_assert_msg(a.found == b.found, "id %u: %d here, %d there", i, a.found, b.found);
            ck_assert(!a.found
                      || (a.version == b.version && a.seq_no == b.seq_no && a.primary_term == b.primary_term
                          && str_eq(a.source, b.source)));
            shard_rq_fini(&b.rq);
        }
        shard_rq_fini(&a.rq);
    }
    for (unsigned k = 1; k < r->n_copies; k++) {
        if (r->copies[k].state == COPY_STARTED) {
            check_stats(r, r->copies[0].node, r->copies[k].node);
        }
    }
    return found;
}

/* ---- life ---------------------------------------------------------------------------------------------- */

static void to_stderr(void *self, struct str line)
{
    (void)self;
    fprintf(stderr, "%.*s", STR_ARG(line));
}

static const struct log_sink sink = {NULL, to_stderr};

void dr_init(struct dr_rig *r, uint64_t seed)
{
    pthread_mutexattr_t recursive;
    memset(r, 0, sizeof(*r));
    rng_seed(&r->rng, seed);
    clock_sim_init(&r->clock, 1600000000000);
    struct sim_exec_opts o = {.clock = &r->clock, .seed = seed, .task_delay_ns_max = 50000};
    r->x = sim_exec_new(&o);
    r->net = sim_lane_new(r->x, SIM_LOOP, 0);
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&r->lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    log_init(&r->log, &sink, &r->clock.base, getenv("RIG_LOG") != NULL ? LOG_DEBUG : LOG_OFF);
    r->delay_ns_max = 2000000;
    r->mapping_version = 1;
    snprintf(r->mapping, sizeof(r->mapping), "%s",
             "{\"properties\":{\"n\":{\"type\":\"long\"},\"t\":{\"type\":\"keyword\"}}}");
    for (int i = 0; i < RIG_NODES; i++) {
        r->nodes[i].disk = fs_mem_new();
        dr_start(r, i);
    }
    ck_assert(timer_start(sim_lane_timers(r->net), 100, tick, r) != NULL);
}

void dr_fini(struct dr_rig *r)
{
    r->ending = true;
    for (int i = 0; i < RIG_NODES; i++) {
        if (r->nodes[i].up) {
            dr_stop(r, i, -1);
        }
    }
    while (dr_step(r)) {
    }
    ck_assert(r->flights == NULL);
    for (int i = 0; i < RIG_NODES; i++) {
        fs_mem_free(r->nodes[i].disk);
    }
    cluster_state_unref(r->state);
    sim_exec_free(r->x);
    log_fini(&r->log);
    pthread_mutex_destroy(&r->lock);
}
