#include "coordinator/core/shard_tasks.h"

#include "proto/remote_shards.h"
#include "proto/shard_ops.h"

struct shard_task { /* in the request's arena */
    struct task task;
    struct tasks *tasks;
    struct shard_rq *rq;
    /* what the request has but for this */
    void (*done)(struct shard_rq *rq);
    bool (*cancelled)(void *self);
    void *user, *cancel_self;
};

static const struct shard_rq *rq_of(const struct task *t)
{
    return CONST_CONTAINER_OF(t, struct shard_task, task)->rq;
}

static void shard_task_describe(const struct task *t, struct buf *out)
{
    rq_of(t)->op->describe(rq_of(t), out);
}

static void status(const struct task *t, struct jsonw *w)
{
    rq_of(t)->op->status(w);
}

static const struct task_ops read_ops = {.describe = shard_task_describe, .cancellable = true};
static const struct task_ops write_ops = {.describe = shard_task_describe, .status = status};

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

void shard_task_begin(struct coordinator *co, struct shard_rq *rq, const char *type)
{
    const char *action = rq->op->action_of != NULL ? rq->op->action_of(rq) : rq->op->action;
    struct shard_task *t = action != NULL ? ARENA_NEW(&rq->arena, struct shard_task) : NULL;
    if (t == NULL) {
        return;
    }
    *t = (struct shard_task){.tasks = co->tasks,
                             .rq = rq,
                             .done = rq->done,
                             .user = rq->user,
                             .cancelled = rq->cancelled,
                             .cancel_self = rq->cancel_self};
    t->task = (struct task){.ops = rq->op->status != NULL ? &write_ops : &read_ops,
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

static void served_task_begin(void *self, struct shard_rq *rq)
{
    shard_task_begin(self, rq, "transport");
}

void shard_tasks_serve(struct coordinator *co)
{
    if (co->o.remote != NULL) {
        remote_shards_listen(co->o.remote, served_task_begin, co);
    }
}
