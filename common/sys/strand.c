#include "common/sys/strand.h"

#include "common/base/later.h"
#include "common/base/memory_account.h"
#include "common/sys/task_ring.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define BATCH_DEFAULT 64

struct strand {
    struct executor executor;
    const struct executor *over;
    size_t queue_max;
    unsigned batch_max;
    pthread_mutex_t mutex;
    struct task_ring queue;
    bool scheduled; /* strand_drain() is with the executor or runs: the only one that pops */
    bool closed;
    void (*done)(void *arg);
    void *done_arg;
    uint64_t rejected, completed;
    _Atomic(uintptr_t) inside; /* the thread that drains; 0: none */
};

void strand_free(struct strand *s)
{
    if (s == NULL) {
        return;
    }
    pthread_mutex_destroy(&s->mutex);
    task_ring_fini(&s->queue);
    free(s);
}

static void strand_drain(void *arg);

/* Runs what waits, a batch at a time: then it goes to the back of the executor's queue, or, when that takes
 * nothing more, goes on here. The lock is never held while a task runs. */
static void drain_some(struct strand *s)
{
    atomic_store_explicit(&s->inside, (uintptr_t)pthread_self(), memory_order_relaxed);
    pthread_mutex_lock(&s->mutex);
    for (unsigned ran = 0; s->queue.n > 0; ran++) {
        if (ran >= s->batch_max) {
            atomic_store_explicit(&s->inside, 0, memory_order_relaxed);
            /* Under the lock, so that the next strand_drain() cannot see the state before this one has left it. */
            bool again = executor_submit_force(s->over, strand_drain, s);
            if (again) {
                pthread_mutex_unlock(&s->mutex);
                return;
            }
            atomic_store_explicit(&s->inside, (uintptr_t)pthread_self(), memory_order_relaxed);
            ran = 0;
        }
        struct task t = task_ring_pop(&s->queue);
        pthread_mutex_unlock(&s->mutex);
        later_task(t.run, t.arg);
        pthread_mutex_lock(&s->mutex);
        s->completed++;
    }
    s->scheduled = false;
    bool closed = s->closed;
    void (*done)(void *) = s->done;
    void *done_arg = s->done_arg;
    atomic_store_explicit(&s->inside, 0, memory_order_relaxed);
    pthread_mutex_unlock(&s->mutex);
    if (closed) {
        strand_free(s);
        if (done != NULL) {
            done(done_arg);
        }
    }
}

/* A strand's work is the node's own: it is not refused memory because the thread otherwise works for requests. */
static void strand_drain(void *arg)
{
    bool guarded = memory_guard(false);
    drain_some(arg);
    memory_guard(guarded);
}

/* Submitting to the executor under the strand's lock: executors run nothing inside submit(), and take no
 * strand's lock. */
static bool submit(struct strand *s, struct task t, bool force)
{
    pthread_mutex_lock(&s->mutex);
    bool ok = !s->closed && (force || s->queue.n < s->queue_max) && task_ring_push(&s->queue, t);
    if (ok && !s->scheduled) {
        s->scheduled = force ? executor_submit_force(s->over, strand_drain, s)
                             : executor_submit(s->over, strand_drain, s);
        if (!s->scheduled) {
            task_ring_pop(&s->queue); /* the only one: nothing waits while nothing is scheduled */
            ok = false;
        }
    }
    s->rejected += ok ? 0 : 1;
    pthread_mutex_unlock(&s->mutex);
    return ok;
}

static bool strand_submit(void *self, void (*run)(void *arg), void *arg)
{
    return submit(self, (struct task){run, arg}, false);
}

static bool strand_submit_force(void *self, void (*run)(void *arg), void *arg)
{
    return submit(self, (struct task){run, arg}, true);
}

/* As strand_drain() would, for a strand that nothing is with; what has come meanwhile then goes to the executor. */
static bool strand_run_here(void *self, void (*run)(void *arg), void *arg)
{
    struct strand *s = self;
    pthread_mutex_lock(&s->mutex);
    bool ok = !s->closed && !s->scheduled;
    s->scheduled = s->scheduled || ok;
    pthread_mutex_unlock(&s->mutex);
    if (!ok) {
        return false;
    }
    atomic_store_explicit(&s->inside, (uintptr_t)pthread_self(), memory_order_relaxed);
    bool guarded = memory_guard(false);
    run(arg);
    memory_guard(guarded);
    pthread_mutex_lock(&s->mutex);
    s->completed++;
    atomic_store_explicit(&s->inside, 0, memory_order_relaxed);
    bool more = s->queue.n > 0 || s->closed;
    bool taken = more && executor_submit_force(s->over, strand_drain, s);
    s->scheduled = more;
    pthread_mutex_unlock(&s->mutex);
    if (more && !taken) {
        strand_drain(s);
    }
    return true;
}

enum err strand_new(struct strand **out, const struct strand_opts *opts, struct errmsg *em)
{
    *out = NULL;
    struct strand *s = calloc(1, sizeof(*s));
    if (s == NULL) {
        return err_no_memory(em);
    }
    s->executor = (struct executor){
        .self = s, .submit = strand_submit, .submit_force = strand_submit_force, .run_here = strand_run_here};
    s->over = opts->over;
    s->queue_max = opts->queue_max;
    s->batch_max = opts->batch_max > 0 ? opts->batch_max : BATCH_DEFAULT;
    pthread_mutex_init(&s->mutex, NULL);
    *out = s;
    return ERR_OK;
}

bool strand_close(struct strand *s, void (*done)(void *arg), void *arg)
{
    pthread_mutex_lock(&s->mutex);
    assert(!s->closed);
    s->closed = true;
    s->done = done;
    s->done_arg = arg;
    bool ok = s->scheduled;
    if (!ok) {
        ok = s->scheduled = executor_submit_force(s->over, strand_drain, s);
    }
    pthread_mutex_unlock(&s->mutex);
    if (!ok) {
        strand_free(s);
    }
    return ok;
}

const struct executor *strand_executor(struct strand *s)
{
    return &s->executor;
}

void strand_stats(struct strand *s, struct strand_stats *out)
{
    pthread_mutex_lock(&s->mutex);
    *out = (struct strand_stats){
        .queue = s->queue.n,
        .active = atomic_load_explicit(&s->inside, memory_order_relaxed) != 0,
        .rejected = s->rejected,
        .completed = s->completed,
    };
    pthread_mutex_unlock(&s->mutex);
}

bool strand_inside(const struct strand *s)
{
    return atomic_load_explicit(&s->inside, memory_order_relaxed) == (uintptr_t)pthread_self();
}
