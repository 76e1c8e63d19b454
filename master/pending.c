#include "master/cluster_int.h"

#include <stdio.h>

void pending_rq_init(struct pending_rq *rq, int64_t timeout_ms, void (*done)(struct pending_rq *rq),
                     void *user)
{
    *rq = (struct pending_rq){.timeout_ms = timeout_ms, .done = done, .user = user};
    arena_init(&rq->arena, NULL, ARENA_UNLIMITED);
    rq->error = err_in(&rq->arena);
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

static void queue_encode(const void *of, struct buf *out)
{
    const struct pending_queue *q = of;
    put_varint(out, q->version);
    put_varint(out, q->fetching);
    put_varint(out, q->n);
    for (uint32_t i = 0; i < q->n; i++) {
        const struct pending_task *t = &q->v[i];
        put_varint(out, t->order);
        put_u8(out, priority_number(t->priority));
        put_str(out, t->source);
        put_bool(out, t->executing);
        put_zigzag(out, t->queued_ms);
    }
}

static void queue_decode(void *of, struct bytes_in *in, struct arena *a)
{
    struct pending_queue *q = of;
    q->version = get_varint(in);
    q->fetching = (uint32_t)get_varint(in);
    size_t n = get_count(in, 5);
    q->v = in->bad ? NULL : ARENA_ARRAY(a, struct pending_task, n);
    in->bad |= q->v == NULL;
    while (q->n < n && !in->bad) {
        struct pending_task *t = &q->v[q->n++];
        t->order = get_varint(in);
        uint8_t priority = get_u8(in);
        t->source = get_str(in);
        t->executing = get_bool(in);
        t->queued_ms = get_zigzag(in);
        in->bad |= priority >= ARRAY_LEN(priorities);
        t->priority = priorities[in->bad ? NORMAL : priority];
    }
}

static const struct codec queue_codec = {sizeof(struct pending_queue), queue_encode, queue_decode};
MESSAGE(PENDING_TASKS, pending_tasks, "cluster:monitor/task", TRANSPORT_DATA, MESSAGE_ON_LOOP,
        MASTER_TIMEOUT_DEFAULT_MS, &codec_nothing, &queue_codec);

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
                                        [META_CLEAR_EXCLUSIONS] = "clear-voting-config-exclusions",
                                        [META_PUT_SCRIPT] = "put-script",
                                        [META_DELETE_SCRIPT] = "delete-script",
                                        [META_PUT_PIPELINE] = "put-pipeline",
                                        [META_DELETE_PIPELINE] = "delete-pipeline"};
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

static void note(struct pending_queue *q, const struct cluster *c, const struct task *t, bool executing,
                 size_t *cap, struct arena *a)
{
    struct pending_task *v = arena_grow(a, q->v, q->n, cap, sizeof(*v));
    if (v == NULL) {
        return;
    }
    q->v = v;
    struct str source = t->kind == TASK_META    ? meta_source(t->rq, a)
                        : t->kind == TASK_SHARD ? shard_source(&t->event, a)
                        : t->why.p != NULL      ? arena_str(a, t->why)
                                                : STR("cluster_reroute(reroute after a change)");
    v[q->n++] = (struct pending_task){.order = t->order,
                                      .priority = priorities[t->priority],
                                      .source = source.p != NULL ? source : STR(""),
                                      .executing = executing,
                                      .queued_ms = clock_mono_ms(c->o.clock) - t->since_ms};
}

void pending_fill(struct pending_queue *q, const struct cluster *c, struct arena *a)
{
    size_t cap = 0;
    /* The last one published: a follower may have applied it before this node has. */
    uint64_t published = quorum_accepted(quorum_driver_core(c->driver))->version;
    *q = (struct pending_queue){.version = MAX_OF(c->state->version, published), .fetching = c->fetching};
    for (const struct task *t = batch_tasks(c); t != NULL; t = t->next) {
        note(q, c, t, true, &cap, a);
    }
    for (const struct task *t = c->queue; t != NULL; t = t->next) {
        note(q, c, t, false, &cap, a);
    }
}

/* Another node asks the master. On the loop. */
void pending_receive(void *self, struct remote_rq *rq)
{
    struct cluster *c = self;
    struct pending_queue q;
    ERR_LOCAL(em);
    if (c->mode != QUORUM_LEADER || c->stopping) {
        err_set(&em, ERR_NOT_MASTER, "this node is not the master");
        remote_refuse(rq, &em);
        return;
    }
    pending_fill(&q, c, &rq->arena);
    remote_reply(rq, &q);
}
