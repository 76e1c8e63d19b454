/* The _cat endpoints about nodes. */
#include "common/cluster/health.h"
#include "coordinator/rest/broadcast.h"
#include "coordinator/rest/cat_counters.h"
#include "coordinator/rest/nodes.h"
#include "coordinator/rest/stats.h"

#include "common/sys/process.h"

enum { NODES_COUNTERS = 31 }; /* where in the table below a shard's counters begin */
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
    {"completion.size", "cs,completionSize", "size of completion", true, true},
    {"fielddata.memory_size", "fm,fielddataMemory", "used fielddata cache", true, true},
    {"fielddata.evictions", "fe,fielddataEvictions", "fielddata evictions", true, true},
    {"query_cache.memory_size", "qcm,queryCacheMemory", "used query cache", true, true},
    {"query_cache.evictions", "qce,queryCacheEvictions", "query cache evictions", true, true},
    {"query_cache.hit_count", "qchc,queryCacheHitCount", "query cache hit counts", true, true},
    {"query_cache.miss_count", "qcmc,queryCacheMissCount", "query cache miss counts", true, true},
    {"request_cache.memory_size", "rcm,requestCacheMemory", "used request cache", true, true},
    {"request_cache.evictions", "rce,requestCacheEvictions", "request cache evictions", true, true},
    {"request_cache.hit_count", "rchc,requestCacheHitCount", "request cache hit counts", true, true},
    {"request_cache.miss_count", "rcmc,requestCacheMissCount", "request cache miss counts", true, true},
    {"flush.total", "ft,flushTotal", "number of flushes", true, true},
    {"flush.total_time", "ftt,flushTotalTime", "time spent in flush", true, true},
    {"get.current", "gc,getCurrent", "number of current get ops", true, true},
    {"get.time", "gti,getTime", "time spent in get", true, true},
    {"get.total", "gto,getTotal", "number of get ops", true, true},
    {"get.exists_time", "geti,getExistsTime", "time spent in successful gets", true, true},
    {"get.exists_total", "geto,getExistsTotal", "number of successful gets", true, true},
    {"get.missing_time", "gmti,getMissingTime", "time spent in failed gets", true, true},
    {"get.missing_total", "gmto,getMissingTotal", "number of failed gets", true, true},
    {"indexing.delete_current", "idc,indexingDeleteCurrent", "number of current deletions", true, true},
    {"indexing.delete_time", "idti,indexingDeleteTime", "time spent in deletions", true, true},
    {"indexing.delete_total", "idto,indexingDeleteTotal", "number of delete ops", true, true},
    {"indexing.index_current", "iic,indexingIndexCurrent", "number of current indexing ops", true, true},
    {"indexing.index_time", "iiti,indexingIndexTime", "time spent in indexing", true, true},
    {"indexing.index_total", "iito,indexingIndexTotal", "number of indexing ops", true, true},
    {"indexing.index_failed", "iif,indexingIndexFailed", "number of failed indexing ops", true, true},
    {"merges.current", "mc,mergesCurrent", "number of current merges", true, true},
    {"merges.current_docs", "mcd,mergesCurrentDocs", "number of current merging docs", true, true},
    {"merges.current_size", "mcs,mergesCurrentSize", "size of current merges", true, true},
    {"merges.total", "mt,mergesTotal", "number of completed merge ops", true, true},
    {"merges.total_docs", "mtd,mergesTotalDocs", "docs merged", true, true},
    {"merges.total_size", "mts,mergesTotalSize", "size merged", true, true},
    {"merges.total_time", "mtt,mergesTotalTime", "time spent in merges", true, true},
    {"refresh.total", "rto,refreshTotal", "total refreshes", true, true},
    {"refresh.time", "rti,refreshTime", "time spent in refreshes", true, true},
    {"refresh.external_total", "rto,refreshTotal", "total external refreshes", true, true},
    {"refresh.external_time", "rti,refreshTime", "time spent in external refreshes", true, true},
    {"refresh.listeners", "rli,refreshListeners", "number of pending refresh listeners", true, true},
    {"script.compilations", "scrcc,scriptCompilations", "script compilations", true, true},
    {"script.cache_evictions", "scrce,scriptCacheEvictions", "script cache evictions", true, true},
    {"script.compilation_limit_triggered", "scrclt,scriptCacheCompilationLimitTriggered",
     "script cache compilation limit triggered", true, true},
    {"search.fetch_current", "sfc,searchFetchCurrent", "current fetch phase ops", true, true},
    {"search.fetch_time", "sfti,searchFetchTime", "time spent in fetch phase", true, true},
    {"search.fetch_total", "sfto,searchFetchTotal", "total fetch ops", true, true},
    {"search.open_contexts", "so,searchOpenContexts", "open search contexts", true, true},
    {"search.query_current", "sqc,searchQueryCurrent", "current query phase ops", true, true},
    {"search.query_time", "sqti,searchQueryTime", "time spent in query phase", true, true},
    {"search.query_total", "sqto,searchQueryTotal", "total query phase ops", true, true},
    {"search.scroll_current", "scc,searchScrollCurrent", "open scroll contexts", true, true},
    {"search.scroll_time", "scti,searchScrollTime", "time scroll contexts held open", true, true},
    {"search.scroll_total", "scto,searchScrollTotal", "completed scroll contexts", true, true},
    {"segments.count", "sc,segmentsCount", "number of segments", true, true},
    {"segments.memory", "sm,segmentsMemory", "memory used by segments", true, true},
    {"segments.index_writer_memory", "siwm,segmentsIndexWriterMemory", "memory used by index writer", true,
     true},
    {"segments.version_map_memory", "svmm,segmentsVersionMapMemory", "memory used by version map", true,
     true},
    {"segments.fixed_bitset_memory", "sfbm,fixedBitsetMemory",
     "memory used by fixed bit sets for nested object field types and type filters for types referred in "
     "_parent fields",
     true, true},
    {"suggest.current", "suc,suggestCurrent", "number of current suggest ops", true, true},
    {"suggest.time", "suti,suggestTime", "time spend in suggest", true, true},
    {"suggest.total", "suto,suggestTotal", "number of suggest ops", true, true},
};

static const struct table_column master_columns[] = {
    {"id", NULL, "node id", false, false},
    {"host", "h", "host name", false, false},
    {"ip", NULL, "ip address", false, false},
    {"node", "n", "node name", false, false},
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

static const struct table_column fielddata_columns[] = {
    {"id", NULL, "node id", false, false},      {"host", "h", "host name", false, false},
    {"ip", NULL, "ip address", false, false},   {"node", "n", "node name", false, false},
    {"field", "f", "field name", false, false}, {"size", "s", "field data usage", false, false},
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

/* Everything that the node's shards count. */
static void sum_shards(const struct broadcast *bc, struct shard_stats *sum)
{
    *sum = (struct shard_stats){0};
    for (uint32_t i = 0; i < bc->n; i++) {
        if (bc->acts[i].stats != NULL) {
            stats_add(sum, bc->acts[i].stats);
        }
    }
}

/* Asks every shard; done() may read them. */
static void ask_shards(struct rest *r, void (*done)(struct broadcast *bc))
{
    struct shard_act a = {.action = SHARD_STATS};
    struct expand_options o = {true, true, EXPAND_OPEN | EXPAND_HIDDEN, false, false, 0};
    const struct index_target *t;
    uint32_t n;
    if (resolve_indices(r->state, STR_NULL, &o, clock_wall_ms(r->co->o.clock), r->arena, &t, &n, &r->em)
        != ERR_OK) {
        rest_fail(r, NULL);
    } else if (rest_ready(r)) {
        broadcast_run(r, t, n, &a, done, NULL);
    }
}

static void cat_master(struct rest *r)
{
    struct table t;
    const struct node_meta *m = cluster_master(r->state);
    if (!begin(&t, r, master_columns, ARRAY_LEN(master_columns))) {
        return;
    }
    table_row(&t);
    table_str(&t, m != NULL ? m->id : STR("-"));
    table_str(&t, m != NULL ? m->host : STR("-"));
    table_str(&t, m != NULL ? m->host : STR("-"));
    table_str(&t, m != NULL ? m->name : STR("-"));
    table_send(&t);
}

static int64_t percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (int64_t)(part * 100 / whole) : 0;
}

static struct str node_id(struct rest *r, bool full)
{
    return str_slice(r->co->o.node_id, 0, full ? r->co->o.node_id.n : 4);
}

/* Up to the name: what the node and its machine are at. */
static void node_cells(struct table *t, const struct node_report *n, bool full_id)
{
    struct rest *r = t->r;
    struct process_stats p;
    struct machine_stats m;
    char letters[16];
    process_stats(&p);
    machine_stats(&m);
    uint64_t used = m.memory_bytes - m.memory_available_bytes,
             disk_used = n->disk.total_bytes - n->disk.available_bytes;
    table_str(t, node_id(r, full_id));
    table_number(t, process_id());
    table_str(t, n->host);
    table_str(t, nodes_port(n->transport_address));
    table_str(t, n->http_address);
    table_z(t, "7.12.1");
    table_z(t, "default");
    table_z(t, "deb");
    table_z(t, "3186837");
    table_null(t); /* no jdk */
    table_bytes(t, n->disk.total_bytes);
    table_bytes(t, disk_used);
    table_bytes(t, n->disk.available_bytes);
    table_f(t, "%.2f", n->disk.total_bytes > 0 ? (double)disk_used * 100 / (double)n->disk.total_bytes : 0.0);
    table_bytes(t, p.rss_bytes);
    table_number(t, percent(p.rss_bytes, m.memory_limit_bytes));
    table_bytes(t, m.memory_limit_bytes);
    table_bytes(t, used);
    table_number(t, percent(used, m.memory_bytes));
    table_bytes(t, m.memory_bytes);
    table_number(t, (int64_t)p.open_files);
    table_number(t, percent(p.open_files, p.open_files_max));
    table_number(t, (int64_t)p.open_files_max);
    table_number(t, n->cpu_percent);
    table_f(t, "%.2f", m.load_1m);
    table_f(t, "%.2f", m.load_5m);
    table_f(t, "%.2f", m.load_15m);
    table_ms(t, clock_wall_ms(r->co->o.clock) - r->co->o.started_ms);
    table_str(t, arena_str(r->arena, node_role_letters(n->roles, letters)));
    table_z(t, nodes_is_master(r) ? "*" : "-");
    table_str(t, r->co->o.node_name);
}

static void nodes_done(struct broadcast *bc)
{
    struct table t;
    struct shard_stats sum;
    struct node_report n;
    bool full;
    nodes_report(bc->r, &n);
    sum_shards(bc, &sum);
    if (rest_bool(bc->r, "full_id", false, &full) != ERR_OK) {
        full = false;
    }
    table_init(&t, bc->r, nodes_columns, ARRAY_LEN(nodes_columns));
    table_row(&t);
    node_cells(&t, &n, full);
    for (size_t i = NODES_COUNTERS; i < ARRAY_LEN(nodes_columns); i++) {
        cat_put_counter(&t, nodes_columns[i].name, &sum);
    }
    broadcast_release(bc);
    table_send(&t);
}

static void cat_nodes(struct rest *r)
{
    bool full;
    rest_accept(r, "include_unloaded_segments");
    if (rest_bool(r, "full_id", false, &full) != ERR_OK) {
        rest_fail(r, NULL);
    } else if (!table_help(r, nodes_columns, ARRAY_LEN(nodes_columns))) {
        ask_shards(r, nodes_done);
    }
}

static void allocation_done(struct broadcast *bc)
{
    struct rest *r = bc->r;
    struct table t;
    struct shard_stats sum;
    struct shards_health h = cluster_health(r->state);
    struct node_report n;
    nodes_report(r, &n);
    sum_shards(bc, &sum);
    table_init(&t, r, allocation_columns, ARRAY_LEN(allocation_columns));
    if (rest_node_wanted(r, rest_param(r, "nodes")) && (n.roles & NODE_DATA_ROLES) != 0) {
        uint64_t used = n.disk.total_bytes - n.disk.available_bytes;
        table_row(&t);
        table_number(&t, h.active);
        table_bytes(&t, sum.store_bytes);
        table_bytes(&t, used);
        table_bytes(&t, n.disk.available_bytes);
        table_bytes(&t, n.disk.total_bytes);
        table_number(&t, percent(used, n.disk.total_bytes));
        table_str(&t, n.host);
        table_str(&t, n.host);
        table_str(&t, r->co->o.node_name);
    }
    if (h.unassigned > 0) {
        table_row(&t);
        table_number(&t, h.unassigned);
        for (unsigned i = 0; i < 7; i++) {
            table_null(&t);
        }
        table_z(&t, "UNASSIGNED");
    }
    broadcast_release(bc);
    table_send(&t);
}

static void cat_allocation(struct rest *r)
{
    rest_param(r, "nodes");
    if (!table_help(r, allocation_columns, ARRAY_LEN(allocation_columns))) {
        ask_shards(r, allocation_done);
    }
}

/* ---- what nodes have --------------------------------------------------------------------------------- */

/* Nothing is ever uninverted into memory: the columns of a segment are read as they are. */
static void cat_fielddata(struct rest *r)
{
    struct table t;
    rest_accept(r, "fields");
    if (begin(&t, r, fielddata_columns, ARRAY_LEN(fielddata_columns))) {
        table_send(&t);
    }
}

static void cat_nodeattrs(struct rest *r)
{
    struct table t;
    struct node_report n;
    const struct node_meta *own = nodes_own(r);
    bool full;
    if (rest_bool(r, "full_id", false, &full) != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    if (!begin(&t, r, nodeattrs_columns, ARRAY_LEN(nodeattrs_columns))) {
        return;
    }
    nodes_report(r, &n);
    for (uint32_t i = 0; own != NULL && i < own->n_attrs; i++) {
        table_row(&t);
        table_str(&t, r->co->o.node_name);
        table_str(&t, node_id(r, full));
        table_number(&t, process_id());
        table_str(&t, n.host);
        table_str(&t, n.host);
        table_str(&t, nodes_port(n.transport_address));
        table_str(&t, own->attrs[i].name);
        table_str(&t, own->attrs[i].value);
    }
    table_send(&t);
}

static void cat_plugins(struct rest *r)
{
    struct table t;
    rest_accept(r, "include_bootstrap");
    if (!begin(&t, r, plugins_columns, ARRAY_LEN(plugins_columns))) {
        return;
    }
    for (size_t i = 0; i < PLUGIN_ROWS; i++) {
        table_row(&t);
        table_str(&t, r->co->o.node_id);
        table_str(&t, r->co->o.node_name);
        table_z(&t, nodes_plugins[i].name);
        table_z(&t, "7.12.1");
        table_z(&t, nodes_plugins[i].description);
        table_z(&t, "isolated");
    }
    table_send(&t);
}

const struct route routes_cat_nodes[] = {
    {M_GET, "/_cat/master", cat_master},         {M_GET, "/_cat/nodes", cat_nodes},
    {M_GET, "/_cat/allocation", cat_allocation}, {M_GET, "/_cat/allocation/{nodes}", cat_allocation},
    {M_GET, "/_cat/fielddata", cat_fielddata},   {M_GET, "/_cat/fielddata/{fields}", cat_fielddata},
    {M_GET, "/_cat/nodeattrs", cat_nodeattrs},   {M_GET, "/_cat/plugins", cat_plugins},
};
const size_t routes_cat_nodes_n = ARRAY_LEN(routes_cat_nodes);
