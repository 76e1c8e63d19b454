/* What always holds of a shard's replication, between two events. */
#include "data/replication/replication_int.h"

/* Requests that wait for copies: a list that leads back, each with somebody who waits. */
static void check_fanouts(const struct shard *sh)
{
    const struct fanout *before = NULL;
    for (const struct fanout *f = sh->replication->lead.waiting; f != NULL; f = f->next) {
        assert(f->sh == sh && f->prev == before && f->listed && !f->dropped && f->waiter != NULL);
        assert(f->pending > 0 || f->needs > sh->replication->tracker.global_checkpoint);
        before = f;
    }
}

static void check_outgoing(const struct copy_link *l, const struct outgoing *list)
{
    for (const struct outgoing *o = list; o != NULL; o = o->next) {
        assert(o->link == l);
        assert((o->fanout != NULL) == (o->kind == OUT_WRITE || o->kind == OUT_REFRESH));
        assert(o->fanout == NULL || (o->fanout->sh == l->sh && o->fanout->pending > 0));
    }
}

/* One link a copy; what failed at a copy waits for the master's word, and for nothing else. */
static void check_links(const struct shard *sh)
{
    for (const struct copy_link *l = sh->replication->lead.links; l != NULL; l = l->next) {
        assert(l->sh == sh && l->allocation_id.p != NULL);
        check_outgoing(l, l->sent);
        check_outgoing(l, l->failed);
        for (const struct copy_link *k = l->next; k != NULL && !l->gone && !l->ended; k = k->next) {
            assert(k->gone || k->ended || !str_eq(k->allocation_id, l->allocation_id));
        }
        assert(l->gone || l->ended || sh->replication->leads);
    }
}

/* A primary: the copy of that allocation id and no other, no further than what it has itself. */
static void check_leading(const struct shard *sh)
{
    if (!sh->replication->leads) {
        assert(!sh->replication->lead.active);
        return;
    }
    const struct tracker *t = &sh->replication->tracker;
    tracker_invariant(t);
    assert(sh->engine != NULL && !sh->life.opening && !sh->hidden);
    assert(t->global_checkpoint <= engine_persisted_checkpoint(sh->engine));
    assert(engine_global_checkpoint(sh->engine) <= t->global_checkpoint);
    assert((int64_t)t->term <= sh->role.term);
}

static void check_replica(const struct shard *sh)
{
    assert(sh->replication->replica.n_own == 0 || sh->replication->replica.own_terms != NULL);
    assert(sh->replication->replica.waiting == NULL || !sh->life.leaving);
}

void replication_invariant(const struct shard *sh)
{
    check_fanouts(sh);
    check_links(sh);
    check_leading(sh);
    check_replica(sh);
}
