/* wait_clock.h - the time by which a master lets copies wait (delayed replicas, pauses between attempts).
 *
 * States note the time of day since when a copy has no node. Machines disagree about that, and it jumps; a wait must end all
 * the same, in its own time. So a master's waits go by the monotonic clock, from the time of day on at which it began, or from
 * the latest that the state names, if that is later. While nothing waits, it catches up with the time of day. One thread. */
#ifndef MASTER_WAIT_CLOCK_H
#define MASTER_WAIT_CLOCK_H

#include "common/cluster/state.h"

struct wait_clock {
    int64_t ahead_ms; /* of the monotonic clock */
};

/* This node is the master now. */
void wait_clock_begin(struct wait_clock *k, const struct cluster_state *s, int64_t mono_ms, int64_t wall_ms);
/* Nothing waits. */
void wait_clock_catch_up(struct wait_clock *k, int64_t mono_ms, int64_t wall_ms);
static inline int64_t wait_clock_ms(const struct wait_clock *k, int64_t mono_ms)
{
    return mono_ms + k->ahead_ms;
}

#endif
