/* node_report.h - the node's report of itself: addresses, roles, pools, sockets, disk.
 *
 * Plain values; texts are borrowed from the node and live as long as it. */
#ifndef COORDINATOR_CORE_NODE_REPORT_H
#define COORDINATOR_CORE_NODE_REPORT_H

#include "common/cluster/nodes.h"
#include "common/sys/pool.h"
#include "common/sys/process.h"

#define NODE_POOLS_MAX 8

struct pool_report {
    const char *name; /* as Elasticsearch's pool for the same work */
    struct pool_stats stats;
    unsigned threads_max;
    int64_t queue_max; /* -1: unbounded */
};

struct node_report {
    struct str host, transport_address, http_address, data_dir;
    unsigned roles; /* 1 << enum node_role */
    unsigned cores; /* that may be used */
    uint64_t http_open, http_opened, http_body_bytes_max;
    struct disk_stats disk;
    int cpu_percent, process_cpu_percent; /* lately; -1: unknown */
    struct pool_report pools[NODE_POOLS_MAX];
    unsigned n_pools;
};

#endif
