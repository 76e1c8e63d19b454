/* _tasks, _cat/tasks, and rates of operations under way. */
#include "coordinator/tasks.h"
#include "coordinator/ask.h"

#include "coordinator/delays.h"
#include "coordinator/rest/by_query_params.h"
#include "coordinator/rest/table.h"
#include "coordinator/task_print.h"
#include "coordinator/task_results.h"

#include "common/base/date.h"
#include "common/base/time_text.h"

#define POLL_MS         50 /* between looks at tasks that are waited for */
#define WAIT_MS_DEFAULT 30000

enum group { BY_NODES, BY_PARENTS, BY_NONE };

struct listed { /* a task as it was when it was looked at; strings in the request's arena */
    uint64_t id, parent;
    int64_t start_ms, running_ns;
    struct str json; /* an object's members */
    struct str type, action, description, opaque_id;
};

struct tasks_rq {
    struct rest *r;
    struct str actions, node; /* node p != NULL: only tasks of that id's node are asked for */
    uint64_t id, parent;      /* 0: any */
    bool detailed, wait, none;
    enum group group;
    bool cancel, rethrottle;
    float per_second;
    struct listed *v;
    size_t n, cap;
    bool found, failed;  /* failed: no memory */
    const char *failure; /* why the task asked for was not done to; NULL: it was */
    /* the tasks of listing itself */
    struct task list, list_node;
    /* waiting */
    struct delay delay;
    int64_t until_ms;
    void (*then)(struct tasks_rq *q);
    bool timed_out;
};

static const struct task_ops no_ops = {.cancellable = false};

/* ---- which --------------------------------------------------------------------------------------------- */

static bool in_list(struct str patterns, struct str s)
{
    struct str rest = patterns;
    while (rest.p != NULL && rest.n > 0) {
        if (str_glob(str_cut(rest, ',', &rest), s)) {
            return true;
        }
    }
    return patterns.n == 0;
}

static bool matches(const struct tasks_rq *q, const struct task *t)
{
    return !q->none && (q->id == 0 || t->id == q->id) && (q->parent == 0 || t->parent == q->parent)
           && in_list(q->actions, str_of(t->action));
}

static struct str take(struct tasks_rq *q, struct buf *b)
{
    struct str s = b->failed ? STR_NULL : arena_str(q->r->arena, buf_view(b));
    q->failed |= s.p == NULL;
    buf_fini(b);
    return s;
}

static void keep(struct tasks_rq *q, const struct task *t)
{
    const struct coordinator *co = q->r->co;
    struct buf b;
    struct jsonw w;
    struct listed *v = arena_grow(q->r->arena, q->v, q->n, &q->cap, sizeof(*v));
    if (v == NULL) {
        q->failed = true;
        return;
    }
    q->v = v;
    v = &q->v[q->n++];
    *v = (struct listed){.id = t->id, .parent = t->parent, .start_ms = t->start_ms};
    v->running_ns = co->o.clock->mono_ns(co->o.clock->self) - t->start_ns;
    v->type = str_of(t->type);
    v->action = str_of(t->action);
    v->opaque_id = t->opaque_id.p != NULL ? arena_str(q->r->arena, t->opaque_id) : STR_NULL;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_obj(&w);
    task_write_members(co, t, q->detailed, &w);
    buf_z(&b, ""); /* the object stays open: children may follow */
    v->json = take(q, &b);
    if (q->detailed && t->ops->describe != NULL) {
        buf_init(&b, NULL, MIB);
        t->ops->describe(t, &b);
        v->description = take(q, &b);
    }
}

static void each(void *self, struct task *t)
{
    struct tasks_rq *q = self;
    if (!matches(q, t)) {
        return;
    }
    q->found = true;
    if (q->cancel && !t->ops->cancellable) {
        q->failure = q->id != 0 ? "task [%s] doesn't support cancellation" : NULL;
        return;
    }
    if (q->rethrottle && t->ops->rethrottle == NULL) {
        q->failure = "task [%s] is missing";
        return;
    }
    if (q->cancel) {
        tasks_cancel_locked(q->r->co->tasks, t);
    }
    if (q->rethrottle) {
        t->ops->rethrottle(t, q->per_second);
    }
    keep(q, t);
}

/* ---- printing ------------------------------------------------------------------------------------------ */

static void write_key(const struct tasks_rq *q, struct jsonw *w, uint64_t id)
{
    jw_key(w, arena_printf(q->r->arena, "%.*s:%llu", STR_ARG(q->r->co->o.node_id), (unsigned long long)id));
}

static void write_listed(const struct tasks_rq *q, const struct listed *t, bool with_children,
                         struct jsonw *w)
{
    bool open = false;
    jw_obj(w);
    jw_members(w, arena_printf(q->r->arena, "%.*s}", STR_ARG(t->json)));
    for (size_t i = 0; with_children && i < q->n; i++) {
        if (q->v[i].parent != t->id) {
            continue;
        }
        if (!open) {
            jw_k(w, "children");
            jw_arr(w);
            open = true;
        }
        write_listed(q, &q->v[i], true, w);
    }
    if (open) {
        jw_arr_end(w);
    }
    jw_obj_end(w);
}

static bool is_child(const struct tasks_rq *q, const struct listed *t)
{
    for (size_t i = 0; t->parent != 0 && i < q->n; i++) {
        if (q->v[i].id == t->parent) {
            return true;
        }
    }
    return false;
}

static void write_node(const struct tasks_rq *q, struct jsonw *w)
{
    static const char *const roles[] = {"data", "ingest", "master", "remote_cluster_client"};
    const struct coordinator *co = q->r->co;
    jw_key(w, co->o.node_id);
    jw_obj(w);
    jw_kstr(w, "name", co->o.node_name);
    jw_kz(w, "transport_address", "127.0.0.1:9300");
    jw_kz(w, "host", "127.0.0.1");
    jw_kz(w, "ip", "127.0.0.1:9300");
    jw_k(w, "roles");
    jw_arr(w);
    for (size_t i = 0; i < ARRAY_LEN(roles); i++) {
        jw_z(w, roles[i]);
    }
    jw_arr_end(w);
    jw_k(w, "tasks");
    jw_obj(w);
    for (size_t i = 0; i < q->n; i++) {
        write_key(q, w, q->v[i].id);
        write_listed(q, &q->v[i], false, w);
    }
    jw_obj_end(w);
    jw_obj_end(w);
}

static void write_groups(const struct tasks_rq *q, struct jsonw *w)
{
    if (q->group == BY_NODES) {
        jw_k(w, "nodes");
        jw_obj(w);
        if (q->n > 0) {
            write_node(q, w);
        }
        jw_obj_end(w);
        return;
    }
    jw_k(w, "tasks");
    if (q->group == BY_PARENTS) {
        jw_obj(w);
    } else {
        jw_arr(w);
    }
    for (size_t i = 0; i < q->n; i++) {
        if (q->group == BY_PARENTS && !is_child(q, &q->v[i])) {
            write_key(q, w, q->v[i].id);
            write_listed(q, &q->v[i], true, w);
        } else if (q->group == BY_NONE) {
            write_listed(q, &q->v[i], false, w);
        }
    }
    if (q->group == BY_PARENTS) {
        jw_obj_end(w);
    } else {
        jw_arr_end(w);
    }
}

/* A task that was asked for by its id could not be done to. */
static void write_failure(const struct tasks_rq *q, struct jsonw *w)
{
    const char *id = arena_printf(q->r->arena, "%.*s:%llu", STR_ARG(q->node), (unsigned long long)q->id).p;
    bool elsewhere = !str_eq(q->node, q->r->co->o.node_id);
    jw_k(w, "node_failures");
    jw_arr(w);
    jw_obj(w);
    jw_kz(w, "type", err_type(ERR_FAILED_NODE));
    jw_k(w, "reason");
    jw_strf(w, "Failed node [%.*s]", STR_ARG(q->node));
    jw_kstr(w, "node_id", q->node);
    jw_k(w, "caused_by");
    jw_obj(w);
    if (elsewhere) {
        jw_kz(w, "type", err_type(ERR_NO_SUCH_NODE));
        jw_k(w, "reason");
        jw_strf(w, "No such node [%.*s]", STR_ARG(q->node));
        jw_kstr(w, "node_id", q->node);
    } else {
        bool unsupported = q->failure != NULL && q->cancel;
        jw_kz(w, "type", err_type(unsupported ? ERR_ILLEGAL_ARGUMENT : ERR_RESOURCE_NOT_FOUND));
        jw_k(w, "reason");
        jw_strf(w,
                unsupported ? "task [%s] doesn't support cancellation"
                : q->cancel ? "task [%s] is not found"
                            : "task [%s] is missing",
                id != NULL ? id : "");
    }
    jw_obj_end(w);
    jw_obj_end(w);
    jw_arr_end(w);
}

static void send_list(struct tasks_rq *q)
{
    struct rest *r = q->r;
    struct buf b;
    struct jsonw w;
    tasks_end(r->co->tasks, &q->list_node);
    tasks_end(r->co->tasks, &q->list);
    if (q->failed) {
        err_no_memory(&r->em);
        rest_fail(r, NULL);
        return;
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_obj(&w);
    if (q->id != 0 && (!q->found || q->failure != NULL)) {
        write_failure(q, &w);
    }
    write_groups(q, &w);
    jw_obj_end(&w);
    rest_send(r, 200, &b);
}

/* ---- waiting ------------------------------------------------------------------------------------------- */

static void look_again(void *arg)
{
    struct tasks_rq *q = arg;
    bool running = false;
    for (size_t i = 0; i < q->n; i++) {
        running |= q->v[i].id != q->list.id && q->v[i].id != q->list_node.id
                   && tasks_one(q->r->co->tasks, q->v[i].id, NULL, NULL);
    }
    q->timed_out = running && clock_mono_ms(q->r->co->o.clock) >= q->until_ms;
    if (running && !q->timed_out && !http_aborted(q->r->http) && !delays_stopped(q->r->co->delays)) {
        delays_add(q->r->co->delays, &q->delay, POLL_MS, look_again, q);
        return;
    }
    q->then(q);
}

static void wait_for(struct tasks_rq *q, int64_t timeout_ms, void (*then)(struct tasks_rq *q))
{
    q->then = then;
    q->until_ms = clock_mono_ms(q->r->co->o.clock) + timeout_ms;
    look_again(q);
}

/* ---- listing ------------------------------------------------------------------------------------------- */

static struct tasks_rq *new_rq(struct rest *r)
{
    struct tasks_rq *q = ARENA_NEW(r->arena, struct tasks_rq);
    if (q == NULL) {
        err_no_memory(&r->em);
        rest_fail(r, NULL);
        return NULL;
    }
    q->r = r;
    return q;
}

static enum err read_group(struct tasks_rq *q)
{
    struct str v = rest_param(q->r, "group_by");
    q->group = str_is(v, "parents") ? BY_PARENTS : str_is(v, "none") ? BY_NONE : BY_NODES;
    if (v.p != NULL && q->group == BY_NODES && !str_is(v, "nodes")) {
        return err_set(&q->r->em, ERR_ILLEGAL_ARGUMENT,
                       "[group_by] must be one of [nodes], [parents] or [none] but was [%.*s]", STR_ARG(v));
    }
    return ERR_OK;
}

static enum err read_filters(struct tasks_rq *q)
{
    struct rest *r = q->r;
    struct str parent = rest_param(r, "parent_task_id"), node, nodes = rest_param(r, "nodes");
    q->actions = rest_param(r, "actions");
    q->none = nodes.p != NULL && !rest_node_wanted(r, nodes);
    if (parent.n > 0) {
        enum err e = task_id_parse(parent, &node, &q->parent, &r->em);
        q->none |= e == ERR_OK && (!str_eq(node, r->co->o.node_id) || q->parent == 0);
        return e;
    }
    return ERR_OK;
}

static void gather(struct tasks_rq *q)
{
    struct tasks *ts = q->r->co->tasks;
    if (q->id != 0 && str_eq(q->node, q->r->co->o.node_id)) {
        tasks_one(ts, q->id, each, q);
    } else if (q->id == 0) {
        tasks_each(ts, each, q);
    }
}

static void begin_listing(struct tasks_rq *q)
{
    struct tasks *ts = q->r->co->tasks;
    q->list = (struct task){.ops = &no_ops, .action = "cluster:monitor/tasks/lists", .type = "transport"};
    const struct str *opaque = http_header_find(q->r->http->headers, q->r->http->headers_n, "x-opaque-id");
    q->list.opaque_id = opaque != NULL ? *opaque : STR_NULL;
    tasks_begin(ts, &q->list);
    q->list_node = (struct task){
        .ops = &no_ops, .action = "cluster:monitor/tasks/lists[n]", .type = "direct", .parent = q->list.id};
    q->list_node.opaque_id = q->list.opaque_id;
    tasks_begin(ts, &q->list_node);
}

static void list_tasks(struct rest *r)
{
    struct tasks_rq *q = new_rq(r);
    int64_t timeout_ms;
    if (q == NULL) {
        return;
    }
    enum err e = rest_bool(r, "detailed", false, &q->detailed);
    e = e == ERR_OK ? read_filters(q) : e;
    e = e == ERR_OK ? rest_bool(r, "wait_for_completion", false, &q->wait) : e;
    e = e == ERR_OK ? rest_time(r, "timeout", WAIT_MS_DEFAULT, &timeout_ms) : e;
    e = e == ERR_OK ? read_group(q) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    if (!rest_ready(r)) {
        return;
    }
    begin_listing(q);
    gather(q);
    if (q->wait) {
        wait_for(q, timeout_ms, send_list);
    } else {
        send_list(q);
    }
}

/* ---- cancelling and rates ------------------------------------------------------------------------------ */

static void cancel_tasks(struct rest *r)
{
    struct tasks_rq *q = new_rq(r);
    if (q == NULL) {
        return;
    }
    struct str id = rest_param(r, "task_id");
    q->cancel = true;
    enum err e = read_filters(q);
    if (e == ERR_OK && id.n > 0) {
        e = task_id_parse(id, &q->node, &q->id, &r->em);
    }
    e = e == ERR_OK ? rest_bool(r, "wait_for_completion", false, &q->wait) : e;
    e = e == ERR_OK ? read_group(q) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    if (!rest_ready(r)) {
        return;
    }
    gather(q);
    if (q->wait) {
        wait_for(q, INT64_MAX / 2, send_list);
    } else {
        send_list(q);
    }
}

static void rethrottle(struct rest *r)
{
    struct tasks_rq *q = new_rq(r);
    if (q == NULL) {
        return;
    }
    q->rethrottle = q->detailed = true;
    enum err e = task_id_parse(rest_param(r, "task_id"), &q->node, &q->id, &r->em);
    if (e == ERR_OK && !rest_has(r, "requests_per_second")) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "requests_per_second is a required parameter");
    }
    e = e == ERR_OK ? by_query_rate(r, &q->per_second) : e;
    e = e == ERR_OK ? read_group(q) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    if (rest_ready(r)) {
        gather(q);
        send_list(q);
    }
}

/* ---- one task, or its result --------------------------------------------------------------------------- */

struct result_get {
    struct shard_get rq;
    struct tasks_rq *q;
};

static void write_one(struct tasks_rq *q, bool completed)
{
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_obj(&w);
    jw_kbool(&w, "completed", completed);
    jw_k(&w, "task");
    write_listed(q, &q->v[0], false, &w);
    jw_obj_end(&w);
    rest_send(q->r, 200, &b);
}

static void not_stored(struct tasks_rq *q, bool no_index)
{
    struct rest *r = q->r;
    struct str id = rest_param(r, "task_id");
    err_clear(&r->em);
    if (q->n > 0) { /* it ran, and kept no result */
        write_one(q, true);
        return;
    }
    if (no_index) {
        err_set(&r->em, ERR_INDEX_NOT_FOUND, "no such index [" TASKS_INDEX "]");
        err_about_resource(&r->em, "index_expression", STR(TASKS_INDEX));
        err_about_index(&r->em, STR(TASKS_INDEX), STR("_na_"));
    }
    err_wrap(&r->em, ERR_RESOURCE_NOT_FOUND, "task [%.*s] isn't running and hasn't stored its results",
             STR_ARG(id));
    if (!str_eq(q->node, r->co->o.node_id)) {
        err_wrap(&r->em, ERR_RESOURCE_NOT_FOUND,
                 "task [%.*s] belongs to the node [%.*s] which isn't part of the cluster and there is no "
                 "record of the task",
                 STR_ARG(id), STR_ARG(q->node));
    }
    rest_fail(r, NULL);
}

static void got_result(struct shard_rq *rq)
{
    struct result_get *g = (struct result_get *)(void *)rq;
    struct tasks_rq *q = g->q;
    if (rq->error.n > 0 || !g->rq.found) {
        if (rq->error.n > 0 && err_code(&rq->error) != ERR_INDEX_NOT_FOUND) {
            q->r->em = rq->error;
            shard_rq_fini(rq);
            rest_fail(q->r, NULL);
            return;
        }
        shard_rq_fini(rq);
        not_stored(q, rq->error.n > 0);
        return;
    }
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_str(&b, g->rq.source);
    shard_rq_fini(rq);
    rest_send(q->r, 200, &b);
}

static void get_result(struct tasks_rq *q)
{
    struct rest *r = q->r;
    if (q->timed_out) {
        err_set(&r->em, ERR_TIMEOUT, "Timed out waiting for completion of task [%llu]",
                (unsigned long long)q->id);
        rest_fail(r, NULL);
        return;
    }
    cluster_state_unref(r->state);
    r->state = r->co->o.state(r->co->o.self);
    const struct index_meta *meta = cluster_index(r->state, STR(TASKS_INDEX));
    if (meta == NULL || meta->closed) {
        not_stored(q, true);
        return;
    }
    struct result_get *g = ARENA_NEW(r->arena, struct result_get);
    if (g == NULL) {
        err_no_memory(&r->em);
        rest_fail(r, NULL);
        return;
    }
    shard_rq_init(&g->rq.rq, got_result, NULL);
    g->q = q;
    g->rq.id = rest_param(r, "task_id");
    g->rq.rq.shard = (struct shard_ref){meta->name, meta->uuid, shard_of(meta, g->rq.id, STR_NULL)};
    g->rq.realtime = g->rq.want_source = true;
    struct ask_where where = ask_anywhere(r->co, r->state, STR_NULL);
    ask_get(r->co, &where, &g->rq);
}

static void get_task(struct rest *r)
{
    struct tasks_rq *q = new_rq(r);
    int64_t timeout_ms;
    if (q == NULL) {
        return;
    }
    q->detailed = true;
    enum err e = task_id_parse(rest_param(r, "task_id"), &q->node, &q->id, &r->em);
    e = e == ERR_OK ? rest_bool(r, "wait_for_completion", false, &q->wait) : e;
    e = e == ERR_OK ? rest_time(r, "timeout", WAIT_MS_DEFAULT, &timeout_ms) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    if (!rest_ready(r)) {
        return;
    }
    gather(q);
    if (q->failed) {
        err_no_memory(&r->em);
        rest_fail(r, NULL);
    } else if (q->n > 0 && q->wait) {
        wait_for(q, timeout_ms, get_result);
    } else if (q->n > 0) {
        write_one(q, false);
    } else {
        get_result(q);
    }
}

/* ---- as a table ---------------------------------------------------------------------------------------- */

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

static void row(struct table *t, const struct tasks_rq *q, const struct listed *l, bool full_id)
{
    const struct coordinator *co = q->r->co;
    int64_t s = l->start_ms / 1000;
    struct buf b;
    table_row(t);
    table_f(t, "%llu", (unsigned long long)l->id);
    table_str(t, l->action);
    table_f(t, "%.*s:%llu", STR_ARG(co->o.node_id), (unsigned long long)l->id);
    if (l->parent != 0) {
        table_f(t, "%.*s:%llu", STR_ARG(co->o.node_id), (unsigned long long)l->parent);
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
    table_str(t, full_id ? co->o.node_id : str_slice(co->o.node_id, 0, 4));
    table_z(t, "127.0.0.1");
    table_z(t, "9300");
    table_str(t, co->o.node_name);
    table_z(t, "7.12.1");
    table_str(t, l->opaque_id.p != NULL ? l->opaque_id : STR(""));
    if (q->detailed) {
        table_str(t, l->description.p != NULL ? l->description : STR(""));
    }
}

static void cat_tasks(struct rest *r)
{
    struct tasks_rq *q = new_rq(r);
    struct table t;
    bool full_id;
    if (q == NULL) {
        return;
    }
    enum err e = rest_bool(r, "detailed", false, &q->detailed);
    e = e == ERR_OK ? rest_bool(r, "full_id", false, &full_id) : e;
    e = e == ERR_OK ? read_filters(q) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    uint32_t n = (uint32_t)ARRAY_LEN(columns) - (q->detailed ? 0 : 1);
    if (table_help(r, columns, n) || !rest_ready(r)) {
        return;
    }
    begin_listing(q);
    gather(q);
    tasks_end(r->co->tasks, &q->list_node);
    tasks_end(r->co->tasks, &q->list);
    table_init(&t, r, columns, n);
    for (size_t i = 0; i < q->n; i++) {
        row(&t, q, &q->v[i], full_id);
    }
    table_send(&t);
}

const struct route routes_tasks[] = {
    {M_GET, "/_tasks", list_tasks},
    {M_GET, "/_tasks/{task_id}", get_task},
    {M_POST, "/_tasks/_cancel", cancel_tasks},
    {M_POST, "/_tasks/{task_id}/_cancel", cancel_tasks},
    {M_POST, "/_update_by_query/{task_id}/_rethrottle", rethrottle},
    {M_POST, "/_delete_by_query/{task_id}/_rethrottle", rethrottle},
    {M_POST, "/_reindex/{task_id}/_rethrottle", rethrottle},
    {M_GET, "/_cat/tasks", cat_tasks},
};
const size_t routes_tasks_n = ARRAY_LEN(routes_tasks);
