#include "coordinator/core/ask.h"

#include "coordinator/core/retry.h"
#include "coordinator/core/shard_tasks.h"
#include "proto/remote_shards.h"
#include "proto/shard_ops.h"

#include <stdatomic.h>
#include <stdlib.h>

#define CHECK_MS 200 /* interval of the checks of calls to other nodes */

uint64_t ask_turn(struct coordinator *co)
{
    return atomic_fetch_add(&co->turn, 1);
}

struct ask_where ask_anywhere(struct coordinator *co, const struct cluster_state *state,
                              struct str preference)
{
    return (struct ask_where){state, preference, ask_turn(co)};
}

/* ---- one node ------------------------------------------------------------------------------------------ */

static bool is_gone(void *self, struct str ephemeral_id)
{
    const struct nodes_part *nodes = cluster_nodes(self);
    for (uint32_t i = 0; i < nodes->n; i++) {
        if (str_eq(nodes->v[i].ephemeral_id, ephemeral_id)) {
            return false;
        }
    }
    return true;
}

static void ask_check(void *arg);

static void ask_schedule_check(struct coordinator *co)
{
    if (!delays_stopped(co->delays)) {
        delays_add(co->delays, &co->check_calls, CHECK_MS, ask_check, co);
    }
}

static void ask_check(void *arg)
{
    struct coordinator *co = arg;
    struct cluster_state *s = co->o.state(co->o.self);
    size_t left = remote_shards_look(co->o.remote, is_gone, s);
    if (left == 0) {
        atomic_store(&co->looking, false);
        left = remote_shards_look(co->o.remote, is_gone, s); /* one that began meanwhile */
        left = left > 0 && !atomic_exchange(&co->looking, true) ? left : 0;
    }
    cluster_state_unref(s);
    if (left > 0) {
        ask_schedule_check(co);
    }
}

void ask_check_soon(struct coordinator *co)
{
    (void)delays_hurry(
        co->delays, &co->check_calls); /* fails if there are no calls to other nodes, or a check is running */
}

static void serve_here(struct coordinator *co, struct shard_rq *rq)
{
    if (rq->parent != 0) {
        shard_task_begin(co, rq, "direct");
    }
    co->o.shards->serve(co->o.shards->self, rq);
}

/* `node` may be the state's, or the request's own: it is copied. */
static void ask_node(struct coordinator *co, struct shard_rq *rq, struct str node)
{
    if (co->o.remote == NULL || node.n == 0 || str_eq(node, co->o.node_id)) {
        rq->node = co->o.node_id;
        rq->parent_node = STR_NULL;
        serve_here(co, rq);
        return;
    }
    rq->node = arena_str(&rq->arena, node);
    rq->parent_node = co->o.node_id;
    struct cluster_state *s = co->o.state(co->o.self);
    const struct node_meta *m = cluster_node(s, node);
    if (m == NULL || m->transport_address.n == 0) {
        err_set(&rq->error, ERR_NODE_NOT_CONNECTED, "[%.*s] Node not connected", STR_ARG(node));
        cluster_state_unref(s);
        shard_rq_refuse(rq);
        return;
    }
    struct transport_peer to = {m->transport_address, m->ephemeral_id};
    remote_shards_call(co->o.remote, &to, rq); /* rq may be gone */
    cluster_state_unref(s);
    if (!atomic_exchange(&co->looking, true)) {
        ask_schedule_check(co);
    }
}

/* ---- one copy after the other -------------------------------------------------------------------------- */

struct ask { /* in the request's arena */
    struct coordinator *co;
    void (*done)(struct shard_rq *rq);
    void *user;
    struct copies_how how;
    struct retry_reads tries;
};

static const struct index_routing *routing_of(const struct cluster_state *s, const struct shard_ref *shard)
{
    const struct index_routing *r = cluster_routing(s, shard->index);
    return r != NULL && str_eq(r->uuid, shard->uuid) ? r : NULL;
}

/* Is the one copy that there is here? */
static bool only_here(const struct coordinator *co, const struct index_routing *r, uint32_t shard)
{
    bool here = false;
    for (uint32_t i = 0; shard < r->n && i < r->shards[shard].n; i++) {
        const struct shard_copy *c = &r->shards[shard].copies[i];
        if (c->state == COPY_UNASSIGNED) {
            continue;
        }
        if (c->state != COPY_STARTED || !str_eq(c->node, co->o.node_id)) {
            return false;
        }
        here = true;
    }
    return here;
}

/* The request is the asker's again. */
static void restore_request(const struct ask *a, struct shard_rq *rq)
{
    rq->done = a->done;
    rq->user = a->user;
}

/* The newest state's copies, if it is a newer one; their names are the request's then. */
static void renew(struct ask *a, struct shard_rq *rq)
{
    struct cluster_state *s = a->co->o.state(a->co->o.self);
    const struct index_routing *r = s->version > a->tries.version ? routing_of(s, &rq->shard) : NULL;
    struct copies now = {.n = 0};
    if (r != NULL && copies_in_order(&now, s, r, rq->shard.shard, &a->how, &rq->arena, NULL) == ERR_OK) {
        for (uint32_t i = 0; i < now.n; i++) {
            now.nodes[i] = arena_str(&rq->arena, now.nodes[i]);
        }
    }
    retry_renew(&a->tries, &now);
    a->tries.version = MAX_OF(s->version, a->tries.version);
    cluster_state_unref(s);
}

static void ask_next(struct ask *a, struct shard_rq *rq)
{
    struct str node = retry_next(&a->tries);
    if (node.p == NULL) {
        renew(a, rq);
        node = retry_next(&a->tries);
    }
    if (node.p != NULL) {
        ask_node(a->co, rq, node);
        return;
    }
    bool nobody = a->tries.kept == NULL || retry_unavailable(a->tries.kept);
    rq->node = nobody ? STR_NULL : a->tries.kept_node;
    if (nobody) {
        rq->op->no_copy(rq);
    } else {
        err_copy(&rq->error, a->tries.kept);
    }
    restore_request(a, rq);
    shard_rq_refuse(rq);
}

static void copy_answered(struct shard_rq *rq)
{
    struct ask *a = rq->user;
    if (!err_is(&rq->error) || !retry_read(&rq->error)) {
        restore_request(a, rq);
        rq->done(rq);
        return;
    }
    retry_failed(&a->tries, rq->node, &rq->error, &rq->arena);
    err_clear(&rq->error);
    rq->op->reset(rq);
    ask_next(a, rq);
}

/* The copy that is wished for comes first, if it is one of them. */
static void put_first(struct copies *c, struct str node)
{
    uint32_t at = 0;
    while (at < c->n_active && !str_eq(c->nodes[at], node)) {
        at++;
    }
    for (; at < c->n_active && at > 0; at--) {
        struct str before = c->nodes[at - 1];
        c->nodes[at - 1] = c->nodes[at];
        c->nodes[at] = before;
    }
}

static void ask_copies(struct coordinator *co, const struct ask_where *where, struct shard_rq *rq)
{
    const struct index_routing *r = routing_of(where->state, &rq->shard);
    bool picky = where->preference.n > 0 && where->preference.p[0] == '_';
    bool single = rq->op == &shard_op_get || rq->op == &shard_op_explain || rq->op == &shard_op_term_vectors;
    if (picky && single && !copies_wanted(where->preference, rq->shard.shard)) {
        err_set(&rq->error, ERR_NULL_POINTER,
                "Cannot invoke \"org.elasticsearch.index.shard.ShardId.getIndex()\" because \"shardId\" "
                "is null");
        shard_rq_refuse(rq);
        return;
    }
    if (co->o.remote == NULL || (r != NULL && !picky && only_here(co, r, rq->shard.shard))) {
        ask_node(co, rq, co->o.node_id);
        return;
    }
    struct ask *a = ARENA_NEW(&rq->arena, struct ask);
    if (a == NULL) {
        err_no_memory(&rq->error);
        shard_rq_refuse(rq);
        return;
    }
    *a = (struct ask){.co = co,
                      .done = rq->done,
                      .user = rq->user,
                      .how = {co->o.node_id, where->preference, where->turn},
                      .tries.version = where->state->version};
    if (r != NULL
        && copies_in_order(&a->tries.copies, where->state, r, rq->shard.shard, &a->how, &rq->arena,
                           &rq->error)
               != ERR_OK) {
        shard_rq_refuse(rq);
        return;
    }
    if (rq->node.p != NULL) {
        put_first(&a->tries.copies, rq->node);
    }
    for (uint32_t i = 0; i < a->tries.copies.n; i++) {
        a->tries.copies.nodes[i] = arena_str(&rq->arena, a->tries.copies.nodes[i]);
    }
    rq->done = copy_answered;
    rq->user = a;
    ask_next(a, rq);
}

/* ---- requests ------------------------------------------------------------------------------------------ */

void ask_get(struct coordinator *co, const struct ask_where *where, struct shard_get *rq)
{
    ask_copies(co, where, &rq->rq);
}

void ask_search(struct coordinator *co, const struct ask_where *where, struct shard_rq *rq)
{
    if (rq->context != 0) {
        ask_node(co, rq, rq->node);
    } else {
        ask_copies(co, where, rq);
    }
}

void ask_explain(struct coordinator *co, const struct ask_where *where, struct shard_explain *rq)
{
    ask_copies(co, where, &rq->rq);
}

void ask_term_vectors(struct coordinator *co, const struct ask_where *where, struct shard_term_vectors *rq)
{
    ask_copies(co, where, &rq->rq);
}

void ask_fetch(struct coordinator *co, struct shard_fetch *rq)
{
    ask_node(co, &rq->rq, rq->rq.node);
}

void ask_act(struct coordinator *co, struct shard_act *rq)
{
    ask_node(co, &rq->rq, rq->rq.node);
}

void ask_write(struct coordinator *co, struct shard_write *rq)
{
    struct cluster_state *s = co->o.state(co->o.self);
    const struct index_routing *r = routing_of(s, &rq->rq.shard);
    struct str node = r != NULL ? copies_primary(r, rq->rq.shard.shard) : STR_NULL;
    if (co->o.remote == NULL) {
        node = co->o.node_id;
    }
    if (node.p == NULL) {
        err_set(&rq->rq.error, ERR_NO_SHARD, "primary shard is not active");
        err_about_index(&rq->rq.error, rq->rq.shard.index, rq->rq.shard.uuid);
        err_about_shard(&rq->rq.error, (int)rq->rq.shard.shard);
        shard_rq_refuse(&rq->rq);
    } else {
        ask_node(co, &rq->rq, node);
    }
    cluster_state_unref(s);
}

/* ---- contexts ------------------------------------------------------------------------------------------ */

struct forget {
    struct shard_free rq; /* first: done() gets it */
    uint64_t context;
};

static void forgotten(struct shard_rq *rq)
{
    shard_rq_fini(rq);
    free(rq);
}

void ask_forget(struct coordinator *co, struct str node, uint64_t context)
{
    struct forget *f = calloc(1, sizeof(*f));
    if (f == NULL) {
        return; /* its time will end */
    }
    shard_rq_init(&f->rq.rq, &shard_op_free, forgotten, NULL);
    f->context = context;
    f->rq.contexts = &f->context;
    f->rq.n = 1;
    ask_node(co, &f->rq.rq, node);
}

void ask_free(struct coordinator *co, struct shard_free *rq)
{
    ask_node(co, &rq->rq, rq->rq.node);
}

enum err ask_possible(struct coordinator *co, const struct ask_where *where, const struct shard_ref *shard,
                      bool *possible, struct arena *arena, struct errmsg *em)
{
    const struct index_routing *r = routing_of(where->state, shard);
    struct copies_how how = {co->o.node_id, where->preference, where->turn};
    struct copies c = {.n = 0};
    *possible = co->o.remote == NULL;
    if (*possible || r == NULL) {
        return ERR_OK;
    }
    enum err e = copies_in_order(&c, where->state, r, shard->shard, &how, arena, em);
    *possible = c.n_active > 0;
    return e;
}
