/* small_cluster.h - three data services in one process, on one simulated clock: a master that is a list of states, a
 * network that loses, delays and cuts. Of one index, "docs", with one shard. For tests of replication. */
#ifndef TESTS_UNIT_DATA_SMALL_CLUSTER_H
#define TESTS_UNIT_DATA_SMALL_CLUSTER_H

#include "common/base/rand.h"
#include "data/data.h"
#include "tests/seams/fs_mem.h"
#include "tests/seams/sim_exec.h"

#include <check.h>

#define NODES 3
#define MS    ((int64_t)1000000)

struct pending_event;

struct small_node {
    int number;
    struct fs_mem *disk;
    struct sim_lane *write, *search, *back;
    struct data_service *data;
    struct transport transport;
    struct served {
        const struct executor *where;
        void (*handle)(void *arg, struct transport_call *call);
        void *arg;
    } served[256];
    bool cut;     /* from everybody */
    bool unheard; /* by the master */
    bool slow_states;
    bool applying;
    struct cluster_state *applied;     /* or being applied */
    struct pending_event *unconfirmed; /* the master has taken them; the state is not applied here yet */
};

extern struct small_cluster {
    struct rng rng;
    struct clock_sim clock;
    struct sim_exec *exec;
    struct sim_lane *net; /* the network's, the master's, and the clients' */
    struct small_node nodes[NODES];
    struct cluster_state *newest;
    uint64_t next_id;
    const char *durability; /* of the index; NULL: by request */
    int lose_percent;
    int deaf;         /* a node that no message reaches; -1: none */
    int next_primary; /* the node that the master prefers; -1: none */
    int stale_refused, promotions, dropped_copies;
    bool ending, answered;
} sc;

/* Copies on the first `replicas` + 1 nodes, which begin empty. */
void sc_start(uint64_t seed, int replicas);
void sc_end(void); /* heals, and lets all that is under way end */
bool sc_all_started(void *arg);
void sc_run_ms(int64_t ms);
void sc_later(int64_t ms, void (*run)(void *), void *arg);
int64_t sc_delay_ms(void); /* of a message */
/* No losses, no cuts, and everybody hears of the newest state. */
void sc_heal(void);
/* The master takes the node out; a copy in sync takes over what it led. */
void sc_leave(int node);
/* A state of the master's own. */
void sc_change(void (*fn)(struct index_meta *m, struct shard_routing *r, struct arena *ra, void *arg),
               void *arg);
const struct shard_routing *sc_routing(void); /* as the master sees it */
int sc_node_number(struct str id);            /* -1: none */

/* The done() of a request that the test waits for, until sc_is_answered(). */
void sc_look_done(struct shard_rq *rq);
bool sc_is_answered(void *arg);
struct shard_stats sc_stats(int node);
/* What a copy has of a document. */
struct seen {
    bool found;
    int64_t seq_no, term, version, value;
};
struct seen sc_look(int node, const char *id);

extern const char *const sc_addresses[];

/* small_network.c */
struct transport sc_transport(struct small_node *n);

#endif
