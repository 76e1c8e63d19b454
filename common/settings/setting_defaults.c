#include "common/settings/setting_defaults.h"

#include "common/settings/setting_read.h"

#include <stdio.h>

struct str default_as_result_window(const struct settings *s, char room[SETTING_ROOM])
{
    return setting_text(s, SET_INDEX_MAX_RESULT_WINDOW, room);
}

struct str default_as_shards(const struct settings *s, char room[SETTING_ROOM])
{
    return setting_text(s, SET_INDEX_NUMBER_OF_SHARDS, room);
}

struct str default_as_recoveries(const struct settings *s, char room[SETTING_ROOM])
{
    return setting_text(s, SET_CLUSTER_ROUTING_ALLOCATION_NODE_CONCURRENT_RECOVERIES, room);
}

struct str default_total_limit(const struct settings *s, UNUSED char room[SETTING_ROOM])
{
    return setting_bool(s, SET_INDICES_BREAKER_TOTAL_USE_REAL_MEMORY) ? STR("95%") : STR("70%");
}

struct str default_roles(const struct settings *s, char room[SETTING_ROOM])
{
    static const struct {
        enum setting_id id;
        const char *role;
    } roles[] = {{SET_NODE_DATA, "data"},
                 {SET_NODE_REMOTE_CLUSTER_CLIENT, "remote_cluster_client"},
                 {SET_NODE_INGEST, "ingest"},
                 {SET_NODE_MASTER, "master"}};
    int n = 0;
    room[0] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(roles); i++) {
        if (setting_bool(s, roles[i].id)) {
            n += snprintf(room + n, (size_t)(SETTING_ROOM - n), "%s%s", n > 0 ? "," : "", roles[i].role);
        }
    }
    return str_of(room);
}

static struct str number_text(int64_t n, char room[SETTING_ROOM])
{
    snprintf(room, SETTING_ROOM, "%lld", (long long)n);
    return str_of(room);
}

struct str default_write_threads(const struct settings *s, char room[SETTING_ROOM])
{
    return number_text(setting_i64(s, SET_PROCESSORS), room);
}

struct str default_search_threads(const struct settings *s, char room[SETTING_ROOM])
{
    return number_text(setting_i64(s, SET_PROCESSORS) * 3 / 2 + 1, room);
}
