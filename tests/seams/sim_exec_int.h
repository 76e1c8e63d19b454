/* sim_exec_int.h - the inside of the scheduler: sim_exec.c (lanes, what runs) and sim_events.c (what waits). */
#ifndef SEAMS_SIM_EXEC_INT_H
#define SEAMS_SIM_EXEC_INT_H

#include "common/base/later.h"
#include "common/base/rand.h"
#include "tests/seams/sim_exec.h"
#include "tests/seams/sim_fiber.h"

#define PPM 1000000

/* One task or timer. A loop's tasks wait in its lane, with only the first in the heap, so that their order
 * holds whatever ties the dice break; everything else is in the heap. */
struct timer {
    int64_t at_ns;
    uint64_t tie; /* random: which of those due at once comes first */
    struct sim_lane *lane;
    void (*run)(void *arg); /* NULL: cancelled */
    void *arg;
    bool is_task;
    struct sleeper *sleeper; /* else NULL: it does not begin, but goes on */
    struct timer *next;      /* in its lane's queue, or the graveyard */
    struct timer *parked;    /* in its lane's stash */
};

struct event_list {
    struct timer *first, *last;
};

/* A stack that runs tasks one after the other, until one of them sleeps on it. */
struct sleeper {
    struct sleeper *all, *idle;
    struct sim_fiber *fiber;
};

struct sim_lane {
    struct sim_exec *x;
    struct sim_lane *next;
    enum sim_lane_kind kind;
    struct executor executor;
    struct timers timers;
    size_t queue_max, queued;
    bool dead, paused;
    unsigned threads, asleep;
    int64_t rate_ppm, cpu_ns;
    int64_t last_at_ns;
    struct event_list queue; /* SIM_LOOP: its tasks; the first is in the heap, or in the stash */
    struct timer *stash;     /* came due while paused, or while all threads slept; linked by `parked` */
};

struct sim_exec {
    struct clock_sim *clock;
    struct rng rng;
    int64_t task_delay_ns_max;
    struct sim_lane *lanes;
    struct timer **heap;
    size_t n, cap;
    size_t parked;               /* events in stashes: their room in the heap is kept */
    struct event_list graveyard; /* of killed lanes: their owners may still cancel them */
    uint64_t steps;
    struct sim_lane *running;  /* NULL: nothing is */
    struct later_list outside; /* what was put off by calls from outside of any task */
    bool sleeps, counts_cpu;
    void (*after)(void *self, const struct sim_lane *lane);
    void *after_self;
    struct sim_fiber *caller;
    struct sleeper *all, *idle, *current;
    struct goal { /* what sim_exec_run_until() asked for */
        bool (*cond)(void *arg);
        void *arg;
        int64_t end_ns;
        bool met;
    } goal;
};

void event_list_add(struct event_list *l, struct timer *e);
void event_list_free(struct event_list *l);
/* Room for one more in the heap, beside those that are parked. */
bool heap_reserve(struct sim_exec *x);
void heap_push(struct sim_exec *x, struct timer *e); /* room was reserved */
struct timer *heap_pop(struct sim_exec *x);

#endif
