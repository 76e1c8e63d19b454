/* blocks.h - what an index refuses to have done to it, from its own settings ("index.blocks.*").
 *
 * The cluster's blocks (cluster.blocks.*) are asked the same way. Pure. */
#ifndef CLUSTER_BLOCKS_H
#define CLUSTER_BLOCKS_H

#include "common/cluster/state.h"

enum block_level { BLOCK_READ, BLOCK_WRITE, BLOCK_METADATA_READ, BLOCK_METADATA_WRITE };

/* ERR_CLUSTER_BLOCK as Elasticsearch words it (429 where a full disk is why), naming every block of every
 * index in the way. */
enum err indices_block_check(const struct index_meta *const *v, uint32_t n, enum block_level level,
                             struct errmsg *em);
enum err index_block_check(const struct index_meta *m, enum block_level level, struct errmsg *em);

#endif
