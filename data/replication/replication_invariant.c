/* What always holds of a shard's replication, between two events. */
#include "data/replication/replication_int.h"

static void check_requests(const struct shard *sh)
{
    for (const struct group_request *r = sh->replication->group.waiting; r != NULL; r = r->next) {
        const struct fanout *f = CONTAINER_OF(r, struct fanout, r);
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

static void check_following(const struct replica_side *rs, bool leaving)
{
    assert(rs->n_own == 0 || rs->own_terms != NULL);
    assert(rs->waiting == NULL || !leaving);
}

void replication_invariant(const struct shard *sh)
{
    group_invariant(&sh->replication->group);
    assert(!sh->replication->performing);
    check_requests(sh);
    check_leading(sh);
    check_following(&sh->replication->replica, sh->life.leaving);
}
