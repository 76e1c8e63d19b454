#include "coordinator/rest/stats.h"

#define NS_PER_MS 1000000

/* ---- sections ------------------------------------------------------------------------------------------ */

static void put(struct jsonw *w, const char *key, uint64_t v)
{
    jw_k(w, key);
    jw_u64(w, v);
}

static void write_docs(struct jsonw *w, const struct shard_stats *s)
{
    put(w, "count", s->docs);
    put(w, "deleted", s->docs_deleted);
}

static void write_store(struct jsonw *w, const struct shard_stats *s)
{
    put(w, "size_in_bytes", s->store_bytes);
    jw_ki64(w, "reserved_in_bytes", 0);
}

static void write_indexing(struct jsonw *w, const struct shard_stats *s)
{
    put(w, "index_total", s->index_total);
    put(w, "index_time_in_millis", s->index_ns / NS_PER_MS);
    jw_ki64(w, "index_current", 0);
    put(w, "index_failed", s->index_failed);
    put(w, "delete_total", s->delete_total);
    put(w, "delete_time_in_millis", s->delete_ns / NS_PER_MS);
    jw_ki64(w, "delete_current", 0);
    put(w, "noop_update_total", s->noop_updates);
    jw_kbool(w, "is_throttled", false);
    jw_ki64(w, "throttle_time_in_millis", 0);
}

static void write_get(struct jsonw *w, const struct shard_stats *s)
{
    put(w, "total", s->get_total);
    put(w, "time_in_millis", s->get_ns / NS_PER_MS);
    put(w, "exists_total", s->get_total - s->get_missing);
    put(w, "exists_time_in_millis", s->get_ns / NS_PER_MS);
    put(w, "missing_total", s->get_missing);
    jw_ki64(w, "missing_time_in_millis", 0);
    jw_ki64(w, "current", 0);
}

static void write_search(struct jsonw *w, const struct shard_stats *s)
{
    put(w, "open_contexts", s->contexts);
    put(w, "query_total", s->query_total);
    put(w, "query_time_in_millis", s->query_ns / NS_PER_MS);
    put(w, "query_current", s->query_current);
    put(w, "fetch_total", s->fetch_total);
    put(w, "fetch_time_in_millis", s->fetch_ns / NS_PER_MS);
    jw_ki64(w, "fetch_current", 0);
    put(w, "scroll_total", s->scroll_total);
    jw_ki64(w, "scroll_time_in_millis", 0);
    jw_ki64(w, "scroll_current", 0);
    put(w, "suggest_total", s->suggest_total);
    jw_ki64(w, "suggest_time_in_millis", 0);
    jw_ki64(w, "suggest_current", 0);
}

static void write_merge(struct jsonw *w, const struct shard_stats *s)
{
    jw_ki64(w, "current", 0);
    jw_ki64(w, "current_docs", 0);
    jw_ki64(w, "current_size_in_bytes", 0);
    put(w, "total", s->merge_total);
    put(w, "total_time_in_millis", s->merge_ns / NS_PER_MS);
    put(w, "total_docs", s->merge_docs);
    put(w, "total_size_in_bytes", s->merge_bytes);
    jw_ki64(w, "total_stopped_time_in_millis", 0);
    jw_ki64(w, "total_throttled_time_in_millis", 0);
    jw_ki64(w, "total_auto_throttle_in_bytes", 0);
}

static void write_refresh(struct jsonw *w, const struct shard_stats *s)
{
    put(w, "total", s->refresh_total);
    put(w, "total_time_in_millis", s->refresh_ns / NS_PER_MS);
    put(w, "external_total", s->refresh_total);
    put(w, "external_total_time_in_millis", s->refresh_ns / NS_PER_MS);
    jw_ki64(w, "listeners", 0);
}

static void write_flush(struct jsonw *w, const struct shard_stats *s)
{
    put(w, "total", s->flush_total);
    jw_ki64(w, "periodic", 0);
    put(w, "total_time_in_millis", s->flush_ns / NS_PER_MS);
}

static void write_warmer(struct jsonw *w, const struct shard_stats *s)
{
    (void)s;
    jw_ki64(w, "current", 0);
    jw_ki64(w, "total", 0);
    jw_ki64(w, "total_time_in_millis", 0);
}

static void write_query_cache(struct jsonw *w, const struct shard_stats *s)
{
    put(w, "memory_size_in_bytes", s->filter_bytes);
    put(w, "total_count", s->filter_hits + s->filter_misses);
    put(w, "hit_count", s->filter_hits);
    put(w, "miss_count", s->filter_misses);
    put(w, "cache_size", s->filter_count);
    put(w, "cache_count", s->filter_count + s->filter_evictions);
    put(w, "evictions", s->filter_evictions);
}

static void write_fielddata(struct jsonw *w, const struct shard_stats *s)
{
    (void)s;
    jw_ki64(w, "memory_size_in_bytes", 0);
    jw_ki64(w, "evictions", 0);
}

static void write_completion(struct jsonw *w, const struct shard_stats *s)
{
    put(w, "size_in_bytes", s->completion_bytes);
}

static void write_segments(struct jsonw *w, const struct shard_stats *s)
{
    put(w, "count", s->segments);
    put(w, "memory_in_bytes", s->segment_memory_bytes);
    jw_ki64(w, "terms_memory_in_bytes", 0);
    jw_ki64(w, "stored_fields_memory_in_bytes", 0);
    jw_ki64(w, "term_vectors_memory_in_bytes", 0);
    jw_ki64(w, "norms_memory_in_bytes", 0);
    jw_ki64(w, "points_memory_in_bytes", 0);
    jw_ki64(w, "doc_values_memory_in_bytes", 0);
    put(w, "index_writer_memory_in_bytes", s->buffer_bytes);
    put(w, "version_map_memory_in_bytes", s->version_map_bytes);
    jw_ki64(w, "fixed_bit_set_memory_in_bytes", 0);
    jw_ki64(w, "max_unsafe_auto_id_timestamp", -1);
    jw_k(w, "file_sizes");
    jw_obj(w);
    jw_obj_end(w);
}

static void write_translog(struct jsonw *w, const struct shard_stats *s)
{
    put(w, "operations", s->translog_ops);
    put(w, "size_in_bytes", s->translog_bytes);
    put(w, "uncommitted_operations", s->translog_uncommitted_ops);
    put(w, "uncommitted_size_in_bytes", s->translog_uncommitted_bytes);
    jw_ki64(w, "earliest_last_modified_age", 0);
}

static void write_request_cache(struct jsonw *w, const struct shard_stats *s)
{
    (void)s;
    jw_ki64(w, "memory_size_in_bytes", 0);
    jw_ki64(w, "evictions", 0);
    jw_ki64(w, "hit_count", 0);
    jw_ki64(w, "miss_count", 0);
}

static void write_recovery(struct jsonw *w, const struct shard_stats *s)
{
    (void)s;
    jw_ki64(w, "current_as_source", 0);
    jw_ki64(w, "current_as_target", 0);
    jw_ki64(w, "throttle_time_in_millis", 0);
}

static const struct {
    const char *metric, *key;
    void (*write)(struct jsonw *w, const struct shard_stats *s);
} sections[] = {
    {"docs", "docs", write_docs},
    {"store", "store", write_store},
    {"indexing", "indexing", write_indexing},
    {"get", "get", write_get},
    {"search", "search", write_search},
    {"merge", "merges", write_merge},
    {"refresh", "refresh", write_refresh},
    {"flush", "flush", write_flush},
    {"warmer", "warmer", write_warmer},
    {"query_cache", "query_cache", write_query_cache},
    {"fielddata", "fielddata", write_fielddata},
    {"completion", "completion", write_completion},
    {"segments", "segments", write_segments},
    {"translog", "translog", write_translog},
    {"request_cache", "request_cache", write_request_cache},
    {"recovery", "recovery", write_recovery},
};

enum err stats_metrics(struct rest *r, struct str list, const char *what, unsigned *out)
{
    struct str rest = list;
    bool all = list.n == 0, single = str_find(list, ',', 0) == SIZE_MAX;
    *out = 0;
    while (rest.p != NULL && rest.n > 0) {
        struct str name = str_cut(rest, ',', &rest);
        size_t i = 0;
        if (str_is(name, "_all")) {
            all = true;
            continue;
        }
        while (i < ARRAY_LEN(sections) && !str_is(name, sections[i].metric)) {
            i++;
        }
        if (i == ARRAY_LEN(sections)) {
            return err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "request [%.*s] contains unrecognized %s: [%.*s]",
                           STR_ARG(r->http->path), what, STR_ARG(name));
        }
        *out |= 1U << i;
    }
    if (all && list.n > 0 && !single) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                       "request [%.*s] contains _all and individual metrics [%.*s]", STR_ARG(r->http->path),
                       STR_ARG(list));
    }
    *out = all ? STATS_ALL : *out;
    return ERR_OK;
}

void stats_write(struct jsonw *w, const struct shard_stats *s, unsigned metrics)
{
    for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
        if ((metrics >> i & 1) != 0) {
            jw_k(w, sections[i].key);
            jw_obj(w);
            sections[i].write(w, s);
            jw_obj_end(w);
        }
    }
}

void stats_add(struct shard_stats *sum, const struct shard_stats *s)
{
    sum->docs += s->docs;
    sum->docs_deleted += s->docs_deleted;
    sum->store_bytes += s->store_bytes;
    sum->index_total += s->index_total;
    sum->index_ns += s->index_ns;
    sum->index_failed += s->index_failed;
    sum->delete_total += s->delete_total;
    sum->delete_ns += s->delete_ns;
    sum->noop_updates += s->noop_updates;
    sum->get_total += s->get_total;
    sum->get_ns += s->get_ns;
    sum->get_missing += s->get_missing;
    sum->query_total += s->query_total;
    sum->query_ns += s->query_ns;
    sum->fetch_total += s->fetch_total;
    sum->fetch_ns += s->fetch_ns;
    sum->scroll_total += s->scroll_total;
    sum->suggest_total += s->suggest_total;
    sum->query_current += s->query_current;
    sum->contexts += s->contexts;
    sum->refresh_total += s->refresh_total;
    sum->refresh_ns += s->refresh_ns;
    sum->flush_total += s->flush_total;
    sum->flush_ns += s->flush_ns;
    sum->merge_total += s->merge_total;
    sum->merge_docs += s->merge_docs;
    sum->merge_bytes += s->merge_bytes;
    sum->merge_ns += s->merge_ns;
    sum->translog_ops += s->translog_ops;
    sum->translog_bytes += s->translog_bytes;
    sum->translog_uncommitted_ops += s->translog_uncommitted_ops;
    sum->translog_uncommitted_bytes += s->translog_uncommitted_bytes;
    sum->segments += s->segments;
    sum->segment_memory_bytes += s->segment_memory_bytes;
    sum->buffer_bytes += s->buffer_bytes;
    sum->version_map_bytes += s->version_map_bytes;
    sum->filter_bytes += s->filter_bytes;
    sum->filter_hits += s->filter_hits;
    sum->filter_misses += s->filter_misses;
    sum->filter_evictions += s->filter_evictions;
    sum->filter_count += s->filter_count;
    sum->completion_bytes += s->completion_bytes;
}
