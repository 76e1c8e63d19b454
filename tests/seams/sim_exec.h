/* sim_exec.h - every thread, loop and timer of a simulated cluster, run by one scheduler in the caller's
 * thread.
 *
 * Work belongs to lanes. A lane is what one real executor would be: an event loop (tasks in order) or a pool
 * (any order). The scheduler picks what is due with seeded chance; when nothing is, it moves the clock to the
 * next timer. The same seed and the same calls give the same run. */
#ifndef SEAMS_SIM_EXEC_H
#define SEAMS_SIM_EXEC_H

#include "common/base/executor.h"
#include "common/base/timers.h"
#include "tests/seams/clock_sim.h"

struct sim_exec;
struct sim_lane;

enum sim_lane_kind { SIM_LOOP, SIM_POOL };

struct sim_exec_opts {
    struct clock_sim *clock; /* borrowed; the scheduler moves it */
    uint64_t seed;
    int64_t task_delay_ns_max; /* each task waits a random time up to this; 0: tasks take no time */
    bool sleeps;               /* tasks may call sim_exec_sleep(): they run on stacks of their own */
    bool counts_cpu;           /* for sim_lane_cpu_ns() */
    /* After each task or timer, outside of it: who looks at what it left. It may not sleep. NULL: nobody. */
    void (*after)(void *self, const struct sim_lane *lane);
    void *self; /* of `after` */
};

struct sim_exec *sim_exec_new(const struct sim_exec_opts *opts); /* NULL: no memory */
void sim_exec_free(struct sim_exec *x);                          /* lanes too; what waits never runs */

/* NULL: no memory. queue_max 0: unbounded. */
struct sim_lane *sim_lane_new(struct sim_exec *x, enum sim_lane_kind kind, size_t queue_max);
/* The process died: its tasks and timers are forgotten, later ones are refused; the lane stays until the
 * scheduler is freed. */
void sim_lane_kill(struct sim_lane *l);
/* SIGSTOP and SIGCONT: what is due waits. */
void sim_lane_pause(struct sim_lane *l, bool paused);
/* How many of a pool's tasks may sleep at once (default 1); what comes meanwhile waits when all do. */
void sim_lane_set_threads(struct sim_lane *l, unsigned n);
/* Its timers count by a clock that runs at so many millionths of the scheduler's. */
void sim_lane_set_rate(struct sim_lane *l, int64_t rate_ppm);
/* Does one of its tasks stand still in the middle (sim_exec_sleep())? What it works on is then half done. */
bool sim_lane_sleeps(const struct sim_lane *l);
/* Processor time that its tasks have taken, of the real machine. */
int64_t sim_lane_cpu_ns(const struct sim_lane *l);
const struct executor *sim_lane_executor(struct sim_lane *l); /* borrowed */
const struct timers *sim_lane_timers(struct sim_lane *l);     /* borrowed */

/* Runs one task or timer, moving the clock to it. false: nothing is left (that is not paused). */
bool sim_exec_step(struct sim_exec *x);
/* Runs what is due in the next `ns`, then the clock is there. Returns the number of tasks run. */
uint64_t sim_exec_run_for(struct sim_exec *x, int64_t ns);
/* Steps until cond(arg) holds: true; false after `ns` of simulated time or when nothing is left. */
bool sim_exec_run_until(struct sim_exec *x, bool (*cond)(void *arg), void *arg, int64_t ns);
uint64_t sim_exec_steps(const struct sim_exec *x);

/* The lane whose task runs; NULL: none does. */
const struct sim_lane *sim_exec_lane(const struct sim_exec *x);
/* Inside a task: a call that blocks its thread so long, as that of a disk does. Others go on meanwhile; when the lane is
 * killed, it never returns. */
void sim_exec_sleep(struct sim_exec *x, int64_t ns);

#endif
