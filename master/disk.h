/* disk.h - the master's reaction to full disks: a pure decision, and the questions to nodes.
 *
 * Nodes are asked every cluster.info.update.interval. Above the flood stage, the indices with copies on the
 * node take no more writes (index.blocks.read_only_allow_delete); once all their nodes are below the high
 * watermark again, they do. */
#ifndef MASTER_DISK_H
#define MASTER_DISK_H

#include "master/allocation.h"

struct disk_verdict {
    struct str_set block, release; /* indices; in the arena */
    bool reroute;                  /* some copy may have to move, or may move now */
    bool flooded;                  /* some node is above the flood stage: to be looked at again soon */
};
/* `before` is what was known last. false: no memory. */
bool disk_decide(const struct cluster_state *s, const struct disk_usage *before, uint32_t n_before,
                 const struct disk_usage *now, uint32_t n_now, struct arena *arena,
                 struct disk_verdict *out) NODISCARD;

#endif
