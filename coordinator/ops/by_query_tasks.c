/* A by-query operation and its workers as tasks: what they say, how they are cancelled and set to another rate. */
#include "coordinator/ops/by_query_int.h"

#include <math.h>

int64_t by_query_now_ns(const struct by_query_worker *w)
{
    const struct clock *c = w->op->co->o.clock;
    return c->mono_ns(c->self);
}

bool by_query_cancelled(const struct by_query_worker *w)
{
    return w->op->task.cancelled || w->task.cancelled;
}

static void op_describe(const struct task *t, struct buf *out)
{
    describe_by_query(CONST_CONTAINER_OF(t, struct by_query, task), out);
}

static void op_status(const struct task *t, struct jsonw *j)
{
    const struct by_query *op = CONST_CONTAINER_OF(t, struct by_query, task);
    jw_obj(j);
    status_members(op, op->n_workers == 1 ? &op->workers[0] : NULL, PRINT_ALL, j);
    jw_obj_end(j);
}

static void hurry(struct by_query_worker *w, float per_second)
{
    float was = w->delay_rate;
    w->n.per_second = per_second;
    if (isinf(per_second)) {
        delays_hurry(w->op->co->delays, &w->delay);
    } else if (per_second > was) { /* a slower rate begins with the next batch */
        int64_t left = w->n.until_ns - by_query_now_ns(w);
        left = left > 0 ? (int64_t)llround((double)left * (double)was / (double)per_second) : 0;
        if (delays_move(w->op->co->delays, &w->delay, left / 1000000)) {
            w->delay_rate = per_second;
            w->delay_ns = left;
            w->n.until_ns = by_query_now_ns(w) + left;
        }
    }
}

static void op_cancel(struct task *t)
{
    struct by_query *op = CONTAINER_OF(t, struct by_query, task);
    op->per_second = INFINITY;
    for (uint32_t i = 0; i < op->n_workers; i++) {
        if (!op->workers[i].n.done) {
            hurry(&op->workers[i], INFINITY);
        }
    }
}

static void op_rethrottle(struct task *t, float per_second)
{
    struct by_query *op = CONTAINER_OF(t, struct by_query, task);
    uint32_t running = 0;
    for (uint32_t i = 0; i < op->n_workers; i++) {
        running += !op->workers[i].n.done;
    }
    op->per_second = per_second;
    for (uint32_t i = 0; i < op->n_workers; i++) {
        if (!op->workers[i].n.done) {
            hurry(&op->workers[i], per_second / (float)running);
        }
    }
}

const struct task_ops by_query_ops = {.describe = op_describe,
                                      .status = op_status,
                                      .cancel = op_cancel,
                                      .rethrottle = op_rethrottle,
                                      .cancellable = true,
                                      .lasts = true};

static const struct by_query_worker *worker_of(const struct task *t)
{
    return CONST_CONTAINER_OF(t, struct by_query_worker, task);
}

static void worker_describe(const struct task *t, struct buf *out)
{
    describe_by_query(worker_of(t)->op, out);
}

static void worker_status(const struct task *t, struct jsonw *j)
{
    jw_obj(j);
    status_members(worker_of(t)->op, worker_of(t), PRINT_ALL, j);
    jw_obj_end(j);
}

static void worker_cancel(struct task *t)
{
    hurry(CONTAINER_OF(t, struct by_query_worker, task), INFINITY);
}

static void worker_rethrottle(struct task *t, float per_second)
{
    hurry(CONTAINER_OF(t, struct by_query_worker, task), per_second);
}

const struct task_ops by_query_worker_ops = {.describe = worker_describe,
                                             .status = worker_status,
                                             .cancel = worker_cancel,
                                             .rethrottle = worker_rethrottle,
                                             .cancellable = true,
                                             .lasts = true};
