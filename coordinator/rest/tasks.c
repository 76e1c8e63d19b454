/* _tasks, _cat/tasks, and rates of operations under way. */
#include "coordinator/core/tasks.h"
#include "coordinator/core/ask.h"

#include "coordinator/ops/task_results.h"
#include "coordinator/rest/by_query_params.h"
#include "coordinator/rest/nodes.h"
#include "coordinator/rest/tasks_rq.h"

#define WAIT_MS_DEFAULT 30000

static const struct task_ops no_ops = {.cancellable = false};

/* ---- printing ------------------------------------------------------------------------------------------ */

static void write_key(const struct tasks_rq *q, struct jsonw *w, const struct listed *t)
{
    jw_key(w, arena_printf(q->r->arena, "%.*s:%llu", STR_ARG(t->node->id), (unsigned long long)t->id));
}

static bool child_of(const struct listed *t, const struct listed *parent)
{
    return t->parent == parent->id && t->parent != 0 && str_eq(t->parent_node, parent->node->id);
}

static void write_listed(const struct tasks_rq *q, const struct listed *t, bool with_children,
                         struct jsonw *w)
{
    bool open = false;
    jw_obj(w);
    jw_members(w, arena_printf(q->r->arena, "%.*s}", STR_ARG(t->json)));
    for (size_t i = 0; with_children && i < q->found.n; i++) {
        if (!child_of(&q->found.v[i], t)) {
            continue;
        }
        if (!open) {
            jw_karr(w, "children");
            open = true;
        }
        write_listed(q, &q->found.v[i], true, w);
    }
    if (open) {
        jw_arr_end(w);
    }
    jw_obj_end(w);
}

static bool is_child(const struct tasks_rq *q, const struct listed *t)
{
    for (size_t i = 0; t->parent != 0 && i < q->found.n; i++) {
        if (child_of(t, &q->found.v[i])) {
            return true;
        }
    }
    return false;
}

static void write_node(const struct tasks_rq *q, const struct node_meta *n, struct jsonw *w)
{
    jw_key(w, n->id);
    jw_obj(w);
    jw_kstr(w, "name", n->name);
    jw_kstr(w, "transport_address", n->transport_address);
    jw_kstr(w, "host", n->host);
    jw_kstr(w, "ip", n->transport_address);
    jw_k(w, "roles");
    nodes_write_roles(w, node_roles(n));
    if (n->n_attrs > 0) {
        jw_kobj(w, "attributes");
        for (uint32_t i = 0; i < n->n_attrs; i++) {
            jw_key(w, n->attrs[i].name);
            jw_str(w, n->attrs[i].value);
        }
        jw_obj_end(w);
    }
    jw_kobj(w, "tasks");
    for (size_t i = 0; i < q->found.n; i++) {
        if (q->found.v[i].node == n) {
            write_key(q, w, &q->found.v[i]);
            write_listed(q, &q->found.v[i], false, w);
        }
    }
    jw_obj_end(w);
    jw_obj_end(w);
}

static void write_nodes(const struct tasks_rq *q, struct jsonw *w)
{
    const struct node_meta *last = NULL;
    jw_kobj(w, "nodes");
    for (size_t i = 0; i < q->found.n; i++) { /* node after node, as they were asked */
        if (q->found.v[i].node != last) {
            last = q->found.v[i].node;
            write_node(q, last, w);
        }
    }
    jw_obj_end(w);
}

static void write_groups(const struct tasks_rq *q, struct jsonw *w)
{
    if (q->group == BY_NODES) {
        write_nodes(q, w);
        return;
    }
    jw_k(w, "tasks");
    if (q->group == BY_PARENTS) {
        jw_obj(w);
    } else {
        jw_arr(w);
    }
    for (size_t i = 0; i < q->found.n; i++) {
        const struct listed *t = &q->found.v[i];
        if (q->group == BY_PARENTS && !is_child(q, t)) {
            write_key(q, w, t);
            write_listed(q, t, true, w);
        } else if (q->group == BY_NONE) {
            write_listed(q, t, false, w);
        }
    }
    if (q->group == BY_PARENTS) {
        jw_obj_end(w);
    } else {
        jw_arr_end(w);
    }
}

/* A task that was asked for by its id could not be done to. */
static void write_missing(const struct tasks_rq *q, struct jsonw *w)
{
    const char *id =
        arena_printf(q->r->arena, "%.*s:%llu", STR_ARG(q->node), (unsigned long long)q->what.id).p;
    jw_obj(w);
    jw_kz(w, "type", err_type(ERR_FAILED_NODE));
    jw_k(w, "reason");
    jw_strf(w, "Failed node [%.*s]", STR_ARG(q->node));
    jw_kstr(w, "node_id", q->node);
    jw_kobj(w, "caused_by");
    if (cluster_node(q->r->state, q->node) == NULL) {
        jw_kz(w, "type", err_type(ERR_NO_SUCH_NODE));
        jw_k(w, "reason");
        jw_strf(w, "No such node [%.*s]", STR_ARG(q->node));
        jw_kstr(w, "node_id", q->node);
    } else {
        bool unsupported = q->found.refusal != TASKS_DONE && q->what.cancel;
        jw_kz(w, "type", err_type(unsupported ? ERR_ILLEGAL_ARGUMENT : ERR_RESOURCE_NOT_FOUND));
        jw_k(w, "reason");
        jw_strf(w,
                unsupported      ? "task [%s] doesn't support cancellation"
                : q->what.cancel ? "task [%s] is not found"
                                 : "task [%s] is missing",
                id != NULL ? id : "");
    }
    jw_obj_end(w);
    jw_obj_end(w);
}

static void write_failures(const struct tasks_rq *q, struct jsonw *w)
{
    bool missing = q->what.id != 0 && (!q->found.found || q->found.refusal != TASKS_DONE), any = missing;
    for (uint32_t i = 0; i < q->calls->n; i++) {
        any |= err_is(&q->calls->v[i].error);
    }
    if (!any) {
        return;
    }
    jw_karr(w, "node_failures");
    for (uint32_t i = 0; i < q->calls->n; i++) {
        struct errmsg em = q->calls->v[i].error;
        if (!err_is(&em)) {
            continue;
        }
        err_wrap(&em, ERR_FAILED_NODE, "Failed node [%.*s]", STR_ARG(q->calls->v[i].node->id));
        jw_obj(w);
        error_write_cause(w, &em);
        jw_kstr(w, "node_id", q->calls->v[i].node->id);
        jw_obj_end(w);
        missing = false; /* it may be there: nobody knows */
    }
    if (missing) {
        write_missing(q, w);
    }
    jw_arr_end(w);
}

static void send_list(struct tasks_rq *q)
{
    struct rest *r = q->r;
    struct buf b;
    struct jsonw w;
    jsonw_start(&w, &b);
    jw_obj(&w);
    write_failures(q, &w);
    write_groups(q, &w);
    jw_obj_end(&w);
    rest_send(r, 200, &b);
}

/* ---- asking the nodes ---------------------------------------------------------------------------------- */

static bool add_found(struct tasks_rq *q, const struct tasks_found *found, const struct node_meta *node)
{
    struct tasks_found *all = &q->found;
    for (size_t i = 0; i < found->n; i++) {
        struct listed *v = arena_grow(q->r->arena, all->v, all->n, &q->cap, sizeof(*v));
        if (v == NULL) {
            return false;
        }
        all->v = v;
        v = &v[all->n++];
        *v = found->v[i];
        v->node = node;
        if (v->parent != 0 && v->parent_node.p == NULL) {
            v->parent_node = node->id;
        }
    }
    all->found |= found->found;
    all->timed_out |= found->timed_out;
    all->refusal = found->refusal != TASKS_DONE ? found->refusal : all->refusal;
    return true;
}

static void asked(struct node_calls *c)
{
    struct tasks_rq *q = c->user;
    q->calls = c;
    tasks_end(q->r->co->tasks, &q->list_node);
    tasks_end(q->r->co->tasks, &q->list);
    for (uint32_t i = 0; i < c->n; i++) {
        struct node_answer *a = &c->v[i];
        if (!err_is(&a->error) && !add_found(q, a->answer, a->node)) {
            err_no_memory(&a->error);
        }
    }
    q->then(q);
}

void tasks_ask(struct tasks_rq *q, void (*then)(struct tasks_rq *q))
{
    struct rest *r = q->r;
    q->then = then;
    bool *chosen = node_calls_choose(&r->env, q->nodes);
    const struct nodes_part *nodes = cluster_nodes(r->state);
    for (uint32_t i = 0; chosen != NULL && q->node.p != NULL && i < nodes->n; i++) {
        chosen[i] = str_eq(nodes->v[i].id, q->node);
    }
    /* what waits there has its own end */
    int64_t timeout_ms = q->what.wait ? MIN_OF(q->what.timeout_ms, INT64_MAX / 2) + NODE_QUESTION_MS : 0;
    if (chosen == NULL
        || !node_calls_start(&r->env, &message_tasks, chosen, &q->what, timeout_ms, asked, q)) {
        tasks_end(r->co->tasks, &q->list_node);
        tasks_end(r->co->tasks, &q->list);
        rest_no_memory(r);
    }
}

/* ---- listing ------------------------------------------------------------------------------------------- */

struct tasks_rq *tasks_rq_new(struct rest *r)
{
    struct tasks_rq *q = ARENA_NEW(r->arena, struct tasks_rq);
    if (q == NULL) {
        rest_no_memory(r);
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

enum err tasks_read_filters(struct tasks_rq *q)
{
    struct rest *r = q->r;
    struct str parent = rest_param(r, "parent_task_id");
    q->nodes = rest_param(r, "nodes");
    q->what.actions = rest_param(r, "actions");
    return parent.n > 0 ? task_id_parse(parent, &q->what.parent_node, &q->what.parent, &r->em) : ERR_OK;
}

enum err tasks_read_wait(struct tasks_rq *q, int64_t *timeout_ms)
{
    enum err e = rest_bool(q->r, "wait_for_completion", false, &q->what.wait);
    return e == ERR_OK ? rest_time(q->r, "timeout", WAIT_MS_DEFAULT, timeout_ms) : e;
}

void tasks_begin_listing(struct tasks_rq *q)
{
    struct tasks *ts = q->r->co->tasks;
    q->list = (struct task){.ops = &no_ops, .action = "cluster:monitor/tasks/lists", .type = "transport"};
    const struct str *opaque = http_header_find(q->r->http->headers, q->r->http->headers_n, "x-opaque-id");
    q->list.opaque_id = opaque != NULL ? uri_text(*opaque, q->r->arena) : STR_NULL;
    tasks_begin(ts, &q->list);
    q->list_node = (struct task){
        .ops = &no_ops, .action = "cluster:monitor/tasks/lists[n]", .type = "direct", .parent = q->list.id};
    q->list_node.opaque_id = q->list.opaque_id;
    tasks_begin(ts, &q->list_node);
    q->what.asker = q->r->co->o.node_id;
    q->what.asking = q->list.id;
}

static void list_tasks(struct rest *r)
{
    struct tasks_rq *q = tasks_rq_new(r);
    int64_t timeout_ms;
    if (q == NULL) {
        return;
    }
    enum err e = rest_bool(r, "detailed", false, &q->what.detailed);
    e = e == ERR_OK ? tasks_read_filters(q) : e;
    e = e == ERR_OK ? tasks_read_wait(q, &timeout_ms) : e;
    e = e == ERR_OK ? read_group(q) : e;
    if (!rest_goes_on(r, e)) {
        return;
    }
    tasks_begin_listing(q);
    q->what.timeout_ms = timeout_ms;
    tasks_ask(q, send_list);
}

/* ---- cancelling and rates ------------------------------------------------------------------------------ */

static void cancel_tasks(struct rest *r)
{
    struct tasks_rq *q = tasks_rq_new(r);
    if (q == NULL) {
        return;
    }
    struct str id = rest_param(r, "task_id");
    q->what.cancel = true;
    enum err e = tasks_read_filters(q);
    if (e == ERR_OK && id.n > 0) {
        e = task_id_parse(id, &q->node, &q->what.id, &r->em);
    }
    e = e == ERR_OK ? rest_bool(r, "wait_for_completion", false, &q->what.wait) : e;
    e = e == ERR_OK ? read_group(q) : e;
    if (!rest_goes_on(r, e)) {
        return;
    }
    q->what.timeout_ms = INT64_MAX / 4;
    tasks_ask(q, send_list);
}

static void rethrottle(struct rest *r)
{
    struct tasks_rq *q = tasks_rq_new(r);
    if (q == NULL) {
        return;
    }
    q->what.rethrottle = q->what.detailed = true;
    enum err e = task_id_parse(rest_param(r, "task_id"), &q->node, &q->what.id, &r->em);
    if (e == ERR_OK && !rest_has(r, "requests_per_second")) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "requests_per_second is a required parameter");
    }
    e = e == ERR_OK ? by_query_rate(r, &q->what.per_second) : e;
    e = e == ERR_OK ? read_group(q) : e;
    if (rest_goes_on(r, e)) {
        tasks_ask(q, send_list);
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
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_kbool(&w, "completed", completed);
    jw_k(&w, "task");
    write_listed(q, &q->found.v[0], false, &w);
    jw_obj_end(&w);
    rest_send(q->r, 200, &b);
}

static void not_stored(struct tasks_rq *q, bool no_index)
{
    struct rest *r = q->r;
    struct str id = rest_param(r, "task_id");
    err_clear(&r->em);
    if (q->found.n > 0) { /* it ran, and kept no result */
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
    if (cluster_node(r->state, q->node) == NULL) {
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
    if (err_is(&rq->error) || !g->rq.found) {
        if (err_is(&rq->error) && err_code(&rq->error) != ERR_INDEX_NOT_FOUND) {
            err_copy(&q->r->em, &rq->error);
            shard_rq_fini(rq);
            rest_fail(q->r, NULL);
            return;
        }
        const bool absent = err_is(&rq->error);
        shard_rq_fini(rq);
        not_stored(q, absent);
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
    if (q->found.timed_out) {
        err_set(&r->em, ERR_TIMEOUT, "Timed out waiting for completion of task [%llu]",
                (unsigned long long)q->what.id);
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
        rest_no_memory(r);
        return;
    }
    shard_rq_init(&g->rq.rq, &shard_op_get, got_result, NULL);
    g->q = q;
    g->rq.id = rest_param(r, "task_id");
    g->rq.rq.shard = (struct shard_ref){meta->name, meta->uuid, shard_of(meta, g->rq.id, STR_NULL)};
    g->rq.realtime = g->rq.want_source = true;
    struct ask_where where = ask_anywhere(r->co, r->state, STR_NULL);
    ask_get(r->co, &where, &g->rq);
}

static void got_task(struct tasks_rq *q)
{
    for (uint32_t i = 0; i < q->calls->n; i++) {
        if (err_is(&q->calls->v[i].error)) {
            err_copy(&q->r->em, &q->calls->v[i].error);
            rest_fail(q->r, NULL);
            return;
        }
    }
    if (q->found.n > 0 && !q->what.wait) {
        write_one(q, false);
    } else {
        get_result(q);
    }
}

static void get_task(struct rest *r)
{
    struct tasks_rq *q = tasks_rq_new(r);
    int64_t timeout_ms;
    if (q == NULL) {
        return;
    }
    q->what.detailed = true;
    enum err e = task_id_parse(rest_param(r, "task_id"), &q->node, &q->what.id, &r->em);
    e = e == ERR_OK ? rest_bool(r, "wait_for_completion", false, &q->what.wait) : e;
    e = e == ERR_OK ? rest_time(r, "timeout", WAIT_MS_DEFAULT, &timeout_ms) : e;
    if (!rest_goes_on(r, e)) {
        return;
    }
    q->what.timeout_ms = timeout_ms;
    tasks_ask(q, got_task);
}

const struct route routes_tasks[] = {
    {M_GET, "/_tasks", list_tasks},
    {M_GET, "/_tasks/{task_id}", get_task},
    {M_POST, "/_tasks/_cancel", cancel_tasks},
    {M_POST, "/_tasks/{task_id}/_cancel", cancel_tasks},
    {M_POST, "/_update_by_query/{task_id}/_rethrottle", rethrottle},
    {M_POST, "/_delete_by_query/{task_id}/_rethrottle", rethrottle},
    {M_POST, "/_reindex/{task_id}/_rethrottle", rethrottle},
};
const size_t routes_tasks_n = ARRAY_LEN(routes_tasks);
