/* data_rig.h - data services of several nodes in one thread: simulated executors and clock, disks in memory, a
 * transport that delays, loses and cuts, and the least of a master: it starts, fails and moves copies of one shard.
 *
 * Deterministic for a seed but for how a node ends: data_service_free() blocks, in a thread of its own. */
#ifndef TEST_DATA_RIG_H
#define TEST_DATA_RIG_H

#include "common/base/rand.h"
#include "data/data.h"
#include "tests/seams/fs_mem.h"
#include "tests/seams/sim_exec.h"

#include <pthread.h>

#define RIG_NODES  3
#define RIG_KINDS  160
#define RIG_LANES  4
#define RIG_COPIES 6
#define RIG_UUID   "uuid-of-the-index"

struct dr_rig;

struct dr_lane {
    struct dr_rig *rig;
    struct sim_lane *lane;
    struct executor executor;
};

struct dr_node {
    struct dr_rig *rig;
    char id[16], ephemeral[16];
    unsigned lives;
    bool up;        /* it runs */
    bool cut;       /* nothing reaches it, nor leaves it, nor do states */
    int64_t lag_ms; /* states come so much later; not to be changed while one is on its way */
    struct fs_mem *disk;
    struct dr_lane lanes[RIG_LANES]; /* write, search, background, main */
    struct data_service *s;
    struct transport transport;
    struct {
        const struct executor *where;
        void (*handle)(void *arg, struct transport_call *call);
        void *arg;
    } served[RIG_KINDS];
};

struct dr_copy { /* as the master has it */
    enum copy_state state;
    int node; /* -1: none */
    char id[16];
    int target; /* -1: it is not on its way */
    char target_id[16];
    enum recovery_source source;
};

struct dr_rig {
    struct clock_sim clock;
    struct sim_exec *x;
    struct sim_lane *net; /* timers of the network and the master */
    bool ending;
    pthread_mutex_t lock; /* recursive; a node that ends has its own thread */
    pthread_mutex_t coming_lock;
    struct coming *coming, **coming_end; /* submitted since the last step */
    struct rng rng;
    struct log log;
    struct dr_node nodes[RIG_NODES];
    struct flight *flights;
    /* the master */
    struct cluster_state *state;
    struct dr_copy copies[RIG_COPIES];
    unsigned n_copies;
    uint64_t term, version;
    char in_sync[RIG_COPIES][16];
    unsigned n_in_sync;
    unsigned next_id;
    bool again; /* a copy that fails is tried again, at the same node */
    unsigned started, failed;
    char why[256];               /* of the last one that failed */
    bool no_refresh;             /* the index refreshes only when told */
    enum refresh_policy refresh; /* of writes */
    char rate[16];               /* indices.recovery.max_bytes_per_sec; "": none */
    char mapping[256];
    uint64_t mapping_version;
    /* the network */
    int64_t delay_ns_max;
    unsigned loss;                                                   /* of a thousand requests and answers */
    unsigned sent[RIG_KINDS];                                        /* requests by kind */
    bool (*drop)(struct dr_rig *r, int from, int to, uint16_t kind); /* of requests; NULL: none */
};

void dr_init(struct dr_rig *r, uint64_t seed);
void dr_fini(struct dr_rig *r);

/* Starts a node on the disk it has; a new process each time. */
void dr_start(struct dr_rig *r, int node);
/* Ends it in order; or, how >= 0, as a crash: 0 killed, 1 unsynced bytes lost, 2 some of them. */
void dr_stop(struct dr_rig *r, int node, int how);
/* Runs until cond holds; asserts that it does in so many simulated ms. Ticks come by themselves. */
void dr_until(struct dr_rig *r, bool (*cond)(struct dr_rig *r), int64_t ms);
bool dr_step(struct dr_rig *r);
void dr_run(struct dr_rig *r, int64_t ms);

/* The master: a primary at `node`, empty, in term 1. */
void dr_create(struct dr_rig *r, int node);
/* A further copy at a node (peer recovery); its number. */
int dr_add_copy(struct dr_rig *r, int node);
void dr_move(struct dr_rig *r, int copy, int node);
/* The copy is nowhere any more. Of the primary: the first started replica takes its place, with the next term. */
void dr_drop_copy(struct dr_rig *r, int copy, bool stays_in_sync);
/* An unassigned copy to a node: primaries from their disk, under their old id. */
void dr_assign(struct dr_rig *r, int copy, int node);
void dr_publish(struct dr_rig *r);
bool dr_green(struct dr_rig *r);

/* One operation at the primary; error code, ERR_OK when acknowledged. */
enum err dr_write(struct dr_rig *r, const char *id, const char *source /* NULL: delete */);
/* Starts it, and does not wait; *left counts down. */
void dr_write_later(struct dr_rig *r, const char *id, const char *source, unsigned *left, unsigned *failed);
enum err dr_act(struct dr_rig *r, int node, enum shard_action action);
struct shard_recovery dr_figures(struct dr_rig *r, int node);
/* Every started copy has the same documents. Returns how many. */
unsigned dr_check_equal(struct dr_rig *r, unsigned ids);

/* What the rig's files share. */
int64_t dr_delay_ms(struct dr_rig *r);
struct transport dr_transport(struct dr_node *n);
/* Requests of a node that is going, and to it, end now. */
void dr_end_flights(struct dr_rig *r, int node);
bool dr_shard_event(void *self, const struct shard_event *event,
                    void (*done)(void *arg, const struct errmsg *error), void *arg);

#endif
