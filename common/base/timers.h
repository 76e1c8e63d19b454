/* timers.h - call me later, as everything above sees it: one of the simulator's seams.
 *
 * A timer belongs to the thread that fires it (a loop's; the simulator's scheduler): start, cancel and fire
 * happen there. Loops offer real ones (common/sys/loop.h), the simulator virtual ones
 * (tests/seams/sim_exec.h). */
#ifndef BASE_TIMERS_H
#define BASE_TIMERS_H

#include "common/base/defs.h"

struct timer; /* one that is running */

struct timers {
    void *self;
    /* Calls fire(arg) once, `delay_ms` or more from now, never inside start(); then the handle is gone. 0: as
     * soon as the thread is free. NULL: no memory. */
    struct timer *(*start)(void *self, int64_t delay_ms, void (*fire)(void *arg), void *arg);
    /* It will not fire. NULL ok; not for one that has fired. */
    void (*cancel)(void *self, struct timer *t);
};

static inline struct timer *timer_start(const struct timers *t, int64_t delay_ms, void (*fire)(void *arg),
                                        void *arg)
{
    return t->start(t->self, delay_ms, fire, arg);
}

static inline void timer_cancel(const struct timers *t, struct timer *timer)
{
    t->cancel(t->self, timer);
}

#endif
