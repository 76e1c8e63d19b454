/* cluster.h - a node's part in its cluster: the applied state, the way of a request to the master, and the
 * master's work.
 *
 * Every node has one, whatever its roles. Where this node leads, requests become tasks: all that wait are run
 * as one batch over the newest state on the compute pool (metadata.h, then allocation.h), published once, and
 * answered when the change is applied here and acknowledged by the nodes. Elsewhere they travel to the
 * master, again to the next one if it goes, until their time-out; and are answered when this node has applied
 * what they changed: who got an answer reads its own change.
 *
 * Decisions are made on the main loop; cluster_submit() and cluster_state() may be called from any thread. */
#ifndef MASTER_CLUSTER_H
#define MASTER_CLUSTER_H

#include "common/base/log.h"
#include "master/allocation.h"
#include "master/metadata.h"
#include "master/pending.h"
#include "master/quorum_driver.h"
#include "proto/shard_event.h"

struct cluster;

struct cluster_opts { /* all borrowed unless said otherwise */
    const struct executor *loop;
    const struct timers *timers;
    const struct clock *clock;
    const struct transport *transport;
    const struct executor *compute; /* one thread is enough */
    const struct executor *disk;
    const struct fs *fs;
    const char *dir; /* <path.data>/_state */
    const struct log *log;
    struct metadata_env env;
    struct rng *rng; /* the loop's */
    struct node_meta local;
    struct str cluster_name;
    const struct str *initial_masters, *seeds;
    uint32_t n_initial_masters, n_seeds;
    struct quorum_settings settings;
    const struct settings *own; /* what the node was started with; as long as any state; NULL: nothing */
    /* Makes shards agree with the state, then calls done(arg), on any thread, never inside the call. One at a time. false: it cannot,
     * and does not call. */
    bool (*apply)(void *self, struct cluster_state *state, void (*done)(void *arg), void *arg);
    /* The copies on this node's disk of the shards named, for a master that asks: answers in `arena`. Any
     * thread. */
    enum err (*list_copies)(void *self, const struct shard_id *shards, uint32_t n, struct arena *arena,
                            struct found_copy **out, uint32_t *n_out, struct errmsg *em);
    /* How full the disk is that this node's shards lie on; 0: unknown. Any thread. May be NULL. */
    void (*disk_space)(void *self, uint64_t *total_bytes, uint64_t *free_bytes);
    void *self;
};

enum err cluster_new(struct cluster **out, const struct cluster_opts *opts, struct errmsg *em);
void cluster_start(struct cluster *c); /* any thread */
/* Requests that wait get ERR_NODE_CLOSED; done(arg) on the loop once nothing is under way. Any thread. */
void cluster_stop(struct cluster *c, void (*done)(void *arg), void *arg);
void cluster_free(struct cluster *c); /* NULL ok */

/* The applied state, a reference for the caller; its master is none while none is known. Any thread. */
struct cluster_state *cluster_state(struct cluster *c);
/* Any thread. rq->done() comes on the loop, or without memory on the calling thread, but never inside the call. */
void cluster_submit(struct cluster *c, struct meta_request *rq);
/* Asks the master what waits there; done() as above, once its state is applied here. Any thread. */
void cluster_pending(struct cluster *c, struct pending_rq *rq);
/* Tells the master (the event's strings are copied), again and again until one has taken it or the state shows it superfluous; done (may be
 * NULL) gets the outcome: NULL when it is in an applied state here. ERR_STALE_TERM: the sender is the primary
 * no more. Any thread. false: no memory, and the master is not told. */
bool cluster_shard_event(struct cluster *c, const struct shard_event *event,
                         void (*done)(void *arg, const struct errmsg *error), void *arg);
/* Runs watch(arg, state) on the loop after each applied state, and when nobody leads any more; for those who
 * wait for one. */
void cluster_watch(struct cluster *c, void (*watch)(void *arg, struct cluster_state *state), void *arg);
/* How long the state that was applied last took: from its arrival, at its master from the begin of its
 * publication, until it was applied here. < 0: unknown. On the loop. */
int64_t cluster_applied_took_us(const struct cluster *c);
/* Is there no master? Then whom this node looks for, and what came of it, for people. On the loop. */
bool cluster_is_forming(const struct cluster *c, struct buf *why);
/* Asserts what always holds: of elections, the master's queue, requests on their way. On the loop, between two events. */
void cluster_invariant(const struct cluster *c);

#endif
