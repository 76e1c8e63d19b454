/* world.h - a simulated cluster: members with disks of their own, killed, started, stopped and cut off as told.
 *
 * The members are those of node/member.h; around them are the simulator's clock, executors, network and files. */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "common/sys/fs_mem.h"
#include "node/member.h"
#include "tests/sim/network.h"

struct world;

struct sim_node {
    struct world *w;
    unsigned at;
    char name[16], address[32], id[32], ephemeral_id[32];
    struct fs_mem *disk;
    bool up, paused;
    unsigned lives;
    struct rng rng, loop_rng;
    struct cluster_conf conf;
    struct sim_lane *loop, *pools[5]; /* writes, searches, background, compute, disk */
    const struct timers *timers;
    struct member *member; /* NULL: down; what a killed one held is never freed */
};

struct world {
    struct clock_sim clock;
    struct sim_exec *x;
    struct rng rng;
    struct network *net;
    struct sim_node nodes[SIM_NODES_MAX];
    unsigned n_nodes;
    struct settings settings;
    struct arena arena;
    bool trace;
    /* Each state that a node applies. */
    void (*applied)(void *self, unsigned at, struct cluster_state *state);
    void *self;
};

void world_init(struct world *w, uint64_t seed, unsigned n_nodes, bool trace);
void world_start(struct world *w, unsigned at);
/* power: what was not synced may be gone; else it was kill -9. */
void world_kill(struct world *w, unsigned at, bool power);
void world_pause(struct world *w, unsigned at, bool paused);
int64_t world_ms(const struct world *w);
void world_say(const struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
