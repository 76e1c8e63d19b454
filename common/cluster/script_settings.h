/* script_settings.h - the cluster's settings of scripts. Pure; any thread. */
#ifndef CLUSTER_SCRIPT_SETTINGS_H
#define CLUSTER_SCRIPT_SETTINGS_H

#include "common/cluster/state.h"

/* The setting of a context, or of all: script.max_compilations_rate where `context` is NULL. false: there is no limit. */
bool script_rate_setting(const struct cluster_state *s, const char *context, uint32_t *count,
                         int64_t *window_ms);
/* Do they go together, and is there every context that is named? ERR_ILLEGAL_ARGUMENT. */
enum err script_settings_check(const struct settings *all, struct errmsg *em);

#endif
