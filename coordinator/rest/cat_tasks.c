/* _cat/tasks. */
#include "coordinator/rest/nodes.h"
#include "coordinator/rest/table.h"
#include "coordinator/rest/tasks_rq.h"

#include "common/base/time_text.h"

static const struct table_column columns[] = {
    {"id", NULL, "id of the task with the node", false, true},
    {"action", "ac", "task action", false, false},
    {"task_id", "ti", "unique task id", false, false},
    {"parent_task_id", "pti", "parent task id", false, false},
    {"type", "ty", "task type", false, false},
    {"start_time", "start", "start time in ms", false, false},
    {"timestamp", "ts,hms,hhmmss", "start time in HH:MM:SS", false, false},
    {"running_time_ns", "time", "running time ns", false, true},
    {"running_time", "time", "running time", false, false},
    {"node_id", "ni", "unique node id", false, true},
    {"ip", "i", "ip address", false, false},
    {"port", "po", "bound transport port", false, true},
    {"node", "n", "node name", false, false},
    {"version", "v", "es version", false, true},
    {"x_opaque_id", "x", "X-Opaque-ID header", false, true},
    {"description", "desc", "task action", false, false},
};

static void row(struct table *t, const struct tasks_rq *q, const struct listed *l)
{
    const struct node_meta *n = l->node;
    int64_t s = l->start_ms / 1000;
    struct buf b;
    table_row(t);
    table_f(t, "%llu", (unsigned long long)l->id);
    table_str(t, l->action);
    table_f(t, "%.*s:%llu", STR_ARG(n->id), (unsigned long long)l->id);
    if (l->parent != 0) {
        table_f(t, "%.*s:%llu", STR_ARG(l->parent_node), (unsigned long long)l->parent);
    } else {
        table_z(t, "-");
    }
    table_str(t, l->type);
    table_f(t, "%lld", (long long)l->start_ms);
    table_f(t, "%02d:%02d:%02d", (int)(s / 3600 % 24), (int)(s / 60 % 60), (int)(s % 60));
    table_f(t, "%lld", (long long)l->running_ns);
    buf_init(&b, NULL, KIB);
    time_put_ns(&b, l->running_ns);
    table_f(t, "%.*s", STR_ARG(buf_view(&b)));
    buf_fini(&b);
    table_str(t, str_slice(n->id, 0, MIN_OF(n->id.n, (size_t)4)));
    table_str(t, n->host);
    table_str(t, nodes_port(n->transport_address));
    table_str(t, n->name);
    table_z(t, "7.12.1");
    table_str(t, l->opaque_id.p != NULL ? l->opaque_id : STR(""));
    if (q->what.detailed) {
        table_str(t, l->description.p != NULL ? l->description : STR(""));
    }
}

static void send_table(struct tasks_rq *q)
{
    struct table t;
    table_init(&t, q->r, columns, (uint32_t)ARRAY_LEN(columns) - (q->what.detailed ? 0 : 1));
    for (size_t i = 0; i < q->found.n; i++) {
        row(&t, q, &q->found.v[i]);
    }
    table_send(&t);
}

static void cat_tasks(struct rest *r)
{
    struct tasks_rq *q = tasks_rq_new(r);
    int64_t timeout_ms;
    if (q == NULL) {
        return;
    }
    enum err e = rest_bool(r, "detailed", false, &q->what.detailed);
    if (e == ERR_OK && table_help(r, columns, (uint32_t)ARRAY_LEN(columns) - (q->what.detailed ? 0 : 1))) {
        return;
    }
    e = e == ERR_OK ? tasks_read_filters(q) : e;
    e = e == ERR_OK ? tasks_read_wait(q, &timeout_ms) : e;
    if (!rest_goes_on(r, e)) {
        return;
    }
    tasks_begin_listing(q);
    q->what.timeout_ms = timeout_ms;
    tasks_ask(q, send_table);
}

const struct route routes_cat_tasks[] = {{M_GET, "/_cat/tasks", cat_tasks}};
const size_t routes_cat_tasks_n = ARRAY_LEN(routes_cat_tasks);
