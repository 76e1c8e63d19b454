/* scale.h - what elections, publications and the loss of a node cost in a large cluster.
 *
 * The cluster service of every node as it ships (master/cluster.h), under the simulator's clock and network; in place of its data
 * role something that says at once that its copies have started. */
#ifndef SIM_SCALE_H
#define SIM_SCALE_H

#include "common/cluster/state.h"

struct scale_opts {
    uint64_t seed;
    unsigned nodes, masters; /* all hold data; the first `masters` may be elected */
    unsigned copies;         /* half of them primaries */
    bool trace;
};

/* Prints a line a measurement. false: something did not come about. */
bool scale_run(const struct scale_opts *o);

/* shared_states.c: nodes that read equal bytes get the same state. */
void shared_states(bool on);

#endif
