/* The master of the rig. */
#include "tests/unit/data/data_rig.h"

#include "data/data.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

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
        ck_assert(data_apply(l->node->s, l->state, applied, &count));
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
            ck_assert(data_apply(n->s, next, applied, &count));
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
    } else if (c == &r->copies[0] && !in_sync(r, id)) {
        r->n_in_sync = 0; /* a new shard, or a stale copy that was forced */
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
        ERR_LOCAL(em);
        err_set(&em, ERR_NODE_CLOSED, "the node is closing");
        t->done(t->arg, r->nodes[t->node].up ? NULL : &em);
    }
    free(t);
}

bool dr_shard_event(void *self, const struct shard_event *event,
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
        ck_assert(timer_start(sim_lane_timers(r->net), dr_delay_ms(r), told, t) != NULL);
        t = NULL;
    }
    pthread_mutex_unlock(&r->lock);
    bool sent = t == NULL; /* else there is no master */
    free(t);
    return sent;
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
