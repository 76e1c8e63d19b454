/* coordinator.h - the coordinating role: it asks shards, nodes and the master, and makes one answer of theirs.
 *
 * Every request lives on the HTTP loop that accepted it. It reads one snapshot of the applied cluster state,
 * asks shards through shard_api.h and the master through a function, and answers from whichever thread
 * finished last. */
#ifndef COORDINATOR_CORE_COORDINATOR_H
#define COORDINATOR_CORE_COORDINATOR_H

#include "common/base/executor.h"
#include "common/base/log.h"
#include "common/base/rand.h"
#include "common/base/timers.h"
#include "common/cluster/state.h"
#include "common/sys/http_server.h"
#include "coordinator/core/node_report.h"
#include "coordinator/core/op_names.h"
#include "coordinator/core/state_counts.h"
#include "coordinator/core/state_waits.h"
#include "engine/analysis/analysis.h"
#include "master/metadata.h"
#include "proto/remote.h"
#include "proto/shard_ops.h"

struct coordinator;
struct event_log;
struct node_question;
struct remote_shards;
struct tasks;
struct pending_rq;

struct coordinator_opts { /* all borrowed: they outlive the coordinator */
    const struct clock *clock;
    const struct log *log;
    const struct shard_api *shards; /* of this node */
    struct remote_shards *remote;   /* those of others; NULL: there are none */
    /* The applied state, a reference for the caller. Any thread. */
    struct cluster_state *(*state)(void *self);
    /* Hands a metadata request to the master; rq->done() comes later, on any thread. */
    void (*master)(void *self, struct meta_request *rq);
    /* Asks the master for its pending tasks; rq->done() is called later, on any thread. NULL: there is no master to ask. */
    void (*pending)(void *self, struct pending_rq *rq);
    /* Registry and mapping of an index here (uuid empty: the node's own registry); references, or NULL. */
    struct analysis *(*analysis)(void *self, struct str uuid);
    struct mapping *(*mapping)(void *self, struct str uuid);
    /* How this node is at the moment. Any thread. */
    void (*report)(void *self, struct node_report *out);
    void *self;
    /* Where long operations wait, and where they go on; timers may be NULL: then nothing that waits goes on
     * by itself. */
    const struct timers *timers;
    const struct executor *timer_loop, *workers;
    /* Where requests are read that may take long to read; NULL: where they arrive. */
    const struct executor *requests;
    /* Where requests without a body go that may be about many indices; NULL: where they arrive. They do not wait for what is long to
     * read: a cluster's health is one. */
    const struct executor *listings;
    const struct transport *transport; /* NULL: the node is alone */
    struct str node_id, node_name, cluster_name;
    const struct settings *node_settings;
    uint64_t seed; /* of generated ids */
    int64_t started_ms;
};

struct coordinator {
    struct coordinator_opts o;
    struct tasks *tasks;
    struct delays *delays;
    void (*const *services)(struct node_question *q); /* of NODE_MESSAGES, in their order */
    struct remote_service served;                     /* those, for other nodes */
    _Atomic uint64_t next_auto_id;
    uint64_t id_seed;
    _Atomic uint64_t turn; /* ask.c */
    _Atomic bool looking;
    struct delay check_calls;
    struct state_waits state_waits;
    struct event_log *events;    /* the console's */
    pthread_mutex_t counts_lock; /* of counts and counted */
    struct state_counts counts;
    struct cluster_state *counted; /* the state that was applied last; NULL: none yet */
    struct op_names op_names;
};

enum err coordinator_new(struct coordinator **out, const struct coordinator_opts *opts, struct errmsg *em);
void coordinator_free(struct coordinator *c); /* NULL ok; no request may be under way */
/* The node stops: what waits waits no more, long operations end where they can. Then requests may be waited
 * for. */
void coordinator_stop(struct coordinator *c);
/* Waits for operations that answer no client. Not from a pool's thread. */
void coordinator_drain(struct coordinator *c);
/* A state has been applied here: what waits for one looks again. `took_us`: from its arrival until then; < 0:
 * unknown. Any thread. */
void coordinator_applied(struct coordinator *c, int64_t took_us);
/* Asserts what always holds between two events: of names of operations, tasks, and what waits. */
void coordinator_invariant(struct coordinator *c);
/* What has happened to the cluster since this node started. */
void coordinator_counts(struct coordinator *c, struct state_counts *out);

#endif
