#include "common/cluster/search_limits.h"

#include "common/base/memory_account.h"
#include "common/settings/setting_read.h"

#define REQUEST_BYTES_MIN ((int64_t)(1024 * 1024)) /* below, not even an empty search would be answered */

struct search_limits search_limits_of(const struct cluster_state *s)
{
    struct settings persistent, all = cluster_settings(s, &persistent);
    int64_t bytes = setting_share(&all, SET_INDICES_BREAKER_REQUEST_LIMIT, memory_heap_bytes());
    if (bytes < 0) { /* one request has a limit even where all of them together have none */
        bytes = setting_share(NULL, SET_INDICES_BREAKER_REQUEST_LIMIT, memory_heap_bytes());
    }
    return (struct search_limits){.max_buckets = setting_i64(&all, SET_SEARCH_MAX_BUCKETS),
                                  .scrolls = setting_i64(&all, SET_SEARCH_MAX_OPEN_SCROLL_CONTEXT),
                                  .keep_ms = setting_ms(&all, SET_SEARCH_DEFAULT_KEEP_ALIVE),
                                  .keep_max_ms = setting_ms(&all, SET_SEARCH_MAX_KEEP_ALIVE),
                                  .request_bytes = (size_t)MAX_OF(bytes, REQUEST_BYTES_MIN)};
}
