/* Invariants of the copies of a shard as its primary sees them, between two steps whose effects are done. */
#include "data/replication/group.h"

#include <assert.h>

/* Requests that wait: a list that leads back, each for something. */
static void check_requests(const struct group *g)
{
    const struct group_request *before = NULL;
    for (const struct group_request *r = g->waiting; r != NULL; r = r->next) {
        assert(r->prev == before && r->waits && !r->dropped);
        assert(!group_settled(g, r));
        before = r;
    }
}

/* None waits that may begin, or is refused. */
static void check_parked(const struct group *g)
{
    assert(g->parked == NULL || g->admits || (g->leads && !g->deposed && (!g->active || g->handing_over)));
    for (const struct group_parked *p = g->parked; p != NULL; p = p->next) {
        assert(!p->timed_out);
    }
}

static void check_messages(const struct group_copy *c, const struct group_message *list)
{
    for (const struct group_message *m = list; m != NULL; m = m->next) {
        assert(m->copy == c);
        assert((m->request != NULL) == (m->kind == GROUP_WRITE || m->kind == GROUP_REFRESH));
        assert(m->request == NULL || m->request->pending > 0);
    }
}

/* One of each copy; what failed at a copy waits for the master's word, and for nothing else. */
static void check_copies(const struct group *g)
{
    for (const struct group_copy *c = g->copies; c != NULL; c = c->next) {
        assert(c->allocation_id.p != NULL);
        check_messages(c, c->sent);
        check_messages(c, c->failed);
        for (const struct group_copy *k = c->next; k != NULL && !c->gone && !c->ended; k = k->next) {
            assert(k->gone || k->ended || !str_eq(k->allocation_id, c->allocation_id));
        }
        assert(c->gone || c->ended || g->leads);
        assert(c->failed == NULL || c->broken);
    }
}

void group_invariant(const struct group *g)
{
    assert(g->leads || !g->active);
    if (g->leads) {
        tracker_invariant(&g->tracker);
    }
    check_requests(g);
    check_parked(g);
    check_copies(g);
}
