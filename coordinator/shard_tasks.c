#include "coordinator/shard_tasks.h"

#include "coordinator/rest/rest.h"
#include "coordinator/writes.h"
#include "proto/remote_shards.h"
#include "proto/transport.h"

struct shard_task { /* in the request's arena */
    struct task task;
    struct tasks *tasks;
    struct shard_rq *rq;
    uint16_t kind;
    /* what the request has but for this */
    void (*done)(struct shard_rq *rq);
    bool (*cancelled)(void *self);
    void *user, *cancel_self;
};

static const struct shard_task *of(const struct task *t)
{
    return (const struct shard_task *)(const void *)((const char *)t - offsetof(struct shard_task, task));
}

static void describe_write(const struct shard_write *w, struct buf *out)
{
    buf_printf(out, "requests[%u], index[%.*s][%u]", w->n, STR_ARG(w->rq.shard.index), w->rq.shard.shard);
    if (w->refresh != REFRESH_NONE) {
        buf_printf(out, ", refresh[%s]", w->refresh == REFRESH_WAIT ? "WAIT_UNTIL" : "IMMEDIATE");
    }
}

static void describe(const struct task *t, struct buf *out)
{
    const struct shard_rq *rq = of(t)->rq;
    const struct shard_query *q = (const struct shard_query *)rq;
    const struct shard_fetch *f = (const struct shard_fetch *)rq;
    switch (of(t)->kind) {
    case MESSAGE_SHARD_WRITE:
        describe_write((const struct shard_write *)rq, out);
        break;
    case MESSAGE_SHARD_FETCH:
        buf_printf(out, "id[%llu], size[%u], lastEmittedDoc[null]", (unsigned long long)f->context, f->n);
        break;
    case MESSAGE_SHARD_QUERY:
        if (q->next_page) {
            buf_printf(out, "id[%llu]", (unsigned long long)q->context);
            break;
        }
        buf_printf(out, "shardId[[%.*s][%u]]", STR_ARG(rq->shard.index), rq->shard.shard);
        break;
    default:
        buf_printf(out, "[%.*s][%u]", STR_ARG(rq->shard.index), rq->shard.shard);
        break;
    }
}

static void primary_status(const struct task *t, struct jsonw *w)
{
    (void)t;
    jw_obj(w);
    jw_kz(w, "phase", "primary");
    jw_obj_end(w);
}

static const struct task_ops read_ops = {.describe = describe, .cancellable = true};
static const struct task_ops write_ops = {.describe = describe, .status = primary_status};

static const char *action_of(uint16_t kind, const struct shard_rq *rq)
{
    const struct shard_query *q = (const struct shard_query *)rq;
    switch (kind) {
    case MESSAGE_SHARD_WRITE:
        return "indices:data/write/bulk[s][p]";
    case MESSAGE_SHARD_FETCH:
        return "indices:data/read/search[phase/fetch/id]";
    case MESSAGE_SHARD_QUERY:
        return q->can_match     ? "indices:data/read/search[can_match]"
               : q->dfs_only    ? "indices:data/read/search[phase/dfs]"
               : q->next_page   ? "indices:data/read/search[phase/query/scroll]"
               : q->dfs != NULL ? "indices:data/read/search[phase/query/id]"
                                : "indices:data/read/search[phase/query]";
    default:
        return NULL;
    }
}

static bool task_cancelled(void *self)
{
    const struct shard_task *t = self;
    return t->task.cancelled || (t->cancelled != NULL && t->cancelled(t->cancel_self));
}

static void served(struct shard_rq *rq)
{
    struct shard_task *t = rq->user;
    tasks_end(t->tasks, &t->task);
    rq->done = t->done;
    rq->user = t->user;
    rq->cancelled = t->cancelled;
    rq->cancel_self = t->cancel_self;
    rq->done(rq);
}

void shard_task_begin(struct coordinator *co, uint16_t kind, struct shard_rq *rq, const char *type)
{
    const char *action = action_of(kind, rq);
    struct shard_task *t = action != NULL ? ARENA_NEW(&rq->arena, struct shard_task) : NULL;
    if (t == NULL) {
        return;
    }
    *t = (struct shard_task){.tasks = co->tasks,
                             .rq = rq,
                             .kind = kind,
                             .done = rq->done,
                             .user = rq->user,
                             .cancelled = rq->cancelled,
                             .cancel_self = rq->cancel_self};
    t->task = (struct task){.ops = kind == MESSAGE_SHARD_WRITE ? &write_ops : &read_ops,
                            .action = action,
                            .type = type,
                            .opaque_id = rq->opaque_id,
                            .parent = rq->parent,
                            .parent_node = rq->parent_node,
                            .served = rq->parent_node.p != NULL};
    rq->done = served;
    rq->user = t;
    rq->cancelled = task_cancelled;
    rq->cancel_self = t;
    tasks_begin(co->tasks, &t->task);
}

static void begin(void *self, uint16_t kind, struct shard_rq *rq)
{
    shard_task_begin(self, kind, rq, "transport");
}

void shard_tasks_serve(struct coordinator *co)
{
    if (co->o.remote != NULL) {
        remote_shards_listen(co->o.remote, begin, co);
    }
}

/* ---- a shard's part of a bulk, where it is coordinated ---- */

static const struct write_try *try_of(const struct task *t)
{
    return (const struct write_try *)(const void *)((const char *)t - offsetof(struct write_try, task));
}

static void bulk_describe(const struct task *t, struct buf *out)
{
    describe_write(try_of(t)->rq, out);
}

static void bulk_status(const struct task *t, struct jsonw *w)
{
    jw_obj(w);
    (void)t;
    jw_kz(w, "phase", "waiting_on_primary");
    jw_obj_end(w);
}

const struct task_ops bulk_shard_ops = {.describe = bulk_describe, .status = bulk_status};
