/* setting_rows.h - the ids of the settings, and the rows that they stand for. setting_rows_cluster.def and setting_rows_index.def are
 * the only lists: a setting is one line of them, and nothing else says its name or its default. */
#ifndef SETTINGS_SETTING_ROWS_H
#define SETTINGS_SETTING_ROWS_H

#include "common/settings/setting_registry.h"

#define SETTING_JOIN_(a, b) a##b
#define SETTING_JOIN(a, b)  SETTING_JOIN_(a, b)

/* In the order of setting_rows[]. A setting that no code reads by an id has a place without a name. */
enum setting_id {
#define ROW(id, ...) SET_##id,
#define IDLE(...)    SETTING_JOIN(SETTING_CLUSTER_, __LINE__),
#define RULE         IDLE
#include "common/settings/setting_rows_cluster.def"
#undef IDLE
    SETTINGS_OF_CLUSTER,
    SETTING_BEFORE_INDEX = SETTINGS_OF_CLUSTER - 1,
#define IDLE(...) SETTING_JOIN(SETTING_INDEX_, __LINE__),
#include "common/settings/setting_rows_index.def"
#undef IDLE
#undef RULE
#undef ROW
    SETTINGS_N
};

extern const struct setting_def setting_rows[SETTINGS_N];

static inline struct str setting_name(enum setting_id id)
{
    return str_of(setting_rows[id].name);
}

/* The row's default where the others are as `s` (may be NULL) has them. It may lie in room. */
struct str setting_default(const struct setting_def *d, const struct settings *s, char room[SETTING_ROOM]);

#endif
