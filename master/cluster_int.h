/* cluster_int.h - declarations shared by the files of the cluster service. */
#ifndef MASTER_CLUSTER_INT_H
#define MASTER_CLUSTER_INT_H

#include "master/cluster.h"
#include "master/master_messages.h"
#include "master/wait_clock.h"
#include "proto/remote.h"

#include <pthread.h>

#define RETRY_MS     100 /* after a master that was not one */
#define HAND_OVER_MS 300 /* how long a master that stops waits for another one */
#define WATCHERS_MAX 8

/* Which tasks go first, as Elasticsearch names and orders them. */
enum task_priority { IMMEDIATE, URGENT, HIGH, NORMAL, LOW, LANGUID, TASK_PRIORITIES };

/* A node that is asked for its copies. */
struct lookup {
    struct remote_call call;
    struct cluster *c;
    struct lookup *next; /* of those without an answer */
    char node_id[32], ephemeral_id[32];
    struct copies_question shards; /* in arena */
    struct arena arena;
};

/* Something for the master to do, at the master. */
enum task_kind { TASK_META, TASK_SHARD, TASK_NODES, TASK_REROUTE };
struct task {
    struct task *next;
    enum task_kind kind;
    struct meta_request *rq; /* TASK_META: ours or a remote node's */
    struct shard_event event;
    struct str
        why; /* TASK_NODES, TASK_REROUTE: what _cluster/pending_tasks says of it; p == NULL: the usual */
    enum task_priority priority; /* batch_add() sets it, but for those two */
    struct arena arena;          /* the strings of event and why */
    struct errmsg error;
    bool changed;
    uint64_t order;   /* counts tasks since this node leads */
    int64_t since_ms; /* mono */
    /* Runs once: with the version that shows the change. */
    void (*done)(struct task *t, uint64_t version);
    void *user;
};

/* How full a node's disk was. */
struct disk_entry {
    char node_id[32];
    uint64_t total_bytes, free_bytes;
};

/* A request of this node on its way, or waiting for a master or for the state that shows it. */
struct master_request {
    struct master_request *next;
    struct cluster *c;
    struct meta_request *rq;    /* or */
    struct pending_rq *pending; /* or */
    struct shard_event event;
    struct arena arena;
    void (*event_done)(void *arg, const struct errmsg *error);
    void *event_arg;
    int64_t deadline_ms; /* mono; INT64_MAX: none */
    uint64_t version;    /* waits until this is applied; 0: waits for a master */
    struct remote_call call;
    struct errmsg error; /* of the last try, in error_arena */
    struct arena error_arena;
};

struct cluster {
    struct cluster_opts o;
    struct quorum_driver *driver;
    struct state_log *log;
    struct remote_service served;
    /* Guards what follows. Compilers read neighbouring flags at once: none of the loop's is beside this one. */
    pthread_mutex_t lock;
    bool inbox_posted;
    struct cluster_state *state;
    struct master_request *inbox;
    /* the loop's */
    bool stopping;
    bool fresh; /* no master's state has been applied since the process began */
    enum quorum_mode mode;
    uint64_t term;
    struct arena master_arena;
    struct node_meta master;        /* id.p == NULL: none */
    struct master_request *waiting; /* for a master, or a state */
    struct timer *timer;
    int64_t timer_ms;
    struct cluster_state *applying;
    void (*apply_done)(void *arg);
    void *apply_arg;
    struct {
        void (*watch)(void *arg, struct cluster_state *state);
        void *arg;
    } watchers[WATCHERS_MAX];
    uint32_t n_watchers;
    int64_t took_us; /* cluster_applied_took_us() */
    uint32_t under_way;
    void (*stopped)(void *arg);
    void *stopped_arg;
    struct later end;      /* run == NULL: it has not stopped yet */
    struct timer *leaving; /* until another leads; NULL: it does, or nobody has been asked to */
    /* the leader's (batch.c, lookup.c, disk_watch.c) */
    struct task *queue;                       /* the most urgent first, then the oldest */
    struct task *queue_last[TASK_PRIORITIES]; /* of each priority; NULL: none waits */
    bool nodes_wanted;                        /* the next batch brings the state's nodes up to date */
    struct str_set config;                    /* and the voting configuration, when n > 0; in config_arena */
    struct arena config_arena;
    struct batch *batch;      /* being computed or published */
    struct batch *acking;     /* published, waiting for all nodes */
    struct found_copy *found; /* what nodes said about copies; in found_arena */
    uint32_t n_found, found_cap;
    struct arena found_arena;
    uint64_t next_order;                   /* of tasks */
    uint32_t fetching;                     /* shards whose copies are being looked for */
    struct lookup *lookups;                /* nodes that have not answered yet */
    struct disk_entry *disks, *disks_next; /* as the nodes said; disks_next: while they are asked */
    uint32_t n_disks, n_disks_next, disks_asked;
    int64_t disks_at_ms; /* mono: when to ask again */
    struct wait_clock wait_clock;
    int64_t reroute_at_ms; /* by it; INT64_MAX: no need */
};

static inline int64_t cluster_now_ms(const struct cluster *c) /* mono */
{
    return clock_mono_ms(c->o.clock);
}

/* ---- cluster.c ---- */
void cluster_under_way(struct cluster *c);
void cluster_left(struct cluster *c); /* the opposite */
void cluster_set_timer(struct cluster *c, int64_t mono_ms);

/* ---- batch.c ---- */
void batch_invariant(const struct cluster *c);

/* ---- master_requests.c ---- */
void master_requests_invariant(const struct cluster *c);
/* Those whose version is there are finished, those that wait for a master are forwarded, those whose time is up fail. */
void master_requests_step(struct cluster *c);
/* Has no master taken it? Then the next one may. */
bool next_master_may(enum err e);
/* With strings in `a`; false: no memory. */
bool shard_event_keep(struct shard_event *to, const struct shard_event *from, struct arena *a);

/* ---- remote.c ---- */
void cluster_serve(struct cluster *c);

/* ---- batch.c: the leader ---- */
void batch_begin_leading(struct cluster *c);
void batch_stop_leading(struct cluster *c);
/* Takes the task. */
void batch_add(struct cluster *c, struct task *t);
void batch_want_nodes(struct cluster *c, const struct node_meta *node, bool joined, struct str why);
void batch_want_config(struct cluster *c, const struct str_set *config);
void batch_published(struct cluster *c, uint64_t version, const struct errmsg *error);
void batch_acked(struct cluster *c, uint64_t version, bool all);
void batch_tick(struct cluster *c);
int64_t batch_wake(const struct cluster *c);
/* What could not be done now is tried again after a pause, with whatever else waits. */
void batch_again(struct cluster *c);
/* Those of the batch that is being computed or published. */
const struct task *batch_tasks(const struct cluster *c);
struct task *task_new(enum task_kind kind);
void task_free(struct task *t);

/* ---- lookup.c ---- */
/* Asks the data nodes for their copies of these, each for those that it has not told and is not asked for; what they say leads to
 * another batch, and so does, after a pause, that one said nothing. */
void lookup_start(struct cluster *c, const struct shard_id *shards, uint32_t n_shards);
/* Drops what that node said of its copies. */
void lookup_forget(struct cluster *c, struct str node_id);
/* Drops what was said of shards whose primary is active in that state: their copies change from now on. */
void lookup_settle(struct cluster *c, const struct cluster_state *s);
/* A copy has failed: what nodes said of the shard's may not be so any more. */
void lookup_doubt(struct cluster *c, const struct shard_event *e);
void lookup_receive(void *self, struct remote_rq *rq);
/* In the log, once: a primary of which no node has a copy any more. */
void lookup_say_lost(const struct cluster *c, const struct cluster_state *before,
                     const struct cluster_state *now); /* on the compute pool */

/* ---- disk_watch.c ---- */
void disk_watch_tick(struct cluster *c); /* asks the nodes, when it is time */
void disk_watch_receive(void *self, struct remote_rq *rq);
/* In `arena`; NULL: no memory. */
struct disk_usage *disk_watch_usage(const struct disk_entry *v, uint32_t n, struct arena *arena);

/* ---- pending.c ---- */
/* Of requests and events. */
enum task_priority task_priority(const struct task *t);
void pending_fill(struct pending_queue *q, const struct cluster *c, struct arena *a);
void pending_receive(void *self, struct remote_rq *rq);

#endif
