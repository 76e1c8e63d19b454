/* quorum_world.h - coordination in a small world: clusters of the core over a network that loses, delays and cuts, on disks
 * that forget what was not synced. Safety is checked after every step. */
#ifndef TESTS_UNIT_MASTER_QUORUM_WORLD_H
#define TESTS_UNIT_MASTER_QUORUM_WORLD_H

#include "master/quorum_int.h"

#define NODES    5
#define EVENTS   200000
#define VERSIONS 20000

enum event_kind { EV_REQUEST, EV_ANSWER, EV_FAILED, EV_DURABLE, EV_APPLIED, EV_LOST, EV_RESTART };

struct quorum_world_event {
    int64_t at;
    uint64_t order;
    enum event_kind kind;
    int from, to;
    uint64_t incarnation; /* of `to` when it was sent */
    uint64_t id;
    struct buf bytes;
    bool refused;
    struct quorum_world_event *call; /* the request that an answer is to */
    int call_refs;
};

struct held_effect { /* effects that wait for a ticket */
    struct quorum_effect e;
    struct held_effect *next;
};

struct quorum_node {
    struct quorum *q; /* NULL: down */
    uint64_t incarnation;
    struct node_meta meta;
    char id[16], ephemeral[24], address[24];
    /* the disk */
    uint64_t disk_term;
    struct cluster_state *disk_state;
    uint64_t durable;
    int64_t disk_busy_until;
    struct held_effect *held, **held_last;
    bool wants_state; /* as leader: something is to be published */
    struct str_set config;
    struct arena config_arena;
    struct cluster_state *applied;
};

struct quorum_world {
    struct rng rng;
    int64_t now;
    uint64_t order, states;
    struct quorum_node v[NODES];
    int n;
    bool cut[NODES][NODES];
    unsigned loss; /* of 100 */
    struct quorum_world_event *heap[4096];
    size_t n_heap;
    uint64_t leader_of_term[4096]; /* node + 1 */
    /* what was committed, by version: the state's uuid */
    char committed[VERSIONS][24];
    uint64_t committed_max;
    bool excluded[NODES]; /* what the next state says of who may vote */
    bool excluding;       /* some of the time */
};

extern struct quorum_world quorum_world;

void world_push(struct quorum_world_event *e);
struct quorum_world_event *world_event_new(enum event_kind kind, int from, int to, int64_t delay);
int64_t world_latency(void);
void world_crash(int at);
void world_run_until(int64_t end);
void world_describe(void);
bool world_settles_within(int64_t ms);
void world_open(int n, uint64_t seed);
void world_close(void);
void world_client(void);
int world_leader_now(void);

#endif
