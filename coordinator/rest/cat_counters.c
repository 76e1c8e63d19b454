#include "coordinator/rest/cat_counters.h"

#include <stddef.h>

/* What a hidden column says, by its name without "pri.". */
static const struct {
    const char *name;
    enum cell_kind kind;
    size_t offset; /* of an 8-byte counter in shard_stats; SIZE_MAX: always zero */
    bool nanoseconds;
} counters[] = {
    {"completion.size", CELL_BYTES, offsetof(struct shard_stats, completion_bytes), false},
    {"fielddata.memory_size", CELL_BYTES, SIZE_MAX, false},
    {"fielddata.evictions", CELL_NUMBER, SIZE_MAX, false},
    {"query_cache.memory_size", CELL_BYTES, offsetof(struct shard_stats, filter_bytes), false},
    {"query_cache.evictions", CELL_NUMBER, offsetof(struct shard_stats, filter_evictions), false},
    {"request_cache.memory_size", CELL_BYTES, SIZE_MAX, false},
    {"request_cache.evictions", CELL_NUMBER, SIZE_MAX, false},
    {"request_cache.hit_count", CELL_NUMBER, SIZE_MAX, false},
    {"request_cache.miss_count", CELL_NUMBER, SIZE_MAX, false},
    {"flush.total", CELL_NUMBER, offsetof(struct shard_stats, flush_total), false},
    {"flush.total_time", CELL_MS, offsetof(struct shard_stats, flush_ns), true},
    {"get.current", CELL_NUMBER, SIZE_MAX, false},
    {"get.time", CELL_MS, offsetof(struct shard_stats, get_ns), true},
    {"get.total", CELL_NUMBER, offsetof(struct shard_stats, get_total), false},
    {"get.exists_time", CELL_MS, offsetof(struct shard_stats, get_ns), true},
    {"get.exists_total", CELL_NUMBER, offsetof(struct shard_stats, get_total), false},
    {"get.missing_time", CELL_MS, SIZE_MAX, false},
    {"get.missing_total", CELL_NUMBER, offsetof(struct shard_stats, get_missing), false},
    {"indexing.delete_current", CELL_NUMBER, SIZE_MAX, false},
    {"indexing.delete_time", CELL_MS, offsetof(struct shard_stats, delete_ns), true},
    {"indexing.delete_total", CELL_NUMBER, offsetof(struct shard_stats, delete_total), false},
    {"indexing.index_current", CELL_NUMBER, SIZE_MAX, false},
    {"indexing.index_time", CELL_MS, offsetof(struct shard_stats, index_ns), true},
    {"indexing.index_total", CELL_NUMBER, offsetof(struct shard_stats, index_total), false},
    {"indexing.index_failed", CELL_NUMBER, offsetof(struct shard_stats, index_failed), false},
    {"merges.current", CELL_NUMBER, SIZE_MAX, false},
    {"merges.current_docs", CELL_NUMBER, SIZE_MAX, false},
    {"merges.current_size", CELL_BYTES, SIZE_MAX, false},
    {"merges.total", CELL_NUMBER, offsetof(struct shard_stats, merge_total), false},
    {"merges.total_docs", CELL_NUMBER, offsetof(struct shard_stats, merge_docs), false},
    {"merges.total_size", CELL_BYTES, offsetof(struct shard_stats, merge_bytes), false},
    {"merges.total_time", CELL_MS, offsetof(struct shard_stats, merge_ns), true},
    {"refresh.total", CELL_NUMBER, offsetof(struct shard_stats, refresh_total), false},
    {"refresh.time", CELL_MS, offsetof(struct shard_stats, refresh_ns), true},
    {"refresh.external_total", CELL_NUMBER, offsetof(struct shard_stats, refresh_total), false},
    {"refresh.external_time", CELL_MS, offsetof(struct shard_stats, refresh_ns), true},
    {"refresh.listeners", CELL_NUMBER, SIZE_MAX, false},
    {"search.fetch_current", CELL_NUMBER, SIZE_MAX, false},
    {"search.fetch_time", CELL_MS, offsetof(struct shard_stats, fetch_ns), true},
    {"search.fetch_total", CELL_NUMBER, offsetof(struct shard_stats, fetch_total), false},
    {"search.open_contexts", CELL_NUMBER, offsetof(struct shard_stats, contexts), false},
    {"search.query_current", CELL_NUMBER, offsetof(struct shard_stats, query_current), false},
    {"search.query_time", CELL_MS, offsetof(struct shard_stats, query_ns), true},
    {"search.query_total", CELL_NUMBER, offsetof(struct shard_stats, query_total), false},
    {"search.scroll_current", CELL_NUMBER, SIZE_MAX, false},
    {"search.scroll_time", CELL_MS, SIZE_MAX, false},
    {"search.scroll_total", CELL_NUMBER, offsetof(struct shard_stats, scroll_total), false},
    {"segments.count", CELL_NUMBER, offsetof(struct shard_stats, segments), false},
    {"segments.memory", CELL_BYTES, offsetof(struct shard_stats, segment_memory_bytes), false},
    {"segments.index_writer_memory", CELL_BYTES, offsetof(struct shard_stats, buffer_bytes), false},
    {"segments.version_map_memory", CELL_BYTES, offsetof(struct shard_stats, version_map_bytes), false},
    {"segments.fixed_bitset_memory", CELL_BYTES, SIZE_MAX, false},
    {"seq_no.max", CELL_NUMBER, offsetof(struct shard_stats, max_seq_no), false},
    {"seq_no.local_checkpoint", CELL_NUMBER, offsetof(struct shard_stats, local_checkpoint), false},
    {"seq_no.global_checkpoint", CELL_NUMBER, offsetof(struct shard_stats, global_checkpoint), false},
    {"warmer.current", CELL_NUMBER, SIZE_MAX, false},
    {"warmer.total", CELL_NUMBER, SIZE_MAX, false},
    {"warmer.total_time", CELL_MS, SIZE_MAX, false},
    {"script.compilations", CELL_NUMBER, SIZE_MAX, false},
    {"script.cache_evictions", CELL_NUMBER, SIZE_MAX, false},
    {"script.compilation_limit_triggered", CELL_NUMBER, SIZE_MAX, false},
    {"query_cache.hit_count", CELL_NUMBER, offsetof(struct shard_stats, filter_hits), false},
    {"query_cache.miss_count", CELL_NUMBER, offsetof(struct shard_stats, filter_misses), false},
    {"suggest.current", CELL_NUMBER, SIZE_MAX, false},
    {"suggest.time", CELL_MS, SIZE_MAX, false},
    {"suggest.total", CELL_NUMBER, offsetof(struct shard_stats, suggest_total), false},
    {"memory.total", CELL_BYTES, offsetof(struct shard_stats, segment_memory_bytes), false},
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
        v /= counters[i].nanoseconds ? 1000000 : 1;
        if (counters[i].kind == CELL_NUMBER) {
            table_number(t, v);
        } else if (counters[i].kind == CELL_BYTES) {
            table_bytes(t, (uint64_t)v);
        } else {
            table_ms(t, v);
        }
        return;
    }
    table_null(t);
}
