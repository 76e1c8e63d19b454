#include "tests/seams/clock_sim.h"

static int64_t sim_mono_ns(void *self)
{
    return ((struct clock_sim *)self)->mono_ns;
}

static int64_t sim_wall_ms(void *self)
{
    const struct clock_sim *c = self;
    return (c->mono_ns + c->wall_offset_ns) / 1000000;
}

void clock_sim_init(struct clock_sim *c, int64_t wall_ms)
{
    *c = (struct clock_sim){
        .base = {.self = c, .mono_ns = sim_mono_ns, .wall_ms = sim_wall_ms},
        .wall_offset_ns = wall_ms * 1000000,
    };
}

void clock_sim_advance(struct clock_sim *c, int64_t ns)
{
    assert(ns >= 0);
    c->mono_ns += ns;
}

void clock_sim_set_wall(struct clock_sim *c, int64_t wall_ms)
{
    c->wall_offset_ns = wall_ms * 1000000 - c->mono_ns;
}
