/* Before a primary is put where its data is, all nodes are asked what copies they have on their disks. */
#include "master/cluster_int.h"

#include <stdio.h>
#include <stdlib.h>

static void keep_found(struct cluster *c, uint32_t n)
{
    c->n_found = n;
    if (n == 0) {
        arena_reset(&c->found_arena);
    }
}

void lookup_forget(struct cluster *c, struct str node_id)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->n_found; i++) {
        if (!str_eq(c->found[i].node_id, node_id)) {
            c->found[kept++] = c->found[i];
        }
    }
    keep_found(c, kept);
}

/* Is a copy looked for, or opened where one was found? */
static bool is_open_question(const struct index_routing *r, uint32_t shard)
{
    const struct shard_copy *c = r != NULL && shard < r->n ? &r->shards[shard].copies[0] : NULL;
    return c != NULL && !copy_active(c) && c->source == RECOVER_EXISTING_STORE;
}

void lookup_settle(struct cluster *c, const struct cluster_state *s)
{
    const struct index_meta *m = NULL;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->n_found; i++) {
        const struct found_copy *f = &c->found[i];
        if (m == NULL || !str_eq(m->uuid, f->index_uuid)) { /* those of an index come one after the other */
            m = cluster_index_by_uuid(s, f->index_uuid);
        }
        if (m != NULL && is_open_question(cluster_routing(s, m->name), f->shard)) {
            c->found[kept++] = *f;
        }
    }
    keep_found(c, kept);
}

static struct found_copy *find_found(struct cluster *c, struct str node_id, struct str uuid, uint32_t shard)
{
    for (uint32_t i = 0; i < c->n_found; i++) {
        struct found_copy *k = &c->found[i];
        if (k->shard == shard && str_eq(k->node_id, node_id) && str_eq(k->index_uuid, uuid)) {
            return k;
        }
    }
    return NULL;
}

void lookup_doubt(struct cluster *c, const struct shard_event *e)
{
    for (uint32_t i = 0; i < c->n_found; i++) {
        struct found_copy *f = &c->found[i];
        if (f->shard == e->shard && str_eq(f->index_uuid, e->index_uuid)) {
            f->old = true;
            f->failed += str_eq(f->allocation_id, e->allocation_id);
        }
    }
}

/* false: no memory. */
static bool remember_found(struct cluster *c, struct str node_id, struct str uuid, uint32_t shard,
                           struct str allocation_id, bool damaged)
{
    struct found_copy *f = find_found(c, node_id, uuid, shard);
    if (f == NULL && c->n_found == c->found_cap) {
        uint32_t cap = c->found_cap == 0 ? 64 : c->found_cap * 2;
        struct found_copy *v = realloc(c->found, cap * sizeof(*v));
        if (v == NULL) {
            return false;
        }
        c->found = v;
        c->found_cap = cap;
    }
    if (f != NULL && str_eq(f->allocation_id, allocation_id)) {
        f->damaged = damaged;
        f->old = false;
        return true;
    }
    struct found_copy k = {.node_id = arena_str(&c->found_arena, node_id),
                           .index_uuid = arena_str(&c->found_arena, uuid),
                           .shard = shard,
                           .allocation_id = arena_str(&c->found_arena, allocation_id),
                           .damaged = damaged};
    if (k.node_id.p == NULL || k.index_uuid.p == NULL || k.allocation_id.p == NULL) {
        return false;
    }
    if (f == NULL) {
        f = &c->found[c->n_found++];
    }
    *f = k;
    return true;
}

static void lookup_free(struct lookup *l)
{
    remote_call_fini(&l->call);
    arena_fini(&l->arena);
    free(l);
}

/* How many copies it told; *all: all that it was asked for. */
static uint32_t take_answer(struct lookup *l, bool *all)
{
    const struct copies_answer *found = l->call.answer;
    uint32_t taken = 0;
    for (uint32_t i = 0; i < found->n; i++) {
        const struct found_copy *f = &found->v[i];
        taken +=
            remember_found(l->c, str_of(l->node_id), f->index_uuid, f->shard, f->allocation_id, f->damaged);
    }
    *all = taken >= l->shards.n;
    return taken;
}

static void lookup_done(struct remote_call *call)
{
    struct lookup *l = CONTAINER_OF(call, struct lookup, call);
    struct cluster *c = l->c;
    struct lookup **at = &c->lookups;
    while (*at != l) {
        at = &(*at)->next;
    }
    *at = l->next;
    c->fetching = c->lookups != NULL ? c->fetching : 0;
    bool all = false;
    if (c->mode == QUORUM_LEADER && !err_is(&call->error) && take_answer(l, &all) > 0) {
        struct task *t = task_new(TASK_REROUTE);
        all &= t != NULL;
        if (t != NULL) {
            t->priority = HIGH;
            t->why = STR("cluster_reroute(async_shard_fetch)");
            batch_add(c, t);
        }
    }
    if (c->mode == QUORUM_LEADER && !all) {
        batch_again(c);
    }
    lookup_free(l);
    cluster_left(c);
}

static bool is_asked(const struct cluster *c, const struct node_meta *n, const struct shard_id *shard)
{
    for (const struct lookup *l = c->lookups; l != NULL; l = l->next) {
        for (uint32_t i = 0; str_is(n->ephemeral_id, l->ephemeral_id) && i < l->shards.n; i++) {
            const struct shard_id *s = &l->shards.v[i];
            if (s->shard == shard->shard && str_eq(s->uuid, shard->uuid)) {
                return true;
            }
        }
    }
    return false;
}

/* What the node is to be asked for; NULL: nothing, or (*failed) there is no memory. */
static struct lookup *lookup_new(struct cluster *c, const struct node_meta *n, const struct shard_id *shards,
                                 uint32_t n_shards, bool *failed)
{
    struct lookup *l = calloc(1, sizeof(*l));
    if (l == NULL) {
        *failed = true;
        return NULL;
    }
    l->c = c;
    arena_init(&l->arena, NULL, ARENA_UNLIMITED);
    snprintf(l->node_id, sizeof(l->node_id), "%.*s", STR_ARG(n->id));
    snprintf(l->ephemeral_id, sizeof(l->ephemeral_id), "%.*s", STR_ARG(n->ephemeral_id));
    l->shards.v = ARENA_ARRAY(&l->arena, struct shard_id, n_shards);
    bool ok = l->shards.v != NULL;
    for (uint32_t i = 0; ok && i < n_shards; i++) {
        const struct found_copy *told = find_found(c, n->id, shards[i].uuid, shards[i].shard);
        if ((told == NULL || told->old) && !is_asked(c, n, &shards[i])) {
            struct shard_id *s = &l->shards.v[l->shards.n++];
            *s = (struct shard_id){.uuid = arena_str(&l->arena, shards[i].uuid), .shard = shards[i].shard};
            ok = s->uuid.p != NULL;
        }
    }
    *failed |= !ok;
    if (!ok || l->shards.n == 0) {
        lookup_free(l);
        return NULL;
    }
    return l;
}

void lookup_start(struct cluster *c, const struct shard_id *shards, uint32_t n_shards)
{
    const struct nodes_part *nodes = quorum_accepted(quorum_driver_core(c->driver))->nodes;
    bool failed = false;
    for (uint32_t i = 0; n_shards > 0 && nodes != NULL && i < nodes->n; i++) {
        const struct node_meta *n = &nodes->v[i];
        struct lookup *l = (n->roles & ROLE_DATA) != 0 ? lookup_new(c, n, shards, n_shards, &failed) : NULL;
        if (l == NULL) {
            continue;
        }
        struct transport_peer to = {n->transport_address, n->ephemeral_id};
        l->call.on = c->o.loop;
        l->call.done = lookup_done;
        cluster_under_way(c);
        l->next = c->lookups;
        c->lookups = l;
        c->fetching = MAX_OF(c->fetching, n_shards);
        remote_ask(c->o.transport, &to, &message_list_copies, &l->shards, &l->call);
    }
    if (failed) {
        batch_again(c);
    }
}

static bool is_lost(const struct index_routing *r, uint32_t shard)
{
    return r != NULL && shard < r->n && r->shards[shard].copies[0].trouble.attempt == ATTEMPT_NO_VALID_COPY
           && r->shards[shard].copies[0].state == COPY_UNASSIGNED;
}

void lookup_say_lost(const struct cluster *c, const struct cluster_state *before,
                     const struct cluster_state *now)
{
    for (uint32_t i = 0; i < now->n_routing; i++) {
        const struct index_routing *r = now->routing[i], *was = cluster_routing(before, r->name);
        const struct index_meta *m = r != was ? cluster_index(now, r->name) : NULL;
        for (uint32_t k = 0; m != NULL && k < r->n; k++) {
            if (!is_lost(r, k) || is_lost(was, k)) {
                continue;
            }
            struct str last = r->shards[k].copies[0].trouble.last_node;
            log_error(c->o.log, "master",
                      "shard [%.*s][%u] is red: no node has a copy with all that was acknowledged; [%.*s] "
                      "was the last one, on "
                      "node [%.*s], in indices/%.*s/%u of its data folder",
                      STR_ARG(r->name), k, STR_ARG(m->in_sync[k].n > 0 ? m->in_sync[k].v[0] : STR("")),
                      STR_ARG(last.p != NULL ? last : STR("unknown")), STR_ARG(m->uuid), k);
        }
    }
}

void lookup_receive(void *self, struct remote_rq *rq)
{
    struct cluster *c = self;
    const struct copies_question *q = remote_body(rq);
    struct copies_answer found = {0};
    ERR_LOCAL(em);
    if (c->o.list_copies(c->o.self, q->v, q->n, &rq->arena, &found.v, &found.n, &em) == ERR_OK) {
        remote_reply(rq, &found);
    } else {
        remote_refuse(rq, &em);
    }
}
