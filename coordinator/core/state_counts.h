/* state_counts.h - counters of cluster events, derived from consecutive applied states. Pure. */
#ifndef COORDINATOR_CORE_STATE_COUNTS_H
#define COORDINATOR_CORE_STATE_COUNTS_H

#include "common/cluster/state.h"

struct state_counts {         /* since the node started */
    uint64_t states, masters; /* applied; of another master than the one before, the first one included */
    uint64_t no_masters;      /* losses of the master */
    uint64_t started, failed; /* copies that began to serve, that lost their place for a failure */
    uint64_t promoted;        /* replicas that became primaries */
    uint64_t moved;           /* copies that began to move to another node */
};
/* `from`: NULL for the first state. */
void state_counts_add(struct state_counts *c, const struct cluster_state *from,
                      const struct cluster_state *to);

#endif
