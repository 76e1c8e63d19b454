/* GET _nodes/stats: how the nodes are. */
#include "coordinator/rest/broadcast.h"
#include "coordinator/rest/nodes.h"
#include "coordinator/rest/stats.h"

#include "common/sys/process.h"

enum {
    S_INDICES,
    S_OS,
    S_PROCESS,
    S_JVM,
    S_THREAD_POOL,
    S_FS,
    S_TRANSPORT,
    S_HTTP,
    S_BREAKER,
    S_SCRIPT,
    S_DISCOVERY,
    S_INGEST,
    S_ADAPTIVE,
    S_SCRIPT_CACHE,
    S_PRESSURE,
    S_N
};
static const char *const metric_names[S_N] = {"indices",
                                              "os",
                                              "process",
                                              "jvm",
                                              "thread_pool",
                                              "fs",
                                              "transport",
                                              "http",
                                              "breaker",
                                              "script",
                                              "discovery",
                                              "ingest",
                                              "adaptive_selection",
                                              "script_cache",
                                              "indexing_pressure"};

struct nodes_rq {
    unsigned metrics, index_metrics;
    bool by_index, by_shard;
    bool none; /* the filter names no node that is here */
};

/* ---- sections --------------------------------------------------------------------------------------------------------------------- */

static void open_section(struct jsonw *w, const char *key)
{
    jw_k(w, key);
    jw_obj(w);
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
    jw_k(w, "data");
    jw_arr(w);
    jw_obj(w);
    jw_kstr(w, "path", n->data_dir);
    write_disk(o, &n->disk);
    jw_obj_end(w);
    jw_arr_end(w);
}

/* What the process has against what it may have; no request is refused for the memory of a part alone, so that
 * the parts have no limit below the whole. */
static void write_breakers(struct jsonw *w)
{
    static const struct {
        const char *name;
        double overhead;
    } parts[] = {{"request", 1.0},
                 {"fielddata", 1.03},
                 {"in_flight_requests", 2.0},
                 {"accounting", 1.0},
                 {"parent", 1.0}};
    struct process_stats p;
    struct machine_stats m;
    process_stats(&p);
    machine_stats(&m);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        uint64_t used = i + 1 == ARRAY_LEN(parts) ? p.rss_bytes : 0;
        struct buf b;
        buf_init(&b, NULL, KIB);
        open_section(w, parts[i].name);
        jw_ki64(w, "limit_size_in_bytes", (int64_t)m.memory_limit_bytes);
        stats_print_bytes(&b, m.memory_limit_bytes);
        jw_kstr(w, "limit_size", buf_view(&b));
        jw_ki64(w, "estimated_size_in_bytes", (int64_t)used);
        buf_reset(&b);
        stats_print_bytes(&b, used);
        jw_kstr(w, "estimated_size", buf_view(&b));
        jw_kdouble(w, "overhead", parts[i].overhead);
        jw_ki64(w, "tripped", 0);
        jw_obj_end(w);
        buf_fini(&b);
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
    open_section(o->w, "total");
    jw_ki64(o->w, "count", 0);
    stats_put(o, "time_in_millis", 0);
    write_zeros(o->w, (const char *const[]){"current", "failed"}, 2);
    jw_obj_end(o->w);
    open_section(o->w, "pipelines");
    jw_obj_end(o->w);
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
    jw_k(w, "contexts");
    jw_arr(w);
    jw_arr_end(w);
}

static void write_section(const struct stats_out *o, const struct rest *r, const struct node_report *n,
                          unsigned metric, int64_t now)
{
    struct jsonw *w = o->w;
    open_section(w, metric == S_BREAKER ? "breakers" : metric_names[metric]);
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

/* ---- the indices ------------------------------------------------------------------------------------------------------------------ */

static bool same_index(const struct broadcast *bc, uint32_t a, uint32_t b)
{
    return str_eq(bc->acts[a].rq.shard.index, bc->acts[b].rq.shard.index);
}

/* The index whose acts begin at `at`; returns where the next one's begin. */
static uint32_t write_index(const struct stats_out *o, const struct broadcast *bc, uint32_t at,
                            const struct nodes_rq *q)
{
    struct shard_stats sum = {0};
    uint32_t end = at;
    jw_key(o->w, bc->acts[at].rq.shard.index);
    if (q->by_shard) {
        jw_arr(o->w);
    } else {
        jw_obj(o->w);
    }
    for (; end < bc->n && same_index(bc, at, end); end++) {
        const struct shard_stats *s = bc->acts[end].stats;
        if (s == NULL) {
            continue;
        }
        stats_add(&sum, s);
        if (q->by_shard) {
            struct str number = arena_printf(bc->r->arena, "%u", bc->acts[end].rq.shard.shard);
            jw_obj(o->w);
            jw_key(o->w, number);
            jw_obj(o->w);
            stats_write_shard(o, bc->r, s, q->index_metrics);
            jw_obj_end(o->w);
            jw_obj_end(o->w);
        }
    }
    if (q->by_shard) {
        jw_arr_end(o->w);
    } else {
        stats_write(o, &sum, q->index_metrics);
        jw_obj_end(o->w);
    }
    return end;
}

static void write_indices(const struct stats_out *o, const struct broadcast *bc, const struct nodes_rq *q)
{
    struct shard_stats sum = {0};
    for (uint32_t i = 0; i < bc->n; i++) {
        if (bc->acts[i].stats != NULL) {
            stats_add(&sum, bc->acts[i].stats);
        }
    }
    open_section(o->w, "indices");
    stats_write(o, &sum, q->index_metrics);
    if (q->by_index || q->by_shard) {
        open_section(o->w, q->by_shard ? "shards" : "indices");
        for (uint32_t i = 0; i < bc->n;) {
            i = write_index(o, bc, i, q);
        }
        jw_obj_end(o->w);
    }
    jw_obj_end(o->w);
}

/* ---- the request ------------------------------------------------------------------------------------------------------------------ */

static void write_node(const struct stats_out *o, const struct broadcast *bc, const struct nodes_rq *q)
{
    struct jsonw *w = o->w;
    const struct rest *r = bc->r;
    struct node_report n;
    int64_t now = clock_wall_ms(r->co->o.clock);
    nodes_report(r, &n);
    jw_ki64(w, "timestamp", now);
    jw_kstr(w, "name", r->co->o.node_name);
    jw_kstr(w, "transport_address", n.transport_address);
    jw_kstr(w, "host", n.host);
    jw_kstr(w, "ip", n.transport_address);
    jw_k(w, "roles");
    nodes_write_roles(w, n.roles);
    nodes_write_attributes(w, r);
    if ((q->metrics >> S_INDICES & 1) != 0) {
        write_indices(o, bc, q);
    }
    for (unsigned i = S_OS; i < S_N; i++) {
        if ((q->metrics >> i & 1) != 0) {
            write_section(o, r, &n, i, now);
        }
    }
}

static void stats_done(struct broadcast *bc)
{
    const struct nodes_rq *q = bc->user;
    struct rest *r = bc->r;
    struct buf b;
    struct jsonw w;
    struct stats_out o = stats_out_for(r, &w);
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_obj(&w);
    nodes_write_head(&w, r, q->none ? 0 : 1);
    jw_k(&w, "nodes");
    jw_obj(&w);
    if (!q->none) {
        jw_key(&w, r->co->o.node_id);
        jw_obj(&w);
        write_node(&o, bc, q);
        jw_obj_end(&w);
    }
    jw_obj_end(&w);
    jw_obj_end(&w);
    broadcast_release(bc);
    rest_send(r, 200, &b);
}

static enum err read_options(struct rest *r, struct nodes_rq *q)
{
    static const char *const known[] = {"timeout",
                                        "types",
                                        "groups",
                                        "fields",
                                        "completion_fields",
                                        "fielddata_fields",
                                        "include_segment_file_sizes",
                                        "include_unloaded_segments"};
    struct str metric = rest_param(r, "metric"), index_metric = rest_param(r, "index_metric"),
               level = rest_param(r, "level");
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        rest_accept(r, known[i]);
    }
    q->none = !rest_node_wanted(r, rest_param(r, "node"));
    q->by_index = str_is(level, "indices");
    q->by_shard = str_is(level, "shards");
    enum err e = nodes_metrics(r, metric, metric_names, S_N, true, &q->metrics);
    if (e != ERR_OK) {
        return e;
    }
    if (index_metric.p != NULL && (q->metrics >> S_INDICES & 1) == 0) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                       "request [%.*s] contains index metrics [%.*s] but indices stats not requested",
                       STR_ARG(r->http->path), STR_ARG(index_metric));
    }
    if (level.p != NULL && !q->by_index && !q->by_shard && !str_is(level, "node")) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                       "level parameter must be one of [indices] or [node] or [shards] but was [%.*s]",
                       STR_ARG(level));
    }
    return stats_metrics(r, index_metric, "index metric", &q->index_metrics);
}

static void nodes_stats(struct rest *r)
{
    struct shard_act a = {.action = SHARD_STATS};
    struct nodes_rq *q = ARENA_NEW(r->arena, struct nodes_rq);
    const struct index_target *t;
    uint32_t n;
    struct expand_options o = {true, true, EXPAND_OPEN | EXPAND_HIDDEN, false, false, 0};
    enum err e = q != NULL ? read_options(r, q) : err_no_memory(&r->em);
    e = e == ERR_OK
            ? resolve_indices(r->state, STR_NULL, &o, clock_wall_ms(r->co->o.clock), r->arena, &t, &n, &r->em)
            : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    rest_accept(r, "human");
    if (rest_ready(r)) {
        bool shards = !q->none && (q->metrics >> S_INDICES & 1) != 0;
        broadcast_run(r, t, shards ? n : 0, &a, stats_done, q);
    }
}

const struct route routes_nodes_stats[] = {
    {M_GET, "/_nodes/stats", nodes_stats},
    {M_GET, "/_nodes/{node}/stats", nodes_stats},
    {M_GET, "/_nodes/stats/{metric}", nodes_stats},
    {M_GET, "/_nodes/{node}/stats/{metric}", nodes_stats},
    {M_GET, "/_nodes/stats/{metric}/{index_metric}", nodes_stats},
    {M_GET, "/_nodes/{node}/stats/{metric}/{index_metric}", nodes_stats},
};
const size_t routes_nodes_stats_n = ARRAY_LEN(routes_nodes_stats);
