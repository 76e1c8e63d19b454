/* shard_tasks.h - the work of this node for a task, here or elsewhere, as a child task.
 *
 * The registry keeps it as long as the request is served; cancelling it, or what is above it, makes the request's
 * cancelled() say so. Any thread. */
#ifndef COORDINATOR_CORE_SHARD_TASKS_H
#define COORDINATOR_CORE_SHARD_TASKS_H

#include "coordinator/core/coordinator.h"
#include "coordinator/core/tasks.h"

/* `type` is Elasticsearch's: "direct" (the request is of this node), "transport". Begins just before the request is served,
 * and ends with its done(). Without memory the request is served all the same. */
void shard_task_begin(struct coordinator *co, struct shard_rq *rq, const char *type);
/* Requests of other nodes are to be tasks, too; before the transport starts. */
void shard_tasks_serve(struct coordinator *co);

#endif
