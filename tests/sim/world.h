/* world.h - a simulated cluster: members with disks of their own, killed, started, stopped and cut off as told.
 *
 * The members are those of node/member.h; around them are the simulator's clock, executors, network and files. */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "node/member.h"
#include "tests/seams/fs_mem.h"
#include "tests/sim/network.h"

#define SIM_NODES_MAX 9

struct world;

struct disk_pace { /* what a sync takes */
    int64_t usual_us_max;
    unsigned long_per_thousand;
    int64_t long_ms_max;
};

struct sim_node {
    struct world *w;
    unsigned at;
    char name[16], address[32], id[32], ephemeral_id[32];
    struct fs_mem *disk;
    bool up, paused;
    bool power_lost;   /* when it went down last */
    bool newcomer;     /* it may not form a cluster of its own */
    char refused[512]; /* why it did not start; "": it did */
    struct rng id_rng; /* its id is drawn from it */
    unsigned lives;
    struct clock clock; /* its machine's */
    int64_t rate_ppm, mono_offset_ns, wall_offset_ns;
    struct disk_pace pace; /* all 0: syncs take no time */
    int64_t stalled_until_ms;
    struct rng rng, loop_rng;
    struct cluster_conf conf;
    struct sim_lane *loop, *pools[5]; /* writes, searches, background, compute, disk */
    const struct timers *timers;
    struct member *member; /* NULL: down; what a killed one held is never freed */
};

struct world {
    struct clock_sim clock;
    struct sim_exec *x;
    struct rng rng, disk_rng;
    struct network *net;
    struct sim_node nodes[SIM_NODES_MAX];
    unsigned n_nodes;
    struct settings settings;
    struct arena arena;
    bool trace;
    unsigned starting; /* a node that is being started, + 1; 0: none */
    bool folders;      /* nodes look at their data folder before they start, and may refuse to */
    /* Each state that a node applies. */
    void (*applied)(void *self, unsigned at, struct cluster_state *state);
    void *self;
};

void world_init(struct world *w, uint64_t seed, unsigned n_nodes, bool trace);
/* The machine at that place, as new: another id, nothing on its disk. */
void world_machine(struct world *w, unsigned at);
/* Its clock: how fast it runs, in millionths, and what it shows now. */
void world_clock(struct world *w, unsigned at, int64_t rate_ppm, int64_t wall_offset_ms);
void world_disk(struct world *w, unsigned at, const struct disk_pace *pace);
/* Syncs there take until then. */
void world_stall(struct world *w, unsigned at, int64_t ms);
/* false: it refused to, and is down; with `folders` alone, else the run ends there. */
bool world_start(struct world *w, unsigned at);
/* power: what was not synced may be gone; else it was kill -9. */
void world_kill(struct world *w, unsigned at, bool power);
void world_pause(struct world *w, unsigned at, bool paused);
int64_t world_ms(const struct world *w);
/* Where something happens now; SIM_NODES_MAX: on no node. */
unsigned world_here(const struct world *w);
void world_say(const struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
