/* setting_defaults.h - defaults that are computed from other settings. Their rows name them (COMPUTED). */
#ifndef SETTINGS_SETTING_DEFAULTS_H
#define SETTINGS_SETTING_DEFAULTS_H

#include "common/settings/setting_rows.h"

struct str default_as_result_window(const struct settings *s, char room[SETTING_ROOM]);
/* What Elasticsearch shows. An index whose creator says nothing has more: routing_shards_default() in master/metadata_index.c. */
struct str default_as_shards(const struct settings *s, char room[SETTING_ROOM]);
struct str default_as_recoveries(const struct settings *s, char room[SETTING_ROOM]);
/* More of the memory may be used where what is really held is looked at. */
struct str default_total_limit(const struct settings *s, char room[SETTING_ROOM]);
/* Each of these unless its own setting, of before 7.9, says no. */
struct str default_roles(const struct settings *s, char room[SETTING_ROOM]);
struct str default_write_threads(const struct settings *s, char room[SETTING_ROOM]);
struct str default_search_threads(const struct settings *s, char room[SETTING_ROOM]);

#endif
