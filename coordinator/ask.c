#include "coordinator/ask.h"

#include "coordinator/rest/rest.h"
#include "coordinator/retry.h"
#include "coordinator/shard_tasks.h"
#include "proto/remote_shards.h"

#include <stdatomic.h>
#include <stdlib.h>

#define LOOK_MS 200 /* how often calls to other nodes are looked after */

enum ask_kind { ASK_GET, ASK_QUERY, ASK_EXPLAIN, ASK_FETCH, ASK_ACT, ASK_WRITE, ASK_FREE };
static const uint16_t kinds[] = {MESSAGE_SHARD_GET,    MESSAGE_SHARD_QUERY, MESSAGE_SHARD_EXPLAIN,
                                 MESSAGE_SHARD_FETCH,  MESSAGE_SHARD_ACT,   MESSAGE_SHARD_WRITE,
                                 MESSAGE_FREE_CONTEXTS};

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
    const struct cluster_state *s = self;
    for (uint32_t i = 0; i < s->nodes->n; i++) {
        if (str_eq(s->nodes->v[i].ephemeral_id, ephemeral_id)) {
            return false;
        }
    }
    return true;
}

static void look(void *arg);

static void look_again(struct coordinator *co)
{
    if (!delays_stopped(co->delays)) {
        delays_add(co->delays, &co->look, LOOK_MS, look, co);
    }
}

static void look(void *arg)
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
        look_again(co);
    }
}

void ask_look_soon(struct coordinator *co)
{
    (void)delays_hurry(co->delays, &co->look); /* not waiting: nothing is elsewhere, or it looks just now */
}

static void serve_here(struct coordinator *co, enum ask_kind kind, struct shard_rq *rq)
{
    const struct shard_api *api = co->o.shards;
    struct shard_free *f = (struct shard_free *)rq;
    if (rq->parent != 0) {
        shard_task_begin(co, kinds[kind], rq, "direct");
    }
    switch (kind) {
    case ASK_GET:
        api->get(api->self, (struct shard_get *)rq);
        break;
    case ASK_QUERY:
        api->query(api->self, (struct shard_query *)rq);
        break;
    case ASK_EXPLAIN:
        api->explain(api->self, (struct shard_explain *)rq);
        break;
    case ASK_FETCH:
        api->fetch(api->self, (struct shard_fetch *)rq);
        break;
    case ASK_ACT:
        api->act(api->self, (struct shard_act *)rq);
        break;
    case ASK_WRITE:
        api->write(api->self, (struct shard_write *)rq);
        break;
    case ASK_FREE:
        f->freed = f->all_scrolls ? api->free_all_contexts(api->self) : 0;
        for (uint32_t i = 0; i < f->n; i++) {
            f->freed += api->free_context(api->self, f->contexts[i]);
        }
        rq->done(rq);
        break;
    }
}

static void send_away(struct remote_shards *rs, const struct transport_peer *to, enum ask_kind kind,
                      struct shard_rq *rq)
{
    switch (kind) {
    case ASK_GET:
        remote_get(rs, to, (struct shard_get *)rq);
        break;
    case ASK_QUERY:
        remote_query(rs, to, (struct shard_query *)rq);
        break;
    case ASK_EXPLAIN:
        remote_explain(rs, to, (struct shard_explain *)rq);
        break;
    case ASK_FETCH:
        remote_fetch(rs, to, (struct shard_fetch *)rq);
        break;
    case ASK_ACT:
        remote_act(rs, to, (struct shard_act *)rq);
        break;
    case ASK_WRITE:
        remote_write(rs, to, (struct shard_write *)rq);
        break;
    case ASK_FREE:
        remote_free_contexts(rs, to, (struct shard_free *)rq);
        break;
    }
}

/* `node` may be the state's, or the request's own: it is copied. */
static void ask_node(struct coordinator *co, enum ask_kind kind, struct shard_rq *rq, struct str node)
{
    if (co->o.remote == NULL || node.n == 0 || str_eq(node, co->o.node_id)) {
        rq->node = co->o.node_id;
        rq->parent_node = STR_NULL;
        serve_here(co, kind, rq);
        return;
    }
    rq->node = arena_str(&rq->arena, node);
    rq->parent_node = co->o.node_id;
    struct cluster_state *s = co->o.state(co->o.self);
    const struct node_meta *m = cluster_node(s, node);
    if (m == NULL || m->transport_address.n == 0) {
        err_set(&rq->error, ERR_NODE_NOT_CONNECTED, "[%.*s] Node not connected", STR_ARG(node));
        cluster_state_unref(s);
        rq->done(rq);
        return;
    }
    struct transport_peer to = {m->transport_address, m->ephemeral_id};
    send_away(co->o.remote, &to, kind, rq); /* rq may be gone */
    cluster_state_unref(s);
    if (!atomic_exchange(&co->looking, true)) {
        look_again(co);
    }
}

/* ---- one copy after the other -------------------------------------------------------------------------- */

struct ask { /* in the request's arena */
    struct coordinator *co;
    enum ask_kind kind;
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

static void forget_answer(enum ask_kind kind, struct shard_rq *rq)
{
    err_clear(&rq->error);
    if (kind == ASK_QUERY) {
        struct shard_query *q = (struct shard_query *)rq;
        q->result = NULL;
        q->hits = NULL;
        q->n_hits = 0;
        q->context = 0;
        q->dfs_out = (struct dfs_stats){0};
    } else if (kind == ASK_GET) {
        struct shard_get *g = (struct shard_get *)rq;
        g->found = false;
        g->fields = STR_NULL;
        g->n_ignored = 0;
    } else if (kind == ASK_EXPLAIN) {
        struct shard_explain *x = (struct shard_explain *)rq;
        x->found = x->matched = false;
    }
}

static void end(struct ask *a, struct shard_rq *rq)
{
    rq->done = a->done;
    rq->user = a->user;
    rq->done(rq);
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

/* No copy was there to be asked. */
static void no_copy(enum ask_kind kind, struct shard_rq *rq)
{
    if (kind == ASK_QUERY) {
        err_set(&rq->error, ERR_NO_SHARD, "%s", "");
        err_about_index(&rq->error, rq->shard.index, rq->shard.uuid);
        err_about_shard(&rq->error, (int)rq->shard.shard);
        return;
    }
    struct str id = kind == ASK_GET ? ((struct shard_get *)rq)->id : ((struct shard_explain *)rq)->id;
    err_set(&rq->error, ERR_NO_SHARD, "No shard available for [%s [%.*s][_doc][%.*s]]",
            kind == ASK_GET ? "get" : "explain", STR_ARG(rq->shard.index), STR_ARG(id));
}

static void ask_next(struct ask *a, struct shard_rq *rq)
{
    struct str node = retry_next(&a->tries);
    if (node.p == NULL) {
        renew(a, rq);
        node = retry_next(&a->tries);
    }
    if (node.p != NULL) {
        ask_node(a->co, a->kind, rq, node);
        return;
    }
    bool nobody = a->tries.kept == NULL || retry_unavailable(a->tries.kept);
    rq->node = nobody ? STR_NULL : a->tries.kept_node;
    if (nobody) {
        no_copy(a->kind, rq);
    } else {
        rq->error = *a->tries.kept;
    }
    end(a, rq);
}

static void copy_answered(struct shard_rq *rq)
{
    struct ask *a = rq->user;
    if (rq->error.n == 0 || !retry_read(&rq->error)) {
        end(a, rq);
        return;
    }
    retry_failed(&a->tries, rq->node, &rq->error, &rq->arena);
    forget_answer(a->kind, rq);
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

static void ask_copies(struct coordinator *co, const struct ask_where *where, enum ask_kind kind,
                       struct shard_rq *rq)
{
    const struct index_routing *r = routing_of(where->state, &rq->shard);
    bool picky = where->preference.n > 0 && where->preference.p[0] == '_';
    if (picky && kind != ASK_QUERY && !copies_wanted(where->preference, rq->shard.shard)) {
        err_set(&rq->error, ERR_NULL_POINTER,
                "Cannot invoke \"org.elasticsearch.index.shard.ShardId.getIndex()\" because \"shardId\" "
                "is null");
        rq->done(rq);
        return;
    }
    if (co->o.remote == NULL || (r != NULL && !picky && only_here(co, r, rq->shard.shard))) {
        ask_node(co, kind, rq, co->o.node_id);
        return;
    }
    struct ask *a = ARENA_NEW(&rq->arena, struct ask);
    if (a == NULL) {
        err_no_memory(&rq->error);
        rq->done(rq);
        return;
    }
    *a = (struct ask){.co = co,
                      .kind = kind,
                      .done = rq->done,
                      .user = rq->user,
                      .how = {co->o.node_id, where->preference, where->turn},
                      .tries.version = where->state->version};
    if (r != NULL
        && copies_in_order(&a->tries.copies, where->state, r, rq->shard.shard, &a->how, &rq->arena,
                           &rq->error)
               != ERR_OK) {
        rq->done(rq);
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
    ask_copies(co, where, ASK_GET, &rq->rq);
}

void ask_query(struct coordinator *co, const struct ask_where *where, struct shard_query *rq)
{
    if (rq->context != 0) {
        ask_node(co, ASK_QUERY, &rq->rq, rq->rq.node);
    } else {
        ask_copies(co, where, ASK_QUERY, &rq->rq);
    }
}

void ask_explain(struct coordinator *co, const struct ask_where *where, struct shard_explain *rq)
{
    ask_copies(co, where, ASK_EXPLAIN, &rq->rq);
}

void ask_fetch(struct coordinator *co, struct shard_fetch *rq)
{
    ask_node(co, ASK_FETCH, &rq->rq, rq->rq.node);
}

void ask_act(struct coordinator *co, struct shard_act *rq)
{
    ask_node(co, ASK_ACT, &rq->rq, rq->rq.node);
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
        rq->rq.done(&rq->rq);
    } else {
        ask_node(co, ASK_WRITE, &rq->rq, node);
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
    if (co->o.remote == NULL || node.n == 0 || str_eq(node, co->o.node_id)) {
        co->o.shards->free_context(co->o.shards->self, context);
        return;
    }
    struct forget *f = calloc(1, sizeof(*f));
    if (f == NULL) {
        return; /* its time will end */
    }
    shard_rq_init(&f->rq.rq, forgotten, NULL);
    f->context = context;
    f->rq.contexts = &f->context;
    f->rq.n = 1;
    ask_node(co, ASK_FREE, &f->rq.rq, node);
}

void ask_free(struct coordinator *co, struct shard_free *rq)
{
    ask_node(co, ASK_FREE, &rq->rq, rq->rq.node);
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
