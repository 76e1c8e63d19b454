/* strand.h - a queue whose tasks run one at a time and in order, on whatever thread the executor below has.
 *
 * No thread is held while nothing waits. What one task wrote the next one sees. Any thread may submit, tasks
 * too. run_here() runs a task when the strand is idle; what is submitted meanwhile waits for it. */
#ifndef SYS_STRAND_H
#define SYS_STRAND_H

#include "common/base/err.h"
#include "common/base/executor.h"

struct strand;

struct strand_opts {
    const struct executor *over; /* borrowed: must outlive the strand */
    size_t queue_max;            /* tasks that wait; more are refused */
    unsigned batch_max;          /* tasks in a row before others on the executor get their turn; 0: 64 */
};

struct strand_stats {
    size_t queue;
    bool active;
    uint64_t rejected, completed;
};

enum err strand_new(struct strand **out, const struct strand_opts *opts, struct errmsg *em);
/* Refuses new tasks; when those that wait have run, done(arg) runs as the last one, and the strand is gone.
 * done may be NULL. false: the executor takes nothing any more (it was shut down); the strand then is freed
 * at once, what waits never runs, nor does done. */
bool strand_close(struct strand *s, void (*done)(void *arg), void *arg);
/* At once, for a strand whose executor will run nothing of it any more (freed, killed by the simulator). NULL
 * ok. */
void strand_free(struct strand *s);
const struct executor *strand_executor(struct strand *s); /* borrowed */
void strand_stats(struct strand *s, struct strand_stats *out);
/* Is the calling thread inside one of its tasks? For assertions. */
bool strand_inside(const struct strand *s);

#endif
