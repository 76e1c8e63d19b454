/* task_ring.h - a growing ring of tasks: what pools and strands queue in. Not thread-safe: its owner locks.
 */
#ifndef SYS_TASK_RING_H
#define SYS_TASK_RING_H

#include "common/base/defs.h"

struct task {
    void (*run)(void *arg);
    void *arg;
};

struct task_ring { /* zeroed: empty */
    struct task *v;
    size_t head, n, cap; /* cap: a power of two */
};

bool task_ring_push(struct task_ring *r, struct task t) NODISCARD; /* false: no memory */
struct task task_ring_pop(struct task_ring *r);                    /* r->n > 0 */
void task_ring_fini(struct task_ring *r);

#endif
