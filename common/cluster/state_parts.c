/* The parts that change as nodes come and go: nodes, where copies are, voting configurations. */
#include "common/cluster/state_int.h"

/* ---- sets of strings ---- */

/* Where x is, or belongs. */
static uint32_t set_slot(const struct str_set *s, struct str x)
{
    uint32_t at = 0;
    while (at < s->n && str_cmp(s->v[at], x) < 0) { /* a few copies or nodes */
        at++;
    }
    return at;
}

bool str_set_has(const struct str_set *s, struct str x)
{
    uint32_t at = set_slot(s, x);
    return at < s->n && str_eq(s->v[at], x);
}

bool str_set_eq(const struct str_set *a, const struct str_set *b)
{
    for (uint32_t i = 0; a->n == b->n && i < a->n; i++) {
        if (!str_eq(a->v[i], b->v[i])) {
            return false;
        }
    }
    return a->n == b->n;
}

static struct str_set set_failed(void)
{
    return (struct str_set){NULL, 1};
}

struct str_set str_set_copy(const struct str_set *s, struct arena *a)
{
    struct str_set c = {ARENA_ARRAY(a, struct str, s->n), s->n};
    bool ok = c.v != NULL || s->n == 0;
    for (uint32_t i = 0; ok && i < s->n; i++) {
        c.v[i] = state_keep(a, s->v[i], &ok);
    }
    return ok ? c : set_failed();
}

struct str_set str_set_with(const struct str_set *s, struct str x, struct arena *a)
{
    uint32_t at = set_slot(s, x);
    if (at < s->n && str_eq(s->v[at], x)) {
        return str_set_copy(s, a);
    }
    struct str_set c = {ARENA_ARRAY(a, struct str, (size_t)s->n + 1), s->n + 1};
    bool ok = c.v != NULL;
    for (uint32_t i = 0; ok && i < c.n; i++) {
        c.v[i] = state_keep(a, i < at ? s->v[i] : i == at ? x : s->v[i - 1], &ok);
    }
    return ok ? c : set_failed();
}

struct str_set str_set_without(const struct str_set *s, struct str x, struct arena *a)
{
    struct str_set c = {ARENA_ARRAY(a, struct str, s->n), 0};
    bool ok = c.v != NULL || s->n == 0;
    for (uint32_t i = 0; ok && i < s->n; i++) {
        if (!str_eq(s->v[i], x)) {
            c.v[c.n++] = state_keep(a, s->v[i], &ok);
        }
    }
    return ok ? c : set_failed();
}

/* ---- nodes ---- */

struct nodes_part *nodes_part_new(void)
{
    return state_part_new(sizeof(struct nodes_part));
}

static void copy_node(struct node_meta *to, const struct node_meta *from, struct arena *a, bool *ok)
{
    *to = *from;
    to->id = state_keep(a, from->id, ok);
    to->name = state_keep(a, from->name, ok);
    to->ephemeral_id = state_keep(a, from->ephemeral_id, ok);
    to->host = state_keep(a, from->host, ok);
    to->transport_address = state_keep(a, from->transport_address, ok);
    to->http_address = state_keep(a, from->http_address, ok);
    to->attrs = ARENA_ARRAY(a, struct node_attr, from->n_attrs);
    *ok &= to->attrs != NULL || from->n_attrs == 0;
    for (uint32_t i = 0; *ok && i < from->n_attrs; i++) {
        to->attrs[i].name = state_keep(a, from->attrs[i].name, ok);
        to->attrs[i].value = state_keep(a, from->attrs[i].value, ok);
    }
}

bool node_meta_copy(struct node_meta *to, const struct node_meta *from, struct arena *a)
{
    bool ok = true;
    copy_node(to, from, a, &ok);
    return ok;
}

struct nodes_part *nodes_part_copy(const struct nodes_part *p, uint32_t more)
{
    struct nodes_part *c = nodes_part_new();
    if (c == NULL) {
        return NULL;
    }
    struct arena *a = &c->part.arena;
    bool ok = true;
    c->v = ARENA_ARRAY(a, struct node_meta, (size_t)p->n + more);
    ok &= c->v != NULL || p->n + more == 0;
    c->master = state_keep(a, p->master, &ok);
    for (uint32_t i = 0; ok && i < p->n; i++) {
        copy_node(&c->v[i], &p->v[i], a, &ok);
        c->n++;
    }
    if (!ok) {
        state_part_unref(&c->part);
        return NULL;
    }
    return c;
}

bool nodes_part_put(struct nodes_part *p, const struct node_meta *n)
{
    uint32_t at = 0;
    while (at < p->n && str_cmp(p->v[at].id, n->id) < 0) {
        at++;
    }
    struct node_meta copy;
    bool ok = true;
    copy_node(&copy, n, &p->part.arena, &ok);
    if (ok && (at == p->n || !str_eq(p->v[at].id, n->id))) {
        memmove(&p->v[at + 1], &p->v[at], (p->n - at) * sizeof(p->v[0]));
        p->n++;
    }
    p->v[at] = ok ? copy : p->v[at];
    return ok;
}

bool nodes_part_remove(struct nodes_part *p, struct str id)
{
    for (uint32_t i = 0; i < p->n; i++) {
        if (str_eq(p->v[i].id, id)) {
            memmove(&p->v[i], &p->v[i + 1], (p->n - i - 1) * sizeof(p->v[0]));
            p->n--;
            return true;
        }
    }
    return false;
}

const struct nodes_part *cluster_nodes(const struct cluster_state *s)
{
    static const struct nodes_part none = {.v = NULL};
    return s->nodes != NULL ? s->nodes : &none;
}

const struct node_meta *cluster_node(const struct cluster_state *s, struct str id)
{
    for (uint32_t i = 0; s->nodes != NULL && i < s->nodes->n; i++) {
        if (str_eq(s->nodes->v[i].id, id)) {
            return &s->nodes->v[i];
        }
    }
    return NULL;
}

const struct node_meta *cluster_master(const struct cluster_state *s)
{
    return s->nodes != NULL && s->nodes->master.p != NULL ? cluster_node(s, s->nodes->master) : NULL;
}

/* ---- copies ---- */

const char *copy_state_name(enum copy_state s)
{
    static const char *const names[] = {"UNASSIGNED", "INITIALIZING", "STARTED", "RELOCATING"};
    return names[s];
}

const char *copy_reason_name(enum copy_reason r)
{
    static const char *const names[REASON_N] = {
        "INDEX_CREATED",       "CLUSTER_RECOVERED", "INDEX_REOPENED",       "REPLICA_ADDED",
        "ALLOCATION_FAILED",   "NODE_LEFT",         "REROUTE_CANCELLED",    "REINITIALIZED",
        "REALLOCATED_REPLICA", "PRIMARY_FAILED",    "FORCED_EMPTY_PRIMARY", "MANUAL_ALLOCATION"};
    return names[r];
}

const char *copy_attempt_name(enum copy_attempt a)
{
    static const char *const names[ATTEMPT_N] = {"no_attempt", "deciders_no", "no_valid_shard_copy",
                                                 "deciders_throttled", "fetching_shard_data"};
    return names[a];
}

struct index_routing *index_routing_new(struct str name, struct str uuid, uint32_t n, uint32_t replicas)
{
    struct index_routing *r = state_part_new(sizeof(*r));
    if (r == NULL) {
        return NULL;
    }
    struct arena *a = &r->part.arena;
    bool ok = true;
    r->name = state_keep(a, name, &ok);
    r->uuid = state_keep(a, uuid, &ok);
    r->shards = ARENA_ARRAY(a, struct shard_routing, n);
    ok &= r->shards != NULL;
    for (uint32_t i = 0; ok && i < n; i++) {
        struct shard_routing *s = &r->shards[i];
        s->copies = ARENA_ARRAY(a, struct shard_copy, (size_t)replicas + 1);
        ok &= s->copies != NULL;
        for (uint32_t k = 0; ok && k <= replicas; k++) {
            s->copies[k] =
                (struct shard_copy){.primary = k == 0, .source = k == 0 ? RECOVER_EMPTY_STORE : RECOVER_PEER};
        }
        s->n = replicas + 1;
        r->n++;
    }
    if (!ok) {
        state_part_unref(&r->part);
        return NULL;
    }
    return r;
}

static void copy_copy(struct shard_copy *to, const struct shard_copy *from, struct arena *a, bool *ok)
{
    *to = *from;
    to->node = state_keep(a, from->node, ok);
    to->allocation_id = state_keep(a, from->allocation_id, ok);
    to->target_node = state_keep(a, from->target_node, ok);
    to->target_id = state_keep(a, from->target_id, ok);
    to->trouble.details = state_keep(a, from->trouble.details, ok);
    to->trouble.last_node = state_keep(a, from->trouble.last_node, ok);
}

struct index_routing *index_routing_copy(const struct index_routing *r, uint32_t more)
{
    struct index_routing *c = state_part_new(sizeof(*c));
    if (c == NULL) {
        return NULL;
    }
    struct arena *a = &c->part.arena;
    bool ok = true;
    c->name = state_keep(a, r->name, &ok);
    c->uuid = state_keep(a, r->uuid, &ok);
    c->shards = ARENA_ARRAY(a, struct shard_routing, r->n);
    ok &= c->shards != NULL;
    for (uint32_t i = 0; ok && i < r->n; i++) {
        const struct shard_routing *from = &r->shards[i];
        struct shard_routing *to = &c->shards[i];
        to->copies = ARENA_ARRAY(a, struct shard_copy, (size_t)from->n + more);
        ok &= to->copies != NULL;
        for (uint32_t k = 0; ok && k < from->n; k++) {
            copy_copy(&to->copies[k], &from->copies[k], a, &ok);
        }
        to->n = from->n;
        c->n++;
    }
    if (!ok) {
        state_part_unref(&c->part);
        return NULL;
    }
    return c;
}

/* ---- voting configurations ---- */

struct coordination_part *coordination_part_new(void)
{
    return state_part_new(sizeof(struct coordination_part));
}

struct coordination_part *coordination_part_copy(const struct coordination_part *p)
{
    struct coordination_part *c = coordination_part_new();
    if (c == NULL) {
        return NULL;
    }
    struct arena *a = &c->part.arena;
    bool ok = true;
    c->term = p->term;
    c->uuid_committed = p->uuid_committed;
    c->committed = str_set_copy(&p->committed, a);
    c->accepted = str_set_copy(&p->accepted, a);
    c->exclusions = ARENA_ARRAY(a, struct voting_exclusion, p->n_exclusions);
    ok &= (c->committed.v != NULL || c->committed.n == 0) && (c->accepted.v != NULL || c->accepted.n == 0)
          && (c->exclusions != NULL || p->n_exclusions == 0);
    for (uint32_t i = 0; ok && i < p->n_exclusions; i++) {
        c->exclusions[i].node_id = state_keep(a, p->exclusions[i].node_id, &ok);
        c->exclusions[i].node_name = state_keep(a, p->exclusions[i].node_name, &ok);
        c->n_exclusions++;
    }
    if (!ok) {
        state_part_unref(&c->part);
        return NULL;
    }
    return c;
}
