/* later.h - callbacks that run when the current task has returned.
 *
 * A request ends with a callback to its caller. The callback never runs inside the call that made the request: the caller
 * may hold a lock, walk a list, or make the next request in a loop. A callback that is due inside the call is put off
 * with later(): it runs on the same thread, when the current task of the thread's executor has returned. later() allocates
 * nothing and wakes no other thread, and a chain of callbacks takes no more stack than one.
 *
 * Every executor runs its tasks by later_task(), and so does any code that runs a task in an executor's place; an HTTP loop
 * handles each request so. On a strand the callbacks run before its next task. A task of executor_run_here() belongs to the
 * task of its caller: its callbacks run when the caller's task returns, and not on the strand. */
#ifndef BASE_LATER_H
#define BASE_LATER_H

#include "common/base/defs.h"

struct later { /* member of the struct of the request that ends */
    struct later *next;
    void (*run)(struct later *l);
};

/* Runs run(l) once the thread's task has returned, after what was put off before it. Asserts that there is a task. */
void later(struct later *l, void (*run)(struct later *l));

/* Runs a task, then what it put off, and what that puts off. They nest: each runs its own. */
void later_task(void (*run)(void *arg), void *arg);

/* The same where the task is no function of its own: from here to later_close(). */
struct later_list {
    struct later *first, **last;
    struct later_list *outer;
};
void later_open(struct later_list *list);
void later_close(struct later_list *list);
/* Runs what was put off until here, with the task going on: before something long that nobody who was answered should wait for, in a
 * task that nobody asked anything from; and for a scheduler that a task calls. */
void later_run(void);
/* The thread goes on with another stack, whose task has `list` (NULL: none runs); what was left. */
struct later_list *later_switch(struct later_list *list);

#endif
