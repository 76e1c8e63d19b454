/* Invariants of the coordination core, between two steps. */
#include "master/quorum_int.h"

/* What is on its way is the last state, and what was committed has a majority of both configurations. */
static void check_publications(const struct quorum *q)
{
    const struct publication *p = q->publication;
    assert(p == NULL || q->mode == QUORUM_LEADER);
    if (p != NULL) {
        assert(p->state->version == q->safety.accepted->version && p->base->version < p->state->version);
        assert(p->state->version == q->safety.published_version && !p->applied);
        assert(p->own_ticket <= q->next_ticket);
        assert(!p->committed || config_has_quorum(&q->safety.published_config, &q->safety.publish_votes));
    }
    for (const struct publication *t = q->trailing; t != NULL; t = t->next) {
        assert(t->committed && t->applied && t->state->version <= q->applied_version);
        assert(t->next == NULL || t->next->state->version < t->state->version);
    }
}

void quorum_invariant(const struct quorum *q)
{
    safety_invariant(&q->safety);
    assert((q->mode == QUORUM_LEADER) == q->safety.won || q->mode == QUORUM_CANDIDATE);
    assert((q->mode == QUORUM_FOLLOWER) == (q->leader.id.p != NULL));
    check_publications(q);
    assert(q->durable <= q->next_ticket);
    assert(q->next_election_ms == INT64_MAX || q->mode == QUORUM_CANDIDATE);
}
