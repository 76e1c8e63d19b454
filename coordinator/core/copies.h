/* copies.h - the copies of a shard that serve a read, in the order to try them. Pure functions of a cluster
 * state, as Elasticsearch's OperationRouting. */
#ifndef COORDINATOR_CORE_COPIES_H
#define COORDINATOR_CORE_COPIES_H

#include "common/base/err.h"
#include "common/cluster/state.h"

struct copies_how {
    struct str local_node; /* id */
    struct str preference; /* n == 0: none */
    uint64_t turn;         /* counts requests: whose turn it is */
};

struct copies { /* ids of nodes, the first to be asked first */
    struct str *nodes;
    uint32_t n;
    uint32_t n_active; /* of them; the rest is being set up, and may serve by the time it is asked */
};

/* Does the preference leave the shard in? "_shards:0,3|_local" names those it is about. */
bool copies_wanted(struct str preference, uint32_t shard);
/* The copies of a shard, in `arena`; the ids are the state's. n == 0: nobody has it. ERR_ILLEGAL_ARGUMENT: the
 * preference is none, or leaves no node. */
enum err copies_in_order(struct copies *out, const struct cluster_state *s, const struct index_routing *r,
                         uint32_t shard, const struct copies_how *how, struct arena *arena,
                         struct errmsg *em);
/* The node of the active primary; p == NULL: there is none at the moment. */
struct str copies_primary(const struct index_routing *r, uint32_t shard);

#endif
