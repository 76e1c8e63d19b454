/* delays.h - delayed actions, run on a pool, that can be hurried.
 *
 * Timers belong to a loop's thread; this lets any thread ask for a delay and any other cut it short: a delay
 * is the caller's struct, its action runs exactly once, on the worker executor, never inside the call. After
 * delays_stop() nothing waits: an action that is added runs at once. */
#ifndef COORDINATOR_CORE_DELAYS_H
#define COORDINATOR_CORE_DELAYS_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/base/executor.h"
#include "common/base/later.h"
#include "common/base/timers.h"

struct delays;

struct delay { /* the caller's; free again once run() was called */
    struct delay *next;
    int64_t at_ms; /* monotonic */
    void (*run)(void *arg);
    void *arg;
    /* set before delays_hurry(): also a delay that comes just after does not wait; may be NULL */
    const _Atomic bool *off;
    bool waiting; /* under the lock of its delays */
    struct later end;
};

struct delays_opts { /* borrowed */
    const struct clock *clock;
    const struct timers *timers; /* fire on `loop`'s thread; NULL: delays end only when hurried */
    const struct executor *loop;
    const struct executor *workers;
};

enum err delays_new(struct delays **out, const struct delays_opts *opts, struct errmsg *em);
/* Once the loop runs no more. Nothing may wait. NULL ok. */
void delays_free(struct delays *d);
/* run(arg) in `ms` milliseconds or later; ms <= 0: as soon as a worker is free. x->off is the caller's,
 * zeroed or set. */
void delays_add(struct delays *d, struct delay *x, int64_t ms, void (*run)(void *arg), void *arg);
/* Its time has come now. False: it was not waiting any more. Any thread, under any lock. */
bool delays_hurry(struct delays *d, struct delay *x);
/* Moves it: `ms` from now. False: it was not waiting any more. */
bool delays_move(struct delays *d, struct delay *x, int64_t ms);
/* Everything that waits runs now, and whatever is added from now on: who looks again and again has to ask
 * delays_stopped(). */
void delays_stop(struct delays *d);
bool delays_stopped(struct delays *d);
/* Asserts what always holds of those that wait. */
void delays_invariant(struct delays *d);

#endif
