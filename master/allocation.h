/* allocation.h - the allocation of shard copies to nodes: pure functions from one cluster state to the next.
 *
 * allocate() reconciles and improves. Routing appears for new indices and goes with deleted ones (closed indices
 * keep theirs: they are replicated all the same); replicas come and go with index.number_of_replicas; copies on nodes that left are unassigned
 * (replicas delayed), and where a primary was among them an in-sync replica takes its place, with a raised
 * primary term, in the same state; unassigned primaries go where an in-sync copy lies (or anywhere, empty,
 * for a new index), then replicas, then moves off nodes that may not hold what they hold, then balance.
 * Deciders may say no or wait; explain tells what each said. Nothing here reads clocks or disks: the
 * environment brings what others reported. */
#ifndef MASTER_ALLOCATION_H
#define MASTER_ALLOCATION_H

#include "common/base/json.h"
#include "common/base/jsonw.h"
#include "common/base/rand.h"
#include "common/cluster/state.h"
#include "master/orders.h"

struct disk_usage {
    struct str node_id;
    uint64_t total_bytes, free_bytes;
};

/* What a node answered to MESSAGE_LIST_COPIES for one shard. */
struct found_copy {
    struct str node_id;
    struct str index_uuid;
    uint32_t shard;
    struct str allocation_id; /* n == 0: it has no copy, or */
    bool damaged;    /* something that does not say which copy it is; of a copy: it is marked as damaged */
    bool old;        /* the shard has failed since: the node is asked again, and only orders go by this */
    uint32_t failed; /* so often it could not be opened since it is looked for */
};

struct alloc_env {
    int64_t now_ms;  /* wait_clock.h */
    struct rng *rng; /* for allocation ids */
    const struct disk_usage *disks;
    uint32_t n_disks;
    const struct found_copy *found;
    uint32_t n_found;
    /* Ids of nodes that are there as other processes than in the state before: nothing is open on them. */
    const struct str *restarted;
    uint32_t n_restarted;
};

/* What allocate() could not decide yet. */
struct alloc_wants {
    struct shard_id {
        struct str index, uuid; /* borrowed from the state that was looked at */
        uint32_t shard;
    } * lookups; /* ask every data node for its copies of these; in `arena` */
    uint32_t n_lookups;
    int64_t again_ms; /* as now_ms, when a delayed copy may go elsewhere; INT64_MAX: no need */
    struct arena *arena;
};

/* Changes what b holds; *changed tells whether it did. b's nodes are the ones that are there now. */
enum err allocate(const struct alloc_env *env, struct state_builder *b, struct alloc_wants *wants,
                  bool *changed, struct errmsg *em);

/* A copy's recovery is done: it is started, and in sync. Unknown copies are ignored (*changed false): the
 * message was late. */
enum err allocation_started(struct state_builder *b, struct str index_uuid, uint32_t shard,
                            struct str allocation_id, uint64_t primary_term, bool *changed,
                            struct errmsg *em);
/* A copy failed at its node: unassigned again, counted; a primary's place goes to an in-sync replica. */
enum err allocation_failed(const struct alloc_env *env, struct state_builder *b, struct str index_uuid,
                           uint32_t shard, struct str allocation_id, struct str why, bool *changed,
                           struct errmsg *em);
/* A primary of this term asks that a copy which missed a write leave the in-sync set (and fail, when it is
 * assigned). ERR_STALE_TERM: it is the primary no more. */
enum err allocation_mark_stale(const struct alloc_env *env, struct state_builder *b, struct str index_uuid,
                               uint32_t shard, struct str allocation_id, uint64_t primary_term,
                               struct str why, bool *changed, struct errmsg *em);

/* ---- what operators order and ask ---- */

/* Does what they say, in order, all or nothing: b is of no use after an error. With `explain`, writes the array
 * of what was decided, and what must not be done is not an error. retry_failed forgets failures counted.
 * `local`: the node that is asked, for "_local". */
enum err allocation_reroute(const struct alloc_env *env, struct state_builder *b,
                            const struct reroute_command *commands, uint32_t n, struct str local,
                            bool retry_failed, struct jsonw *explain, struct errmsg *em);

/* The answer, an object: each decider's word on each node. */
enum err allocation_explain(const struct alloc_env *env, const struct cluster_state *s,
                            const struct explain_question *q, struct str local, struct jsonw *w,
                            struct errmsg *em);

#endif
