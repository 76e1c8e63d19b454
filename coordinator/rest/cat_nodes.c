/* The _cat endpoints about nodes. */
#include "common/cluster/health.h"
#include "coordinator/rest/cat_counters.h"
#include "coordinator/rest/master_view.h"
#include "coordinator/rest/node_figures.h"
#include "coordinator/rest/nodes.h"

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
    CAT_CACHES(CAT_COLUMN),
    {"query_cache.hit_count", "qchc,queryCacheHitCount", "query cache hit counts", true, true},
    {"query_cache.miss_count", "qcmc,queryCacheMissCount", "query cache miss counts", true, true},
    CAT_REQUEST_CACHE(CAT_COLUMN, "s"),
    CAT_OPERATIONS(CAT_COLUMN),
    {"script.compilations", "scrcc,scriptCompilations", "script compilations", true, true},
    {"script.cache_evictions", "scrce,scriptCacheEvictions", "script cache evictions", true, true},
    {"script.compilation_limit_triggered", "scrclt,scriptCacheCompilationLimitTriggered",
     "script cache compilation limit triggered", true, true},
    CAT_SEARCHES(CAT_COLUMN),
    CAT_SUGGEST(CAT_COLUMN),
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
static void send_master(struct rest *r)
{
    struct table t;
    const struct node_meta *m = cluster_master(r->state);
    if (!rest_ready(r)) {
        return;
    }
    table_init(&t, r, master_columns, ARRAY_LEN(master_columns));
    table_row(&t);
    table_str(&t, m != NULL ? m->id : STR("-"));
    table_str(&t, m != NULL ? m->host : STR("-"));
    table_str(&t, m != NULL ? m->host : STR("-"));
    table_str(&t, m != NULL ? m->name : STR("-"));
    table_send(&t);
}

static void cat_master(struct rest *r)
{
    if (!table_help(r, master_columns, ARRAY_LEN(master_columns))) {
        rest_with_master_state(r, send_master);
    }
}

static int64_t percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (int64_t)(part * 100 / whole) : 0;
}

static struct str short_id(const struct node_meta *n, bool full)
{
    return str_slice(n->id, 0, full ? n->id.n : MIN_OF(n->id.n, (size_t)4));
}

/* From the process on, up to the roles: what the node and its machine are at. */
static void figures_cells(struct table *t, const struct node_figures *f)
{
    const struct process_stats *p = &f->process;
    const struct machine_stats *m = &f->machine;
    const struct disk_stats *d = &f->report.disk;
    uint64_t used = m->memory_bytes - m->memory_available_bytes,
             disk_used = d->total_bytes - d->available_bytes;
    table_bytes(t, d->total_bytes);
    table_bytes(t, disk_used);
    table_bytes(t, d->available_bytes);
    table_f(t, "%.2f", d->total_bytes > 0 ? (double)disk_used * 100 / (double)d->total_bytes : 0.0);
    table_bytes(t, p->rss_bytes);
    table_number(t, percent(p->rss_bytes, m->memory_limit_bytes));
    table_bytes(t, m->memory_limit_bytes);
    table_bytes(t, used);
    table_number(t, percent(used, m->memory_bytes));
    table_bytes(t, m->memory_bytes);
    table_number(t, (int64_t)p->open_files);
    table_number(t, percent(p->open_files, p->open_files_max));
    table_number(t, (int64_t)p->open_files_max);
    table_number(t, f->report.cpu_percent);
    table_f(t, "%.2f", m->load_1m);
    table_f(t, "%.2f", m->load_5m);
    table_f(t, "%.2f", m->load_15m);
    table_ms(t, clock_wall_ms(t->r->co->o.clock) - f->started_ms);
}

/* f == NULL: the node has not answered. */
static void node_row(struct table *t, const struct node_meta *n, const struct node_figures *f, bool full_id)
{
    struct rest *r = t->r;
    char letters[16];
    table_row(t);
    table_str(t, short_id(n, full_id));
    if (f != NULL) {
        table_number(t, f->pid);
    } else {
        table_null(t);
    }
    table_str(t, n->host);
    table_str(t, nodes_port(n->transport_address));
    table_str(t, f != NULL ? f->report.http_address : n->http_address.p != NULL ? n->http_address : STR("-"));
    table_z(t, "7.12.1");
    table_z(t, "default");
    table_z(t, "deb");
    table_z(t, "3186837");
    table_null(t); /* no jdk */
    if (f != NULL) {
        figures_cells(t, f);
    }
    for (uint32_t i = 0; f == NULL && i < 18; i++) {
        table_null(t);
    }
    table_str(t, arena_str(r->arena, node_role_letters(node_roles(n), letters)));
    table_z(t, r->state->nodes->master.p != NULL && str_eq(r->state->nodes->master, n->id) ? "*" : "-");
    table_str(t, n->name);
    for (size_t i = NODES_COUNTERS; f != NULL && i < ARRAY_LEN(nodes_columns); i++) {
        cat_put_counter(t, nodes_columns[i].name, &f->shards);
    }
}

static void nodes_done(struct node_calls *c)
{
    struct table t;
    bool full;
    if (rest_bool(rest_of(c->r), "full_id", false, &full) != ERR_OK) {
        full = false;
    }
    table_init(&t, rest_of(c->r), nodes_columns, ARRAY_LEN(nodes_columns));
    for (uint32_t i = 0; i < c->n; i++) {
        node_row(&t, c->v[i].node, node_figures_of(c, i), full);
    }
    table_send(&t);
}

static void ask_nodes(struct rest *r)
{
    bool full;
    if (rest_bool(r, "full_id", false, &full) != ERR_OK) {
        rest_fail(r, NULL);
    } else if (rest_ready(r)) {
        node_figures_ask(r, STR_NULL, true, 0, nodes_done, NULL);
    }
}

static void cat_nodes(struct rest *r)
{
    if (!table_help(r, nodes_columns, ARRAY_LEN(nodes_columns))) {
        rest_with_master_state(r, ask_nodes);
    }
}

/* Copies on each node, arriving ones too, in the order of the state's nodes; behind them, those without a place.
 * NULL: no memory. */
static uint32_t *count_copies(const struct cluster_state *s, struct arena *arena)
{
    const struct nodes_part *nodes = cluster_nodes(s);
    uint32_t *v = ARENA_ARRAY(arena, uint32_t, (size_t)nodes->n + 1);
    for (uint32_t i = 0; v != NULL && i < s->n_indices; i++) {
        for (uint32_t shard = 0; shard < s->indices[i]->n_shards; shard++) {
            uint32_t copies = health_copies(s, s->indices[i], shard);
            for (uint32_t k = 0; k < copies; k++) {
                struct shard_copy c = health_copy(s, s->indices[i], shard, k);
                const struct node_meta *at = c.node.p != NULL ? cluster_node(s, c.node) : NULL,
                                       *to = c.target_node.p != NULL ? cluster_node(s, c.target_node) : NULL;
                v[nodes->n] += c.state == COPY_UNASSIGNED;
                if (at != NULL) {
                    v[at - nodes->v]++;
                }
                if (to != NULL) {
                    v[to - nodes->v]++;
                }
            }
        }
    }
    return v;
}

static void allocation_row(struct table *t, const struct node_meta *n, uint32_t copies,
                           const struct node_figures *f)
{
    table_row(t);
    table_number(t, copies);
    if (f != NULL) {
        const struct disk_stats *d = &f->report.disk;
        uint64_t used = d->total_bytes - d->available_bytes;
        table_bytes(t, f->shards.store_bytes);
        table_bytes(t, used);
        table_bytes(t, d->available_bytes);
        table_bytes(t, d->total_bytes);
        table_number(t, percent(used, d->total_bytes));
    }
    for (uint32_t i = 0; f == NULL && i < 5; i++) {
        table_null(t);
    }
    table_str(t, n->host);
    table_str(t, n->host);
    table_str(t, n->name);
}

static void allocation_done(struct node_calls *c)
{
    struct table t;
    const struct nodes_part *nodes = cluster_nodes(c->r->state);
    const uint32_t *copies = count_copies(c->r->state, c->r->arena);
    if (copies == NULL) {
        rest_no_memory(rest_of(c->r));
        return;
    }
    uint32_t unassigned = copies[nodes->n];
    table_init(&t, rest_of(c->r), allocation_columns, ARRAY_LEN(allocation_columns));
    for (uint32_t i = 0; i < c->n; i++) {
        if ((node_roles(c->v[i].node) & NODE_DATA_ROLES) != 0) {
            allocation_row(&t, c->v[i].node, copies[c->v[i].node - nodes->v], node_figures_of(c, i));
        }
    }
    if (unassigned > 0) {
        table_row(&t);
        table_number(&t, unassigned);
        for (unsigned i = 0; i < 7; i++) {
            table_null(&t);
        }
        table_z(&t, "UNASSIGNED");
    }
    table_send(&t);
}

static void ask_allocation(struct rest *r)
{
    struct str nodes = rest_param(r, "nodes");
    if (rest_ready(r)) {
        node_figures_ask(r, nodes, true, 0, allocation_done, NULL);
    }
}

static void cat_allocation(struct rest *r)
{
    if (!table_help(r, allocation_columns, ARRAY_LEN(allocation_columns))) {
        rest_with_master_state(r, ask_allocation);
    }
}

/* ---- what nodes have --------------------------------------------------------------------------------- */

/* Nothing is ever uninverted into memory: the columns of a segment are read as they are. */
static void cat_fielddata(struct rest *r)
{
    struct table t;
    if (table_help(r, fielddata_columns, ARRAY_LEN(fielddata_columns))) {
        return;
    }
    rest_accept(r, "fields");
    if (rest_ready(r)) {
        table_init(&t, r, fielddata_columns, ARRAY_LEN(fielddata_columns));
        table_send(&t);
    }
}

static void nodeattrs_done(struct node_calls *c)
{
    struct table t;
    table_init(&t, rest_of(c->r), nodeattrs_columns, ARRAY_LEN(nodeattrs_columns));
    for (uint32_t i = 0; i < c->n; i++) {
        const struct node_meta *n = c->v[i].node;
        const struct node_figures *f = node_figures_of(c, i);
        for (uint32_t k = 0; k < n->n_attrs; k++) {
            table_row(&t);
            table_str(&t, n->name);
            table_str(&t, short_id(n, false));
            if (f != NULL) {
                table_number(&t, f->pid);
            } else {
                table_null(&t);
            }
            table_str(&t, n->host);
            table_str(&t, n->host);
            table_str(&t, nodes_port(n->transport_address));
            table_str(&t, n->attrs[k].name);
            table_str(&t, n->attrs[k].value);
        }
    }
    table_send(&t);
}

static void ask_nodeattrs(struct rest *r)
{
    if (rest_ready(r)) {
        node_figures_ask(r, STR_NULL, false, 0, nodeattrs_done, NULL);
    }
}

static void cat_nodeattrs(struct rest *r)
{
    if (!table_help(r, nodeattrs_columns, ARRAY_LEN(nodeattrs_columns))) {
        rest_with_master_state(r, ask_nodeattrs);
    }
}

static void send_plugins(struct rest *r)
{
    struct table t;
    if (rest_check_bool(r, "include_bootstrap") != ERR_OK) { /* there are none */
        rest_fail(r, NULL);
        return;
    }
    if (!rest_ready(r)) {
        return;
    }
    table_init(&t, r, plugins_columns, ARRAY_LEN(plugins_columns));
    const struct nodes_part *p = cluster_nodes(r->state); /* every node does the work of the same plugins */
    for (size_t i = 0; i < PLUGIN_ROWS * (size_t)p->n; i++) {
        const struct plugin_row *plugin = &nodes_plugins[i % PLUGIN_ROWS];
        table_row(&t);
        table_str(&t, p->v[i / PLUGIN_ROWS].id);
        table_str(&t, p->v[i / PLUGIN_ROWS].name);
        table_z(&t, plugin->name);
        table_z(&t, "7.12.1");
        table_z(&t, plugin->description);
        table_z(&t, "isolated");
    }
    table_send(&t);
}

static void cat_plugins(struct rest *r)
{
    if (!table_help(r, plugins_columns, ARRAY_LEN(plugins_columns))) {
        rest_with_master_state(r, send_plugins);
    }
}

const struct route routes_cat_nodes[] = {
    {M_GET, "/_cat/master", cat_master},         {M_GET, "/_cat/nodes", cat_nodes},
    {M_GET, "/_cat/allocation", cat_allocation}, {M_GET, "/_cat/allocation/{nodes}", cat_allocation},
    {M_GET, "/_cat/fielddata", cat_fielddata},   {M_GET, "/_cat/fielddata/{fields}", cat_fielddata},
    {M_GET, "/_cat/nodeattrs", cat_nodeattrs},   {M_GET, "/_cat/plugins", cat_plugins},
};
const size_t routes_cat_nodes_n = ARRAY_LEN(routes_cat_nodes);
