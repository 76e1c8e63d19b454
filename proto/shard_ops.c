/* The list of operations on a shard, and what their rows have in common. */
#include "proto/shard_ops.h"

#define ROW(name, type) [SHARD_OP_##name] = &shard_op_##name,
const struct shard_op *const shard_ops[SHARD_OP_COUNT] = {SHARD_OPS(ROW)};
#undef ROW

void shard_op_no_copy_of(struct shard_rq *rq, const char *what, struct str id)
{
    err_set(&rq->error, ERR_NO_SHARD, "No shard available for [%s [%.*s][_doc][%.*s]]", what,
            STR_ARG(rq->shard.index), STR_ARG(id));
}
