/* quorum_driver.h - coordination in a process: performs what the core decides, on the main loop.
 *
 * Messages go through the transport, terms and states to disk through the state log (one write at a time, on
 * a pool; what waits meanwhile is written once), timers and everything else stay on the loop. Every function
 * and every callback belongs to the loop's thread, but for those that say otherwise. */
#ifndef MASTER_QUORUM_DRIVER_H
#define MASTER_QUORUM_DRIVER_H

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/timers.h"
#include "master/quorum.h"
#include "master/state_log.h"

struct quorum_driver;

enum quorum_change { CHANGE_JOINED, CHANGE_LEFT, CHANGE_VOTERS };

struct quorum_events {
    void *self;
    /* The mode, the term or the master has changed; master is NULL when there is none. */
    void (*mode)(void *self, enum quorum_mode mode, uint64_t term, const struct node_meta *master);
    /* Make this committed state the node's, then call done(arg), on any thread. One at a time. */
    void (*apply)(void *self, struct cluster_state *state, void (*done)(void *arg), void *arg);
    /* The leader should publish a state soon: quorum_driver_publish() of one made with quorum_next_nodes().
     * `config`: CHANGE_VOTERS. */
    void (*change)(void *self, enum quorum_change what, const struct node_meta *node, struct str why,
                   const struct str_set *config);
    /* What quorum_driver_publish() began: committed and applied here (error NULL), or failed. */
    void (*published)(void *self, uint64_t version, const struct errmsg *error);
    /* Every node of that state has applied it (all), or will not for now. */
    void (*acked)(void *self, uint64_t version, bool all);
};

struct quorum_driver_opts {
    const struct executor *loop; /* all borrowed */
    const struct timers *timers; /* the loop's */
    const struct clock *clock;
    const struct transport *transport;
    const struct executor *disk; /* a pool; writes are handed to it one by one */
    struct state_log *disk_log;
    const struct log *log;
    struct quorum_events events;
    struct quorum_opts quorum;
};

enum err quorum_driver_new(struct quorum_driver **out, const struct quorum_driver_opts *opts,
                           struct errmsg *em);
/* Begins to look for others. */
void quorum_driver_start(struct quorum_driver *d, const struct str *seeds, uint32_t n_seeds);
/* Takes part no more: no message is sent or answered, no event comes. done(arg) once nothing is under way. */
void quorum_driver_stop(struct quorum_driver *d, void (*done)(void *arg), void *arg);
void quorum_driver_free(struct quorum_driver *d); /* after stop()'s done; NULL ok */

enum err quorum_driver_publish(struct quorum_driver *d, struct cluster_state *state, struct errmsg *em);
/* When a state of this version was accepted here, monotonic; 0: that is not known any more. */
int64_t quorum_driver_arrived_ns(const struct quorum_driver *d, uint64_t version);
/* Another node is asked to lead. false: there is none, or this one does not lead. */
bool quorum_driver_hand_over(struct quorum_driver *d);
/* What CHANGE_VOTERS asked for was not published. */
void quorum_driver_not_reconfigured(struct quorum_driver *d);
struct quorum *quorum_driver_core(struct quorum_driver *d); /* to look at, and for quorum_next_nodes() */

#endif
