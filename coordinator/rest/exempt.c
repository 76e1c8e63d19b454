/* Requests that no memory limit refuses, as in Elasticsearch: those that report the state of the cluster, and those that
 * lift a limit. */
#include "coordinator/rest/service.h"

/* What follows the name, without the slash between; p == NULL: it is another one. */
static struct str behind(struct str path, const char *name)
{
    struct str with = str_of(name);
    if (!str_starts(path, with) || (path.n > with.n && path.p[with.n] != '/')) {
        return STR_NULL;
    }
    return str_slice(path, MIN_OF(with.n + 1, path.n), path.n);
}

static bool is_below(struct str path, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (behind(path, names[i]).p != NULL) {
            return true;
        }
    }
    return false;
}

/* The list, and what ends them; not a single one. */
static bool of_tasks(struct str path)
{
    struct str what = behind(path, "_tasks");
    size_t slash = str_find(what, '/', 0);
    return what.p != NULL
           && (what.n == 0 || str_is(what, "_cancel")
               || (slash != SIZE_MAX && str_is(str_slice(what, slash + 1, what.n), "_cancel")));
}

bool rest_service_exempt(struct str path)
{
    static const char *const any[] = {"_cluster/settings", "_cluster/health", "_cluster/state",
                                      "_cluster/stats",    "_nodes",          "_console",
                                      "_prometheus"};
    static const char *const of_indices[] = {"_stats", "_cache/clear"};
    while (path.n > 0 && path.p[path.n - 1] == '/') {
        path.n--;
    }
    if (path.n == 0) {
        return true;
    }
    path = str_slice(path, path.p[0] == '/' ? 1 : 0, path.n);
    if (path.n > 0 && path.p[0] == '_') {
        return is_below(path, any, ARRAY_LEN(any)) || is_below(path, of_indices, ARRAY_LEN(of_indices))
               || of_tasks(path);
    }
    size_t slash = str_find(path, '/', 0);
    return slash != SIZE_MAX
           && is_below(str_slice(path, slash + 1, path.n), of_indices, ARRAY_LEN(of_indices));
}
