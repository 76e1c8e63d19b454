/* Invariants of a shard's replication, between two events. */
#include "data/replication/replication_int.h"

static void check_requests(const struct shard *sh)
{
    for (const struct group_request *r = sh->replication->group.waiting; r != NULL; r = r->next) {
        const struct fanout *f = CONST_CONTAINER_OF(r, struct fanout, r);
        assert(f->sh == sh && f->waiter != NULL);
    }
}

/* A primary: the copy of that allocation id and no other, no further than what it has itself. */
static void check_leading(const struct shard *sh)
{
    const struct tracker *t = replication_tracker(sh);
    if (t != NULL) {
        assert(sh->engine != NULL && !sh->life.opening && !sh->hidden);
        assert(t->global_checkpoint <= engine_persisted_checkpoint(sh->engine));
        assert(engine_global_checkpoint(sh->engine) <= t->global_checkpoint);
        assert((int64_t)t->term <= sh->role.term);
    }
}

void replication_invariant(const struct shard *sh)
{
    group_invariant(&sh->replication->group);
    follower_invariant(&sh->replication->follower);
    assert(!sh->replication->performing && !sh->replication->follows);
    assert(sh->replication->follower.due == NULL);
    assert(sh->replication->follower.waiting == NULL || !sh->life.leaving);
    assert(sh->replication->follower.own == NULL || sh->replication->own_terms != NULL);
    check_requests(sh);
    check_leading(sh);
}
