/* pending.h - what waits at the master, as whoever asks is told: the tasks of its queue, and how many shards'
 * copies it is looking for.
 *
 * The answer comes once this node has applied the state that the master had when it answered: who asks first
 * and looks at the state then, sees whatever was acknowledged before, by whichever node. */
#ifndef MASTER_PENDING_H
#define MASTER_PENDING_H

#include "common/base/arena.h"
#include "common/base/err.h"
#include "common/base/later.h"

struct pending_task {
    uint64_t order;       /* counts tasks since the master was elected */
    const char *priority; /* "URGENT" */
    struct str source;
    bool executing;
    int64_t queued_ms;
};

struct pending_queue {
    uint64_t version; /* that whoever asks has to have applied, to see what any node has seen */
    uint32_t fetching;
    struct pending_task *v;
    uint32_t n;
};

struct pending_rq { /* the caller's until done() */
    int64_t timeout_ms;
    bool at_once; /* the queue alone is wanted: no state is waited for, which may be what does not come */
    void (*done)(struct pending_rq *rq);
    void *user;
    struct arena arena; /* holds the answer; pending_rq_fini() */
    /* the answer; error.n > 0: there is none */
    struct errmsg error;
    struct pending_queue queue;
    struct later end; /* when there was no memory to ask */
};
void pending_rq_init(struct pending_rq *rq, int64_t timeout_ms, void (*done)(struct pending_rq *rq),
                     void *user);
void pending_rq_fini(struct pending_rq *rq);

#endif
