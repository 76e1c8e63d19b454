#include "coordinator/rest/nodes_stats.h"

#include "common/base/memory_account.h"
#include "common/sys/process.h"
#include "engine/ingest/ingest.h"

static void open_section(struct jsonw *w, const char *key)
{
    jw_kobj(w, key);
}

static void write_zeros(struct jsonw *w, const char *const *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        jw_ki64(w, keys[i], 0);
    }
}

static int percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (int)(part * 100 / whole) : 0;
}

static void write_os(const struct stats_out *o, const struct node_report *n, int64_t now)
{
    struct jsonw *w = o->w;
    struct machine_stats m;
    machine_stats(&m);
    uint64_t used = m.memory_bytes - m.memory_available_bytes;
    jw_ki64(w, "timestamp", now);
    open_section(w, "cpu");
    jw_ki64(w, "percent", n->cpu_percent);
    open_section(w, "load_average");
    jw_kdouble(w, "1m", m.load_1m);
    jw_kdouble(w, "5m", m.load_5m);
    jw_kdouble(w, "15m", m.load_15m);
    jw_obj_end(w);
    jw_obj_end(w);
    open_section(w, "mem");
    stats_put(o, "total_in_bytes", m.memory_bytes);
    stats_put(o, "free_in_bytes", m.memory_available_bytes);
    stats_put(o, "used_in_bytes", used);
    jw_ki64(w, "free_percent", percent(m.memory_available_bytes, m.memory_bytes));
    jw_ki64(w, "used_percent", percent(used, m.memory_bytes));
    jw_obj_end(w);
    open_section(w, "swap");
    stats_put(o, "total_in_bytes", m.swap_bytes);
    stats_put(o, "free_in_bytes", m.swap_free_bytes);
    stats_put(o, "used_in_bytes", m.swap_bytes - m.swap_free_bytes);
    jw_obj_end(w);
}

static void write_process(const struct stats_out *o, const struct node_report *n, int64_t now)
{
    struct jsonw *w = o->w;
    struct process_stats p;
    process_stats(&p);
    jw_ki64(w, "timestamp", now);
    jw_ki64(w, "open_file_descriptors", (int64_t)p.open_files);
    jw_ki64(w, "max_file_descriptors", (int64_t)p.open_files_max);
    open_section(w, "cpu");
    jw_ki64(w, "percent", n->process_cpu_percent);
    stats_put(o, "total_in_millis", p.cpu_ms);
    jw_obj_end(w);
    open_section(w, "mem");
    stats_put(o, "total_virtual_in_bytes", p.virtual_bytes);
    jw_obj_end(w);
}

static void write_collector(const struct stats_out *o, const char *name)
{
    open_section(o->w, name);
    jw_ki64(o->w, "collection_count", 0);
    stats_put(o, "collection_time_in_millis", 0);
    jw_obj_end(o->w);
}

/* The process's memory stands for the heap: it is what runs out. */
static void write_jvm(const struct stats_out *o, const struct rest *r, int64_t now)
{
    struct jsonw *w = o->w;
    struct process_stats p;
    struct machine_stats m;
    process_stats(&p);
    machine_stats(&m);
    jw_ki64(w, "timestamp", now);
    stats_put(o, "uptime_in_millis", (uint64_t)MAX_OF(now - r->co->o.started_ms, 0));
    open_section(w, "mem");
    stats_put(o, "heap_used_in_bytes", p.rss_bytes);
    jw_ki64(w, "heap_used_percent", percent(p.rss_bytes, m.memory_limit_bytes));
    stats_put(o, "heap_committed_in_bytes", p.rss_bytes);
    stats_put(o, "heap_max_in_bytes", m.memory_limit_bytes);
    stats_put(o, "non_heap_used_in_bytes", 0);
    stats_put(o, "non_heap_committed_in_bytes", 0);
    open_section(w, "pools");
    jw_obj_end(w);
    jw_obj_end(w);
    open_section(w, "threads");
    jw_ki64(w, "count", p.threads);
    jw_ki64(w, "peak_count", p.threads);
    jw_obj_end(w);
    open_section(w, "gc");
    open_section(w, "collectors");
    write_collector(o, "young");
    write_collector(o, "old");
    jw_obj_end(w);
    jw_obj_end(w);
    open_section(w, "buffer_pools");
    jw_obj_end(w);
    open_section(w, "classes");
    write_zeros(
        w, (const char *const[]){"current_loaded_count", "total_loaded_count", "total_unloaded_count"}, 3);
    jw_obj_end(w);
}

static void write_pools(struct jsonw *w, const struct node_report *n)
{
    struct pool_row rows[POOL_ROWS];
    nodes_pools(n, rows);
    for (size_t i = 0; i < POOL_ROWS; i++) {
        const struct pool_stats *s = &rows[i].stats;
        open_section(w, rows[i].name);
        jw_ki64(w, "threads", s->threads);
        jw_ki64(w, "queue", (int64_t)s->queue);
        jw_ki64(w, "active", s->active);
        jw_ki64(w, "rejected", (int64_t)s->rejected);
        jw_ki64(w, "largest", s->largest);
        jw_ki64(w, "completed", (int64_t)s->completed);
        jw_obj_end(w);
    }
}

static void write_disk(const struct stats_out *o, const struct disk_stats *d)
{
    stats_put(o, "total_in_bytes", d->total_bytes);
    stats_put(o, "free_in_bytes", d->free_bytes);
    stats_put(o, "available_in_bytes", d->available_bytes);
}

static void write_fs(const struct stats_out *o, const struct node_report *n, int64_t now)
{
    struct jsonw *w = o->w;
    jw_ki64(w, "timestamp", now);
    open_section(w, "total");
    write_disk(o, &n->disk);
    jw_obj_end(w);
    jw_karr(w, "data");
    jw_obj(w);
    jw_kstr(w, "path", n->data_dir);
    write_disk(o, &n->disk);
    jw_obj_end(w);
    jw_arr_end(w);
}

static void write_bytes_twice(struct jsonw *w, const char *bytes_key, const char *words_key, uint64_t v)
{
    struct buf b;
    buf_init(&b, NULL, KIB);
    if (v == MEMORY_UNLIMITED) {
        buf_z(&b, "-1b");
    } else {
        memory_print_bytes(&b, v);
    }
    jw_ki64(w, bytes_key, (int64_t)v);
    jw_kstr(w, words_key, buf_view(&b));
    buf_fini(&b);
}

static void write_breakers(struct jsonw *w)
{
    struct memory_stats m;
    memory_stats(&m);
    for (size_t i = 0; i < MEMORY_PARTS; i++) {
        const struct memory_part_stats *p = &m.part[i];
        open_section(w, memory_part_name((enum memory_part)i));
        write_bytes_twice(w, "limit_size_in_bytes", "limit_size", p->limit);
        write_bytes_twice(w, "estimated_size_in_bytes", "estimated_size", p->used);
        jw_kdouble(w, "overhead", p->overhead);
        jw_ki64(w, "tripped", (int64_t)p->tripped);
        jw_obj_end(w);
    }
}

static void write_discovery(struct jsonw *w)
{
    open_section(w, "cluster_state_queue");
    write_zeros(w, (const char *const[]){"total", "pending", "committed"}, 3);
    jw_obj_end(w);
    open_section(w, "published_cluster_states");
    write_zeros(w, (const char *const[]){"full_states", "incompatible_diffs", "compatible_diffs"}, 3);
    jw_obj_end(w);
}

static void write_ingest(const struct stats_out *o)
{
    struct ingest_set *set = ingest_set_now();
    open_section(o->w, "total");
    jw_ki64(o->w, "count", atomic_load(&ingest_total.count));
    stats_put(o, "time_in_millis", (uint64_t)atomic_load(&ingest_total.time_ns) / 1000000);
    jw_ki64(o->w, "current", atomic_load(&ingest_total.current));
    jw_ki64(o->w, "failed", atomic_load(&ingest_total.failed));
    jw_obj_end(o->w);
    open_section(o->w, "pipelines");
    ingest_write_stats(o->w, set);
    jw_obj_end(o->w);
    ingest_set_unref(set);
}

static void write_pressure(const struct stats_out *o)
{
    static const char *const bytes[] = {"combined_coordinating_and_primary_in_bytes", "coordinating_in_bytes",
                                        "primary_in_bytes", "replica_in_bytes", "all_in_bytes"};
    static const char *const refused[] = {"coordinating_rejections", "primary_rejections",
                                          "replica_rejections"};
    open_section(o->w, "memory");
    for (unsigned part = 0; part < 2; part++) {
        open_section(o->w, part == 0 ? "current" : "total");
        for (size_t i = 0; i < ARRAY_LEN(bytes); i++) {
            stats_put(o, bytes[i], 0);
        }
        write_zeros(o->w, refused, part == 0 ? 0 : ARRAY_LEN(refused));
        jw_obj_end(o->w);
    }
    stats_put(o, "limit_in_bytes", 0);
    jw_obj_end(o->w);
}

static void write_script(struct jsonw *w, bool cache)
{
    static const char *const keys[] = {"compilations", "cache_evictions", "compilation_limit_triggered"};
    if (!cache) {
        write_zeros(w, keys, ARRAY_LEN(keys));
        return;
    }
    open_section(w, "sum");
    write_zeros(w, keys, ARRAY_LEN(keys));
    jw_obj_end(w);
    jw_karr(w, "contexts");
    jw_arr_end(w);
}

void nodes_write_section(const struct stats_out *o, const struct rest *r, const struct node_report *n,
                         unsigned metric, const char *name, int64_t now)
{
    struct jsonw *w = o->w;
    open_section(w, name);
    if (metric == S_OS) {
        write_os(o, n, now);
    } else if (metric == S_PROCESS) {
        write_process(o, n, now);
    } else if (metric == S_JVM) {
        write_jvm(o, r, now);
    } else if (metric == S_THREAD_POOL) {
        write_pools(w, n);
    } else if (metric == S_FS) {
        write_fs(o, n, now);
    } else if (metric == S_TRANSPORT) {
        write_zeros(w, (const char *const[]){"server_open", "total_outbound_connections", "rx_count"}, 3);
        stats_put(o, "rx_size_in_bytes", 0);
        jw_ki64(w, "tx_count", 0);
        stats_put(o, "tx_size_in_bytes", 0);
    } else if (metric == S_HTTP) {
        jw_ki64(w, "current_open", (int64_t)n->http_open);
        jw_ki64(w, "total_opened", (int64_t)n->http_opened);
    } else if (metric == S_SCRIPT || metric == S_SCRIPT_CACHE) {
        write_script(w, metric == S_SCRIPT_CACHE);
    } else if (metric == S_BREAKER) {
        write_breakers(w);
    } else if (metric == S_DISCOVERY) {
        write_discovery(w);
    } else if (metric == S_INGEST) {
        write_ingest(o);
    } else if (metric == S_PRESSURE) {
        write_pressure(o);
    }
    jw_obj_end(w);
}
