/* loop.h - an event loop: one thread that owns sockets, timers and whatever is posted to it.
 *
 * Everything but loop_post(), loop_post_task(), loop_stop() and the executor belongs to the loop's thread (or
 * to the thread that sets it up before it runs). Callbacks never run inside the call that asked for them. */
#ifndef SYS_LOOP_H
#define SYS_LOOP_H

#include "common/base/err.h"
#include "common/base/executor.h"
#include "common/base/timers.h"

struct event_base;
struct loop;

/* Ignores SIGPIPE in the process: a peer that goes away is an error of the write. */
enum err loop_new(struct loop **out, const char *name, struct errmsg *em);
/* Of a loop that does not run. Posted tasks that never ran are dropped. NULL ok. */
void loop_free(struct loop *l);

/* Runs in the calling thread until loop_stop(). What was posted before the stop runs first. */
void loop_run(struct loop *l);
/* The same in a thread of its own; loop_join() waits for its end. */
enum err loop_start(struct loop *l, struct errmsg *em);
void loop_join(struct loop *l);
void loop_stop(
    struct loop *l); /* any thread, also in a signal's callback; before loop_run() it ends that at once */
bool loop_inside(const struct loop *l); /* in the loop's thread? */

/* Runs run(arg) on the loop, in order of posting, from any thread. false: no memory. */
bool loop_post(struct loop *l, void (*run)(void *arg), void *arg);

/* Posting that cannot fail: the task's memory is the caller's, until it runs. */
struct loop_task {
    struct loop_task *next;
    void (*run)(struct loop_task *t);
};
void loop_post_task(struct loop *l, struct loop_task *t);

const struct executor *loop_executor(struct loop *l); /* borrowed; unbounded */
const struct timers *loop_timers(struct loop *l);     /* borrowed */

/* Repeats every `ms` until stopped. NULL: no memory. */
struct loop_ticker;
struct loop_ticker *loop_ticker_new(struct loop *l, int64_t ms, void (*fire)(void *arg), void *arg);
void loop_ticker_free(struct loop_ticker *t); /* NULL ok; also inside its own fire() */

/* fire(arg, signo) on the loop. One loop of a process at a time can watch signals. */
enum err loop_signal(struct loop *l, int signo, void (*fire)(void *arg, int signo), void *arg,
                     struct errmsg *em);

struct event_base *loop_base(struct loop *l); /* for common/sys alone */

#endif
