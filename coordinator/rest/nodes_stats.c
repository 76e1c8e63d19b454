/* GET _nodes/stats: how the nodes are. */
#include "coordinator/rest/nodes_stats.h"
#include "coordinator/core/broadcast.h"
#include "coordinator/rest/node_figures.h"

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

/* A question that is being served here. */
struct serving {
    struct node_question *q;
    struct rest r;
};

/* ---- the indices ------------------------------------------------------------------------------------- */

static bool same_index(const struct broadcast *bc, uint32_t a, uint32_t b)
{
    return str_eq(bc->acts[a].rq.shard.index, bc->acts[b].rq.shard.index);
}

/* The index whose acts begin at `at`; returns where the next one's begin. */
static uint32_t write_index(const struct stats_out *o, const struct broadcast *bc, uint32_t at,
                            const struct node_stats_question *q)
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

static void write_indices(const struct stats_out *o, const struct broadcast *bc,
                          const struct node_stats_question *q)
{
    struct shard_stats sum = {0};
    for (uint32_t i = 0; i < bc->n; i++) {
        if (bc->acts[i].stats != NULL) {
            stats_add(&sum, bc->acts[i].stats);
        }
    }
    jw_kobj(o->w, "indices");
    stats_write(o, &sum, q->index_metrics);
    if (q->by_index || q->by_shard) {
        jw_kobj(o->w, q->by_shard ? "shards" : "indices");
        for (uint32_t i = 0; i < bc->n;) {
            i = write_index(o, bc, i, q);
        }
        jw_obj_end(o->w);
    }
    jw_obj_end(o->w);
}

/* ---- at each node: the object of it -------------------------------------------------------------------- */

static void write_node(const struct stats_out *o, const struct broadcast *bc,
                       const struct node_stats_question *q)
{
    struct jsonw *w = o->w;
    const struct rest *r = rest_of(bc->r);
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
    struct serving *s = bc->user;
    struct buf b;
    struct jsonw w;
    const struct node_stats_question *what = s->q->body;
    struct stats_out o = {.w = &w, .human = what->human};
    jsonw_start(&w, &b);
    jw_obj(&w);
    write_node(&o, bc, what);
    jw_obj_end(&w);
    broadcast_fini(bc);
    cluster_state_unref(s->r.state);
    node_reply_bytes(s->q, &b);
}

static void serve_json(struct node_question *q)
{
    const struct node_stats_question *what = q->body;
    struct shard_act a = {.action = SHARD_STATS};
    struct expand_options o = {true, true, EXPAND_OPEN | EXPAND_HIDDEN, false, false, 0};
    const struct index_target *t;
    uint32_t n;
    ERR_LOCAL(em);
    struct serving *s = ARENA_NEW(&q->arena, struct serving);
    if (s == NULL) {
        err_no_memory(&em);
        node_refuse(q, &em);
        return;
    }
    s->q = q;
    s->r = (struct rest){.co = q->co, .arena = &q->arena, .state = q->co->o.state(q->co->o.self)};
    s->r.em = err_in(&q->arena);
    enum err e =
        resolve_indices(s->r.state, STR_NULL, &o, clock_wall_ms(q->co->o.clock), &q->arena, &t, &n, &em);
    bool shards = (what->metrics >> S_INDICES & 1) != 0;
    if (e == ERR_OK
        && !broadcast_start_on(&s->r.env, q->co->o.node_id, t, shards ? n : 0, &a, stats_done, s)) {
        e = err_no_memory(&em);
    }
    if (e != ERR_OK) {
        cluster_state_unref(s->r.state);
        node_refuse(q, &em);
    }
}

void node_stats_serve(struct node_question *q)
{
    const struct node_stats_question *what = q->body;
    switch (what->kind) {
    case NODE_STATS_JSON:
        serve_json(q);
        break;
    case NODE_STATS_FIGURES:
    case NODE_STATS_FIGURES_SUMS:
        node_figures_serve(q, what->kind == NODE_STATS_FIGURES_SUMS);
        break;
    case NODE_STATS_HOT_THREADS:
        hot_threads_serve(q);
        break;
    }
}

/* ---- the request ------------------------------------------------------------------------------------- */

static enum err read_options(struct rest *r, struct node_stats_question *q, int64_t *timeout_ms)
{
    static const char *const idle[] = {"types", "fields", "fielddata_fields"};
    struct str metric = rest_param(r, "metric"), index_metric = rest_param(r, "index_metric"),
               level = rest_param(r, "level");
    q->by_index = str_is(level, "indices");
    q->by_shard = str_is(level, "shards");
    enum err e = rest_time_as(r, "timeout", "NodesStatsRequest.timeout", 0, timeout_ms);
    e = e == ERR_OK ? nodes_metrics(r, metric, metric_names, S_N, true, &q->metrics) : e;
    if (e != ERR_OK) {
        return e;
    }
    if (index_metric.p != NULL && (metric.n == 0 || str_is(metric, "_all"))) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                       "request [%.*s] contains index metrics [%.*s] but all stats requested",
                       STR_ARG(rest_shown_path(r)), STR_ARG(index_metric));
    }
    if (index_metric.p != NULL && (q->metrics >> S_INDICES & 1) == 0) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                       "request [%.*s] contains index metrics [%.*s] but indices stats not requested",
                       STR_ARG(rest_shown_path(r)), STR_ARG(index_metric));
    }
    if (level.p != NULL && !q->by_index && !q->by_shard && !str_is(level, "node")) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                       "level parameter must be one of [indices] or [node] or [shards] but was [%.*s]",
                       STR_ARG(level));
    }
    e = stats_metrics(r, index_metric, "index metric", &q->index_metrics);
    e = e == ERR_OK ? stats_details(r, q->index_metrics, true) : e;
    for (size_t i = 0; i < ARRAY_LEN(idle); i++) { /* what other nodes count comes in sums */
        if (rest_given(r, idle[i])) {
            rest_idle(r, idle[i]);
        }
    }
    return e;
}

static void nodes_stats(struct rest *r)
{
    struct node_stats_question what = {.kind = NODE_STATS_JSON};
    int64_t timeout_ms;
    struct str node = rest_param(r, "node");
    if (read_options(r, &what, &timeout_ms) != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    struct stats_out o = stats_out_for(r, NULL);
    if (!rest_ready(r)) {
        return;
    }
    what.human = o.human;
    nodes_ask_json(r, &message_node_stats, node, &what, timeout_ms);
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
