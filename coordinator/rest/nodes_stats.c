/* GET _nodes/stats: how the nodes are. */
#include "coordinator/rest/nodes_stats.h"
#include "coordinator/rest/broadcast.h"

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

/* ---- the indices ------------------------------------------------------------------------------------- */

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
            stats_write_shard(o, &bc->asked[end], s, q->index_metrics);
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
    jw_k(o->w, "indices");
    jw_obj(o->w);
    stats_write(o, &sum, q->index_metrics);
    if (q->by_index || q->by_shard) {
        jw_k(o->w, q->by_shard ? "shards" : "indices");
        jw_obj(o->w);
        for (uint32_t i = 0; i < bc->n;) {
            i = write_index(o, bc, i, q);
        }
        jw_obj_end(o->w);
    }
    jw_obj_end(o->w);
}

/* ---- the request ------------------------------------------------------------------------------------- */

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
            nodes_write_section(o, r, &n, i, i == S_BREAKER ? "breakers" : metric_names[i], now);
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
