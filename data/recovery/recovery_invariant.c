/* Invariants of a shard's recoveries, between two events. */
#include "data/recovery/recovery_int.h"
#include "data/replication/replication.h"

/* Copies that recover from this one: one at a time each, holding the history that they still need. */
static void check_sessions(const struct shard *sh)
{
    for (const struct recovery_session *r = sh->recovery->sessions; r != NULL; r = r->next) {
        assert(r->sh == sh && r->refs > 0 && r->id != 0);
        assert(!r->core.reading || r->history != NULL);
        assert((r->waiting != NULL) == r->core.waits && (r->handover != NULL) == r->core.handing_over);
        assert(r->n_files == 0 || r->files != NULL);
        for (const struct recovery_session *k = r->next; k != NULL; k = k->next) {
            assert(k->id != r->id && !str_eq(k->allocation_id, r->allocation_id));
        }
    }
}

static void check_target(const struct shard *sh)
{
    const struct recovery_target *t = sh->recovery->target;
    if (t == NULL) {
        return;
    }
    assert(t->sh == sh && replication_tracker(sh) == NULL);
    target_invariant(&t->core);
    assert(!t->core.taken || t->engine == NULL);
}

void recovery_invariant(const struct shard *sh)
{
    check_sessions(sh);
    check_target(sh);
}
