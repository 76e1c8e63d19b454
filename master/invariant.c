/* Invariants of the cluster service of a node, between two events of its loop. */
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
    assert(c->lookups != NULL || c->fetching == 0);
}

static bool is_looked_for(const struct cluster_state *s)
{
    bool any = false;
    for (uint32_t i = 0; i < s->n_routing; i++) {
        for (uint32_t k = 0; k < s->routing[i]->n; k++) {
            const struct shard_copy *c = &s->routing[i]->shards[k].copies[0];
            any |= c->state == COPY_UNASSIGNED && c->trouble.attempt == ATTEMPT_FETCHING;
        }
    }
    return any;
}

/* What a leader has still to do, something leads to: a batch that is under way, a node's answer, or the time. */
static void check_nothing_forgotten(const struct cluster *c)
{
    if (c->mode != QUORUM_LEADER || c->stopping || c->batch != NULL) {
        return;
    }
    const struct quorum *q = quorum_driver_core(c->driver);
    bool timed = c->reroute_at_ms != INT64_MAX;
    assert(!timed || (c->timer != NULL && c->timer_ms <= batch_wake(c)));
    bool idle = c->queue == NULL && !c->nodes_wanted && c->config.n == 0;
    assert(idle || timed || quorum_publishing(q));
    assert(!idle || timed || c->lookups != NULL || !is_looked_for(quorum_accepted(q)));
}

void cluster_invariant(const struct cluster *c)
{
    const struct quorum *q = quorum_driver_core(c->driver);
    quorum_invariant(q);
    assert(c->state != NULL && (c->mode == QUORUM_FOLLOWER) == (c->master.id.p != NULL));
    assert(c->state->version <= quorum_accepted(q)->version || c->state->term < c->term);
    batch_invariant(c);
    master_requests_invariant(c);
    check_found(c);
    check_nothing_forgotten(c);
}
