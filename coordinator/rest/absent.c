#include "coordinator/rest/absent.h"

/* First parts, and parts behind an index; "a/b": only with that second part. */
static const char *const first[] = {"_async_search",
                                    "_autoscaling",
                                    "_cat/ml",
                                    "_cat/transforms",
                                    "_ccr",
                                    "_data_stream",
                                    "_enrich",
                                    "_eql",
                                    "_graph",
                                    "_ilm",
                                    "_license/start_basic",
                                    "_license/start_trial",
                                    "_logstash",
                                    "_migration",
                                    "_ml",
                                    "_monitoring",
                                    "_nodes/usage",
                                    "_rollup",
                                    "_searchable_snapshots",
                                    "_security",
                                    "_shard_stores",
                                    "_slm",
                                    "_sql",
                                    "_ssl",
                                    "_text_structure",
                                    "_transform",
                                    "_upgrade",
                                    "_watcher",
                                    "_xpack/migration",
                                    "_xpack/ml",
                                    "_xpack/security",
                                    "_xpack/watcher"};
static const char *const behind_index[] = {"_async_search",
                                           "_ccr",
                                           "_close_point_in_time",
                                           "_disk_usage",
                                           "_eql",
                                           "_field_usage_stats",
                                           "_freeze",
                                           "_graph",
                                           "_ilm",
                                           "_migration",
                                           "_reload_search_analyzers",
                                           "_rollup_search",
                                           "_searchable_snapshots",
                                           "_shard_stores",
                                           "_unfreeze",
                                           "_upgrade",
                                           "_xpack"};

static bool entry_matches(const char *entry, const struct str *parts, unsigned n)
{
    struct str name = parts[0];
    size_t i = 0;
    while (i < name.n && entry[i] == name.p[i] && entry[i] != '/' && entry[i] != '\0') {
        i++;
    }
    return i == name.n && (entry[i] == '\0' || (entry[i] == '/' && n > 1 && str_is(parts[1], entry + i + 1)));
}

static struct str find_entry(const char *const *list, size_t n_list, const struct str *parts, unsigned n)
{
    if (!str_starts(parts[0], STR("_"))) { /* as names of indices do not */
        return STR_NULL;
    }
    /* every request comes through here: most entries differ in their second letter */
    char second = parts[0].n > 1 ? parts[0].p[1] : '\0';
    for (size_t i = 0; i < n_list; i++) {
        if (list[i][1] == second && entry_matches(list[i], parts, n)) {
            return str_of(list[i]);
        }
    }
    return STR_NULL;
}

static struct str in_all(const char *const *list, size_t n_list, const struct str *parts, unsigned n)
{
    return n > 0 ? find_entry(list, n_list, parts, n) : STR_NULL;
}

struct str absent_part(const struct str *parts, unsigned n)
{
    struct str found = in_all(first, ARRAY_LEN(first), parts, n);
    if (found.p == NULL && n > 1) {
        found = in_all(behind_index, ARRAY_LEN(behind_index), parts + 1, n - 1);
    }
    return found;
}
