/* Recovery of a copy from another node: the side that receives. */
#include "data/data_int.h"

void recovery_begin(struct shard *sh)
{
    struct errmsg em;
    err_set(&em, ERR_UNSUPPORTED, "recovery from another node");
    shard_fail(sh, &em);
}
