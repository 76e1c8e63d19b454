/* blocks.h - the operations that the cluster, or an index, refuses: settings "cluster.blocks.*" and
 * "index.blocks.*".
 *
 * Pure functions of a cluster state. */
#ifndef CLUSTER_BLOCKS_H
#define CLUSTER_BLOCKS_H

#include "common/base/jsonw.h"
#include "common/cluster/state.h"

enum block_level { BLOCK_READ, BLOCK_WRITE, BLOCK_METADATA_READ, BLOCK_METADATA_WRITE };

/* ERR_CLUSTER_BLOCK as Elasticsearch words it (429 where a full disk alone is why), naming every block of
 * every index in the way, the cluster's included. */
enum err indices_block_check(const struct cluster_state *s, const struct index_meta *const *v, uint32_t n,
                             enum block_level level, struct errmsg *em);
enum err index_block_check(const struct cluster_state *s, const struct index_meta *m, enum block_level level,
                           struct errmsg *em);
/* The cluster's alone: for what is about no index. */
enum err cluster_block_check(const struct cluster_state *s, enum block_level level, struct errmsg *em);
/* ERR_CLUSTER_BLOCK (503): no state of a cluster was ever applied here, so nothing is known of its indices. */
enum err state_recovered_check(const struct cluster_state *s, struct errmsg *em);
/* May an index be deleted? Blocks that let space be freed do not count. */
enum err index_delete_check(const struct cluster_state *s, const struct index_meta *m, struct errmsg *em);

/* {"5":{"description":...,"retryable":false,"levels":[...]}}: those of an index; m == NULL: of the cluster.
 * false: there are none, and nothing was written. */
bool blocks_write(const struct cluster_state *s, const struct index_meta *m, struct jsonw *w);

#endif
