/* setting_registry_int.h - the tables behind setting_registry.h. */
#ifndef CLUSTER_SETTING_REGISTRY_INT_H
#define CLUSTER_SETTING_REGISTRY_INT_H

#include "common/cluster/setting_registry.h"

extern const struct setting_def index_setting_defs[], cluster_setting_defs[];
extern const size_t index_setting_defs_n, cluster_setting_defs_n;

#endif
