/* state_invariant.h - asserts what holds of every state that a master publishes. */
#ifndef CLUSTER_STATE_INVARIANT_H
#define CLUSTER_STATE_INVARIANT_H

#include "common/cluster/state.h"

/* Lists are sorted, every index has its copies, each copy lies on a node of the state and nowhere twice, what can be searched
 * has every acknowledged write. */
void state_invariant(const struct cluster_state *s);

#endif
