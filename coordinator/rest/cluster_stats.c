/* GET _cluster/stats: sums over indices and nodes. */
#include "common/cluster/health.h"
#include "common/settings/setting_read.h"
#include "coordinator/rest/broadcast.h"
#include "coordinator/rest/node_figures.h"
#include "coordinator/rest/nodes.h"
#include "coordinator/rest/stats.h"

#include <sys/utsname.h>

struct cluster_rq {
    struct node_calls *calls;
    const struct node_figures **nodes; /* those that answered */
    uint32_t n, asked;
};

/* Is the act's copy on one of the nodes asked for? */
static bool counts(const struct broadcast *bc, uint32_t i)
{
    const struct cluster_rq *q = bc->user;
    for (uint32_t k = 0; bc->acts[i].stats != NULL && k < q->calls->n; k++) {
        if (str_eq(q->calls->v[k].node->id, bc->asked[i].node)) {
            return true;
        }
    }
    return false;
}

static void open_section(struct jsonw *w, const char *key)
{
    jw_kobj(w, key);
}

/* ---- field types ------------------------------------------------------------------------------------- */

#define FIELD_TYPES_MAX 64

struct type_count {
    struct str name;
    uint32_t fields, indices, last_index; /* last_index: the last one counted, from 1 */
};

struct type_counts {
    struct type_count v[FIELD_TYPES_MAX]; /* sorted by name */
    uint32_t n;
};

static void count_type(struct type_counts *c, struct str name, uint32_t index)
{
    uint32_t at = 0;
    while (at < c->n && str_cmp(c->v[at].name, name) < 0) {
        at++;
    }
    if (at == c->n || !str_eq(c->v[at].name, name)) {
        if (c->n == FIELD_TYPES_MAX) {
            return;
        }
        memmove(&c->v[at + 1], &c->v[at], (c->n - at) * sizeof(c->v[0]));
        c->v[at] = (struct type_count){.name = name};
        c->n++;
    }
    c->v[at].fields++;
    c->v[at].indices += c->v[at].last_index != index;
    c->v[at].last_index = index;
}

/* `body` is an object with "properties" or, of a field, "fields": each member of those is a field.
 * JSON's depth is limited. */
static void count_fields(struct type_counts *c, const struct json *body, uint32_t index)
{
    static const char *const below[] = {"properties", "fields"};
    for (size_t k = 0; k < ARRAY_LEN(below); k++) {
        const struct json *fields = json_get(body, below[k]);
        for (size_t i = 0; json_is(fields, JSON_OBJECT) && i < fields->n; i++) {
            const struct json *f = &fields->members[i].value;
            if (json_is(f, JSON_OBJECT)) {
                struct str type = json_text(json_get(f, "type"));
                count_type(c, type.n > 0 ? type : STR("object"), index);
                count_fields(c, f, index);
            }
        }
    }
}

static void write_field_types(struct jsonw *w, const struct rest *r)
{
    struct type_counts *c = ARENA_NEW(r->arena, struct type_counts);
    ERR_LOCAL(em);
    for (uint32_t i = 0; c != NULL && i < r->state->n_indices; i++) {
        struct json tree;
        if (json_parse(&tree, index_mapping_text(r->state->indices[i]), r->arena, &json_limits_default, &em)
            == ERR_OK) {
            count_fields(c, &tree, i + 1);
        }
    }
    open_section(w, "mappings");
    jw_karr(w, "field_types");
    for (uint32_t i = 0; c != NULL && i < c->n; i++) {
        jw_obj(w);
        jw_kstr(w, "name", c->v[i].name);
        jw_ki64(w, "count", c->v[i].fields);
        jw_ki64(w, "index_count", c->v[i].indices);
        jw_obj_end(w);
    }
    jw_arr_end(w);
    jw_obj_end(w);
}

/* ---- analysis ---------------------------------------------------------------------------------------- */

/* The types that indices' own parts of analysis have: settings index.analysis.KIND.NAME.type. */
static void write_part_types(struct jsonw *w, const struct rest *r, const char *key, const char *kind,
                             const char *otherwise)
{
    struct type_counts *c = ARENA_NEW(r->arena, struct type_counts);
    struct str prefix = arena_printf(r->arena, "index.analysis.%s.", kind);
    for (uint32_t i = 0; c != NULL && prefix.p != NULL && i < r->state->n_indices; i++) {
        const struct settings *s = &r->state->indices[i]->settings;
        struct str last = STR_NULL;
        for (size_t k = 0; k < s->n; k++) {
            if (!str_starts(s->v[k].key, prefix)) {
                continue;
            }
            struct str rest, name = str_cut(str_slice(s->v[k].key, prefix.n, s->v[k].key.n), '.', &rest);
            if (last.p != NULL && str_eq(name, last)) {
                continue;
            }
            last = name;
            struct str type_key = arena_printf(r->arena, "%.*s%.*s.type", STR_ARG(prefix), STR_ARG(name));
            struct str type = type_key.p != NULL ? settings_str(s, type_key.p, STR_NULL) : STR_NULL;
            type = type.p == NULL && otherwise != NULL ? str_of(otherwise) : type;
            if (type.p != NULL) {
                count_type(c, type, i + 1);
            }
        }
    }
    jw_karr(w, key);
    for (uint32_t i = 0; c != NULL && i < c->n; i++) {
        jw_obj(w);
        jw_kstr(w, "name", c->v[i].name);
        jw_ki64(w, "count", c->v[i].fields);
        jw_ki64(w, "index_count", c->v[i].indices);
        jw_obj_end(w);
    }
    jw_arr_end(w);
}

static void write_analysis(struct jsonw *w, const struct rest *r)
{
    static const char *const built_in[] = {"built_in_char_filters", "built_in_tokenizers", "built_in_filters",
                                           "built_in_analyzers"};
    open_section(w, "analysis");
    write_part_types(w, r, "char_filter_types", "char_filter", NULL);
    write_part_types(w, r, "tokenizer_types", "tokenizer", NULL);
    write_part_types(w, r, "filter_types", "filter", NULL);
    write_part_types(w, r, "analyzer_types", "analyzer", "custom");
    for (size_t i = 0; i < ARRAY_LEN(built_in); i++) {
        jw_karr(w, built_in[i]);
        jw_arr_end(w);
    }
    jw_obj_end(w);
}

/* ---- indices ----------------------------------------------------------------------------------------- */

static void write_range(struct jsonw *w, const char *key, uint32_t least, uint32_t most, double average)
{
    open_section(w, key);
    jw_ki64(w, "min", least);
    jw_ki64(w, "max", most);
    jw_kdouble(w, "avg", average);
    jw_obj_end(w);
}

struct range {
    double least, most, sum;
    uint32_t n;
};

static void widen(struct range *r, double v)
{
    r->least = r->n == 0 ? v : MIN_OF(r->least, v);
    r->most = MAX_OF(r->most, v);
    r->sum += v;
    r->n++;
}

static void write_shards(struct jsonw *w, const struct broadcast *bc)
{
    struct range shards = {0}, primaries = {0}, replication = {0};
    for (uint32_t i = 0; i < bc->n;) {
        uint32_t n = 0, p = 0, at = i;
        for (; i < bc->n && str_eq(bc->acts[at].rq.shard.index, bc->acts[i].rq.shard.index); i++) {
            n += counts(bc, i);
            p += counts(bc, i) && bc->asked[i].primary;
        }
        if (n > 0) {
            widen(&shards, n);
            widen(&primaries, p);
            widen(&replication, p > 0 ? (double)(n - p) / p : 0);
        }
    }
    open_section(w, "shards");
    if (shards.n > 0) {
        jw_ki64(w, "total", (int64_t)shards.sum);
        jw_ki64(w, "primaries", (int64_t)primaries.sum);
        jw_kdouble(w, "replication", primaries.sum > 0 ? (shards.sum - primaries.sum) / primaries.sum : 0);
        open_section(w, "index");
        write_range(w, "shards", (uint32_t)shards.least, (uint32_t)shards.most, shards.sum / shards.n);
        write_range(w, "primaries", (uint32_t)primaries.least, (uint32_t)primaries.most,
                    primaries.sum / primaries.n);
        open_section(w, "replication");
        jw_kdouble(w, "min", replication.least);
        jw_kdouble(w, "max", replication.most);
        jw_kdouble(w, "avg", replication.sum / replication.n);
        jw_obj_end(w);
        jw_obj_end(w);
    }
    jw_obj_end(w);
}

static void write_indices(const struct stats_out *o, const struct broadcast *bc, const struct cluster_rq *q)
{
    static const char *const wanted[] = {"docs",        "store",      "fielddata",
                                         "query_cache", "completion", "segments"};
    struct rest *r = rest_of(bc->r);
    struct jsonw *w = o->w;
    struct shard_stats sum = {0};
    uint64_t primary_bytes = 0, primary_docs = 0, primary_deleted = 0;
    uint32_t shards = 0;
    for (uint32_t i = 0; i < bc->n; i++) {
        const struct shard_stats *one = bc->acts[i].stats;
        if (!counts(bc, i)) {
            continue;
        }
        stats_add(&sum, one);
        if (bc->asked[i].primary) {
            shards++;
            primary_bytes += one->store_bytes;
            primary_docs += one->docs;
            primary_deleted += one->docs_deleted;
        }
    }
    sum.docs = primary_docs; /* documents count once */
    sum.docs_deleted = primary_deleted;
    open_section(w, "indices");
    jw_ki64(w, "count", q->asked == 0 ? 0 : r->state->n_indices);
    write_shards(w, bc);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        unsigned metric = 0;
        if (stats_metrics(r, str_of(wanted[i]), "metric", &metric) == ERR_OK) {
            stats_write(o, &sum, metric);
        }
    }
    write_field_types(w, r);
    write_analysis(w, r);
    jw_karr(w, "versions");
    if (r->state->n_indices > 0) {
        jw_obj(w);
        jw_kz(w, "version", "7.12.1");
        jw_ki64(w, "index_count", r->state->n_indices);
        jw_ki64(w, "primary_shard_count", shards);
        stats_put_as(o, "total_primary_size", "total_primary_bytes", primary_bytes);
        jw_obj_end(w);
    }
    jw_arr_end(w);
    jw_obj_end(w);
}

/* ---- nodes ------------------------------------------------------------------------------------------- */

static void write_counts(struct jsonw *w, const struct cluster_rq *q)
{
    static const struct {
        const char *name;
        enum node_role role;
    } counted[] = {{"data", NODE_DATA},
                   {"ingest", NODE_INGEST},
                   {"master", NODE_MASTER},
                   {"remote_cluster_client", NODE_REMOTE}};
    uint32_t of[ARRAY_LEN(counted)] = {0}, only = 0;
    for (uint32_t i = 0; i < q->n; i++) {
        unsigned roles = q->nodes[i]->report.roles;
        only += roles == 0;
        for (size_t k = 0; k < ARRAY_LEN(counted); k++) {
            of[k] += roles >> counted[k].role & 1;
        }
    }
    open_section(w, "count");
    jw_ki64(w, "total", q->n);
    jw_ki64(w, "coordinating_only", only);
    for (size_t i = 0; i < ARRAY_LEN(counted); i++) {
        jw_ki64(w, counted[i].name, of[i]);
    }
    jw_obj_end(w);
    jw_karr(w, "versions");
    if (q->n > 0) {
        jw_z(w, "7.12.1");
    }
    jw_arr_end(w);
}

static void write_counted(struct jsonw *w, const char *list, const char *key, const char *value, uint32_t n)
{
    jw_karr(w, list);
    jw_obj(w);
    jw_kz(w, key, value);
    jw_ki64(w, "count", n);
    jw_obj_end(w);
    jw_arr_end(w);
}

/* The nodes of a cluster run on one kind of machine: this one's names stand for all. */
static void write_os(const struct stats_out *o, const struct cluster_rq *q)
{
    struct jsonw *w = o->w;
    struct utsname u;
    bool known = uname(&u) == 0;
    uint64_t total = 0, available = 0, cores = 0, allocated = 0;
    for (uint32_t i = 0; i < q->n; i++) {
        total += q->nodes[i]->machine.memory_bytes;
        available += q->nodes[i]->machine.memory_available_bytes;
        cores += q->nodes[i]->machine.cores;
        allocated += q->nodes[i]->report.cores;
    }
    uint64_t used = total - available, all = MAX_OF(total, 1U);
    open_section(w, "os");
    jw_ki64(w, "available_processors", (int64_t)cores);
    jw_ki64(w, "allocated_processors", (int64_t)allocated);
    write_counted(w, "names", "name", known ? u.sysname : "Linux", q->n);
    write_counted(w, "pretty_names", "pretty_name", known ? u.sysname : "Linux", q->n);
    write_counted(w, "architectures", "arch",
                  known && strcmp(u.machine, "x86_64") == 0 ? "amd64"
                  : known                                   ? u.machine
                                                            : "unknown",
                  q->n);
    open_section(w, "mem");
    stats_put(o, "total_in_bytes", total);
    stats_put(o, "free_in_bytes", available);
    stats_put(o, "used_in_bytes", used);
    jw_ki64(w, "free_percent", (int64_t)(available * 100 / all));
    jw_ki64(w, "used_percent", (int64_t)(used * 100 / all));
    jw_obj_end(w);
    jw_obj_end(w);
}

static void write_process(const struct stats_out *o, const struct rest *r, const struct cluster_rq *q)
{
    struct jsonw *w = o->w;
    uint64_t least = UINT64_MAX, most = 0, sum = 0, rss = 0, limit = 0, threads = 0;
    int64_t percent = 0, oldest = clock_wall_ms(r->co->o.clock), now = oldest;
    for (uint32_t i = 0; i < q->n; i++) {
        const struct node_figures *f = q->nodes[i];
        least = MIN_OF(least, f->process.open_files);
        most = MAX_OF(most, f->process.open_files);
        sum += f->process.open_files;
        rss += f->process.rss_bytes;
        threads += f->process.threads;
        limit += f->machine.memory_limit_bytes;
        percent += f->report.process_cpu_percent;
        oldest = MIN_OF(oldest, f->started_ms);
    }
    open_section(w, "process");
    open_section(w, "cpu");
    jw_ki64(w, "percent", percent);
    jw_obj_end(w);
    open_section(w, "open_file_descriptors");
    jw_ki64(w, "min", (int64_t)least);
    jw_ki64(w, "max", (int64_t)most);
    jw_ki64(w, "avg", (int64_t)(sum / q->n));
    jw_obj_end(w);
    jw_obj_end(w);
    open_section(w, "jvm");
    stats_put(o, "max_uptime_in_millis", (uint64_t)(now - oldest));
    jw_karr(w, "versions");
    jw_arr_end(w);
    open_section(w, "mem");
    stats_put(o, "heap_used_in_bytes", rss);
    stats_put(o, "heap_max_in_bytes", limit);
    jw_obj_end(w);
    jw_ki64(w, "threads", (int64_t)threads);
    jw_obj_end(w);
}

static void write_disks(const struct stats_out *o, const struct cluster_rq *q)
{
    struct disk_stats sum = {0};
    for (uint32_t i = 0; i < q->n; i++) {
        sum.total_bytes += q->nodes[i]->report.disk.total_bytes;
        sum.free_bytes += q->nodes[i]->report.disk.free_bytes;
        sum.available_bytes += q->nodes[i]->report.disk.available_bytes;
    }
    open_section(o->w, "fs");
    stats_put(o, "total_in_bytes", sum.total_bytes);
    stats_put(o, "free_in_bytes", sum.free_bytes);
    stats_put(o, "available_in_bytes", sum.available_bytes);
    jw_obj_end(o->w);
}

static void write_network(struct jsonw *w, const struct rest *r, uint32_t n)
{
    open_section(w, "network_types");
    open_section(w, "transport_types");
    jw_ki64(w, "netty4", n);
    jw_obj_end(w);
    open_section(w, "http_types");
    jw_ki64(w, "netty4", n);
    jw_obj_end(w);
    jw_obj_end(w);
    open_section(w, "discovery_types");
    jw_key(w, setting_str(r->co->o.node_settings, SET_DISCOVERY_TYPE));
    jw_i64(w, n);
    jw_obj_end(w);
}

static void write_nodes(const struct stats_out *o, const struct rest *r, const struct cluster_rq *q)
{
    struct jsonw *w = o->w;
    open_section(w, "nodes");
    write_counts(w, q);
    if (q->n > 0) {
        write_os(o, q);
        write_process(o, r, q);
        write_disks(o, q);
        nodes_write_plugins(w);
        write_network(w, r, q->n);
        jw_karr(w, "packaging_types");
        jw_obj(w);
        jw_kz(w, "flavor", "default");
        jw_kz(w, "type", "deb");
        jw_ki64(w, "count", q->n);
        jw_obj_end(w);
        jw_arr_end(w);
        open_section(w, "ingest");
        jw_ki64(w, "number_of_pipelines", 0);
        open_section(w, "processor_stats");
        jw_obj_end(w);
        jw_obj_end(w);
    }
    jw_obj_end(w);
}

/* ---- the request ------------------------------------------------------------------------------------- */

static void stats_done(struct broadcast *bc)
{
    struct cluster_rq *q = bc->user;
    struct rest *r = rest_of(bc->r);
    struct buf b;
    struct jsonw w;
    struct stats_out o = stats_out_for(r, &w);
    jsonw_start(&w, &b);
    jw_obj(&w);
    node_calls_write_head(q->calls, &w);
    jw_kstr(&w, "cluster_name", r->co->o.cluster_name);
    jw_kstr(&w, "cluster_uuid", r->state->cluster_uuid);
    jw_ki64(&w, "timestamp", clock_wall_ms(r->co->o.clock));
    if (q->asked > 0) { /* the master's part */
        jw_kz(&w, "status", health_name(cluster_health(r->state).status));
    }
    write_indices(&o, bc, q);
    write_nodes(&o, r, q);
    jw_obj_end(&w);
    broadcast_fini(bc);
    rest_send(r, 200, &b);
}

static void figures_done(struct node_calls *c)
{
    struct rest *r = rest_of(c->r);
    struct shard_act a = {.action = SHARD_STATS};
    struct cluster_rq *q = c->user;
    const struct index_target *t;
    uint32_t n;
    struct expand_options o = {true, true, EXPAND_OPEN | EXPAND_HIDDEN, false, false, 0};
    q->calls = c;
    q->asked = c->n;
    q->nodes = ARENA_ARRAY(r->arena, const struct node_figures *, c->n);
    enum err e = q->nodes != NULL ? resolve_indices(r->state, STR_NULL, &o, clock_wall_ms(r->co->o.clock),
                                                    r->arena, &t, &n, &r->em)
                                  : err_no_memory(&r->em);
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    for (uint32_t i = 0; i < c->n; i++) {
        const struct node_figures *f = node_figures_of(c, i);
        if (f != NULL) {
            q->nodes[q->n++] = f;
        }
    }
    rest_broadcast(r, t, q->asked > 0 ? n : 0, &a, stats_done, q);
}

static void cluster_stats(struct rest *r)
{
    struct cluster_rq *q = ARENA_NEW(r->arena, struct cluster_rq);
    struct str nodes = rest_param(r, "node");
    int64_t timeout_ms;
    enum err e = q != NULL ? ERR_OK : err_no_memory(&r->em);
    e = e == ERR_OK ? rest_time_as(r, "timeout", "ClusterStatsRequest.timeout", 0, &timeout_ms) : e;
    if (rest_goes_on(r, e)) {
        node_figures_ask(r, nodes, false, timeout_ms, figures_done, q);
    }
}

const struct route routes_cluster_stats[] = {
    {M_GET, "/_cluster/stats", cluster_stats},
    {M_GET, "/_cluster/stats/nodes/{node}", cluster_stats},
};
const size_t routes_cluster_stats_n = ARRAY_LEN(routes_cluster_stats);
