/* executor.h - the interface to threads that run tasks: one of the simulator's seams.
 *
 * An executor runs tasks on some thread, some time after submit() returned, never inside it. The real ones
 * are pools of threads (common/sys/pool.h), event loops (common/sys/loop.h) and strands over either
 * (common/sys/strand.h); the simulator's runs everything from one queue (tests/seams/sim_exec.h). */
#ifndef BASE_EXECUTOR_H
#define BASE_EXECUTOR_H

#include "common/base/defs.h"

struct executor {
    void *self;
    /* false: the queue is full (overload: the caller answers 429) or the executor is shutting down; nothing
     * will run. */
    bool (*submit)(void *self, void (*run)(void *arg), void *arg);
    /* The same past the queue's limit, for work that was admitted elsewhere (a copy's share of a write that
     * the primary took). false only when shutting down or out of memory. NULL: the executor has no such way.
     */
    bool (*submit_force)(void *self, void (*run)(void *arg), void *arg);
    /* Runs a short task at once, on the caller's thread, as one of the executor's own; for work that costs less than waking
     * another thread does. false: it would overtake others that wait, and has not run. NULL: the executor has no such way (the
     * simulator's have not). */
    bool (*run_here)(void *self, void (*run)(void *arg), void *arg);
};

static inline bool executor_submit(const struct executor *x, void (*run)(void *arg), void *arg)
{
    return x->submit(x->self, run, arg);
}

static inline bool executor_submit_force(const struct executor *x, void (*run)(void *arg), void *arg)
{
    return (x->submit_force != NULL ? x->submit_force : x->submit)(x->self, run, arg);
}

static inline bool executor_run_here(const struct executor *x, void (*run)(void *arg), void *arg)
{
    return x->run_here != NULL && x->run_here(x->self, run, arg);
}

#endif
