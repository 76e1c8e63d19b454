/* limits.h - settings that hold for all queries and scripts of a node. */
#ifndef NODE_LIMITS_H
#define NODE_LIMITS_H

#include "common/base/clock.h"
#include "common/base/settings.h"
#include "common/cluster/state.h"

/* indices.query.*, which a node is started with. */
void node_limits_start(const struct settings *own);
/* The state's stored scripts, for requests that name them: before the state is known to be applied. Any thread. false: no memory. */
bool node_scripts_apply(const struct cluster_state *state);
/* The same of ingest pipelines, which are compiled. */
bool node_pipelines_apply(const struct cluster_state *state);
/* script.*, which the cluster's settings change. */
void node_limits_apply(const struct cluster_state *state, const struct clock *clock);

#endif
