#include "common/cluster/search_limits.h"

#include "common/base/memory_account.h"
#include "common/base/num.h"
#include "common/base/settings.h"

#define KEEP_MS           300000 /* the defaults */
#define KEEP_MAX_MS       86400000
#define REQUEST_BYTES_MIN ((int64_t)(1024 * 1024)) /* below, not even an empty search would be answered */

int64_t heap_share(struct str text, int64_t otherwise)
{
    int64_t bytes;
    double percent;
    if (text.n > 0 && text.p[text.n - 1] == '%') {
        bool ok =
            num_parse_double(str_slice(text, 0, text.n - 1), &percent) && percent >= 0 && percent <= 100;
        return ok ? (int64_t)(percent / 100 * (double)memory_heap_bytes()) : otherwise;
    }
    return parse_bytes(text, "", &bytes, NULL) == ERR_OK && bytes >= 0 ? bytes : otherwise;
}

static int64_t time_setting(const struct cluster_state *s, const char *key, int64_t otherwise)
{
    int64_t ms;
    struct str v = s != NULL ? cluster_setting(s, key, STR_NULL) : STR_NULL;
    return v.p != NULL && parse_time_ms(v, key, &ms, NULL) == ERR_OK ? ms : otherwise;
}

struct search_limits search_limits_of(const struct cluster_state *s)
{
    struct search_limits l = {.max_buckets = 65535,
                              .scrolls = 500,
                              .keep_ms = time_setting(s, "search.default_keep_alive", KEEP_MS),
                              .keep_max_ms = time_setting(s, "search.max_keep_alive", KEEP_MAX_MS)};
    int64_t bytes = (int64_t)(0.6 * (double)memory_heap_bytes());
    if (s != NULL) {
        num_parse_i64(cluster_setting(s, "search.max_buckets", STR("65535")), &l.max_buckets);
        num_parse_i64(cluster_setting(s, "search.max_open_scroll_context", STR("500")), &l.scrolls);
        bytes = heap_share(cluster_setting(s, "indices.breaker.request.limit", STR("60%")), bytes);
    }
    l.request_bytes = (size_t)MAX_OF(bytes, REQUEST_BYTES_MIN);
    return l;
}
