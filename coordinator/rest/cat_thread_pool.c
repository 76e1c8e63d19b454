/* GET /_cat/thread_pool. */
#include "coordinator/rest/master_view.h"
#include "coordinator/rest/node_figures.h"
#include "coordinator/rest/nodes.h"
#include "coordinator/rest/table.h"

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

static void pool_cells(struct table *t, const struct pool_row *p)
{
    bool scaling = p->keep_alive != NULL;
    table_z(t, p->name);
    table_z(t, p->type);
    table_number(t, p->stats.active);
    table_number(t, p->stats.threads);
    table_number(t, (int64_t)p->stats.queue);
    table_number(t, p->queue_max);
    table_number(t, (int64_t)p->stats.rejected);
    table_number(t, p->stats.largest);
    table_number(t, (int64_t)p->stats.completed);
    if (scaling) {
        table_number(t, p->core);
        table_number(t, p->max);
        table_null(t);
        table_z(t, p->keep_alive);
    } else {
        table_null(t);
        table_null(t);
        table_number(t, p->max);
        table_null(t);
    }
}

static void thread_pool_done(struct node_calls *c)
{
    struct rest *r = rest_of(c->r);
    struct table t;
    struct str wanted = rest_param(r, "thread_pool_patterns");
    table_init(&t, r, thread_pool_columns, ARRAY_LEN(thread_pool_columns));
    for (uint32_t k = 0; k < c->n; k++) {
        struct pool_row rows[POOL_ROWS];
        const struct node_meta *n = c->v[k].node;
        const struct node_figures *f = node_figures_of(c, k);
        if (f != NULL) {
            nodes_pools(&f->report, rows);
        }
        for (size_t i = 0; f != NULL && i < POOL_ROWS; i++) {
            if (!pool_wanted(wanted, rows[i].name)) {
                continue;
            }
            table_row(&t);
            table_str(&t, n->name);
            table_str(&t, n->id);
            table_str(&t, n->ephemeral_id);
            table_number(&t, f->pid);
            table_str(&t, n->host);
            table_str(&t, n->host);
            table_str(&t, nodes_port(n->transport_address));
            pool_cells(&t, &rows[i]);
        }
    }
    table_send(&t);
}

static void ask_pools(struct rest *r)
{
    if (rest_ready(r)) {
        node_figures_ask(r, STR_NULL, false, 0, thread_pool_done, NULL);
    }
}

static void cat_thread_pool(struct rest *r)
{
    rest_accept(r, "thread_pool_patterns"); /* help about some pools is help */
    if (!table_help(r, thread_pool_columns, ARRAY_LEN(thread_pool_columns))) {
        rest_with_master_state(r, ask_pools);
    }
}

const struct route routes_cat_thread_pool[] = {
    {M_GET, "/_cat/thread_pool", cat_thread_pool},
    {M_GET, "/_cat/thread_pool/{thread_pool_patterns}", cat_thread_pool},
};
const size_t routes_cat_thread_pool_n = ARRAY_LEN(routes_cat_thread_pool);
