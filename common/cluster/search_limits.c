#include "common/cluster/search_limits.h"

#include "common/base/num.h"
#include "common/base/settings.h"

#define HEAP_BYTES        ((double)(1024 * 1024 * 1024))
#define REQUEST_BYTES_MIN ((int64_t)(1024 * 1024)) /* below, not even an empty search would be answered */

int64_t heap_share(struct str text, int64_t otherwise)
{
    int64_t bytes;
    double percent;
    if (text.n > 0 && text.p[text.n - 1] == '%') {
        bool ok =
            num_parse_double(str_slice(text, 0, text.n - 1), &percent) && percent >= 0 && percent <= 100;
        return ok ? (int64_t)(percent / 100 * HEAP_BYTES) : otherwise;
    }
    return parse_bytes(text, "", &bytes, NULL) == ERR_OK && bytes >= 0 ? bytes : otherwise;
}

struct search_limits search_limits_of(const struct cluster_state *s)
{
    struct search_limits l = {.max_buckets = 65535, .scrolls = 500};
    int64_t bytes = (int64_t)(0.6 * HEAP_BYTES);
    if (s != NULL) {
        num_parse_i64(cluster_setting(s, "search.max_buckets", STR("65535")), &l.max_buckets);
        num_parse_i64(cluster_setting(s, "search.max_open_scroll_context", STR("500")), &l.scrolls);
        bytes = heap_share(cluster_setting(s, "indices.breaker.request.limit", STR("60%")), bytes);
    }
    l.request_bytes = (size_t)MAX_OF(bytes, REQUEST_BYTES_MIN);
    return l;
}
