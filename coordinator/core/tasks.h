/* tasks.h - the tasks of this node: the registry behind _tasks.
 *
 * A task is part of whatever it stands for (a search, a bulk, a by-query operation): the owner begins and
 * ends it and keeps it where it is in between. The registry numbers tasks, lists them, and passes on what
 * others ask of them: to stop, to run at another rate. Cancelling is a request: the owner looks at
 * `cancelled` where it can stop. A task below a cancelled parent begins cancelled.
 *
 * Any thread. Callbacks in `ops` run under the registry's lock: they read what belongs to the task, and call
 * nothing that begins or ends one. */
#ifndef COORDINATOR_CORE_TASKS_H
#define COORDINATOR_CORE_TASKS_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/base/jsonw.h"

struct task;
struct tasks;

struct task_ops {
    void (*describe)(const struct task *t, struct buf *out); /* NULL: nothing to say */
    void (*status)(const struct task *t, struct jsonw *w);   /* an object; NULL: none */
    void (*cancel)(struct task *t);                          /* `cancelled` has been set */
    void (*rethrottle)(struct task *t, float per_second);    /* NULL: its rate cannot be set */
    bool cancellable;
    bool lasts; /* it may take so long that a node that stops cancels it */
};

struct task {
    const struct task_ops *ops;
    const char *action;     /* "indices:data/read/search" */
    const char *type;       /* "transport", "direct" */
    struct str opaque_id;   /* of the client; borrowed; p == NULL: none */
    uint64_t id, parent;    /* parent 0: none */
    struct str parent_node; /* id of the node that has it; borrowed; p == NULL: this one */
    bool served;            /* for another node: no client waits for it here */
    int64_t start_ms, start_ns;
    _Atomic bool cancelled;
    struct task *prev, *next;
};

enum err tasks_new(struct tasks **out, const struct clock *clock, struct errmsg *em);
void tasks_free(struct tasks *ts); /* NULL ok; none may be left */

/* `t` zeroed but for ops, action, type, opaque_id, parent, parent_node, served. */
void tasks_begin(struct tasks *ts, struct task *t);
/* Ends it; a task that never began is left alone. */
void tasks_end(struct tasks *ts, struct task *t);

/* Calls each(self, t) for every task, oldest first, under the lock. */
void tasks_each(struct tasks *ts, void (*each)(void *self, struct task *t), void *self);
/* The same for one. False: it is not running. */
bool tasks_one(struct tasks *ts, uint64_t id, void (*with)(void *self, struct task *t), void *self);
/* Cancels a task and what it began; inside tasks_each() and tasks_one(). */
void tasks_cancel_locked(struct tasks *ts, struct task *t);
/* Cancels what may take long (`lasts`), with what it began. */
void tasks_stop(struct tasks *ts);
/* Asserts what always holds of those that run. */
void tasks_invariant(struct tasks *ts);
/* Waits until nothing is left but what is served for others. Not from a thread that tasks need to end. */
void tasks_drain(struct tasks *ts);

/* "node:7" in two. ERR_ILLEGAL_ARGUMENT as Elasticsearch words it. */
enum err task_id_parse(struct str text, struct str *node, uint64_t *id, struct errmsg *em);

#endif
