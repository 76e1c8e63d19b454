/* cluster_conf.h - a node's settings about its cluster. */
#ifndef NODE_CLUSTER_CONF_H
#define NODE_CLUSTER_CONF_H

#include "common/base/settings.h"
#include "master/quorum.h"

struct cluster_conf {
    struct str cluster_name;
    struct str bind_host; /* of the transport */
    unsigned port_first, port_last;
    struct str *seeds; /* addresses of other nodes: "host:port" */
    uint32_t n_seeds;
    struct str *
        initial_masters; /* names or addresses; a node that knows no other node begins a cluster of its own */
    uint32_t n_initial_masters;
    struct quorum_settings quorum;
    int64_t initial_state_timeout_ms; /* how long the start waits for a master before it takes requests */
};

/* Texts go to the arena. `node_name`: this node's; `master_eligible`: may it be master? ERR_ILLEGAL_ARGUMENT
 * for values that are none. */
enum err cluster_conf_read(struct cluster_conf *out, const struct settings *s, struct str node_name,
                           bool master_eligible, struct arena *arena, struct errmsg *em);

#endif
