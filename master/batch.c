/* The master's work: all tasks that wait, run as one batch over the newest state, published once. */
#include "master/cluster_int.h"

#include "common/base/invariant.h"
#include "common/cluster/state_invariant.h"

#include <stdio.h>
#include <stdlib.h>

#define AGAIN_MS 500 /* after what failed for want of memory, or of an answer */

struct batch {
    struct batch *next;
    struct cluster *c;
    struct task *tasks;
    struct cluster_state *base;   /* with nodes and voters as they should be */
    struct cluster_state *result; /* NULL: nothing changed */
    bool nodes_changed, voters_changed;
    struct alloc_wants wants;
    struct arena arena; /* wants, copies of `found` */
    struct found_copy *found;
    uint32_t n_found;
    struct disk_usage *disks;
    uint32_t n_disks;
    struct wait_clock wait_clock;
    struct str *restarted; /* ids of nodes, as in alloc_env; in `arena` */
    uint32_t n_restarted;
    uint64_t version;
    struct errmsg error; /* of the whole */
};

struct task *task_new(enum task_kind kind)
{
    struct task *t = calloc(1, sizeof(*t));
    if (t != NULL) {
        t->kind = kind;
        arena_init(&t->arena, NULL, ARENA_UNLIMITED);
        t->error = err_in(&t->arena);
    }
    return t;
}

void task_free(struct task *t)
{
    arena_fini(&t->arena);
    free(t);
}

static void finish_tasks(struct task *t, uint64_t version, const struct errmsg *error, bool all)
{
    while (t != NULL) {
        struct task *next = t->next;
        if (error != NULL && !err_is(&t->error)) {
            err_copy(&t->error, error);
        }
        if (t->rq != NULL) {
            t->rq->acknowledged = all;
        }
        t->done(t, version);
        t = next;
    }
}

static void batch_free(struct batch *b)
{
    cluster_state_unref(b->base);
    cluster_state_unref(b->result);
    arena_fini(&b->arena);
    free(b);
}

/* ---- computing: on the pool ---- */

static struct alloc_env batch_env(const struct batch *b)
{
    return (struct alloc_env){.now_ms = wait_clock_ms(&b->wait_clock, clock_mono_ms(b->c->o.clock)),
                              .rng = b->c->o.env.rng,
                              .disks = b->disks,
                              .n_disks = b->n_disks,
                              .found = b->found,
                              .n_found = b->n_found,
                              .restarted = b->restarted,
                              .n_restarted = b->n_restarted};
}

static enum err run_task(struct batch *b, struct task *t, struct cluster_state **cur, struct errmsg *em)
{
    struct cluster *c = b->c;
    struct cluster_state *next = NULL;
    struct alloc_env env = batch_env(b);
    if (t->kind == TASK_META) {
        struct metadata_env with = c->o.env;
        with.alloc = &env;
        enum err e = metadata_apply(&with, *cur, t->rq, &next, em);
        if (e == ERR_OK && next != NULL) {
            cluster_state_unref(*cur);
            *cur = next;
        }
        return e;
    }
    if (t->kind != TASK_SHARD) {
        return ERR_OK;
    }
    struct state_builder sb;
    if (!state_builder_init(&sb, *cur)) {
        return err_no_memory(em);
    }
    const struct shard_event *ev = &t->event;
    enum err e = ev->kind == SHARD_EVENT_STARTED ? allocation_started(
                     &sb, ev->index_uuid, ev->shard, ev->allocation_id, ev->primary_term, &t->changed, em)
                 : ev->kind == SHARD_EVENT_FAILED
                     ? allocation_failed(&env, &sb, ev->index_uuid, ev->shard, ev->allocation_id, ev->why,
                                         &t->changed, em)
                     : allocation_mark_stale(&env, &sb, ev->index_uuid, ev->shard, ev->allocation_id,
                                             ev->primary_term, ev->why, &t->changed, em);
    if (e != ERR_OK || !t->changed) {
        state_builder_fini(&sb);
        return e;
    }
    next = state_builder_seal(&sb, STR("_task_"));
    if (next == NULL) {
        return err_no_memory(em);
    }
    cluster_state_unref(*cur);
    *cur = next;
    return ERR_OK;
}

static enum err allocate_last(struct batch *b, struct cluster_state **cur, struct errmsg *em)
{
    struct cluster *c = b->c;
    struct alloc_env env = batch_env(b);
    struct state_builder sb;
    bool changed = false;
    char uuid[23];
    b->wants = (struct alloc_wants){.again_ms = INT64_MAX, .arena = &b->arena};
    if (!state_builder_init(&sb, *cur)) {
        return err_no_memory(em);
    }
    enum err e = allocate(&env, &sb, &b->wants, &changed, em);
    if (e != ERR_OK || (!changed && *cur == b->base && !b->nodes_changed)) {
        state_builder_fini(&sb);
        return e;
    }
    random_uuid(c->o.env.rng, uuid);
    if (sb.next->cluster_uuid.n == 0) {
        char cluster_uuid[23];
        random_uuid(c->o.env.rng, cluster_uuid);
        if (!state_set_names(&sb, c->o.cluster_name, str_of(cluster_uuid))) {
            state_builder_fini(&sb);
            return err_no_memory(em);
        }
    }
    sb.next->version = b->version - 1; /* however many steps it took: one state is published */
    b->result = state_builder_seal(&sb, str_of(uuid));
    return b->result != NULL ? ERR_OK : err_no_memory(em);
}

static void computed(void *arg);

static void compute(void *arg)
{
    struct batch *b = arg;
    struct cluster_state *cur = cluster_state_ref(b->base);
    for (struct task *t = b->tasks; t != NULL; t = t->next) {
        ERR_LOCAL(em);
        if (run_task(b, t, &cur, &em) != ERR_OK) {
            err_copy(&t->error, &em);
        }
    }
    ERR_LOCAL(em);
    if (allocate_last(b, &cur, &em) != ERR_OK) {
        err_copy(&b->error, &em);
    }
    cluster_state_unref(cur);
    executor_submit_force(b->c->o.loop, computed, b);
}

/* ---- on the loop ---- */

/* Which nodes of `to` are other processes than in `from`? */
static bool find_restarted(struct batch *b, const struct nodes_part *from, const struct nodes_part *to)
{
    uint32_t n = to != NULL && from != NULL ? to->n : 0;
    b->restarted = ARENA_ARRAY(&b->arena, struct str, n);
    bool ok = b->restarted != NULL;
    for (uint32_t i = 0; ok && i < n; i++) {
        const struct node_meta *now = &to->v[i], *before = NULL;
        for (uint32_t k = 0; k < from->n && before == NULL; k++) {
            before = str_eq(from->v[k].id, now->id) ? &from->v[k] : NULL;
        }
        if (before != NULL && !str_eq(before->ephemeral_id, now->ephemeral_id)) {
            b->restarted[b->n_restarted] = arena_str(&b->arena, now->id);
            ok = b->restarted[b->n_restarted++].p != NULL;
        }
    }
    return ok;
}

/* The accepted state, with the nodes and voters that there should be now. */
static enum err make_base(struct cluster *c, struct batch *b, struct errmsg *em)
{
    struct quorum *q = quorum_driver_core(c->driver);
    struct cluster_state *from = quorum_accepted(q);
    struct state_builder sb;
    b->version = from->version + 1;
    if (!c->nodes_wanted && c->config.n == 0) {
        b->base = cluster_state_ref(from);
        return ERR_OK;
    }
    if (!state_builder_init(&sb, from)) {
        return err_no_memory(em);
    }
    enum err e = quorum_next_nodes(q, from, &sb, em);
    e = e == ERR_OK && !find_restarted(b, from->nodes, sb.next->nodes) ? err_no_memory(em) : e;
    if (e == ERR_OK && c->fresh) { /* the whole cluster was down: transient settings ended with it */
        state_put_settings(&sb, NULL, false);
    }
    if (e == ERR_OK && c->config.n > 0) {
        struct coordination_part *p = sb.next->coordination; /* new, and ours alone until it is sealed */
        p->accepted = str_set_copy(&c->config, &p->part.arena);
        e = p->accepted.v != NULL ? ERR_OK : err_no_memory(em);
    }
    if (e != ERR_OK) {
        state_builder_fini(&sb);
        return e;
    }
    b->base = state_builder_seal(&sb, STR("_nodes_"));
    if (b->base == NULL) {
        return err_no_memory(em);
    }
    b->nodes_changed = true;
    b->voters_changed = c->config.n > 0;
    c->nodes_wanted = false;
    c->config.n = 0;
    return ERR_OK;
}

/* A batch led to nothing although this node leads: nodes and voters that it would have brought are wanted still. */
static void want_again(struct cluster *c, const struct batch *b)
{
    if (c->mode == QUORUM_LEADER) {
        c->nodes_wanted |= b->nodes_changed;
        if (b->voters_changed) {
            quorum_driver_not_reconfigured(c->driver); /* it looks again who should vote */
        }
        batch_again(c);
    }
}

static bool copy_found(struct cluster *c, struct batch *b)
{
    b->found = ARENA_ARRAY(&b->arena, struct found_copy, c->n_found);
    bool ok = b->found != NULL;
    for (uint32_t i = 0; ok && i < c->n_found; i++) {
        struct found_copy *f = &b->found[b->n_found++];
        *f = c->found[i];
        f->node_id = arena_str(&b->arena, f->node_id);
        f->index_uuid = arena_str(&b->arena, f->index_uuid);
        f->allocation_id = arena_str(&b->arena, f->allocation_id);
        ok = f->node_id.p != NULL && f->index_uuid.p != NULL && f->allocation_id.p != NULL;
    }
    b->disks = disk_watch_usage(c->disks, c->n_disks, &b->arena);
    b->n_disks = c->n_disks;
    b->wait_clock = c->wait_clock;
    return ok && b->disks != NULL;
}

static void batch_run(struct cluster *c)
{
    if (c->mode != QUORUM_LEADER || c->batch != NULL
        || (c->queue == NULL && !c->nodes_wanted && c->config.n == 0)
        || quorum_publishing(quorum_driver_core(c->driver))) {
        return;
    }
    struct batch *b = calloc(1, sizeof(*b));
    ERR_LOCAL(em);
    if (b == NULL) {
        batch_again(c);
        return;
    }
    b->c = c;
    arena_init(&b->arena, NULL, ARENA_UNLIMITED);
    b->error = err_in(&b->arena);
    b->tasks = c->queue;
    c->queue = NULL;
    memset(c->queue_last, 0, sizeof(c->queue_last));
    enum err e = make_base(c, b, &em);
    e = e == ERR_OK && !copy_found(c, b) ? err_no_memory(&em) : e;
    if (e != ERR_OK) {
        want_again(c, b);
        finish_tasks(b->tasks, 0, &em, false);
        batch_free(b);
        return;
    }
    c->batch = b;
    cluster_under_way(c);
    if (!executor_submit_force(c->o.compute, compute, b)) {
        compute(b);
    }
}

static void end_batch(struct cluster *c, const struct errmsg *error)
{
    struct batch *b = c->batch;
    c->batch = NULL;
    finish_tasks(b->tasks,
                 b->result != NULL ? b->version : quorum_accepted(quorum_driver_core(c->driver))->version,
                 error, error == NULL);
    batch_free(b);
}

/* INT64_MAX: nothing waits. */
static void reroute_at(struct cluster *c, int64_t ms)
{
    c->reroute_at_ms = ms;
    if (ms == INT64_MAX) {
        wait_clock_catch_up(&c->wait_clock, clock_mono_ms(c->o.clock), clock_wall_ms(c->o.clock));
    }
}

static int64_t waited_ms(const struct cluster *c)
{
    return wait_clock_ms(&c->wait_clock, clock_mono_ms(c->o.clock));
}

static void computed(void *arg)
{
    struct batch *b = arg;
    struct cluster *c = b->c;
    ERR_LOCAL(em);
    enum err e = ERR_OK;
    if (c->mode
        != QUORUM_LEADER) { /* no longer, or (a state of an older term is not published) not any more */
        e = err_set(&em, ERR_NOT_MASTER, "this node is no longer the master");
    } else if (err_is(&b->error)) {
        err_copy(&em, &b->error);
        e = err_code(&em);
    } else if (b->result != NULL) {
        INVARIANT(state_invariant(b->result));
        e = quorum_driver_publish(c->driver, b->result, &em);
    }
    if (c->batch == b && (e != ERR_OK || b->result == NULL)) { /* publishing may have ended it already */
        if (e == ERR_OK) {
            reroute_at(c, b->wants.again_ms);
            lookup_start(c, b->wants.lookups, b->wants.n_lookups);
            cluster_set_timer(c, batch_wake(c));
        } else {
            want_again(c, b);
        }
        end_batch(c, e != ERR_OK ? &em : NULL);
        if (e == ERR_OK || c->queue != NULL) { /* else after a pause */
            batch_run(c);
        }
    }
    cluster_left(c);
}

void batch_published(struct cluster *c, uint64_t version, const struct errmsg *error)
{
    struct batch *b = c->batch;
    if (b == NULL || b->version != version) {
        return;
    }
    if (error != NULL) {
        end_batch(c, error);
        return;
    }
    c->batch = NULL;
    lookup_settle(c, b->result);
    reroute_at(c, b->wants.again_ms);
    lookup_start(c, b->wants.lookups, b->wants.n_lookups);
    b->next = c->acking;
    c->acking = b;
    batch_run(c);
}

void batch_acked(struct cluster *c, uint64_t version, bool all)
{
    for (struct batch **at = &c->acking; *at != NULL; at = &(*at)->next) {
        struct batch *b = *at;
        if (b->version == version) {
            *at = b->next;
            finish_tasks(b->tasks, b->version, NULL, all);
            batch_free(b);
            return;
        }
    }
}

/* ---- the queue ---- */

const struct task *batch_tasks(const struct cluster *c)
{
    return c->batch != NULL ? c->batch->tasks : NULL;
}

static void forget_task(struct task *t, UNUSED uint64_t version)
{
    task_free(t);
}

/* The most urgent first, then the oldest; queue_last points to the last of each priority. */
static void check_queue(const struct cluster *c)
{
    const struct task *last[TASK_PRIORITIES] = {0};
    for (const struct task *t = c->queue; t != NULL; t = t->next) {
        const struct task *n = t->next;
        assert(t->done != NULL && t->order < c->next_order);
        assert(n == NULL || t->priority < n->priority || (t->priority == n->priority && t->order < n->order));
        last[t->priority] = t;
    }
    assert(memcmp((const void *)last, (const void *)c->queue_last, sizeof(last)) == 0);
}

void batch_add(struct cluster *c, struct task *t)
{
    t->next = NULL;
    t->order = c->next_order++;
    t->since_ms = clock_mono_ms(c->o.clock);
    t->done = t->done != NULL ? t->done : forget_task;
    if (t->kind == TASK_SHARD && t->event.kind == SHARD_EVENT_FAILED) { /* its disk is looked at again */
        lookup_doubt(c, &t->event);
    }
    t->priority = task_priority(t);
    struct task **at = &c->queue;
    for (int p = (int)t->priority; p >= 0 && at == &c->queue; p--) { /* what is as urgent came first */
        at = c->queue_last[p] != NULL ? &c->queue_last[p]->next : at;
    }
    t->next = *at;
    *at = t;
    c->queue_last[t->priority] = t;
    INVARIANT(check_queue(c));
    batch_run(c);
}

void batch_want_nodes(struct cluster *c, const struct node_meta *node, bool joined, struct str why)
{
    struct task *t = task_new(TASK_NODES);
    c->nodes_wanted = true;
    if (t == NULL) { /* only _cluster/pending_tasks does not show it */
        batch_run(c);
        return;
    }
    t->priority = joined ? URGENT : IMMEDIATE;
    t->why = arena_printf(&t->arena, "%s[{%.*s}{%.*s}{%.*s}%s%.*s]", joined ? "node-join" : "node-left",
                          STR_ARG(node->name), STR_ARG(node->id), STR_ARG(node->transport_address),
                          joined ? "" : " reason: ", STR_ARG(joined ? STR("") : why));
    batch_add(c, t);
}

void batch_want_config(struct cluster *c, const struct str_set *config)
{
    arena_reset(&c->config_arena);
    c->config = str_set_copy(config, &c->config_arena);
    if (c->config.v == NULL) {
        c->config.n = 0;
    }
    batch_run(c);
}

void batch_begin_leading(struct cluster *c)
{
    c->nodes_wanted = true;
    c->config.n = 0;
    c->n_found = 0;
    arena_reset(&c->found_arena);
    batch_run(c);
}

/* A batch that is being computed ends when it comes back; one that was being published has been told
 * already. */
void batch_stop_leading(struct cluster *c)
{
    ERR_LOCAL(em);
    err_set(&em, ERR_NOT_MASTER, "this node is no longer the master");
    struct task *queue = c->queue;
    c->queue = NULL;
    memset(c->queue_last, 0, sizeof(c->queue_last));
    c->nodes_wanted = false;
    c->config.n = 0;
    c->reroute_at_ms = INT64_MAX;
    while (c->acking != NULL) { /* committed: only the other nodes' word is missing */
        struct batch *b = c->acking;
        c->acking = b->next;
        finish_tasks(b->tasks, b->version, NULL, false);
        batch_free(b);
    }
    finish_tasks(queue, 0, &em, false);
}

void batch_tick(struct cluster *c)
{
    if (c->mode == QUORUM_LEADER && waited_ms(c) >= c->reroute_at_ms) {
        c->reroute_at_ms = INT64_MAX;
        struct task *t = task_new(TASK_REROUTE);
        if (t != NULL) {
            t->priority = NORMAL;
            batch_add(c, t);
        } else {
            batch_again(c);
        }
    }
    batch_run(c);
}

void batch_again(struct cluster *c)
{
    c->reroute_at_ms = MIN_OF(c->reroute_at_ms, waited_ms(c) + AGAIN_MS);
    cluster_set_timer(c, batch_wake(c));
}

int64_t batch_wake(const struct cluster *c)
{
    if (c->mode != QUORUM_LEADER || c->reroute_at_ms == INT64_MAX) {
        return INT64_MAX;
    }
    return clock_mono_ms(c->o.clock) + MAX_OF(c->reroute_at_ms - waited_ms(c), 0);
}

void batch_invariant(const struct cluster *c)
{
    check_queue(c);
    const struct batch *b = c->batch;
    assert(b == NULL || (b->c == c && b->base != NULL));
    assert(b == NULL || b->result == NULL || b->result->version == b->version);
    for (b = c->acking; b != NULL; b = b->next) { /* committed, the newest first */
        assert(c->mode == QUORUM_LEADER && b->result != NULL);
        assert(b->next == NULL || b->next->version < b->version);
    }
    assert(c->mode == QUORUM_LEADER || (c->queue == NULL && !c->nodes_wanted && c->config.n == 0));
}
