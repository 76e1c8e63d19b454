/* setting_rows.h - the ids of the settings, and the rows that they stand for. setting_rows_cluster.def and setting_rows_index.def are
 * the only lists: a setting is one line of them, and nothing else says its name or its default. */
#ifndef CLUSTER_SETTING_ROWS_H
#define CLUSTER_SETTING_ROWS_H

#include "common/cluster/setting_registry.h"

#define SETTING_JOIN_(a, b) a##b
#define SETTING_JOIN(a, b)  SETTING_JOIN_(a, b)

/* In the order of setting_rows[]. The names of what is idle begin with IDLE_: nobody reads it. */
enum setting_id {
#define ROW(id, ...) SET_##id,
#define IDLE(...)    SETTING_JOIN(IDLE_CLUSTER_, __LINE__),
#include "common/cluster/setting_rows_cluster.def"
#undef IDLE
    SETTINGS_OF_CLUSTER,
    SETTING_BEFORE_INDEX = SETTINGS_OF_CLUSTER - 1,
#define IDLE(...) SETTING_JOIN(IDLE_INDEX_, __LINE__),
#include "common/cluster/setting_rows_index.def"
#undef IDLE
#undef ROW
    SETTINGS_N
};

extern const struct setting_def setting_rows[SETTINGS_N];

/* The row's default: the one that holds here. */
struct str setting_default(const struct setting_def *d);

#endif
