/* clock.h - time, as everything above sees it: one of the simulator's seams. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "common/base/defs.h"

struct clock {
    void *self;
    int64_t (*mono_ns)(void *self); /* never goes back; no meaning but differences */
    int64_t (*wall_ms)(void *self); /* since 1970 UTC */
};

static inline int64_t clock_mono_ms(const struct clock *c)
{
    return c->mono_ns(c->self) / 1000000;
}

static inline int64_t clock_wall_ms(const struct clock *c)
{
    return c->wall_ms(c->self);
}

#endif
