#include "coordinator/core/node_calls.h"

#include "common/cluster/nodes.h"
#include "coordinator/core/error_json.h"

#include <stdlib.h>

static const struct task_ops no_ops = {.cancellable = false};

/* ---- asking -------------------------------------------------------------------------------------------- */

static void all_answered(struct later *l)
{
    struct node_calls *c = CONTAINER_OF(l, struct node_calls, end);
    c->done(c);
}

/* A node's answer may be there inside the call that asks it. */
static void answered(struct node_calls *c)
{
    if (--c->pending == 0) {
        later(&c->end, all_answered);
    }
}

static void remote_done(struct transport_rq *rq)
{
    struct node_answer *a = rq->user;
    a->error = rq->error;
    a->bytes = rq->answer;
    a->memory = rq->answer_memory;
    answered(a->calls);
}

static struct coordinator *coordinator_of(const struct node_calls *c)
{
    return c->r->co;
}

static void ask_here(struct node_calls *c, struct node_answer *a)
{
    struct coordinator *co = coordinator_of(c);
    struct node_question *q = calloc(1, sizeof(*q));
    if (q == NULL || co->services[c->kind - MESSAGE_NODE_INFO] == NULL) {
        free(q);
        err_no_memory(&a->error);
        answered(c);
        return;
    }
    q->co = co;
    q->text = buf_view(&c->question);
    q->local = a;
    arena_init(&q->arena, NULL, ARENA_UNLIMITED);
    co->services[c->kind - MESSAGE_NODE_INFO](q);
}

static void ask_there(struct node_calls *c, struct node_answer *a, int64_t timeout_ms)
{
    const struct transport *tr = coordinator_of(c)->o.transport;
    struct transport_peer to = {a->node->transport_address, a->node->ephemeral_id};
    a->rq = (struct transport_rq){.cls = TRANSPORT_DATA,
                                  .kind = c->kind,
                                  .timeout_ms = timeout_ms,
                                  .on = coordinator_of(c)->o.workers,
                                  .done = remote_done,
                                  .user = a};
    buf_init(&a->rq.payload, NULL, BUF_UNLIMITED);
    buf_str(&a->rq.payload, buf_view(&c->question));
    if (tr == NULL || a->rq.payload.failed) {
        buf_fini(&a->rq.payload);
        err_set(&a->error, ERR_NODE_NOT_CONNECTED, "[%.*s][%.*s] Node not connected", STR_ARG(a->node->name),
                STR_ARG(a->node->transport_address));
        answered(c);
        return;
    }
    tr->send(tr->self, &to, &a->rq);
}

bool node_calls_start(struct op_env *r, enum message_kind kind, const bool *chosen, struct buf *question,
                      int64_t timeout_ms, void (*done)(struct node_calls *c), void *user)
{
    const struct nodes_part *nodes = r->state->nodes;
    uint32_t n = 0;
    for (uint32_t i = 0; nodes != NULL && i < nodes->n; i++) {
        n += chosen[i];
    }
    struct node_calls *c = ARENA_NEW(r->arena, struct node_calls);
    struct node_answer *v = ARENA_ARRAY(r->arena, struct node_answer, n);
    if (c == NULL || v == NULL || question->failed) {
        buf_fini(question);
        return false;
    }
    *c = (struct node_calls){
        .r = r, .v = v, .n = n, .kind = (uint16_t)kind, .done = done, .user = user, .question = *question};
    buf_init(question, NULL, 0);
    for (uint32_t i = 0, k = 0; k < n; i++) {
        if (chosen[i]) {
            v[k++] = (struct node_answer){.node = &nodes->v[i], .calls = c};
        }
    }
    c->pending = n;
    timeout_ms = timeout_ms > 0 ? timeout_ms : NODE_CALLS_TIMEOUT_MS;
    if (n == 0) {
        later(&c->end, all_answered);
    }
    for (uint32_t i = 0; i < n; i++) { /* r and c may be gone after the last call */
        buf_init(&v[i].memory, NULL, BUF_UNLIMITED);
        if (str_eq(v[i].node->id, r->co->o.node_id)) {
            ask_here(c, &v[i]);
        } else {
            ask_there(c, &v[i], timeout_ms);
        }
    }
    return true;
}

bool *node_calls_choose(struct op_env *r, struct str list)
{
    bool *chosen =
        ARENA_ARRAY(r->arena, bool, (size_t)(r->state->nodes != NULL ? r->state->nodes->n : 0) + 1);
    if (chosen != NULL) {
        nodes_choose(r->state, list, r->co->o.node_id, chosen);
    }
    return chosen;
}

void node_calls_release(struct node_calls *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        buf_fini(&c->v[i].memory);
    }
    buf_fini(&c->question);
    c->n = 0;
}

void node_calls_write_head(const struct node_calls *c, struct jsonw *w)
{
    uint32_t failed = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        failed += c->v[i].error.n > 0;
    }
    jw_k(w, "_nodes");
    jw_obj(w);
    jw_ki64(w, "total", c->n);
    jw_ki64(w, "successful", c->n - failed);
    jw_ki64(w, "failed", failed);
    if (failed > 0) {
        jw_k(w, "failures");
        jw_arr(w);
        for (uint32_t i = 0; i < c->n; i++) {
            if (c->v[i].error.n == 0) {
                continue;
            }
            struct errmsg em = c->v[i].error;
            err_wrap(&em, ERR_FAILED_NODE, "Failed node [%.*s]", STR_ARG(c->v[i].node->id));
            jw_obj(w);
            error_write_cause(w, &em);
            jw_kstr(w, "node_id", c->v[i].node->id);
            jw_obj_end(w);
        }
        jw_arr_end(w);
    }
    jw_obj_end(w);
}

/* ---- answering ----------------------------------------------------------------------------------------- */

void node_reply(struct node_question *q, struct buf *answer, const struct errmsg *error)
{
    struct node_answer *local = q->local;
    const struct transport *tr = q->co->o.transport;
    struct errmsg em;
    if (error == NULL && answer->failed) {
        buf_fini(answer);
        err_no_memory(&em);
        error = &em;
    }
    if (local != NULL) {
        if (error != NULL) {
            local->error = *error;
        } else {
            local->memory = *answer;
            local->bytes = buf_view(&local->memory);
        }
    } else if (error != NULL) {
        tr->refuse(tr->self, q->call, error);
    } else {
        tr->reply(tr->self, q->call, answer);
    }
    tasks_end(q->co->tasks, &q->task);
    arena_fini(&q->arena);
    free(q);
    if (local != NULL) {
        answered(local->calls);
    }
}

static void receive(void *arg, struct transport_call *call)
{
    static const char *const actions[NODE_SERVICES] = {
        "cluster:monitor/nodes/info[n]", "cluster:monitor/nodes/stats[n]", "cluster:monitor/tasks/lists[n]",
        "cluster:admin/tasks/cancel[n]", "cluster:monitor/events[n]"};
    struct coordinator *co = arg;
    const struct transport *tr = co->o.transport;
    struct node_question *q = calloc(1, sizeof(*q));
    struct errmsg em;
    uint32_t i = (uint32_t)call->kind - MESSAGE_NODE_INFO;
    if (q == NULL || i >= NODE_SERVICES || co->services[i] == NULL) {
        free(q);
        err_no_memory(&em);
        tr->refuse(tr->self, call, &em);
        return;
    }
    q->co = co;
    q->call = call;
    q->text = call->payload;
    arena_init(&q->arena, NULL, ARENA_UNLIMITED);
    q->task = (struct task){.ops = &no_ops, .action = actions[i], .type = "transport", .served = true};
    tasks_begin(co->tasks, &q->task);
    co->services[i](q);
}

void node_calls_serve(struct coordinator *co, enum message_kind kind,
                      void (*service)(struct node_question *q))
{
    const struct transport *tr = co->o.transport;
    co->services[kind - MESSAGE_NODE_INFO] = service;
    if (tr != NULL) {
        tr->serve(tr->self, (uint16_t)kind, co->o.workers, receive, co);
    }
}
