#include "coordinator/rest/cat_counters.h"

#include <stddef.h>

#define NUMBER(member) CELL_NUMBER, offsetof(struct shard_stats, member)
#define BYTES(member)  CELL_BYTES, offsetof(struct shard_stats, member)
#define MS(member)     CELL_MS, offsetof(struct shard_stats, member)
#define NO_NUMBER      CELL_NUMBER, SIZE_MAX
#define NO_BYTES       CELL_BYTES, SIZE_MAX
#define NO_MS          CELL_MS, SIZE_MAX
#define COUNTER(name, aliases, about, ...) \
    {                                      \
        name, __VA_ARGS__                  \
    }

/* What a hidden column says, by its name without "pri.". */
static const struct {
    const char *name;
    enum cell_kind kind; /* CELL_MS: the counter has nanoseconds */
    size_t offset;       /* of an 8-byte counter in shard_stats; SIZE_MAX: always zero */
} counters[] = {
    CAT_CACHES(COUNTER),
    CAT_REQUEST_CACHE(COUNTER, ""),
    CAT_OPERATIONS(COUNTER),
    CAT_SEARCHES(COUNTER),
    CAT_WARMER(COUNTER),
    CAT_SUGGEST(COUNTER),
    {"seq_no.max", NUMBER(max_seq_no)},
    {"seq_no.local_checkpoint", NUMBER(local_checkpoint)},
    {"seq_no.global_checkpoint", NUMBER(global_checkpoint)},
    {"script.compilations", NO_NUMBER},
    {"script.cache_evictions", NO_NUMBER},
    {"script.compilation_limit_triggered", NO_NUMBER},
    {"query_cache.hit_count", NUMBER(filter_hits)},
    {"query_cache.miss_count", NUMBER(filter_misses)},
    {"memory.total", BYTES(segment_memory_bytes)},
};

void cat_put_counter(struct table *t, const char *column, const struct shard_stats *s)
{
    const char *name = strncmp(column, "pri.", 4) == 0 ? column + 4 : column;
    for (size_t i = 0; s != NULL && i < ARRAY_LEN(counters); i++) {
        if (strcmp(counters[i].name, name) != 0) {
            continue;
        }
        int64_t v = 0;
        if (counters[i].offset != SIZE_MAX) {
            memcpy(&v, (const char *)s + counters[i].offset, sizeof(v));
        }
        if (strcmp(name, "get.exists_total") == 0) {
            v -= (int64_t)s->get_missing;
        }
        if (counters[i].kind == CELL_NUMBER) {
            table_number(t, v);
        } else if (counters[i].kind == CELL_BYTES) {
            table_bytes(t, (uint64_t)v);
        } else {
            table_ms(t, v / 1000000);
        }
        return;
    }
    table_null(t);
}
