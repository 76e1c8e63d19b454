/* pool.h - a named pool of worker threads with a bounded queue.
 *
 * Threads start when there is work for them, up to the limit, and stay. Tasks start in the order of
 * submission. Any thread may submit, tasks too. run_here() runs a task as long as none waits; it counts as the pool's. */
#ifndef SYS_POOL_H
#define SYS_POOL_H

#include "common/base/err.h"
#include "common/base/executor.h"

struct pool;

struct pool_opts {
    const char *name;     /* copied; threads carry its first 15 bytes */
    unsigned threads_max; /* > 0 */
    size_t queue_max;     /* tasks that wait; more are refused */
};

struct pool_stats { /* as Elasticsearch's thread_pool statistics */
    unsigned threads, active, largest;
    size_t queue;
    uint64_t rejected, completed;
};

enum err pool_new(struct pool **out, const struct pool_opts *opts, struct errmsg *em);
/* Its threads, none of which has started, work for requests: see memory_guard(). */
void pool_guard_memory(struct pool *p);
/* Refuses new tasks, runs those that wait, ends the threads. Not from one of its own tasks. NULL ok. */
void pool_free(struct pool *p);
const struct executor *pool_executor(struct pool *p); /* borrowed */
void pool_stats(struct pool *p, struct pool_stats *out);
unsigned pool_threads_max(const struct pool *p);
size_t pool_queue_max(const struct pool *p);
/* Waits until nothing waits or runs; for tests and shutdown. */
void pool_drain(struct pool *p);

#endif
