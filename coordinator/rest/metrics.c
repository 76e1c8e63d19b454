/* GET /_prometheus/metrics: the cluster as this node sees it, and the node itself, in Prometheus's text format.
 * Names are those of the exporter that is used with Elasticsearch 7; what only this cluster has begins with
 * serai_. */
#include "coordinator/rest/master_view.h"
#include "coordinator/rest/node_figures.h"

#include "common/cluster/health.h"
#include "coordinator/rest/nodes.h"

#include <stdio.h>

struct metrics_rq {
    struct rest *r;
    const struct master_view *view;
};

struct metrics_out {
    struct buf b;
    struct str cluster, node, node_id;
};

/* Texts of labels: backslashes, quotes and line ends are escaped. */
static void put_label(struct buf *b, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\\' || s.p[i] == '"') {
            buf_printf(b, "\\%c", s.p[i]);
        } else if (s.p[i] == '\n') {
            buf_z(b, "\\n");
        } else {
            buf_printf(b, "%c", s.p[i]);
        }
    }
}

static void about(struct metrics_out *o, const char *name, const char *type, const char *help)
{
    buf_printf(&o->b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* One sample; key == NULL: without a label of its own. */
static void sample(struct metrics_out *o, const char *name, bool of_node, const char *key, const char *label,
                   double v)
{
    buf_printf(&o->b, "%s{cluster=\"", name);
    put_label(&o->b, o->cluster);
    buf_z(&o->b, "\"");
    if (of_node) {
        buf_z(&o->b, ",node=\"");
        put_label(&o->b, o->node);
        buf_z(&o->b, "\",nodeid=\"");
        put_label(&o->b, o->node_id);
        buf_z(&o->b, "\"");
    }
    if (key != NULL) {
        buf_printf(&o->b, ",%s=\"%s\"", key, label);
    }
    buf_printf(&o->b, "} %.17g\n", v);
}

static void gauge(struct metrics_out *o, const char *name, const char *help, bool of_node, double v)
{
    about(o, name, "gauge", help);
    sample(o, name, of_node, NULL, NULL, v);
}

static void counter(struct metrics_out *o, const char *name, const char *help, double v)
{
    about(o, name, "counter", help);
    sample(o, name, true, NULL, NULL, v);
}

/* ---- the cluster --------------------------------------------------------------------------------------- */

static void put_shards(struct metrics_out *o, const struct shards_health *h)
{
    const struct {
        const char *type;
        uint32_t n;
    } rows[] = {{"active", h->active},
                {"active_primary", h->primaries},
                {"delayed_unassigned", h->delayed},
                {"initializing", h->initializing},
                {"relocating", h->relocating},
                {"unassigned", h->unassigned}};
    about(o, "es_cluster_shards_number", "gauge", "Number of shards");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        sample(o, "es_cluster_shards_number", false, "type", rows[i].type, rows[i].n);
    }
    gauge(o, "es_cluster_shards_active_percent", "Percent of active shards", false, health_percent(h));
}

static void put_cluster(struct metrics_out *o, const struct metrics_rq *q)
{
    const struct cluster_state *s = q->r->state;
    struct shards_health h = cluster_health(s);
    uint64_t term = s->coordination != NULL ? s->coordination->term : s->term;
    gauge(o, "es_cluster_status", "Cluster status: 0 green, 1 yellow, 2 red", false, (double)h.status);
    gauge(o, "es_cluster_nodes_number", "Number of nodes in the cluster", false, health_nodes(s, 0));
    gauge(o, "es_cluster_datanodes_number", "Number of data nodes in the cluster", false,
          health_nodes(s, ROLE_DATA));
    put_shards(o, &h);
    gauge(o, "es_cluster_pending_tasks_number", "Number of tasks that wait at the master", false,
          q->view->pending->queue.n);
    gauge(o, "es_cluster_task_max_waiting_time_seconds", "The longest that one of them waits", false,
          (double)master_view_longest_ms(q->view) / 1000);
    gauge(o, "es_cluster_inflight_fetch_number", "Number of shards whose copies are looked for", false,
          q->view->pending->queue.fetching);
    gauge(o, "serai_cluster_term", "The term of the state's master", false, (double)term);
    gauge(o, "serai_cluster_state_version", "The version of the state applied here", true,
          (double)s->version);
    gauge(o, "serai_cluster_has_master", "Whether a master is known here", true, cluster_master(s) != NULL);
    gauge(o, "serai_cluster_is_master", "Whether this node leads", true,
          cluster_master(s) != NULL && str_eq(s->nodes->master, q->r->co->o.node_id));
    gauge(o, "serai_cluster_indices_number", "Number of indices", false, s->n_indices);
}

static void put_counts(struct metrics_out *o, struct coordinator *co)
{
    struct state_counts c;
    coordinator_counts(co, &c);
    counter(o, "serai_cluster_states_applied_total", "States that were published and applied here",
            (double)c.states);
    counter(o, "serai_cluster_master_changes_total", "Times that another node has become the master",
            (double)c.masters);
    counter(o, "serai_cluster_master_losses_total", "Times that nobody led any more", (double)c.no_masters);
    counter(o, "serai_cluster_copies_started_total", "Copies of shards that began to serve: recoveries done",
            (double)c.started);
    counter(o, "serai_cluster_copies_failed_total", "Copies of shards that failed", (double)c.failed);
    counter(o, "serai_cluster_copies_promoted_total", "Replicas that became primaries", (double)c.promoted);
    counter(o, "serai_cluster_copies_moved_total", "Copies that began to move to another node",
            (double)c.moved);
}

/* ---- this node ----------------------------------------------------------------------------------------- */

static void put_process(struct metrics_out *o, const struct node_figures *f)
{
    gauge(o, "es_process_cpu_percent", "CPU percentage used by the process", true,
          f->report.process_cpu_percent);
    counter(o, "es_process_cpu_time_seconds", "CPU time used by the process",
            (double)f->process.cpu_ms / 1000);
    gauge(o, "es_process_mem_total_virtual_bytes", "Virtual memory used by the process", true,
          (double)f->process.virtual_bytes);
    gauge(o, "serai_process_mem_resident_bytes", "Resident memory used by the process", true,
          (double)f->process.rss_bytes);
    gauge(o, "serai_process_threads_number", "Threads of the process", true, f->process.threads);
    gauge(o, "es_process_file_descriptors_open_number", "Open file descriptors", true,
          (double)f->process.open_files);
    gauge(o, "es_process_file_descriptors_max_number", "Max file descriptors", true,
          (double)f->process.open_files_max);
    gauge(o, "es_os_cpu_percent", "CPU usage in percent", true, f->report.cpu_percent);
    gauge(o, "es_os_load_average_one_minute", "CPU load", true, f->machine.load_1m);
    gauge(o, "es_os_load_average_five_minutes", "CPU load", true, f->machine.load_5m);
    gauge(o, "es_os_load_average_fifteen_minutes", "CPU load", true, f->machine.load_15m);
    gauge(o, "es_os_mem_total_bytes", "Total memory size", true, (double)f->machine.memory_bytes);
    gauge(o, "es_os_mem_free_bytes", "Memory free", true, (double)f->machine.memory_available_bytes);
    gauge(o, "es_os_mem_used_bytes", "Memory used", true,
          (double)(f->machine.memory_bytes - f->machine.memory_available_bytes));
    gauge(o, "es_fs_total_total_bytes", "Total disk space", true, (double)f->report.disk.total_bytes);
    gauge(o, "es_fs_total_available_bytes", "Available disk space", true,
          (double)f->report.disk.available_bytes);
    gauge(o, "es_fs_total_free_bytes", "Free disk space", true, (double)f->report.disk.free_bytes);
    gauge(o, "es_http_open_server_number", "Number of open server connections", true,
          (double)f->report.http_open);
    counter(o, "es_http_open_total_count", "Count of opened connections", (double)f->report.http_opened);
}

static void put_pools(struct metrics_out *o, const struct node_report *n)
{
    static const char *const kinds[] = {"active", "largest", "queue", "rejected", "completed", "threads"};
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        char name[64];
        buf_printf(&o->b,
                   "# HELP es_threadpool_%s_number %s of thread pools\n# TYPE es_threadpool_%s_number %s\n",
                   kinds[k], kinds[k], kinds[k], k == 3 || k == 4 ? "counter" : "gauge");
        snprintf(name, sizeof(name), "es_threadpool_%s_number", kinds[k]);
        for (unsigned i = 0; i < n->n_pools; i++) {
            const struct pool_stats *p = &n->pools[i].stats;
            const double v[] = {p->active,           p->largest,           (double)p->queue,
                                (double)p->rejected, (double)p->completed, p->threads};
            sample(o, name, true, "name", n->pools[i].name, v[k]);
        }
    }
}

static void put_indices(struct metrics_out *o, const struct shard_stats *s)
{
    gauge(o, "es_indices_doc_number", "Documents of the copies here", true, (double)s->docs);
    gauge(o, "es_indices_doc_deleted_number", "Deleted documents that are not merged away", true,
          (double)s->docs_deleted);
    gauge(o, "es_indices_store_size_bytes", "Bytes on disk", true, (double)s->store_bytes);
    gauge(o, "es_indices_segments_number", "Segments", true, (double)s->segments);
    gauge(o, "es_indices_segments_memory_bytes", "Memory of segments", true, (double)s->segment_memory_bytes);
    counter(o, "es_indices_indexing_index_count", "Documents indexed", (double)s->index_total);
    counter(o, "es_indices_indexing_index_failed_count", "Documents refused", (double)s->index_failed);
    counter(o, "es_indices_indexing_index_time_seconds", "Time of indexing", (double)s->index_ns / 1e9);
    counter(o, "es_indices_indexing_delete_count", "Documents deleted", (double)s->delete_total);
    counter(o, "es_indices_get_count", "Documents read by id", (double)s->get_total);
    counter(o, "es_indices_get_time_seconds", "Time of reading by id", (double)s->get_ns / 1e9);
    counter(o, "es_indices_search_query_count", "Query phases", (double)s->query_total);
    counter(o, "es_indices_search_query_time_seconds", "Time of query phases", (double)s->query_ns / 1e9);
    counter(o, "es_indices_search_fetch_count", "Fetch phases", (double)s->fetch_total);
    counter(o, "es_indices_search_fetch_time_seconds", "Time of fetch phases", (double)s->fetch_ns / 1e9);
    gauge(o, "es_indices_search_open_contexts_number", "Open search contexts", true, (double)s->contexts);
    counter(o, "es_indices_refresh_total_count", "Refreshes", (double)s->refresh_total);
    counter(o, "es_indices_refresh_total_time_seconds", "Time of refreshes", (double)s->refresh_ns / 1e9);
    counter(o, "es_indices_flush_total_count", "Flushes", (double)s->flush_total);
    counter(o, "es_indices_flush_total_time_seconds", "Time of flushes", (double)s->flush_ns / 1e9);
    counter(o, "es_indices_merges_total_number", "Merges", (double)s->merge_total);
    counter(o, "es_indices_merges_total_time_seconds", "Time of merges", (double)s->merge_ns / 1e9);
    counter(o, "es_indices_merges_total_size_bytes", "Bytes merged", (double)s->merge_bytes);
    gauge(o, "es_indices_querycache_cache_size_bytes", "Memory of kept filters", true,
          (double)s->filter_bytes);
    counter(o, "es_indices_querycache_hit_count", "Filters that were kept", (double)s->filter_hits);
    counter(o, "es_indices_querycache_miss_number", "Filters that were not", (double)s->filter_misses);
    gauge(o, "serai_indices_translog_bytes", "Bytes of translogs", true, (double)s->translog_bytes);
}

/* ---- the request --------------------------------------------------------------------------------------- */

static void figures_done(struct node_calls *c)
{
    struct metrics_rq *q = c->user;
    struct rest *r = q->r;
    const struct node_figures *f = c->n > 0 ? node_figures_of(c, 0) : NULL;
    struct metrics_out o = {
        .cluster = r->co->o.cluster_name, .node = r->co->o.node_name, .node_id = r->co->o.node_id};
    buf_init(&o.b, NULL, BUF_UNLIMITED);
    put_cluster(&o, q);
    put_counts(&o, r->co);
    if (f != NULL) {
        put_process(&o, f);
        put_pools(&o, &f->report);
        put_indices(&o, &f->shards);
    }
    rest_send_text(r, 200, "text/plain; version=0.0.4; charset=UTF-8", &o.b);
}

static void metrics_asked(struct master_view *v)
{
    struct metrics_rq *q = v->user;
    q->view = v;
    node_figures_ask(v->r, STR("_local"), true, 0, figures_done, q);
}

/* Each node is asked for itself: that a master is missing must not hide the node. */
static void metrics(struct rest *r)
{
    struct metrics_rq *q = ARENA_NEW(r->arena, struct metrics_rq);
    if (q == NULL) {
        rest_no_memory(r);
    } else if (rest_ready(r)) {
        q->r = r;
        rest_ask_master(r, cluster_master(r->state) == NULL, 1000, metrics_asked, q);
    }
}

const struct route routes_metrics[] = {
    {M_GET, "/_prometheus/metrics", metrics},
};
const size_t routes_metrics_n = ARRAY_LEN(routes_metrics);
