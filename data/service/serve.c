/* The functions that serve the operations on a shard: data_NAME is that of the row shard_op_NAME. */
#include "data/search/search.h"
#include "data/service/service_int.h"
#include "proto/shard_ops.h"

#define SERVE(name, type)                                                 \
    static void serve_##name(struct data_service *s, struct shard_rq *rq) \
    {                                                                     \
        data_##name(s, CONTAINER_OF(rq, struct type, rq));                \
    }
SHARD_OPS(SERVE)
#undef SERVE

#define ROW(name, type) [SHARD_OP_##name] = serve_##name,
static void (*const serves[SHARD_OP_COUNT])(struct data_service *s, struct shard_rq *rq) = {SHARD_OPS(ROW)};
#undef ROW

void data_serve(void *service, struct shard_rq *rq)
{
    shard_rq_take(rq);
    serves[rq->op->id](service, rq);
}
