/* state_waits.h - requests that wait for another cluster state.
 *
 * A wait ends with the next state that is applied here after the one that the request has looked at, or when
 * its time is up. Any thread. */
#ifndef COORDINATOR_CORE_STATE_WAITS_H
#define COORDINATOR_CORE_STATE_WAITS_H

#include "coordinator/core/delays.h"

#include <pthread.h>

struct state_wait { /* the caller's; free again once run() was called */
    struct delay delay;
    struct state_waits *owner;
    struct state_wait *next, **at;
    void (*run)(void *arg);
    void *arg;
};

struct state_waits {
    struct delays *delays; /* borrowed */
    pthread_mutex_t lock;
    struct state_wait *first;
    uint64_t applied; /* how many states there have been */
};

void state_waits_init(struct state_waits *s, struct delays *delays);
void state_waits_fini(struct state_waits *s); /* nothing may wait */
/* To be called before the state is read. */
uint64_t state_waits_seen(struct state_waits *s);
/* run(arg) on a worker, never inside the call: with the next state after `seen`, or `ms` milliseconds from
 * now. */
void state_waits_add(struct state_waits *s, struct state_wait *w, uint64_t seen, int64_t ms,
                     void (*run)(void *arg), void *arg);
/* Another state has been applied. */
void state_waits_applied(struct state_waits *s);
/* Asserts what always holds of those that wait. */
void state_waits_invariant(struct state_waits *s);

#endif
