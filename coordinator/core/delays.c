#include "coordinator/core/delays.h"

#include "common/base/invariant.h"

#include <pthread.h>
#include <stdlib.h>

struct delays {
    struct delays_opts o;
    pthread_mutex_t lock;
    struct delay *first; /* unordered: there are few */
    bool stopped;
    /* of the loop's thread alone */
    struct timer *timer;
};

static void rearm(void *arg);

enum err delays_new(struct delays **out, const struct delays_opts *opts, struct errmsg *em)
{
    struct delays *d = calloc(1, sizeof(*d));
    *out = d;
    if (d == NULL) {
        return err_no_memory(em);
    }
    d->o = *opts;
    pthread_mutex_init(&d->lock, NULL);
    return ERR_OK;
}

void delays_free(struct delays *d)
{
    if (d != NULL) {
        pthread_mutex_destroy(&d->lock);
        free(d);
    }
}

static void run_here(struct later *l)
{
    struct delay *x = CONTAINER_OF(l, struct delay, end);
    x->run(x->arg);
}

static void delay_start(struct delays *d, struct delay *x)
{
    /* A delay has been admitted: a full queue is no reason to drop it. */
    if (!executor_submit_force(d->o.workers, x->run, x->arg)) {
        later(&x->end, run_here); /* the executor has shut down; the caller's thread is all there is */
    }
}

static struct delay **place_of(struct delays *d, const struct delay *x)
{
    struct delay **at = &d->first;
    while (*at != NULL && *at != x) {
        at = &(*at)->next;
    }
    return at;
}

/* Takes out what is due, or all of it. */
static struct delay *delay_take(struct delays *d, int64_t now, bool all)
{
    struct delay *due = NULL;
    pthread_mutex_lock(&d->lock);
    for (struct delay **at = &d->first; *at != NULL;) {
        struct delay *x = *at;
        if (!all && x->at_ms > now) {
            at = &x->next;
            continue;
        }
        *at = x->next;
        x->waiting = false;
        x->next = due;
        due = x;
    }
    pthread_mutex_unlock(&d->lock);
    return due;
}

static void start_all(struct delays *d, struct delay *due)
{
    while (due != NULL) {
        struct delay *next = due->next; /* `due` is gone once it runs */
        delay_start(d, due);
        due = next;
    }
}

static void fire(void *arg)
{
    struct delays *d = arg;
    d->timer = NULL;
    start_all(d, delay_take(d, clock_mono_ms(d->o.clock), false));
    rearm(d);
}

/* On the loop: one timer, for the earliest. */
static void rearm(void *arg)
{
    struct delays *d = arg;
    int64_t first = INT64_MAX;
    pthread_mutex_lock(&d->lock);
    for (const struct delay *x = d->first; x != NULL; x = x->next) {
        first = MIN_OF(first, x->at_ms);
    }
    pthread_mutex_unlock(&d->lock);
    timer_cancel(d->o.timers, d->timer);
    d->timer = NULL;
    if (first != INT64_MAX) {
        d->timer = timer_start(d->o.timers, MAX_OF(first - clock_mono_ms(d->o.clock), (int64_t)0), fire, d);
    }
}

static void wake_loop(struct delays *d)
{
    if (d->o.timers != NULL) {
        executor_submit_force(d->o.loop, rearm, d);
    }
}

void delays_add(struct delays *d, struct delay *x, int64_t ms, void (*run)(void *arg), void *arg)
{
    pthread_mutex_lock(&d->lock);
    INVARIANT(assert(*place_of(d, x) == NULL)); /* it is the list's until run() is called */
    x->at_ms = clock_mono_ms(d->o.clock) + ms;
    x->run = run;
    x->arg = arg;
    bool waits = ms > 0 && !d->stopped && (x->off == NULL || !*x->off);
    if (waits) {
        x->waiting = true;
        x->next = d->first;
        d->first = x;
    }
    pthread_mutex_unlock(&d->lock);
    if (waits) {
        wake_loop(d); /* x may be gone by now */
    } else {
        delay_start(d, x);
    }
}

bool delays_hurry(struct delays *d, struct delay *x)
{
    pthread_mutex_lock(&d->lock);
    bool waits = x->waiting;
    if (waits) {
        *place_of(d, x) = x->next;
        x->waiting = false;
    }
    pthread_mutex_unlock(&d->lock);
    if (waits) {
        delay_start(d, x);
    }
    return waits;
}

bool delays_move(struct delays *d, struct delay *x, int64_t ms)
{
    pthread_mutex_lock(&d->lock);
    bool waits = x->waiting;
    if (waits) {
        x->at_ms = clock_mono_ms(d->o.clock) + ms;
    }
    pthread_mutex_unlock(&d->lock);
    if (waits) {
        wake_loop(d);
    }
    return waits;
}

void delays_invariant(struct delays *d)
{
    pthread_mutex_lock(&d->lock);
    for (const struct delay *x = d->first; x != NULL; x = x->next) {
        assert(x->waiting && x->run != NULL);
        for (const struct delay *y = x->next; y != NULL; y = y->next) {
            assert(y != x);
        }
    }
    assert(!d->stopped || d->first == NULL);
    pthread_mutex_unlock(&d->lock);
}

bool delays_stopped(struct delays *d)
{
    pthread_mutex_lock(&d->lock);
    bool stopped = d->stopped;
    pthread_mutex_unlock(&d->lock);
    return stopped;
}

void delays_stop(struct delays *d)
{
    pthread_mutex_lock(&d->lock);
    d->stopped = true;
    pthread_mutex_unlock(&d->lock);
    struct later_list list;
    later_open(&list); /* this may be a thread that runs no tasks */
    start_all(d, delay_take(d, 0, true));
    later_close(&list);
}
