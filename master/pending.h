/* pending.h - the pending work of the master: the tasks of its queue, and the number of shards whose copies it is
 * looking for.
 *
 * The answer comes once this node has applied the state that the master had when it answered: a caller
 * that asks first and reads the state then, sees all that any node acknowledged before. */
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
    /* the answer; with an error there is none */
    struct errmsg error;
    struct pending_queue queue;
    struct later end; /* when there was no memory to ask */
};
void pending_rq_init(struct pending_rq *rq, int64_t timeout_ms, void (*done)(struct pending_rq *rq),
                     void *user);
void pending_rq_fini(struct pending_rq *rq);

#endif
