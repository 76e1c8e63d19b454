/* health.h - how the copies of indices are: what cluster health and several tables print.
 *
 * Pure functions of a cluster state; any thread. */
#ifndef COORDINATOR_REST_HEALTH_H
#define COORDINATOR_REST_HEALTH_H

#include "coordinator/rest/rest.h"

enum health { HEALTH_GREEN, HEALTH_YELLOW, HEALTH_RED };

struct shards_health { /* of an index, of several */
    enum health status;
    uint32_t primaries, active, relocating, initializing, unassigned;
};

const char *health_name(enum health h);
/* By name in either case; false: there is none such. */
bool health_parse(struct str name, enum health *out);
struct shards_health index_health(const struct cluster_state *s, const struct index_meta *m);
/* Of all indices of the state. */
struct shards_health cluster_health(const struct cluster_state *s);
/* Active copies of the whole cluster, 100.0 when all are there. */
double health_percent(const struct shards_health *h);
uint32_t health_nodes(const struct cluster_state *s, uint32_t role); /* 0: of any role */

#endif
