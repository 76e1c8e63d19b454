/* GET _nodes: what the nodes are. */
#include "common/base/time_text.h"
#include "coordinator/rest/master_view.h"
#include "coordinator/rest/nodes_stats.h"

#include "common/sys/process.h"

#include <sys/utsname.h>

enum {
    M_SETTINGS,
    M_OS,
    M_PROCESS,
    M_JVM,
    M_THREAD_POOL,
    M_TRANSPORT,
    M_HTTP,
    M_PLUGINS,
    M_INGEST,
    M_AGGREGATIONS,
    M_INDICES,
    M_N
};
static const char *const metric_names[M_N] = {"settings",    "os",           "process", "jvm",
                                              "thread_pool", "transport",    "http",    "plugins",
                                              "ingest",      "aggregations", "indices"};

static void write_os(struct jsonw *w, const struct node_report *n)
{
    struct machine_stats m;
    struct utsname u;
    machine_stats(&m);
    bool known = uname(&u) == 0;
    jw_obj(w);
    jw_ki64(w, "refresh_interval_in_millis", 1000);
    jw_kz(w, "name", known ? u.sysname : "Linux");
    jw_kz(w, "pretty_name", known ? u.sysname : "Linux");
    jw_kz(w, "arch", known && strcmp(u.machine, "x86_64") == 0 ? "amd64" : known ? u.machine : "unknown");
    jw_kz(w, "version", known ? u.release : "unknown");
    jw_ki64(w, "available_processors", m.cores);
    jw_ki64(w, "allocated_processors", n->cores);
    jw_obj_end(w);
}

/* There is no virtual machine: what its readers look for, the memory that may be used, is the process's. */
static void write_jvm(const struct stats_out *o, const struct rest *r)
{
    struct machine_stats m;
    machine_stats(&m);
    jw_obj(o->w);
    jw_ki64(o->w, "pid", process_id());
    jw_ki64(o->w, "start_time_in_millis", r->co->o.started_ms);
    jw_kobj(o->w, "mem");
    stats_put(o, "heap_init_in_bytes", 0);
    stats_put(o, "heap_max_in_bytes", m.memory_limit_bytes);
    stats_put(o, "non_heap_init_in_bytes", 0);
    stats_put(o, "non_heap_max_in_bytes", 0);
    stats_put(o, "direct_max_in_bytes", 0);
    jw_obj_end(o->w);
    jw_karr(o->w, "gc_collectors");
    jw_arr_end(o->w);
    jw_karr(o->w, "memory_pools");
    jw_arr_end(o->w);
    jw_karr(o->w, "input_arguments");
    jw_arr_end(o->w);
    jw_obj_end(o->w);
}

static void write_pools(struct jsonw *w, const struct node_report *n)
{
    struct pool_row rows[POOL_ROWS];
    nodes_pools(n, rows);
    jw_obj(w);
    for (size_t i = 0; i < POOL_ROWS; i++) {
        const struct pool_row *p = &rows[i];
        jw_kobj(w, p->name);
        jw_kz(w, "type", p->type);
        if (p->keep_alive != NULL) {
            jw_ki64(w, "core", p->core);
            jw_ki64(w, "max", p->max);
            jw_kz(w, "keep_alive", p->keep_alive);
        } else {
            jw_ki64(w, "size", p->max);
        }
        jw_ki64(w, "queue_size", p->queue_max);
        jw_obj_end(w);
    }
    jw_obj_end(w);
}

static void write_addresses(struct jsonw *w, struct str address)
{
    jw_karr(w, "bound_address");
    jw_str(w, address);
    jw_arr_end(w);
    jw_kstr(w, "publish_address", address);
}

/* The kinds of values that each aggregation takes; an aggregation that takes none has a kind of its own. */
static const struct {
    const char *name, *types;
} aggregations[] = {{"adjacency_matrix", "other"},
                    {"auto_date_histogram", "boolean date numeric"},
                    {"avg", "boolean date numeric"},
                    {"cardinality", "boolean date geopoint ip keyword numeric range"},
                    {"composite", "other"},
                    {"date_histogram", "boolean date numeric range"},
                    {"date_range", "boolean date numeric"},
                    {"diversified_sampler", "boolean date keyword numeric"},
                    {"extended_stats", "boolean date numeric"},
                    {"filter", "other"},
                    {"filters", "other"},
                    {"geo_bounds", "geopoint"},
                    {"geo_centroid", "geopoint"},
                    {"geo_distance", "geopoint"},
                    {"geohash_grid", "geopoint"},
                    {"geotile_grid", "geopoint"},
                    {"global", "other"},
                    {"histogram", "boolean date numeric range"},
                    {"ip_range", "ip"},
                    {"max", "boolean date numeric"},
                    {"median_absolute_deviation", "numeric"},
                    {"min", "boolean date numeric"},
                    {"missing", "boolean date geopoint ip keyword numeric range"},
                    {"nested", "other"},
                    {"percentile_ranks", "boolean date numeric"},
                    {"percentiles", "boolean date numeric"},
                    {"range", "boolean date numeric"},
                    {"rare_terms", "boolean date ip keyword numeric"},
                    {"reverse_nested", "other"},
                    {"sampler", "other"},
                    {"significant_terms", "boolean date ip keyword numeric"},
                    {"stats", "boolean date numeric"},
                    {"sum", "boolean date numeric"},
                    {"terms", "boolean date ip keyword numeric"},
                    {"top_hits", "other"},
                    {"value_count", "boolean date geopoint ip keyword numeric range"},
                    {"weighted_avg", "numeric"}};

static void write_aggregations(struct jsonw *w)
{
    for (size_t i = 0; i < ARRAY_LEN(aggregations); i++) {
        jw_kobj(w, aggregations[i].name);
        jw_karr(w, "types");
        for (struct str rest = str_of(aggregations[i].types); rest.p != NULL;) {
            jw_str(w, str_cut(rest, ' ', &rest));
        }
        jw_arr_end(w);
        jw_obj_end(w);
    }
}

static void write_metric(const struct stats_out *o, const struct rest *r, const struct node_report *n,
                         unsigned metric, bool flat)
{
    struct jsonw *w = o->w;
    switch (metric) {
    case M_SETTINGS:
        settings_write(r->co->o.node_settings, w, flat);
        return;
    case M_OS:
        write_os(w, n);
        return;
    case M_JVM:
        write_jvm(o, r);
        return;
    case M_THREAD_POOL:
        write_pools(w, n);
        return;
    default:
        break;
    }
    jw_obj(w);
    if (metric == M_PROCESS) {
        jw_ki64(w, "refresh_interval_in_millis", 1000);
        jw_ki64(w, "id", process_id());
        jw_kbool(w, "mlockall", false);
    } else if (metric == M_TRANSPORT) {
        write_addresses(w, n->transport_address);
        jw_kobj(w, "profiles");
        jw_obj_end(w);
    } else if (metric == M_HTTP) {
        write_addresses(w, n->http_address);
        stats_put(o, "max_content_length_in_bytes", n->http_body_bytes_max);
    } else if (metric == M_INGEST) {
        jw_karr(w, "processors");
        jw_arr_end(w);
    } else if (metric == M_AGGREGATIONS) {
        write_aggregations(w);
    }
    jw_obj_end(w);
}

static void write_node(const struct stats_out *o, const struct rest *r, unsigned metrics, bool flat)
{
    struct jsonw *w = o->w;
    struct node_report n;
    struct machine_stats m;
    nodes_report(r, &n);
    jw_kstr(w, "name", r->co->o.node_name);
    jw_kstr(w, "transport_address", n.transport_address);
    jw_kstr(w, "host", n.host);
    jw_kstr(w, "ip", n.host);
    jw_kz(w, "version", "7.12.1");
    jw_kz(w, "build_flavor", "default");
    jw_kz(w, "build_type", "deb");
    jw_kz(w, "build_hash", "3186837139b9c6b6d23c3200870651f10d3343b7");
    if ((metrics >> M_INDICES & 1) != 0) {
        machine_stats(&m);
        /* The names are Elasticsearch's: the words are said to be in bytes. */
        stats_put_as(o, "total_indexing_buffer_in_bytes", "total_indexing_buffer", m.memory_limit_bytes / 10);
    }
    jw_k(w, "roles");
    nodes_write_roles(w, n.roles);
    nodes_write_attributes(w, r);
    for (unsigned i = 0; i < M_INDICES; i++) {
        if ((metrics >> i & 1) == 0) {
            continue;
        }
        if (i == M_PLUGINS) {
            nodes_write_plugins(w);
            jw_karr(w, "modules");
            jw_arr_end(w);
        } else {
            jw_k(w, metric_names[i]);
            write_metric(o, r, &n, i, flat);
        }
    }
}

/* One part of a path names nodes, or, when all that it lists are metrics, metrics of all nodes. */
static bool only_metrics(struct str list)
{
    struct str rest = list;
    while (rest.p != NULL && rest.n > 0) {
        struct str one = str_cut(rest, ',', &rest);
        size_t i = 0;
        while (i < M_N && !str_is(one, metric_names[i])) {
            i++;
        }
        if (i == M_N && !str_is(one, "_all")) {
            return false;
        }
    }
    return true;
}

/* ---- at each node: the object of it -------------------------------------------------------------------- */

void node_info_serve(struct node_question *q)
{
    const struct node_info_question *what = q->body;
    struct rest r = {.co = q->co, .arena = &q->arena, .state = q->co->o.state(q->co->o.self)};
    struct buf b;
    struct jsonw w;
    struct stats_out o = {.w = &w, .human = what->human};
    jsonw_start(&w, &b);
    jw_obj(&w);
    write_node(&o, &r, what->metrics, what->flat);
    jw_obj_end(&w);
    cluster_state_unref(r.state);
    node_reply_bytes(q, &b);
}

/* ---- the request --------------------------------------------------------------------------------------- */

static void nodes_info(struct rest *r)
{
    struct str node = rest_path(r, "node"), metric = rest_path(r, "metric");
    struct node_info_question what = {.metrics = 0};
    int64_t timeout_ms;
    if (metric.p == NULL && only_metrics(node)) {
        metric = node;
        node = STR_NULL;
    }
    enum err e = nodes_metrics(r, metric, metric_names, M_N, false, &what.metrics);
    e = e == ERR_OK ? rest_time_as(r, "timeout", "NodesInfoRequest.timeout", 0, &timeout_ms) : e;
    e = e == ERR_OK ? rest_bool(r, "flat_settings", false, &what.flat) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    struct stats_out o = stats_out_for(r, NULL);
    if (!rest_ready(r)) {
        return;
    }
    what.human = o.human;
    nodes_ask_json(r, &message_node_info, node, &what, timeout_ms);
}

/* ---- what waits at the master -------------------------------------------------------------------------- */

static void write_pending(struct master_view *v)
{
    struct buf b;
    struct jsonw w;
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_karr(&w, "tasks");
    for (uint32_t i = 0; i < v->pending->queue.n; i++) {
        const struct pending_task *t = &v->pending->queue.v[i];
        struct buf time;
        buf_init(&time, NULL, KIB);
        time_put_ns(&time, t->queued_ms * 1000000);
        jw_obj(&w);
        jw_ki64(&w, "insert_order", (int64_t)t->order);
        jw_kz(&w, "priority", t->priority);
        jw_kstr(&w, "source", t->source);
        jw_kbool(&w, "executing", t->executing);
        jw_ki64(&w, "time_in_queue_millis", t->queued_ms);
        jw_kstr(&w, "time_in_queue", buf_view(&time));
        jw_obj_end(&w);
        buf_fini(&time);
    }
    jw_arr_end(&w);
    jw_obj_end(&w);
    rest_send(v->r, 200, &b);
}

static void pending_tasks(struct rest *r)
{
    bool local;
    int64_t timeout_ms;
    enum err e = rest_bool(r, "local", false, &local);
    e = e == ERR_OK ? rest_time(r, "master_timeout", MASTER_TIMEOUT_MS, &timeout_ms) : e;
    if (rest_goes_on(r, e)) {
        rest_ask_queue(r, local, timeout_ms, write_pending);
    }
}

const struct route routes_nodes[] = {
    {M_GET, "/_nodes", nodes_info},
    {M_GET, "/_nodes/{node}", nodes_info},
    {M_GET, "/_nodes/{node}/{metric}", nodes_info},
    {M_GET, "/_cluster/pending_tasks", pending_tasks},
};
const size_t routes_nodes_n = ARRAY_LEN(routes_nodes);
