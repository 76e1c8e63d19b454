/* sim_fiber.h - stacks on which a simulated task can sleep while others go on: one runs at a time, in one thread.
 *
 * Knows nothing of time or tasks. Not thread-safe. */
#ifndef SEAMS_SIM_FIBER_H
#define SEAMS_SIM_FIBER_H

struct sim_fiber;

/* Runs run(arg), which must never return, when first switched to. NULL: no memory. */
struct sim_fiber *sim_fiber_new(void (*run)(void *arg), void *arg);
/* For the stack that the program was started with. NULL: no memory. */
struct sim_fiber *sim_fiber_of_caller(void);
/* Goes on at `to`; returns when somebody switches back to `from`, which must be the one that runs. */
void sim_fiber_switch(struct sim_fiber *from, struct sim_fiber *to);
/* Of one that does not run; what lies on its stack is forgotten. NULL ok. */
void sim_fiber_free(struct sim_fiber *f);

#endif
