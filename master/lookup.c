/* Before a primary is put where its data is, all nodes are asked what copies they have on their disks. */
#include "master/cluster_int.h"

#include "common/base/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lookup {
    struct transport_rq rq;
    struct cluster *c;
    char node_id[32];
};

static void put_shards(struct buf *out, const struct shard_id *v, uint32_t n)
{
    put_varint(out, n);
    for (uint32_t i = 0; i < n; i++) {
        put_str(out, v[i].uuid);
        put_varint(out, v[i].shard);
    }
}

void lookup_forget(struct cluster *c, struct str node_id, struct str uuid, uint32_t shard)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->n_found; i++) {
        const struct found_copy *f = &c->found[i];
        bool gone = (node_id.p == NULL || str_eq(f->node_id, node_id))
                    && (uuid.p == NULL || (f->shard == shard && str_eq(f->index_uuid, uuid)));
        if (!gone) {
            c->found[kept++] = *f;
        }
    }
    c->n_found = kept;
    if (kept == 0) {
        arena_reset(&c->found_arena);
    }
}

static void remember_found(struct cluster *c, struct str node_id, struct str uuid, uint32_t shard,
                           struct str allocation_id, bool damaged)
{
    struct found_copy *f = NULL;
    for (uint32_t i = 0; i < c->n_found && f == NULL; i++) {
        struct found_copy *k = &c->found[i];
        f = k->shard == shard && str_eq(k->node_id, node_id) && str_eq(k->index_uuid, uuid) ? k : NULL;
    }
    if (f == NULL && c->n_found == c->found_cap) {
        uint32_t cap = c->found_cap == 0 ? 64 : c->found_cap * 2;
        struct found_copy *v = realloc(c->found, cap * sizeof(*v));
        if (v == NULL) {
            return;
        }
        c->found = v;
        c->found_cap = cap;
    }
    struct found_copy k = {.node_id = arena_str(&c->found_arena, node_id),
                           .index_uuid = arena_str(&c->found_arena, uuid),
                           .shard = shard,
                           .allocation_id = arena_str(&c->found_arena, allocation_id),
                           .damaged = damaged};
    if (k.node_id.p == NULL || k.index_uuid.p == NULL || k.allocation_id.p == NULL) {
        return;
    }
    if (f == NULL) {
        f = &c->found[c->n_found++];
    }
    *f = k;
}

static void lookup_done(struct transport_rq *rq)
{
    struct lookup *l = (struct lookup *)(void *)rq;
    struct cluster *c = l->c;
    if (--c->lookups == 0) {
        c->fetching = 0;
    }
    struct bytes_in in = bytes_in(rq->answer);
    bool any = false;
    if (rq->error.n == 0 && c->mode == QUORUM_LEADER) {
        for (size_t n = get_count(&in, 5); n > 0 && !in.bad; n--) {
            struct str uuid = get_str(&in);
            uint32_t shard = (uint32_t)get_varint(&in);
            struct str id = get_str(&in);
            bool damaged = get_u8(&in) != 0;
            if (!in.bad) {
                remember_found(c, str_of(l->node_id), uuid, shard, id, damaged);
                any = true;
            }
        }
    }
    if (any) {
        struct task *t = task_new(TASK_REROUTE);
        if (t != NULL) {
            t->priority = HIGH;
            t->why = STR("cluster_reroute(async_shard_fetch)");
            batch_add(c, t);
        }
    }
    buf_fini(&rq->answer_memory);
    free(l);
    cluster_left(c);
}

void lookup_start(struct cluster *c, const struct shard_id *shards, uint32_t n_shards)
{
    const struct nodes_part *nodes = quorum_accepted(quorum_driver_core(c->driver))->nodes;
    for (uint32_t i = 0; n_shards > 0 && nodes != NULL && i < nodes->n; i++) {
        struct lookup *l = (nodes->v[i].roles & ROLE_DATA) != 0 ? calloc(1, sizeof(*l)) : NULL;
        if (l == NULL) {
            continue;
        }
        struct transport_peer to = {nodes->v[i].transport_address, nodes->v[i].ephemeral_id};
        l->c = c;
        snprintf(l->node_id, sizeof(l->node_id), "%.*s", STR_ARG(nodes->v[i].id));
        l->rq = (struct transport_rq){.cls = TRANSPORT_DATA,
                                      .kind = MESSAGE_LIST_COPIES,
                                      .timeout_ms = MASTER_TIMEOUT_DEFAULT_MS,
                                      .on = c->o.loop,
                                      .done = lookup_done};
        buf_init(&l->rq.payload, NULL, BUF_UNLIMITED);
        put_shards(&l->rq.payload, shards, n_shards);
        cluster_under_way(c);
        c->lookups++;
        c->fetching = MAX_OF(c->fetching, n_shards);
        c->o.transport->send(c->o.transport->self, &to, &l->rq);
    }
}

void lookup_receive(void *arg, struct transport_call *call)
{
    struct cluster *c = arg;
    const struct transport *tr = c->o.transport;
    struct bytes_in in = bytes_in(call->payload);
    struct arena scratch;
    struct errmsg em;
    struct found_copy *found;
    uint32_t n_found;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    size_t n = get_count(&in, 2);
    struct shard_id *shards = ARENA_ARRAY(&scratch, struct shard_id, n);
    for (size_t i = 0; shards != NULL && i < n; i++) {
        shards[i].uuid = get_str(&in);
        shards[i].shard = (uint32_t)get_varint(&in);
    }
    enum err e = shards == NULL ? err_no_memory(&em)
                 : in.bad       ? err_set(&em, ERR_CORRUPT, "a list of shards cannot be read")
                                : ERR_OK;
    e = e == ERR_OK ? c->o.list_copies(c->o.self, shards, (uint32_t)n, &scratch, &found, &n_found, &em) : e;
    if (e != ERR_OK) {
        tr->refuse(tr->self, call, &em);
    } else {
        struct buf b;
        buf_init(&b, NULL, BUF_UNLIMITED);
        put_varint(&b, n_found);
        for (uint32_t i = 0; i < n_found; i++) {
            put_str(&b, found[i].index_uuid);
            put_varint(&b, found[i].shard);
            put_str(&b, found[i].allocation_id);
            put_u8(&b, found[i].damaged);
        }
        tr->reply(tr->self, call, &b);
    }
    arena_fini(&scratch);
}
