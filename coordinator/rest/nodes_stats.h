/* nodes_stats.h - the parts of a node's statistics that its shards do not count. Any thread. */
#ifndef COORDINATOR_REST_NODES_STATS_H
#define COORDINATOR_REST_NODES_STATS_H

#include "coordinator/core/node_calls.h"
#include "coordinator/rest/nodes.h"
#include "coordinator/rest/stats.h"

/* The metrics, in the order that they print. */
enum {
    S_INDICES,
    S_OS,
    S_PROCESS,
    S_JVM,
    S_THREAD_POOL,
    S_FS,
    S_TRANSPORT,
    S_HTTP,
    S_BREAKER,
    S_SCRIPT,
    S_DISCOVERY,
    S_INGEST,
    S_ADAPTIVE,
    S_SCRIPT_CACHE,
    S_PRESSURE,
    S_N
};

/* The services of MESSAGE_NODE_INFO and MESSAGE_NODE_STATS. */
void node_info_serve(struct node_question *q);
void node_stats_serve(struct node_question *q);
/* Its part for NODE_STATS_HOT_THREADS. */
void hot_threads_serve(struct node_question *q);

/* The member `name` with the section of a metric, any but S_INDICES. */
void nodes_write_section(const struct stats_out *o, const struct rest *r, const struct node_report *n,
                         unsigned metric, const char *name, int64_t now);

#endif
