/* The list of operations on a shard, and what their rows have in common. */
#include "proto/shard_ops.h"

#define MINUTE_MS    60000
#define HALF_HOUR_MS 1800000

#define ROW(name, type) [SHARD_OP_##name] = &shard_op_##name,
const struct shard_op *const shard_ops[SHARD_OP_COUNT] = {SHARD_OPS(ROW)};
#undef ROW

int64_t shard_op_minute(const struct shard_rq *rq)
{
    (void)rq;
    return MINUTE_MS;
}

int64_t shard_op_half_hour(const struct shard_rq *rq)
{
    (void)rq;
    return HALF_HOUR_MS;
}

void shard_op_no_copy_of(struct shard_rq *rq, const char *what, struct str id)
{
    err_set(&rq->error, ERR_NO_SHARD, "No shard available for [%s [%.*s][_doc][%.*s]]", what,
            STR_ARG(rq->shard.index), STR_ARG(id));
}
