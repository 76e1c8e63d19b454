/* The _cat endpoints about the cluster and its nodes. */
#include "coordinator/rest/health.h"
#include "coordinator/rest/table.h"

#include "common/sys/process.h"

static const struct table_column health_columns[] = {
    {"epoch", "t,time", "seconds since 1970-01-01 00:00:00", false, false},
    {"timestamp", "ts,hms,hhmmss", "time in HH:MM:SS", false, false},
    {"cluster", "cl", "cluster name", false, false},
    {"status", "st", "health status", false, false},
    {"node.total", "nt,nodeTotal", "total number of nodes", true, false},
    {"node.data", "nd,nodeData", "number of nodes that can store data", true, false},
    {"shards", "t,sh,shards.total,shardsTotal", "total number of shards", true, false},
    {"pri", "p,shards.primary,shardsPrimary", "number of primary shards", true, false},
    {"relo", "r,shards.relocating,shardsRelocating", "number of relocating nodes", true, false},
    {"init", "i,shards.initializing,shardsInitializing", "number of initializing nodes", true, false},
    {"unassign", "u,shards.unassigned,shardsUnassigned", "number of unassigned shards", true, false},
    {"pending_tasks", "pt,pendingTasks", "number of pending tasks", true, false},
    {"max_task_wait_time", "mtwt,maxTaskWaitTime", "wait time of longest task pending", true, false},
    {"active_shards_percent", "asp,activeShardsPercent", "active number of shards in percent", true, false},
};

static const struct table_column master_columns[] = {
    {"id", NULL, "node id", false, false},
    {"host", "h", "host name", false, false},
    {"ip", NULL, "ip address", false, false},
    {"node", "n", "node name", false, false},
};

static const struct table_column nodes_columns[] = {
    {"id", "id,nodeId", "unique node id", false, true},
    {"pid", "p", "process id", false, true},
    {"ip", "i", "ip address", false, false},
    {"port", "po", "bound transport port", false, true},
    {"http_address", "http", "bound http address", false, true},
    {"version", "v", "es version", false, true},
    {"flavor", "f", "es distribution flavor", false, true},
    {"type", "t", "es distribution type", false, true},
    {"build", "b", "es build hash", false, true},
    {"jdk", "j", "jdk version", false, true},
    {"disk.total", "dt,diskTotal", "total disk space", false, true},
    {"disk.used", "du,diskUsed", "used disk space", false, true},
    {"disk.avail", "d,da,disk,diskAvail", "available disk space", false, true},
    {"disk.used_percent", "dup,diskUsedPercent", "used disk space percentage", false, true},
    {"heap.current", "hc,heapCurrent", "used heap", true, true},
    {"heap.percent", "hp,heapPercent", "used heap ratio", true, false},
    {"heap.max", "hm,heapMax", "max configured heap", true, true},
    {"ram.current", "rc,ramCurrent", "used machine memory", true, true},
    {"ram.percent", "rp,ramPercent", "used machine memory ratio", true, false},
    {"ram.max", "rm,ramMax", "total machine memory", true, true},
    {"file_desc.current", "fdc,fileDescriptorCurrent", "used file descriptors", true, true},
    {"file_desc.percent", "fdp,fileDescriptorPercent", "used file descriptor ratio", true, true},
    {"file_desc.max", "fdm,fileDescriptorMax", "max file descriptors", true, true},
    {"cpu", "cpu", "recent cpu usage", true, false},
    {"load_1m", "l", "1m load avg", true, false},
    {"load_5m", "l", "5m load avg", true, false},
    {"load_15m", "l", "15m load avg", true, false},
    {"uptime", "u", "node uptime", true, true},
    {"node.role", "r,role,nodeRole",
     "m:master eligible node, d:data node, i:ingest node, -:coordinating node only", false, false},
    {"master", "m", "*:current master", false, false},
    {"name", "n", "node name", false, false},
    {"completion.size", "cs,completionSize", "size of completion", false, true},
    {"fielddata.memory_size", "fm,fielddataMemory", "used fielddata cache", false, true},
    {"fielddata.evictions", "fe,fielddataEvictions", "fielddata evictions", false, true},
    {"query_cache.memory_size", "qcm,queryCacheMemory", "used query cache", false, true},
};

static const struct table_column templates_columns[] = {
    {"name", "n", "template name", false, false},
    {"index_patterns", "t", "template index patterns", false, false},
    {"order", "o,p", "template application order/priority number", false, false},
    {"version", "v", "version", false, false},
    {"composed_of", "c", "component templates comprising index template", false, false},
};

static const struct table_column thread_pool_columns[] = {
    {"node_name", "nn", "node name", false, false},
    {"node_id", "id", "persistent node id", false, true},
    {"ephemeral_node_id", "eid", "ephemeral node id", false, true},
    {"pid", "p", "process id", false, true},
    {"host", "h", "host name", false, true},
    {"ip", "i", "ip address", false, true},
    {"port", "po", "bound transport port", false, true},
    {"name", "n", "thread pool name", false, false},
    {"type", "t", "thread pool type", false, true},
    {"active", "a", "number of active threads", true, false},
    {"pool_size", "psz", "number of threads", true, true},
    {"queue", "q", "number of tasks currently in queue", true, false},
    {"queue_size", "qs", "maximum number of tasks permitted in queue", true, true},
    {"rejected", "r", "number of rejected tasks", true, false},
    {"largest", "l", "highest number of seen active threads", true, true},
    {"completed", "c", "number of completed tasks", true, true},
    {"core", "cr", "core number of threads in a scaling thread pool", true, true},
    {"max", "mx", "maximum number of threads in a scaling thread pool", true, true},
    {"size", "sz", "number of threads in a fixed thread pool", true, true},
    {"keep_alive", "ka", "thread keep alive time", true, true},
};

static const struct table_column pending_tasks_columns[] = {
    {"insertOrder", "o", "task insertion order", true, false},
    {"timeInQueue", "t", "how long task has been in queue", true, false},
    {"priority", "p", "task priority", false, false},
    {"source", "s", "task source", false, false},
};

static const struct table_column fielddata_columns[] = {
    {"id", NULL, "node id", false, false},      {"host", "h", "host name", false, false},
    {"ip", NULL, "ip address", false, false},   {"node", "n", "node name", false, false},
    {"field", "f", "field name", false, false}, {"size", "s", "field data usage", false, false},
};

static const struct table_column nodeattrs_columns[] = {
    {"node", "name", "node name", false, false},
    {"id", "id,nodeId", "unique node id", false, true},
    {"pid", "p", "process id", false, true},
    {"host", "h", "host name", false, false},
    {"ip", "i", "ip address", false, false},
    {"port", "po", "bound transport port", false, true},
    {"attr", "attr.name", "attribute description", false, false},
    {"value", "attr.value", "attribute value", false, false},
};

static const struct table_column plugins_columns[] = {
    {"id", NULL, "unique node id", false, true},         {"name", "n", "node name", false, false},
    {"component", "c", "component", false, false},       {"version", "v", "component version", false, false},
    {"description", "d", "plugin details", false, true}, {"type", "t", "plugin type", false, true},
};

static const struct table_column repositories_columns[] = {
    {"id", "id,repoId", "unique repository id", false, false},
    {"type", "t,type", "repository type", false, false},
};

static const struct table_column allocation_columns[] = {
    {"shards", "s", "number of shards on node", true, false},
    {"disk.indices", "di,diskIndices", "disk used by ES indices", true, false},
    {"disk.used", "du,diskUsed", "disk used (total, not just ES)", true, false},
    {"disk.avail", "da,diskAvail", "disk available", true, false},
    {"disk.total", "dt,diskTotal", "total capacity of all volumes", true, false},
    {"disk.percent", "dp,diskPercent", "percent disk used", true, false},
    {"host", "h", "host of node", false, false},
    {"ip", NULL, "ip of node", false, false},
    {"node", "n", "name of node", false, false},
};

/* Begins a table; false: the request was answered with help or refused. */
static bool begin(struct table *t, struct rest *r, const struct table_column *columns, uint32_t n)
{
    if (table_help(r, columns, n) || !rest_ready(r)) {
        return false;
    }
    table_init(t, r, columns, n);
    return true;
}

static void cat_health(struct rest *r)
{
    struct table t;
    struct shards_health h = cluster_health(r->state);
    int64_t now = clock_wall_ms(r->co->o.clock) / 1000;
    if (!begin(&t, r, health_columns, ARRAY_LEN(health_columns))) {
        return;
    }
    table_row(&t);
    table_number(&t, now);
    table_f(&t, "%02d:%02d:%02d", (int)(now / 3600 % 24), (int)(now / 60 % 60), (int)(now % 60));
    table_str(&t, r->co->o.cluster_name);
    table_z(&t, health_name(h.status));
    table_number(&t, health_nodes(r->state, 0));
    table_number(&t, health_nodes(r->state, ROLE_DATA));
    table_number(&t, h.active);
    table_number(&t, h.primaries);
    table_number(&t, h.relocating);
    table_number(&t, h.initializing);
    table_number(&t, h.unassigned);
    table_number(&t, 0);
    table_z(&t, "-");
    table_f(&t, "%.1f%%", health_percent(&h));
    table_send(&t);
}

static void cat_master(struct rest *r)
{
    struct table t;
    if (!begin(&t, r, master_columns, ARRAY_LEN(master_columns))) {
        return;
    }
    table_row(&t);
    table_str(&t, r->co->o.node_id);
    table_z(&t, "127.0.0.1");
    table_z(&t, "127.0.0.1");
    table_str(&t, r->co->o.node_name);
    table_send(&t);
}

static void node_row(struct table *t)
{
    const struct rest *r = t->r;
    struct process_stats p;
    struct machine_stats m;
    process_stats(&p);
    machine_stats(&m);
    uint64_t used = m.memory_bytes - m.memory_available_bytes;
    table_row(t);
    table_str(t, r->co->o.node_id);
    table_number(t, process_id());
    table_z(t, "127.0.0.1");
    table_z(t, "9300");
    table_null(t);
    table_z(t, "7.12.1");
    for (unsigned i = 0; i < 8; i++) { /* flavor ... disk.used_percent */
        table_null(t);
    }
    table_bytes(t, p.rss_bytes);
    table_number(t, m.memory_limit_bytes > 0 ? (int64_t)(p.rss_bytes * 100 / m.memory_limit_bytes) : 0);
    table_bytes(t, m.memory_limit_bytes);
    table_bytes(t, used);
    table_number(t, m.memory_bytes > 0 ? (int64_t)(used * 100 / m.memory_bytes) : 0);
    table_bytes(t, m.memory_bytes);
    table_number(t, (int64_t)p.open_files);
    table_number(t, p.open_files_max > 0 ? (int64_t)(p.open_files * 100 / p.open_files_max) : 0);
    table_number(t, (int64_t)p.open_files_max);
    table_number(t, 0);
    table_f(t, "%.2f", m.load_1m);
    table_f(t, "%.2f", m.load_5m);
    table_f(t, "%.2f", m.load_15m);
    table_ms(t, clock_wall_ms(r->co->o.clock) - r->co->o.started_ms);
    table_z(t, "dimr");
    table_z(t, "*");
    table_str(t, r->co->o.node_name);
}

static void cat_nodes(struct rest *r)
{
    struct table t;
    rest_accept(r, "full_id");
    rest_accept(r, "include_unloaded_segments");
    if (begin(&t, r, nodes_columns, ARRAY_LEN(nodes_columns))) {
        node_row(&t);
        table_send(&t);
    }
}

static void cat_allocation(struct rest *r)
{
    struct table t;
    struct shards_health h = cluster_health(r->state);
    rest_accept(r, "node");
    if (!begin(&t, r, allocation_columns, ARRAY_LEN(allocation_columns))) {
        return;
    }
    table_row(&t);
    table_number(&t, h.active);
    for (unsigned i = 0; i < 5; i++) {
        table_null(&t);
    }
    table_z(&t, "127.0.0.1");
    table_z(&t, "127.0.0.1");
    table_str(&t, r->co->o.node_name);
    if (h.unassigned > 0) {
        table_row(&t);
        table_number(&t, h.unassigned);
        for (unsigned i = 0; i < 7; i++) {
            table_null(&t);
        }
        table_z(&t, "UNASSIGNED");
    }
    table_send(&t);
}

static void cat_templates(struct rest *r)
{
    struct table t;
    struct str wanted = rest_param(r, "name");
    if (!begin(&t, r, templates_columns, ARRAY_LEN(templates_columns))) {
        return;
    }
    for (uint32_t i = 0; i < r->state->n_templates; i++) {
        const struct template_meta *m = r->state->templates[i];
        struct json body;
        struct buf names;
        if (m->kind == TEMPLATE_COMPONENT || (wanted.n > 0 && !str_glob(wanted, m->name))
            || json_parse(&body, m->body, r->arena, &json_limits_default, &r->em) != ERR_OK) {
            continue;
        }
        buf_init(&names, NULL, 64 * KIB);
        for (uint32_t k = 0; k < m->n_patterns; k++) {
            buf_printf(&names, "%s%.*s", k > 0 ? ", " : "", STR_ARG(m->patterns[k]));
        }
        table_row(&t);
        table_str(&t, m->name);
        table_str(&t, arena_printf(r->arena, "[%.*s]", STR_ARG(buf_view(&names))));
        table_number(&t, m->order);
        table_str(&t, json_text(json_get(&body, "version")));
        buf_reset(&names);
        const struct json *parts = json_get(&body, "composed_of");
        for (uint32_t k = 0; json_is(parts, JSON_ARRAY) && k < parts->n; k++) {
            buf_printf(&names, "%s%.*s", k > 0 ? ", " : "", STR_ARG(json_text(&parts->items[k])));
        }
        table_str(&t, m->kind == TEMPLATE_LEGACY
                          ? STR("")
                          : arena_printf(r->arena, "[%.*s]", STR_ARG(buf_view(&names))));
        buf_fini(&names);
    }
    table_send(&t);
}

static bool pool_wanted(struct str list, const char *name)
{
    struct str rest = list;
    while (rest.p != NULL && rest.n > 0) {
        if (str_glob(str_cut(rest, ',', &rest), str_of(name))) {
            return true;
        }
    }
    return list.n == 0;
}

static void cat_thread_pool(struct rest *r)
{
    static const char *const names[] = {"analyze",
                                        "fetch_shard_started",
                                        "fetch_shard_store",
                                        "flush",
                                        "force_merge",
                                        "generic",
                                        "get",
                                        "listener",
                                        "management",
                                        "refresh",
                                        "search",
                                        "search_throttled",
                                        "snapshot",
                                        "system_read",
                                        "system_write",
                                        "warmer",
                                        "write"};
    struct table t;
    struct str wanted = rest_param(r, "thread_pools");
    if (!begin(&t, r, thread_pool_columns, ARRAY_LEN(thread_pool_columns))) {
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (!pool_wanted(wanted, names[i])) {
            continue;
        }
        table_row(&t);
        table_str(&t, r->co->o.node_name);
        table_str(&t, r->co->o.node_id);
        table_str(&t, r->co->o.node_id);
        table_number(&t, process_id());
        table_z(&t, "127.0.0.1");
        table_z(&t, "127.0.0.1");
        table_z(&t, "9300");
        table_z(&t, names[i]);
        table_z(&t, "fixed");
        for (unsigned k = 0; k < 7; k++) { /* active ... completed */
            table_number(&t, 0);
        }
    }
    table_send(&t);
}

static void cat_empty(struct rest *r, const struct table_column *columns, uint32_t n)
{
    struct table t;
    if (begin(&t, r, columns, n)) {
        table_send(&t);
    }
}

static void cat_pending_tasks(struct rest *r)
{
    cat_empty(r, pending_tasks_columns, ARRAY_LEN(pending_tasks_columns));
}

static void cat_fielddata(struct rest *r)
{
    rest_accept(r, "fields");
    cat_empty(r, fielddata_columns, ARRAY_LEN(fielddata_columns));
}

static void cat_nodeattrs(struct rest *r)
{
    cat_empty(r, nodeattrs_columns, ARRAY_LEN(nodeattrs_columns));
}

static void cat_plugins(struct rest *r)
{
    cat_empty(r, plugins_columns, ARRAY_LEN(plugins_columns));
}

static void cat_repositories(struct rest *r)
{
    cat_empty(r, repositories_columns, ARRAY_LEN(repositories_columns));
}

const struct route routes_cat[] = {
    {M_GET, "/_cat/health", cat_health},
    {M_GET, "/_cat/master", cat_master},
    {M_GET, "/_cat/nodes", cat_nodes},
    {M_GET, "/_cat/allocation", cat_allocation},
    {M_GET, "/_cat/allocation/{nodes}", cat_allocation},
    {M_GET, "/_cat/templates", cat_templates},
    {M_GET, "/_cat/templates/{name}", cat_templates},
    {M_GET, "/_cat/thread_pool", cat_thread_pool},
    {M_GET, "/_cat/thread_pool/{thread_pools}", cat_thread_pool},
    {M_GET, "/_cat/pending_tasks", cat_pending_tasks},
    {M_GET, "/_cat/fielddata", cat_fielddata},
    {M_GET, "/_cat/fielddata/{fields}", cat_fielddata},
    {M_GET, "/_cat/nodeattrs", cat_nodeattrs},
    {M_GET, "/_cat/plugins", cat_plugins},
    {M_GET, "/_cat/repositories", cat_repositories},
};
const size_t routes_cat_n = ARRAY_LEN(routes_cat);
