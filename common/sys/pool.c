#include "common/sys/pool.h"

#include "common/base/later.h"
#include "common/base/memory_account.h"
#include "common/sys/task_ring.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct pool {
    struct executor executor;
    char name[32];
    unsigned threads_max;
    size_t queue_max;
    pthread_mutex_t mutex;
    pthread_cond_t work, quiet;
    struct task_ring queue;
    unsigned threads, idle; /* idle: all that run no task, also those just started */
    unsigned waiting;       /* of the idle: those asleep */
    unsigned here;          /* tasks that run on their callers' threads */
    unsigned largest;
    uint64_t rejected, completed;
    bool stopping, for_requests;
    pthread_t *thread; /* threads_max of them */
};

static _Thread_local const struct pool *own_pool; /* of the task that this thread runs */

static bool is_quiet(const struct pool *p)
{
    return p->queue.n == 0 && p->idle == p->threads && p->here == 0;
}

/* Locked. */
static void signal_if_quiet(struct pool *p)
{
    if (is_quiet(p)) {
        pthread_cond_broadcast(&p->quiet);
    }
}

static void *worker(void *arg)
{
    struct pool *p = arg;
    memory_guard(p->for_requests);
    own_pool = p;
    pthread_mutex_lock(&p->mutex);
    for (;;) {
        while (p->queue.n == 0 && !p->stopping) {
            p->waiting++;
            pthread_cond_wait(&p->work, &p->mutex);
            p->waiting--;
        }
        if (p->queue.n == 0) {
            break;
        }
        struct task t = task_ring_pop(&p->queue);
        p->idle--;
        pthread_mutex_unlock(&p->mutex);
        later_task(t.run, t.arg);
        pthread_mutex_lock(&p->mutex);
        p->idle++;
        p->completed++;
        signal_if_quiet(p);
    }
    pthread_mutex_unlock(&p->mutex);
    return NULL;
}

/* Locked. A thread that cannot be started is an error only when there is none at all. */
static bool start_thread(struct pool *p)
{
    pthread_t t;
    if (pthread_create(&t, NULL, worker, p) != 0) {
        return p->threads > 0;
    }
    char name[16];
    snprintf(name, sizeof(name), "%.15s", p->name);
    pthread_setname_np(t, name);
    p->thread[p->threads++] = t;
    p->idle++;
    p->largest = MAX_OF(p->largest, p->threads);
    return true;
}

static bool submit(struct pool *p, struct task t, bool force)
{
    pthread_mutex_lock(&p->mutex);
    bool ok = !p->stopping;
    if (ok && p->queue.n >= p->idle && p->threads < p->threads_max) {
        ok = start_thread(p);
    }
    ok = ok && (force || p->queue.n < p->queue_max + p->idle) && task_ring_push(&p->queue, t);
    p->rejected += ok ? 0 : 1;
    if (ok && p->waiting > 0) {
        pthread_cond_signal(
            &p->work); /* under the lock: after it, the task may have run and the pool be gone */
    }
    pthread_mutex_unlock(&p->mutex);
    return ok;
}

static bool pool_submit(void *self, void (*run)(void *arg), void *arg)
{
    return submit(self, (struct task){run, arg}, false);
}

static bool pool_submit_force(void *self, void (*run)(void *arg), void *arg)
{
    return submit(self, (struct task){run, arg}, true);
}

static bool pool_run_here(void *self, void (*run)(void *arg), void *arg)
{
    struct pool *p = self;
    pthread_mutex_lock(&p->mutex);
    bool ok = !p->stopping && p->queue.n == 0;
    p->here += ok ? 1 : 0;
    pthread_mutex_unlock(&p->mutex);
    if (!ok) {
        return false;
    }
    const struct pool *outer = own_pool;
    own_pool = p;
    run(arg);
    own_pool = outer;
    pthread_mutex_lock(&p->mutex);
    p->here--;
    p->completed++;
    signal_if_quiet(p);
    pthread_mutex_unlock(&p->mutex);
    return true;
}

enum err pool_new(struct pool **out, const struct pool_opts *opts, struct errmsg *em)
{
    assert(opts->threads_max > 0);
    *out = NULL;
    struct pool *p = calloc(1, sizeof(*p));
    pthread_t *thread = calloc(opts->threads_max, sizeof(*thread));
    if (p == NULL || thread == NULL) {
        free(p);
        free(thread);
        return err_no_memory(em);
    }
    p->executor = (struct executor){
        .self = p, .submit = pool_submit, .submit_force = pool_submit_force, .run_here = pool_run_here};
    snprintf(p->name, sizeof(p->name), "%s", opts->name);
    p->threads_max = opts->threads_max;
    p->queue_max = opts->queue_max;
    p->thread = thread;
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->quiet, NULL);
    *out = p;
    return ERR_OK;
}

void pool_free(struct pool *p)
{
    if (p == NULL) {
        return;
    }
    pthread_mutex_lock(&p->mutex);
    p->stopping = true;
    pthread_cond_broadcast(&p->work);
    unsigned threads = p->threads;
    pthread_mutex_unlock(&p->mutex);
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(p->thread[i], NULL);
    }
    pthread_mutex_lock(&p->mutex);
    while (p->here > 0) {
        pthread_cond_wait(&p->quiet, &p->mutex);
    }
    pthread_mutex_unlock(&p->mutex);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->quiet);
    pthread_mutex_destroy(&p->mutex);
    task_ring_fini(&p->queue);
    free(p->thread);
    free(p);
}

void pool_guard_memory(struct pool *p)
{
    p->for_requests = true;
}

const struct executor *pool_executor(struct pool *p)
{
    return &p->executor;
}

void pool_stats(struct pool *p, struct pool_stats *out)
{
    pthread_mutex_lock(&p->mutex);
    *out = (struct pool_stats){
        .threads = p->threads,
        .active = p->threads - p->idle + p->here - (own_pool == p ? 1U : 0U),
        .largest = p->largest,
        .queue = p->queue.n,
        .rejected = p->rejected,
        .completed = p->completed,
    };
    pthread_mutex_unlock(&p->mutex);
}

unsigned pool_threads_max(const struct pool *p)
{
    return p->threads_max;
}

size_t pool_queue_max(const struct pool *p)
{
    return p->queue_max;
}

void pool_drain(struct pool *p)
{
    pthread_mutex_lock(&p->mutex);
    while (!is_quiet(p)) {
        pthread_cond_wait(&p->quiet, &p->mutex);
    }
    pthread_mutex_unlock(&p->mutex);
}
