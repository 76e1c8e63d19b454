/* The nodes and what they are at: _nodes, _nodes/stats, _tasks, pending tasks, cluster statistics in
 * outline. */
#include "coordinator/rest/broadcast.h"
#include "coordinator/rest/health.h"
#include "coordinator/rest/stats.h"

#include "common/sys/process.h"

struct nodes_rq {
    bool none; /* the filter names no node that is here */
    bool cluster;
};

bool rest_node_wanted(const struct rest *r, struct str list)
{
    static const char *const always[] = {"_all",        "_local",    "_master",    "*",
                                         "master:true", "data:true", "ingest:true"};
    struct str rest = list;
    while (rest.p != NULL && rest.n > 0) {
        struct str one = str_cut(rest, ',', &rest);
        if (str_glob(one, r->co->o.node_id) || str_glob(one, r->co->o.node_name)
            || str_glob(one, STR("127.0.0.1"))) {
            return true;
        }
        for (size_t i = 0; i < ARRAY_LEN(always); i++) {
            if (str_is(one, always[i])) {
                return true;
            }
        }
    }
    return list.n == 0;
}

static void write_head(struct jsonw *w, const struct rest *r, int64_t n)
{
    jw_k(w, "_nodes");
    jw_obj(w);
    jw_ki64(w, "total", n);
    jw_ki64(w, "successful", n);
    jw_ki64(w, "failed", 0);
    jw_obj_end(w);
    jw_kstr(w, "cluster_name", r->co->o.cluster_name);
}

static void write_node(struct jsonw *w, const struct rest *r)
{
    static const char *const roles[] = {"data", "ingest", "master", "remote_cluster_client"};
    jw_kstr(w, "name", r->co->o.node_name);
    jw_kz(w, "transport_address", "127.0.0.1:9300");
    jw_kz(w, "host", "127.0.0.1");
    jw_kz(w, "ip", "127.0.0.1");
    jw_k(w, "roles");
    jw_arr(w);
    for (size_t i = 0; i < ARRAY_LEN(roles); i++) {
        jw_z(w, roles[i]);
    }
    jw_arr_end(w);
}

static void write_process(struct jsonw *w)
{
    struct process_stats p;
    process_stats(&p);
    jw_k(w, "process");
    jw_obj(w);
    jw_ki64(w, "open_file_descriptors", (int64_t)p.open_files);
    jw_ki64(w, "max_file_descriptors", (int64_t)p.open_files_max);
    jw_k(w, "cpu");
    jw_obj(w);
    jw_ki64(w, "total_in_millis", (int64_t)p.cpu_ms);
    jw_obj_end(w);
    jw_k(w, "mem");
    jw_obj(w);
    jw_ki64(w, "total_virtual_in_bytes", (int64_t)p.virtual_bytes);
    jw_obj_end(w);
    jw_obj_end(w);
}

static void stats_done(struct broadcast *bc)
{
    const struct nodes_rq *q = bc->user;
    struct rest *r = bc->r;
    struct shard_stats sum = {0};
    struct shards_health h = cluster_health(r->state);
    int64_t now = clock_wall_ms(r->co->o.clock);
    struct buf b;
    struct jsonw w;
    for (uint32_t i = 0; i < bc->n; i++) {
        if (bc->acts[i].stats != NULL) {
            stats_add(&sum, bc->acts[i].stats);
        }
    }
    broadcast_release(bc);
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_obj(&w);
    write_head(&w, r, q->none ? 0 : 1);
    if (q->cluster) {
        jw_kstr(&w, "cluster_uuid", r->state->cluster_uuid);
        jw_ki64(&w, "timestamp", now);
        jw_kz(&w, "status", health_name(h.status));
        jw_k(&w, "indices");
        jw_obj(&w);
        jw_ki64(&w, "count", r->state->n_indices);
    } else {
        jw_k(&w, "nodes");
        jw_obj(&w);
    }
    if (!q->none) {
        if (!q->cluster) {
            jw_key(&w, r->co->o.node_id);
            jw_obj(&w);
            jw_ki64(&w, "timestamp", now);
            write_node(&w, r);
            write_process(&w);
            jw_k(&w, "indices");
            jw_obj(&w);
        }
        stats_write(&w, &sum, STATS_ALL);
        if (!q->cluster) {
            jw_obj_end(&w);
            jw_obj_end(&w);
        }
    }
    jw_obj_end(&w);
    jw_obj_end(&w);
    rest_send(r, 200, &b);
}

static void gather(struct rest *r, bool cluster)
{
    struct shard_act a = {.action = SHARD_STATS};
    struct nodes_rq *q = ARENA_NEW(r->arena, struct nodes_rq);
    const struct index_target *t;
    uint32_t n;
    struct expand_options o = {true, true, EXPAND_OPEN | EXPAND_HIDDEN, false, false, 0};
    rest_accept(r, "timeout");
    rest_accept(r, "level");
    enum err e = q != NULL ? resolve_indices(r->state, STR_NULL, &o, clock_wall_ms(r->co->o.clock), r->arena,
                                             &t, &n, &r->em)
                           : err_no_memory(&r->em);
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    q->cluster = cluster;
    q->none = !rest_node_wanted(r, rest_param(r, "node"));
    if (rest_ready(r)) {
        broadcast_run(r, t, n, &a, stats_done, q);
    }
}

static void node_stats(struct rest *r)
{
    gather(r, false);
}

static void cluster_stats(struct rest *r)
{
    gather(r, true);
}

static void nodes(struct rest *r)
{
    struct buf b;
    struct jsonw w;
    bool wanted = rest_node_wanted(r, rest_param(r, "node"));
    rest_accept(r, "timeout");
    rest_accept(r, "flat_settings");
    if (!rest_ready(r)) {
        return;
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_obj(&w);
    write_head(&w, r, wanted ? 1 : 0);
    jw_k(&w, "nodes");
    jw_obj(&w);
    if (wanted) {
        jw_key(&w, r->co->o.node_id);
        jw_obj(&w);
        write_node(&w, r);
        jw_kz(&w, "version", "7.12.1");
        jw_obj_end(&w);
    }
    jw_obj_end(&w);
    jw_obj_end(&w);
    rest_send(r, 200, &b);
}

static void no_tasks(struct rest *r, const char *text)
{
    struct buf b;
    if (!rest_ready(r)) {
        return;
    }
    buf_init(&b, NULL, KIB);
    buf_z(&b, text);
    rest_send(r, 200, &b);
}

static void pending_tasks(struct rest *r)
{
    rest_accept(r, "local");
    rest_accept(r, "master_timeout");
    no_tasks(r, "{\"tasks\":[]}");
}

const struct route routes_nodes[] = {
    {M_GET, "/_nodes", nodes},
    {M_GET, "/_nodes/{node}", nodes},
    {M_GET, "/_nodes/stats", node_stats},
    {M_GET, "/_nodes/stats/indices", node_stats},
    {M_GET, "/_nodes/{node}/stats", node_stats},
    {M_GET, "/_cluster/stats", cluster_stats},
    {M_GET, "/_cluster/pending_tasks", pending_tasks},
};
const size_t routes_nodes_n = ARRAY_LEN(routes_nodes);
