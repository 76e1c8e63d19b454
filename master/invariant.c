/* What always holds of the cluster service of a node, between two events of its loop. */
#include "master/cluster_int.h"

/* Nothing that was found twice, and nothing of a node that does not lead. */
static void check_found(const struct cluster *c)
{
    for (uint32_t i = 0; i < c->n_found; i++) {
        for (uint32_t k = 0; k < i; k++) {
            assert(c->found[i].shard != c->found[k].shard || !str_eq(c->found[i].node_id, c->found[k].node_id)
                   || !str_eq(c->found[i].index_uuid, c->found[k].index_uuid));
        }
    }
    assert(c->lookups > 0 || c->fetching == 0);
}

void cluster_invariant(const struct cluster *c)
{
    const struct quorum *q = quorum_driver_core(c->driver);
    quorum_invariant(q);
    assert(c->state != NULL && (c->mode == QUORUM_FOLLOWER) == (c->master.id.p != NULL));
    assert(c->state->version <= quorum_accepted(q)->version || c->state->term < c->term);
    batch_invariant(c);
    journeys_invariant(c);
    check_found(c);
}
