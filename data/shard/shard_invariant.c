/* Invariants of a shard that no task works on. */
#include "data/shard/shard.h"

void shard_invariant(struct shard *sh)
{
    const struct shard_upkeep *u = &sh->upkeep;
    assert(sh->refs > 0);
    assert(u->merge == NULL || u->merge_out);
    assert(u->sealed == NULL || !u->flush_out); /* it waits until its operations are durable */
    assert(!sh->life.failing || sh->engine != NULL);
    assert(sh->engine != NULL || (!u->sync_out && u->sealed == NULL));
    assert(!sh->life.of_role || sh->role.allocation_id.p != NULL);
    if (sh->engine != NULL) {
        sh->upkeep.looked_at = engine_invariant_since(sh->engine, sh->upkeep.looked_at);
    }
}
