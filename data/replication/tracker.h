/* tracker.h - a primary's knowledge of its shard's copies: the checkpoint of each, and which must have every write before it counts.
 *
 * The pure part of replication on the primary (Elasticsearch's ReplicationTracker). Copies are known by allocation id. The global
 * checkpoint is the lowest persisted local checkpoint of those in sync; it never goes back. Who is in sync the master decides;
 * a copy that recovers is tracked first, becomes in sync here when it has caught up with the global checkpoint, and only then
 * does the primary vouch for it with the master. Belongs to the shard's strand. */
#ifndef DATA_REPLICATION_TRACKER_H
#define DATA_REPLICATION_TRACKER_H

#include "common/cluster/state.h"

struct tracked {
    struct str allocation_id;
    struct str
        node; /* p == NULL: in sync, but on no node: its promise must be taken back before a write is answered */
    int64_t local_checkpoint; /* as far as everything is on its disk; SEQ_NONE: nothing */
    int64_t floor;            /* written before it was tracked: not in sync before it has that */
    bool in_sync;
    bool tracked;     /* gets every write: it is in sync, or its recovery has come to the operations */
    bool catching_up; /* asked to become in sync, not far enough yet */
};

struct tracker {
    struct arena arena;
    struct str own; /* this copy's allocation id */
    uint64_t term;
    struct tracked *v; /* this copy among them */
    uint32_t n;
    int64_t global_checkpoint;
};

/* Begins as the primary of `term`, with the copies that the state shows: `meta` and `routing` of this shard. The own checkpoint is known, others'
 * are not until they answer. */
enum err tracker_init(struct tracker *t, struct str own, int64_t own_checkpoint, int64_t global_checkpoint,
                      const struct index_meta *meta, uint32_t shard, const struct shard_routing *routing,
                      struct errmsg *em);
void tracker_fini(struct tracker *t);

/* A newer state of the same term: copies come and go, and the global checkpoint may move. A copy that became in sync
 * here stays so until the master says otherwise in a state that knows of it. */
enum err tracker_update(struct tracker *t, const struct index_meta *meta, uint32_t shard,
                        const struct shard_routing *routing, struct errmsg *em);

/* Can it be that the copy has everything up to there? None has what this one, whose last operation is max_seq_no, has not, and one in
 * sync lacks nothing that all have. What another node says is asked this first; of a copy that is not known anything is believed. */
bool tracker_believes(const struct tracker *t, struct str allocation_id, int64_t local_checkpoint,
                      int64_t max_seq_no);
/* A copy (or this one) has everything up to there on its disk. true: the global checkpoint moved. */
bool tracker_advance(struct tracker *t, struct str allocation_id, int64_t local_checkpoint);
/* A copy that recovers gets every write from now on; those up to `max_seq_no` its recovery gives it. false: it is not
 * in the routing (any more). */
bool tracker_track(struct tracker *t, struct str allocation_id, struct str node, int64_t max_seq_no);
/* It has replayed what it needs: in sync as soon as it has all that was written before it was tracked, and the global
 * checkpoint, which waits for it and may move now. *now: it is already. false: it is not tracked (any more). */
bool tracker_catch_up(struct tracker *t, struct str allocation_id, int64_t local_checkpoint, bool *now);
/* The master has taken the copy out of the in-sync set. true: the global checkpoint moved. */
bool tracker_remove(struct tracker *t, struct str allocation_id);
struct tracked *tracker_find(const struct tracker *t, struct str allocation_id);

/* Must a write go there? To all but this copy that have a node, and an engine by what is known. */
static inline bool tracker_sends_to(const struct tracker *t, const struct tracked *c)
{
    return c->tracked && c->node.p != NULL && !str_eq(c->allocation_id, t->own);
}
void tracker_invariant(const struct tracker *t);

#endif
