/* What always holds of the shards here and of the searches that they serve, between two events. */
#include "data/recovery/recovery_int.h"
#include "data/replication/primary_int.h"

/* Requests that wait for copies: a list that leads back, each with somebody who waits. */
static void check_fanouts(const struct shard *sh)
{
    const struct fanout *before = NULL;
    for (const struct fanout *f = sh->lead.waiting; f != NULL; f = f->next) {
        assert(f->sh == sh && f->prev == before && f->listed && !f->dropped && f->waiter != NULL);
        assert(f->pending > 0 || f->needs > sh->tracker.global_checkpoint);
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
    for (const struct copy_link *l = sh->lead.links; l != NULL; l = l->next) {
        assert(l->sh == sh && l->allocation_id.p != NULL);
        check_outgoing(l, l->sent);
        check_outgoing(l, l->failed);
        for (const struct copy_link *k = l->next; k != NULL && !l->gone && !l->ended; k = k->next) {
            assert(k->gone || k->ended || !str_eq(k->allocation_id, l->allocation_id));
        }
        assert(l->gone || l->ended || sh->tracking);
    }
}

/* A primary: the copy of that allocation id and no other, no further than what it has itself. */
static void check_leading(const struct shard *sh)
{
    if (!sh->tracking) {
        assert(!sh->lead.active);
        return;
    }
    const struct tracker *t = &sh->tracker;
    tracker_invariant(t);
    assert(sh->engine != NULL && sh->recovery == NULL && !sh->hidden);
    assert(t->global_checkpoint <= engine_persisted_checkpoint(sh->engine));
    assert(engine_global_checkpoint(sh->engine) <= t->global_checkpoint);
    assert((int64_t)t->term <= sh->term);
}

/* Copies that recover from this one: one at a time each, holding the history that they still need. */
static void check_sessions(const struct shard *sh)
{
    for (const struct recovery_session *r = sh->sessions; r != NULL; r = r->next) {
        assert(r->sh == sh && r->refs > 0 && r->id != 0);
        assert(!r->reading || r->history != NULL);
        assert(r->n_files == 0 || r->files != NULL);
        for (const struct recovery_session *k = r->next; k != NULL; k = k->next) {
            assert(k->id != r->id && !str_eq(k->allocation_id, r->allocation_id));
        }
    }
}

static void check_target(const struct shard *sh)
{
    const struct recovery_target *t = sh->recovery;
    if (t == NULL) {
        return;
    }
    assert(t->sh == sh && !sh->tracking);
    assert(!t->taken || t->engine == NULL);
    assert(t->n_chunks <= RECOVERY_CHUNKS_MAX && t->n_writing <= t->n_chunks);
    assert(t->end == TARGET_GOES_ON || t->out > 0 || t->waits);
    assert(!t->taken || t->step >= TARGET_TAKE);
}

static void check_replica(const struct shard *sh)
{
    assert(sh->replica.n_own == 0 || sh->replica.own_terms != NULL);
    assert(sh->replica.waiting == NULL || !sh->replica.closed);
}

static void check_jobs(const struct shard *sh)
{
    assert(sh->merge == NULL || sh->merge_out);
    assert(sh->sealed == NULL || !sh->flush_out); /* it waits until its operations are durable */
    assert(!sh->failing || sh->engine != NULL);
    assert(sh->engine != NULL || (!sh->sync_out && sh->sealed == NULL));
    assert(!sh->of_role || sh->allocation_id.p != NULL);
}

static void check_shard(struct shard *sh)
{
    struct strand_stats st;
    assert(sh->users > 0);
    strand_stats(sh->strand, &st);
    if (st.active) { /* a task of it stands still in the middle */
        return;
    }
    check_jobs(sh);
    check_fanouts(sh);
    check_links(sh);
    check_leading(sh);
    check_sessions(sh);
    check_target(sh);
    check_replica(sh);
    if (sh->engine != NULL) {
        sh->looked_at = engine_invariant_since(sh->engine, sh->looked_at);
    }
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
