/* writes_int.h - declarations shared by the files of writes: writes.c finds indices and shards, writes_send.c sends. */
#ifndef COORDINATOR_OPS_WRITES_INT_H
#define COORDINATOR_OPS_WRITES_INT_H

#include "coordinator/ops/writes.h"

/* Is there nothing to be written of it any more? */
static inline bool write_is_over(const struct write_entry *e)
{
    return e->error != NULL || e->dropped;
}
/* Refuses an entry before any shard sees it. */
void writes_fail(struct write_set *w, struct write_entry *e, const struct errmsg *em);
/* Sends what was not refused, and finishes once everything is answered. */
void writes_send(struct write_set *w);
/* The set is done: done() is called. */
void writes_finish(struct write_set *w);
int64_t writes_time_left(const struct write_set *w);

#endif
