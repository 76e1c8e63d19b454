#include "tests/seams/sim_exec_int.h"

#include <stdlib.h>
#include <time.h>

static bool sim_exec_submit(struct sim_lane *l, void (*run)(void *arg), void *arg, bool force)
{
    struct sim_exec *x = l->x;
    bool full = l->queue_max > 0 && l->queued >= l->queue_max && !force;
    if (l->dead || full || !heap_reserve(x)) {
        return false;
    }
    struct timer *e = malloc(sizeof(*e));
    if (e == NULL) {
        return false;
    }
    int64_t at = x->clock->mono_ns;
    if (x->task_delay_ns_max > 0) {
        at += (int64_t)rng_below(&x->rng, (uint64_t)x->task_delay_ns_max + 1);
    }
    *e = (struct timer){.at_ns = at, .lane = l, .run = run, .arg = arg, .is_task = true};
    l->queued++;
    if (l->kind == SIM_POOL) {
        heap_push(x, e);
        return true;
    }
    e->at_ns = l->last_at_ns = MAX_OF(at, l->last_at_ns);
    bool first = l->queue.first == NULL;
    event_list_add(&l->queue, e);
    if (first) {
        heap_push(x, e);
    }
    return true;
}

static bool lane_submit(void *self, void (*run)(void *arg), void *arg)
{
    return sim_exec_submit(self, run, arg, false);
}

static bool lane_submit_force(void *self, void (*run)(void *arg), void *arg)
{
    return sim_exec_submit(self, run, arg, true);
}

static struct timer *lane_timer(void *self, int64_t delay_ms, void (*fire)(void *arg), void *arg)
{
    struct sim_lane *l = self;
    struct timer *e = heap_reserve(l->x) ? malloc(sizeof(*e)) : NULL;
    if (e == NULL) {
        return NULL;
    }
    int64_t delay = MAX_OF(delay_ms, (int64_t)0) * 1000000;
    if (l->rate_ppm != PPM) { /* rounded up: when it fires, the lane's clock has come that far */
        delay = delay / l->rate_ppm * PPM + (delay % l->rate_ppm * PPM + l->rate_ppm - 1) / l->rate_ppm;
    }
    int64_t at = l->x->clock->mono_ns + delay;
    *e = (struct timer){.at_ns = at, .lane = l, .run = fire, .arg = arg};
    if (l->dead) {
        event_list_add(&l->x->graveyard, e);
    } else {
        heap_push(l->x, e);
    }
    return e;
}

static void lane_cancel(UNUSED void *self, struct timer *t)
{
    if (t != NULL) {
        t->run = NULL; /* freed when it comes up */
    }
}

struct sim_exec *sim_exec_new(const struct sim_exec_opts *opts)
{
    struct sim_exec *x = calloc(1, sizeof(*x));
    if (x != NULL) {
        x->clock = opts->clock;
        x->task_delay_ns_max = opts->task_delay_ns_max;
        x->sleeps = opts->sleeps;
        x->counts_cpu = opts->counts_cpu;
        x->after = opts->after;
        x->after_self = opts->self;
        rng_seed(&x->rng, opts->seed);
        later_open(&x->outside);
    }
    return x;
}

/* A loop's tasks are freed with its queue. */
static void free_unqueued(struct timer *e)
{
    if (!(e->is_task && e->lane->kind == SIM_LOOP)) {
        free(e);
    }
}

void sim_exec_free(struct sim_exec *x)
{
    if (x == NULL) {
        return;
    }
    struct later_list *last = later_switch(x->outside.outer);
    assert(last == &x->outside);
    (void)last;
    for (size_t i = 0; i < x->n; i++) {
        free_unqueued(x->heap[i]);
    }
    while (x->lanes != NULL) {
        struct sim_lane *next = x->lanes->next;
        for (struct timer *e = x->lanes->stash, *then; e != NULL; e = then) {
            then = e->parked;
            free_unqueued(e);
        }
        event_list_free(&x->lanes->queue);
        free(x->lanes);
        x->lanes = next;
    }
    event_list_free(&x->graveyard);
    while (x->all != NULL) {
        struct sleeper *next = x->all->all;
        sim_fiber_free(x->all->fiber);
        free(x->all);
        x->all = next;
    }
    sim_fiber_free(x->caller);
    free(x->heap);
    free(x);
}

struct sim_lane *sim_lane_new(struct sim_exec *x, enum sim_lane_kind kind, size_t queue_max)
{
    struct sim_lane *l = calloc(1, sizeof(*l));
    if (l == NULL) {
        return NULL;
    }
    l->x = x;
    l->kind = kind;
    l->queue_max = queue_max;
    l->threads = 1;
    l->rate_ppm = PPM;
    l->executor = (struct executor){.self = l, .submit = lane_submit, .submit_force = lane_submit_force};
    l->timers = (struct timers){.self = l, .start = lane_timer, .cancel = lane_cancel};
    l->next = x->lanes;
    x->lanes = l;
    return l;
}

void sim_lane_kill(struct sim_lane *l)
{
    l->dead = true;
    l->asleep = 0; /* they never wake */
    sim_lane_pause(l, false);
}

static void unpark(struct sim_lane *l)
{
    while (l->stash != NULL) {
        struct timer *e = l->stash;
        l->stash = e->parked;
        l->x->parked--;
        heap_push(l->x, e);
    }
}

void sim_lane_pause(struct sim_lane *l, bool paused)
{
    l->paused = paused;
    if (!paused) {
        unpark(l);
    }
}

void sim_lane_set_threads(struct sim_lane *l, unsigned n)
{
    l->threads = n;
}

void sim_lane_set_rate(struct sim_lane *l, int64_t rate_ppm)
{
    l->rate_ppm = rate_ppm;
}

bool sim_lane_sleeps(const struct sim_lane *l)
{
    return l->asleep > 0;
}

const struct executor *sim_lane_executor(struct sim_lane *l)
{
    return &l->executor;
}

const struct timers *sim_lane_timers(struct sim_lane *l)
{
    return &l->timers;
}

/* A loop's task leaves its queue; the one behind it goes into the heap, in the room that the first had. */
static void advance_queue(struct sim_lane *l, struct timer *e)
{
    assert(l->queue.first == e);
    l->queue.first = e->next;
    if (e->next == NULL) {
        l->queue.last = NULL;
    } else {
        e->next->at_ns = MAX_OF(e->next->at_ns, l->x->clock->mono_ns);
        heap_push(l->x, e->next);
    }
}

static bool must_wait(const struct timer *e)
{
    const struct sim_lane *l = e->lane;
    return l->paused || (e->sleeper == NULL && l->asleep >= l->threads);
}

/* Takes the next event that is to run, putting aside what is cancelled, paused or dead. NULL: none at or
 * before `end`. */
static struct timer *next_due(struct sim_exec *x, int64_t end)
{
    while (x->n > 0 && x->heap[0]->at_ns <= end) {
        struct timer *e = heap_pop(x);
        struct sim_lane *l = e->lane;
        if (e->sleeper != NULL && l->dead) { /* what it slept in is gone */
            free(e);
        } else if (l->dead && !e->is_task) {
            event_list_add(&x->graveyard, e);
        } else if (e->run == NULL && e->sleeper == NULL) {
            free(e);
        } else if (must_wait(e)) {
            e->parked = l->stash;
            l->stash = e;
            x->parked++;
        } else {
            if (e->is_task) {
                l->queued--;
                if (l->kind == SIM_LOOP) {
                    advance_queue(l, e);
                }
            }
            if (!l->dead) {
                return e;
            }
            free(e);
        }
    }
    return NULL;
}

static void wake(struct sim_exec *x, struct sleeper *s)
{
    struct sleeper *from = x->current;
    from->idle = x->idle;
    x->idle = from;
    x->current = s;
    sim_fiber_switch(from->fiber, s->fiber);
}

static int64_t cpu_ns(const struct sim_exec *x)
{
    struct timespec t = {0};
    if (x->counts_cpu) {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    }
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t sim_lane_cpu_ns(const struct sim_lane *l)
{
    return l->cpu_ns;
}

static bool step_before(struct sim_exec *x, int64_t end)
{
    struct timer *e = next_due(x, end);
    if (e == NULL) {
        return false;
    }
    x->clock->mono_ns = MAX_OF(x->clock->mono_ns, e->at_ns);
    x->steps++;
    void (*run)(void *) = e->run;
    void *arg = e->arg;
    struct sim_lane *l = e->lane;
    struct sleeper *sleeper = e->sleeper;
    free(e);
    if (sleeper != NULL) {
        l->asleep--;
        unpark(l);
        wake(x, sleeper);
        return true;
    }
    x->running = l;
    int64_t from = cpu_ns(x);
    later_task(run, arg);
    l->cpu_ns += cpu_ns(x) - from;
    x->running = NULL;
    if (x->after != NULL) {
        x->after(x->after_self, l);
    }
    return true;
}

static bool reach_goal(struct sim_exec *x)
{
    later_run();
    while (!x->goal.cond(x->goal.arg)) {
        if (!step_before(x, x->goal.end_ns)) {
            return false;
        }
    }
    return true;
}

static void run_tasks(void *arg)
{
    struct sim_exec *x = arg;
    for (;;) {
        x->goal.met = reach_goal(x);
        struct sleeper *s = x->current;
        s->idle = x->idle;
        x->idle = s;
        x->current = NULL;
        sim_fiber_switch(s->fiber, x->caller);
    }
}

/* One that waits for work; it goes on with the goal. */
static struct sleeper *idle_sleeper(struct sim_exec *x)
{
    struct sleeper *s = x->idle;
    if (s != NULL) {
        x->idle = s->idle;
        return s;
    }
    s = calloc(1, sizeof(*s));
    x->caller = x->caller == NULL ? sim_fiber_of_caller() : x->caller;
    if (s == NULL || x->caller == NULL || (s->fiber = sim_fiber_new(run_tasks, x)) == NULL) {
        abort(); /* a simulation cannot go on without */
    }
    s->all = x->all;
    x->all = s;
    return s;
}

const struct sim_lane *sim_exec_lane(const struct sim_exec *x)
{
    return x->running;
}

void sim_exec_sleep(struct sim_exec *x, int64_t ns)
{
    struct sim_lane *l = x->running;
    struct sleeper *s = x->current;
    assert(x->sleeps && l != NULL && s != NULL);
    struct timer *e = heap_reserve(x) ? malloc(sizeof(*e)) : NULL;
    if (e == NULL) {
        abort();
    }
    *e = (struct timer){.at_ns = x->clock->mono_ns + ns, .lane = l, .sleeper = s};
    heap_push(x, e);
    l->asleep++;
    x->running = NULL;
    x->current = idle_sleeper(x);
    struct later_list *own = later_switch(&x->outside);
    sim_fiber_switch(s->fiber, x->current->fiber);
    later_switch(own);
    x->running = l;
}

bool sim_exec_run_until(struct sim_exec *x, bool (*cond)(void *arg), void *arg, int64_t ns)
{
    struct goal outer = x->goal;
    x->goal = (struct goal){cond, arg, x->clock->mono_ns + ns, false};
    if (!x->sleeps) { /* a task may call this, too */
        bool met = reach_goal(x);
        x->goal = outer;
        return met;
    }
    x->current = idle_sleeper(x);
    sim_fiber_switch(x->caller, x->current->fiber);
    return x->goal.met;
}

struct step_limit {
    const struct sim_exec *x;
    uint64_t until;
};

static bool stepped(void *arg)
{
    const struct step_limit *s = arg;
    return s->x->steps >= s->until;
}

bool sim_exec_step(struct sim_exec *x)
{
    struct step_limit s = {x, x->steps + 1};
    return sim_exec_run_until(x, stepped, &s, INT64_MAX - x->clock->mono_ns);
}

static bool never(UNUSED void *arg)
{
    return false;
}

uint64_t sim_exec_run_for(struct sim_exec *x, int64_t ns)
{
    int64_t end = x->clock->mono_ns + ns;
    uint64_t before_it = x->steps;
    sim_exec_run_until(x, never, NULL, ns);
    x->clock->mono_ns = MAX_OF(x->clock->mono_ns, end);
    return x->steps - before_it;
}

uint64_t sim_exec_steps(const struct sim_exec *x)
{
    return x->steps;
}
