/* clock_sim.h - a clock that only clock_sim functions move. One thread moves it, any may read. */
#ifndef SEAMS_CLOCK_SIM_H
#define SEAMS_CLOCK_SIM_H

#include "common/base/clock.h"

struct clock_sim {
    struct clock base; /* hand &c->base to the code under test */
    _Atomic int64_t mono_ns;
    _Atomic int64_t wall_offset_ns; /* wall - monotonic */
};

/* Starts at monotonic 0. */
void clock_sim_init(struct clock_sim *c, int64_t wall_ms);
void clock_sim_advance(struct clock_sim *c, int64_t ns); /* ns >= 0; both clocks */
/* Jumps, also back; the monotonic clock stays. */
void clock_sim_set_wall(struct clock_sim *c, int64_t wall_ms);

#endif
