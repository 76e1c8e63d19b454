/* health.h - the health of shards and indices: pure functions of a cluster state.
 *
 * What cluster health, several tables and waits for active copies go by. It knows nothing of nodes that do not
 * answer, nor of how much a copy holds. Thread-safe: states are immutable. */
#ifndef CLUSTER_HEALTH_H
#define CLUSTER_HEALTH_H

#include "common/cluster/state.h"

enum health { HEALTH_GREEN, HEALTH_YELLOW, HEALTH_RED };

struct shards_health { /* of a shard, an index, several */
    enum health status;
    uint32_t primaries, active, relocating, initializing, unassigned;
    uint32_t delayed; /* of the unassigned: they wait for a node to come back */
};

const char *health_name(enum health h); /* "green" */
/* By name in either case; false: there is none such. */
bool health_parse(struct str name, enum health *out);

/* How many copies a shard of the index has, assigned or not. */
uint32_t health_copies(const struct cluster_state *s, const struct index_meta *m, uint32_t shard);
/* The copy at that place, the primary first. Of an index that has no routing yet: one without a node. */
struct shard_copy health_copy(const struct cluster_state *s, const struct index_meta *m, uint32_t shard,
                              uint32_t at);

struct shards_health shard_health(const struct cluster_state *s, const struct index_meta *m, uint32_t shard);
struct shards_health index_health(const struct cluster_state *s, const struct index_meta *m);
/* Of all indices of the state, as Elasticsearch counts: red, too, without a master. */
struct shards_health cluster_health(const struct cluster_state *s);
/* Adds up what several have; the worst status counts. */
void health_add(struct shards_health *sum, const struct shards_health *h);
/* Active copies in percent, 100.0 when all are there. */
double health_percent(const struct shards_health *h);
uint32_t health_nodes(const struct cluster_state *s, uint32_t role); /* ROLE_*; 0: of any role */
/* Has every shard of the index `wanted` active copies? wanted < 0: all that it should have. */
bool health_enough_active(const struct cluster_state *s, const struct index_meta *m, int32_t wanted);
/* Active copies of the index's worst shard. */
uint32_t health_least_active(const struct cluster_state *s, const struct index_meta *m);

#endif
