/* Invariants of a copy that follows its primary, between two steps. */
#include "data/replication/follower.h"

#include <assert.h>

/* What is due goes with what the message is in. */
static void check_due(const struct follower_message *m)
{
    static const enum follower_state in[] = {
        [FOLLOWER_PARSE] = FOLLOWER_AWAY,   [FOLLOWER_RETURN] = FOLLOWER_AWAY,
        [FOLLOWER_READ] = FOLLOWER_READING, [FOLLOWER_APPLY] = FOLLOWER_APPLYING,
        [FOLLOWER_KEEP] = FOLLOWER_KEEPING, [FOLLOWER_SHOW] = FOLLOWER_SHOWING,
        [FOLLOWER_REPLY] = FOLLOWER_ENDED,  [FOLLOWER_REFUSE] = FOLLOWER_ENDED};
    assert(m->due > FOLLOWER_NOTHING && m->due < FOLLOWER_SYNC && m->state == in[m->due]);
    assert(m->at <= m->msg->n);
    assert(m->due != FOLLOWER_REPLY || m->at == m->msg->n);
}

void follower_invariant(const struct follower *f)
{
    for (const struct follower_message *m = f->due; m != NULL; m = m->next) {
        check_due(m);
    }
    for (const struct follower_message *m = f->waiting; m != NULL; m = m->next) {
        assert(m->state == FOLLOWER_FOR_MAPPING || m->state == FOLLOWER_FOR_ROOM);
        assert(m->due == FOLLOWER_NOTHING && m->at <= m->msg->n);
    }
    assert((f->own == NULL) == (f->n_own == 0));
    assert(f->own == NULL || (!f->diverged && f->resync_term > 0 && f->own_from >= 0));
    assert(!f->diverged || f->resync_term > 0);
}
