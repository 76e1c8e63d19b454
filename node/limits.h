/* limits.h - settings that hold for all queries and scripts of a node. */
#ifndef NODE_LIMITS_H
#define NODE_LIMITS_H

#include "common/base/clock.h"
#include "common/base/settings.h"
#include "common/cluster/state.h"

/* indices.query.*, which a node is started with. ERR_ILLEGAL_ARGUMENT for a value that it may not have. */
enum err node_limits_start(const struct settings *own, struct errmsg *em);
/* script.*, which the cluster's settings change. */
void node_limits_apply(const struct cluster_state *state, const struct clock *clock);

#endif
