/* later.h - ends that are told when the task that runs has returned.
 *
 * Whoever asks for something hears of its end by a callback. That callback never runs inside the call that asked: the
 * asker may hold a lock, walk a list, or ask for the next thing in a loop. An end that is known inside the call is put off
 * with later(): it runs on the same thread, when the task that the thread's executor gave it has returned. Nothing is
 * allocated, nothing wakes another thread, and a chain of ends takes no more stack than one.
 *
 * Every executor runs its tasks by later_task(), as does whoever runs one in an executor's stead; an HTTP loop handles each
 * request so. On a strand ends run before its next task. What executor_run_here() runs belongs to the task of its caller:
 * its ends run when that one returns, and not on the strand. */
#ifndef BASE_LATER_H
#define BASE_LATER_H

#include "common/base/defs.h"

struct later { /* in the struct of what ends */
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
/* Runs what was put off until here, with the task going on: for a scheduler that was called by it. */
void later_run(void);
/* The thread goes on with another stack, whose task has `list` (NULL: none runs); what was left. */
struct later_list *later_switch(struct later_list *list);

#endif
