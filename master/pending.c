#include "master/cluster_int.h"

#include <stdio.h>

void pending_rq_init(struct pending_rq *rq, int64_t timeout_ms, void (*done)(struct pending_rq *rq),
                     void *user)
{
    *rq = (struct pending_rq){.timeout_ms = timeout_ms, .done = done, .user = user};
    arena_init(&rq->arena, NULL, ARENA_UNLIMITED);
    err_clear(&rq->error);
}

void pending_rq_fini(struct pending_rq *rq)
{
    arena_fini(&rq->arena);
}

/* ---- bytes --------------------------------------------------------------------------------------------- */

static const char *const priorities[] = {"IMMEDIATE", "URGENT", "HIGH", "NORMAL", "LOW", "LANGUID"};

static uint8_t priority_number(const char *name)
{
    uint8_t i = 0;
    while (i + 1U < ARRAY_LEN(priorities) && strcmp(priorities[i], name) != 0) {
        i++;
    }
    return i;
}

void pending_encode(const struct pending_rq *rq, uint64_t version, struct buf *out)
{
    put_varint(out, version);
    put_varint(out, rq->fetching);
    put_varint(out, rq->n);
    for (uint32_t i = 0; i < rq->n; i++) {
        const struct pending_task *t = &rq->v[i];
        put_varint(out, t->order);
        put_u8(out, priority_number(t->priority));
        put_str(out, t->source);
        put_bool(out, t->executing);
        put_zigzag(out, t->queued_ms);
    }
}

enum err pending_decode(struct pending_rq *rq, uint64_t *version, struct str bytes, struct errmsg *em)
{
    struct bytes_in in = bytes_in(bytes);
    *version = get_varint(&in);
    rq->fetching = (uint32_t)get_varint(&in);
    size_t n = get_count(&in, 5);
    rq->v = in.bad ? NULL : ARENA_ARRAY(&rq->arena, struct pending_task, n);
    rq->n = 0;
    in.bad |= rq->v == NULL;
    for (size_t i = 0; i < n && !in.bad; i++) {
        struct pending_task *t = &rq->v[rq->n++];
        t->order = get_varint(&in);
        uint8_t priority = get_u8(&in);
        t->source = arena_str(&rq->arena, get_str(&in));
        t->executing = get_bool(&in);
        t->queued_ms = get_zigzag(&in);
        in.bad |= priority >= ARRAY_LEN(priorities) || t->source.p == NULL;
        t->priority = priorities[in.bad ? NORMAL : priority];
    }
    return in.bad || bytes_left(&in) != 0 ? err_set(em, ERR_CORRUPT, "the master's queue cannot be read")
                                          : ERR_OK;
}

/* ---- the queue in words -------------------------------------------------------------------------------- */

static struct str meta_source(const struct meta_request *rq, struct arena *a)
{
    static const char *const names[] = {[META_CREATE_INDEX] = "create-index",
                                        [META_DELETE_INDEX] = "delete-index",
                                        [META_PUT_MAPPING] = "put-mapping",
                                        [META_UPDATE_SETTINGS] = "update-settings",
                                        [META_OPEN_INDEX] = "open-indices",
                                        [META_CLOSE_INDEX] = "close-indices",
                                        [META_ALIASES] = "index-aliases",
                                        [META_PUT_TEMPLATE] = "create-index-template",
                                        [META_DELETE_TEMPLATE] = "remove-index-template",
                                        [META_CLUSTER_SETTINGS] = "cluster_update_settings",
                                        [META_REROUTE] = "cluster_reroute (api)",
                                        [META_EXPLAIN] = "explain-allocation",
                                        [META_EXCLUDE_VOTERS] = "add-voting-config-exclusions",
                                        [META_CLEAR_EXCLUSIONS] = "clear-voting-config-exclusions"};
    const char *name = (size_t)rq->action < ARRAY_LEN(names) ? names[rq->action] : NULL;
    name = name != NULL ? name : "metadata";
    if (rq->n_names == 0) {
        return arena_str(a, str_of(name));
    }
    return arena_printf(a, "%s [%.*s%s]%s", name, STR_ARG(rq->names[0]), rq->n_names > 1 ? ", ..." : "",
                        rq->action != META_CREATE_INDEX ? ""
                        : rq->auto_create               ? ", cause [auto(bulk api)]"
                                                        : ", cause [api]");
}

static struct str shard_source(const struct shard_event *e, struct arena *a)
{
    static const char *const names[] = {"shard-started", "shard-failed", "mark-shard-stale"};
    return arena_printf(a, "%s shard id [%.*s][%u], allocation id [%.*s]", names[e->kind],
                        STR_ARG(e->index_uuid), e->shard, STR_ARG(e->allocation_id));
}

enum task_priority task_priority(const struct task *t)
{
    if (t->kind == TASK_SHARD) {
        return t->event.kind == SHARD_EVENT_STARTED ? URGENT : HIGH;
    }
    if (t->kind != TASK_META) {
        return t->priority;
    }
    const enum meta_action action = t->rq->action;
    if (action == META_CLUSTER_SETTINGS || action == META_REROUTE || action == META_EXPLAIN) {
        return IMMEDIATE; /* META_EXPLAIN changes nothing, and somebody waits */
    }
    return action == META_PUT_MAPPING ? HIGH : URGENT;
}

static void note(struct pending_rq *rq, const struct cluster *c, const struct task *t, bool executing,
                 size_t *cap)
{
    struct pending_task *v = arena_grow(&rq->arena, rq->v, rq->n, cap, sizeof(*v));
    if (v == NULL) {
        return;
    }
    rq->v = v;
    struct str source = t->kind == TASK_META    ? meta_source(t->rq, &rq->arena)
                        : t->kind == TASK_SHARD ? shard_source(&t->event, &rq->arena)
                        : t->why.p != NULL      ? arena_str(&rq->arena, t->why)
                                                : STR("cluster_reroute(reroute after a change)");
    v[rq->n++] = (struct pending_task){.order = t->order,
                                       .priority = priorities[t->priority],
                                       .source = source.p != NULL ? source : STR(""),
                                       .executing = executing,
                                       .queued_ms = clock_mono_ms(c->o.clock) - t->since_ms};
}

void pending_fill(struct pending_rq *rq, const struct cluster *c)
{
    size_t cap = 0;
    rq->fetching = c->fetching;
    rq->n = 0;
    for (const struct task *t = batch_tasks(c); t != NULL; t = t->next) {
        note(rq, c, t, true, &cap);
    }
    for (const struct task *t = c->queue; t != NULL; t = t->next) {
        note(rq, c, t, false, &cap);
    }
}

/* The last one published: a follower may have applied it before this node has. */
uint64_t pending_version(const struct cluster *c)
{
    return MAX_OF(c->state->version, quorum_accepted(quorum_driver_core(c->driver))->version);
}

/* Another node asks the master. On the loop. */
void pending_receive(void *arg, struct transport_call *call)
{
    struct cluster *c = arg;
    const struct transport *tr = c->o.transport;
    struct pending_rq rq;
    struct errmsg em;
    struct buf b;
    if (c->mode != QUORUM_LEADER || c->stopping) {
        err_set(&em, ERR_NOT_MASTER, "this node is not the master");
        tr->refuse(tr->self, call, &em);
        return;
    }
    pending_rq_init(&rq, 0, NULL, NULL);
    pending_fill(&rq, c);
    buf_init(&b, NULL, BUF_UNLIMITED);
    pending_encode(&rq, pending_version(c), &b);
    tr->reply(tr->self, call, &b);
    pending_rq_fini(&rq);
}
