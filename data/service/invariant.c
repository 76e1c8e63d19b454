/* Invariants of the shards here and of the searches that they serve, between two events. */
#include "data/recovery/recovery.h"
#include "data/replication/replication.h"
#include "data/search/search.h"
#include "data/service/service_int.h"

static void check_shard(struct shard *sh)
{
    struct strand_stats st;
    strand_stats(sh->strand, &st);
    if (st.active) { /* a task of it stands still in the middle */
        return;
    }
    shard_invariant(sh);
    replication_invariant(sh);
    recovery_invariant(sh);
}

void data_invariant(struct data_service *s)
{
    assert(s->n_shards <= s->open_shards);
    for (size_t i = 0; i < s->n_shards; i++) {
        check_shard(s->shards[i]);
        for (size_t k = 0; k < i; k++) {
            assert(s->shards[k]->number != s->shards[i]->number
                   || s->shards[k]->index != s->shards[i]->index);
        }
    }
    for (size_t i = 0; i < s->n_indices; i++) {
        const struct index_service *ix = s->indices[i];
        assert(ix->refs > 0 && ix->mapping != NULL && ix->settings != NULL);
        for (size_t k = 0; k < i; k++) {
            assert(!str_eq(s->indices[k]->uuid, ix->uuid));
        }
    }
    contexts_invariant(s);
}
