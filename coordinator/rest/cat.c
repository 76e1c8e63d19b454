/* The _cat endpoints about the cluster. */
#include "common/cluster/health.h"
#include "coordinator/rest/master_view.h"
#include "coordinator/rest/table.h"

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

static const struct table_column templates_columns[] = {
    {"name", "n", "template name", false, false},
    {"index_patterns", "t", "template index patterns", false, false},
    {"order", "o,p", "template application order/priority number", false, false},
    {"version", "v", "version", false, false},
    {"composed_of", "c", "component templates comprising index template", false, false},
};

static const struct table_column pending_tasks_columns[] = {
    {"insertOrder", "o", "task insertion order", true, false},
    {"timeInQueue", "t", "how long task has been in queue", true, false},
    {"priority", "p", "task priority", false, false},
    {"source", "s", "task source", false, false},
};

static const struct table_column repositories_columns[] = {
    {"id", "id,repoId", "unique repository id", false, false},
    {"type", "t,type", "repository type", false, false},
};

static void health_asked(struct master_view *v)
{
    struct rest *r = v->r;
    struct table t;
    struct shards_health h = cluster_health(r->state);
    int64_t now = clock_wall_ms(r->co->o.clock) / 1000, longest = master_view_longest_ms(v);
    table_init(&t, r, health_columns, ARRAY_LEN(health_columns));
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
    table_number(&t, v->pending->queue.n);
    if (longest > 0) {
        table_ms(&t, longest);
    } else {
        table_z(&t, "-");
    }
    table_f(&t, "%.1f%%", health_percent(&h));
    table_send(&t);
}

static void cat_health(struct rest *r)
{
    if (!table_help(r, health_columns, ARRAY_LEN(health_columns)) && rest_ready(r)) {
        rest_ask_master(r, false, MASTER_TIMEOUT_MS, health_asked, NULL);
    }
}

static void send_templates(struct rest *r)
{
    struct table t;
    struct str wanted = rest_param(r, "name");
    if (!rest_ready(r)) {
        return;
    }
    table_init(&t, r, templates_columns, ARRAY_LEN(templates_columns));
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

static void cat_templates(struct rest *r)
{
    if (!table_help(r, templates_columns, ARRAY_LEN(templates_columns))) {
        rest_with_master_state(r, send_templates);
    }
}

static void pending_asked(struct master_view *v)
{
    struct table t;
    table_init(&t, v->r, pending_tasks_columns, ARRAY_LEN(pending_tasks_columns));
    for (uint32_t i = 0; i < v->pending->queue.n; i++) {
        const struct pending_task *p = &v->pending->queue.v[i];
        table_row(&t);
        table_number(&t, (int64_t)p->order);
        table_ms(&t, p->queued_ms);
        table_z(&t, p->priority);
        table_str(&t, p->source);
    }
    table_send(&t);
}

static void cat_pending_tasks(struct rest *r)
{
    int64_t timeout_ms;
    bool local;
    if (table_help(r, pending_tasks_columns, ARRAY_LEN(pending_tasks_columns))) {
        return;
    }
    enum err e = rest_time(r, "master_timeout", MASTER_TIMEOUT_MS, &timeout_ms);
    e = e == ERR_OK ? rest_bool(r, "local", false, &local) : e;
    if (rest_goes_on(r, e)) {
        rest_ask_queue(r, local, timeout_ms, pending_asked);
    }
}

static void cat_repositories(struct rest *r)
{
    struct table t;
    if (table_help(r, repositories_columns, ARRAY_LEN(repositories_columns))) {
        return;
    }
    enum err e = rest_check_bool(r, "local");
    e = e == ERR_OK ? rest_check_time(r, "master_timeout") : e;
    if (rest_goes_on(r, e)) {
        table_init(&t, r, repositories_columns, ARRAY_LEN(repositories_columns));
        table_send(&t);
    }
}

static void cat_list(struct rest *r)
{
    static const char *const paths[] = {"allocation",
                                        "shards",
                                        "shards/{index}",
                                        "master",
                                        "nodes",
                                        "tasks",
                                        "indices",
                                        "indices/{index}",
                                        "segments",
                                        "segments/{index}",
                                        "count",
                                        "count/{index}",
                                        "recovery",
                                        "recovery/{index}",
                                        "health",
                                        "pending_tasks",
                                        "aliases",
                                        "aliases/{alias}",
                                        "thread_pool",
                                        "thread_pool/{thread_pools}",
                                        "plugins",
                                        "fielddata",
                                        "fielddata/{fields}",
                                        "nodeattrs",
                                        "repositories",
                                        "snapshots/{repository}",
                                        "templates"};
    struct buf b;
    if (!rest_ready(r)) {
        return;
    }
    buf_init(&b, NULL, 64 * KIB);
    buf_z(&b, "=^.^=\n");
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        buf_printf(&b, "/_cat/%s\n", paths[i]);
    }
    rest_send_text(r, 200, "text/plain; charset=UTF-8", &b);
}

const struct route routes_cat[] = {
    {M_GET, "/_cat", cat_list},
    {M_GET, "/_cat/health", cat_health},
    {M_GET, "/_cat/templates", cat_templates},
    {M_GET, "/_cat/templates/{name}", cat_templates},
    {M_GET, "/_cat/pending_tasks", cat_pending_tasks},
    {M_GET, "/_cat/repositories", cat_repositories},
};
const size_t routes_cat_n = ARRAY_LEN(routes_cat);
