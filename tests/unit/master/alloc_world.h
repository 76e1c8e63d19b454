/* alloc_world.h - clusters for tests of allocation: nodes, what lies on their disks, and the state that follows. */
#ifndef TESTS_UNIT_MASTER_ALLOC_WORLD_H
#define TESTS_UNIT_MASTER_ALLOC_WORLD_H

#include "master/allocation.h"

#define NODES   6
#define INDICES 5
#define DISKS   400

extern struct alloc_world {
    struct rng rng;
    struct cluster_state *state;
    int64_t now_ms;
    bool up[NODES];
    uint32_t n_disks;
} alloc_world;

struct cluster_state *alloc_world_seal(struct state_builder *b);
void alloc_world_set_nodes(struct state_builder *b);
struct index_meta *alloc_world_index(const char *name, uint32_t shards, uint32_t replicas);
void alloc_world_run(struct state_builder *b);
void alloc_world_report(struct state_builder *b, bool only_start);
void alloc_world_explain_some(void);
void alloc_world_change(struct state_builder *b);
void alloc_world_settle(void);
void alloc_world_check_green(void);

#endif
