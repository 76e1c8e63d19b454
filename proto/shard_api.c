#include "proto/shard_ops.h"

#include "common/base/memory_account.h"

void shard_rq_init(struct shard_rq *rq, const struct shard_op *op, void (*done)(struct shard_rq *),
                   void *user)
{
    rq->op = op;
    memory_request_arena(&rq->arena);
    if (op->exempt) {
        rq->arena.alloc = memory_allocator_exempt(MEMORY_REQUEST);
    }
    rq->error = err_in(&rq->arena);
    rq->node = STR_NULL;
    rq->served = false;
    rq->done = done;
    rq->user = user;
}

void shard_rq_take(struct shard_rq *rq)
{
    assert(!rq->served && rq->done != NULL);
    rq->served = true;
    rq->end.run = NULL;
}

/* The only place from which a request ends; who has put itself before done() goes on from there. */
static void answered(struct later *l)
{
    struct shard_rq *rq = CONTAINER_OF(l, struct shard_rq, end);
    rq->served = false;
    rq->done(rq);
}

void shard_rq_answer(struct shard_rq *rq)
{
    assert(rq->served && rq->end.run == NULL);
    later(&rq->end, answered);
}

void shard_rq_refuse(struct shard_rq *rq)
{
    shard_rq_take(rq);
    shard_rq_answer(rq);
}

void shard_rq_fini(struct shard_rq *rq)
{
    assert(!rq->served);
    arena_fini(&rq->arena);
}
