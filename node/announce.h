/* announce.h - lines in the log about the node and its cluster, for whoever runs it. On the main loop. */
#ifndef NODE_ANNOUNCE_H
#define NODE_ANNOUNCE_H

#include "common/base/log.h"
#include "common/cluster/state.h"
#include "node/self.h"

struct cluster;

/* Once it serves: version, process, addresses, roles, folders. Warns where others may reach it, and where a port is not the first
 * one of its range. `conf` NULL: it has no folder of settings. */
void announce_start(const struct log *log, const struct settings *s, const struct self *me, const char *conf);

struct announcer {      /* zeroed at first */
    int64_t forming_ms, /* since when there is no master, monotonic; 0: there is one */
        told_ms;
    struct cluster_state *seen; /* whose differences from the next state are told */
};

/* Again and again: says whom a node without a master looks for, each discovery.cluster_formation_warning_timeout. */
void announce_forming(struct announcer *a, const struct log *log, const struct cluster *c,
                      const struct settings *s, int64_t now_ms);
/* After each state: indices that are made, deleted, opened, closed or have other settings, at the master; the cluster's settings that
 * change, everywhere. */
void announce_changes(struct announcer *a, const struct log *log, struct cluster_state *now, bool is_master);
void announcer_fini(struct announcer *a);

#endif
