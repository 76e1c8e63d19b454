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

static void release(void *arg)
{
    struct node_calls *c = arg;
    for (uint32_t i = 0; i < c->n; i++) {
        remote_call_fini(&c->v[i].call);
    }
}

static struct coordinator *coordinator_of(const struct node_calls *c)
{
    return c->r->co;
}

static void asked_there(struct remote_call *call)
{
    struct node_answer *a = CONTAINER_OF(call, struct node_answer, call);
    a->error = call->error;
    a->answer = call->answer;
    answered(a->calls);
}

static void ask_there(struct node_calls *c, struct node_answer *a, int64_t timeout_ms)
{
    const struct coordinator *co = coordinator_of(c);
    struct transport_peer to = {a->node->transport_address, a->node->ephemeral_id};
    if (co->o.transport == NULL) {
        err_set(&a->error, ERR_NODE_NOT_CONNECTED, "[%.*s][%.*s] Node not connected", STR_ARG(a->node->name),
                STR_ARG(a->node->transport_address));
        answered(c);
        return;
    }
    a->call = (struct remote_call){.on = co->o.workers, .done = asked_there, .timeout_ms = timeout_ms};
    remote_ask(co->o.transport, &to, c->message, c->question, &a->call);
}

static void receive(void *self, struct remote_rq *rq);

#define ROW(NAME, name, number) {&message_##name, receive},
static const struct remote_row rows[] = {NODE_MESSAGES(ROW)};

static void serve(struct node_question *q, struct coordinator *co, const struct message *m, const void *body)
{
    size_t i = 0;
    q->co = co;
    q->message = m;
    q->body = body;
    arena_init(&q->arena, NULL, ARENA_UNLIMITED);
    while (rows[i].message != m) {
        i++;
    }
    if (q->rq != NULL) {
        q->task = (struct task){.ops = &no_ops, .action = m->action, .type = "transport", .served = true};
        tasks_begin(co->tasks, &q->task);
    }
    co->services[i](q);
}

static void ask_here(struct node_calls *c, struct node_answer *a)
{
    struct node_question *q = calloc(1, sizeof(*q));
    if (q == NULL) {
        err_no_memory(&a->error);
        answered(c);
        return;
    }
    q->local = a;
    serve(q, coordinator_of(c), c->message, c->question);
}

bool node_calls_start(struct op_env *r, const struct message *message, const bool *chosen,
                      const void *question, int64_t timeout_ms, void (*done)(struct node_calls *c),
                      void *user)
{
    const struct nodes_part *nodes = r->state->nodes;
    uint32_t n = 0;
    for (uint32_t i = 0; nodes != NULL && i < nodes->n; i++) {
        n += chosen[i];
    }
    struct node_calls *c = ARENA_NEW(r->arena, struct node_calls);
    struct node_answer *v = ARENA_ARRAY(r->arena, struct node_answer, n);
    void *copy = arena_alloc(r->arena, message->request->size);
    if (c == NULL || v == NULL || copy == NULL) {
        return false;
    }
    memcpy(copy, question, message->request->size);
    *c = (struct node_calls){
        .r = r, .v = v, .n = n, .done = done, .user = user, .message = message, .question = copy};
    if (!arena_defer(r->arena, release, c)) {
        return false;
    }
    for (uint32_t i = 0, k = 0; k < n; i++) {
        if (chosen[i]) {
            v[k] = (struct node_answer){.node = &nodes->v[i], .calls = c, .error = err_in(&v[k].call.arena)};
            k++;
        }
    }
    c->pending = n;
    if (n == 0) {
        later(&c->end, all_answered);
    }
    for (uint32_t i = 0; i < n; i++) { /* r and c may be gone after the last call */
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

void node_calls_write_head(const struct node_calls *c, struct jsonw *w)
{
    uint32_t failed = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        failed += err_is(&c->v[i].error);
    }
    jw_kobj(w, "_nodes");
    jw_ki64(w, "total", c->n);
    jw_ki64(w, "successful", c->n - failed);
    jw_ki64(w, "failed", failed);
    if (failed > 0) {
        jw_karr(w, "failures");
        for (uint32_t i = 0; i < c->n; i++) {
            if (!err_is(&c->v[i].error)) {
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

static void node_call_end(struct node_question *q)
{
    struct node_answer *local = q->local;
    tasks_end(q->co->tasks, &q->task);
    arena_fini(&q->arena);
    free(q);
    if (local != NULL) {
        answered(local->calls);
    }
}

/* As if they had come from another node. */
static void take_here(struct node_answer *a, struct buf *bytes)
{
    const struct codec *codec = a->calls->message->answer;
    struct remote_call *call = &a->call;
    arena_init(&call->arena, NULL, ARENA_UNLIMITED);
    call->t.answer_memory = *bytes;
    call->answer = bytes->failed ? NULL : arena_alloc(&call->arena, codec->size);
    if (call->answer == NULL || !codec_read(codec, call->answer, buf_view(bytes), &call->arena)) {
        err_no_memory(&a->error);
    }
    a->answer = call->answer;
}

void node_reply_bytes(struct node_question *q, struct buf *answer)
{
    if (q->local != NULL) {
        take_here(q->local, answer);
    } else {
        remote_reply_bytes(q->rq, answer);
    }
    node_call_end(q);
}

void node_reply(struct node_question *q, const void *answer)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    q->message->answer->encode(answer, &b);
    node_reply_bytes(q, &b);
}

void node_refuse(struct node_question *q, const struct errmsg *error)
{
    if (q->local != NULL) {
        err_copy(&q->local->error, error);
    } else {
        remote_refuse(q->rq, error);
    }
    node_call_end(q);
}

static void receive(void *self, struct remote_rq *rq)
{
    struct node_question *q = calloc(1, sizeof(*q));
    if (q == NULL) {
        ERR_LOCAL(em);
        err_no_memory(&em);
        remote_refuse(rq, &em);
        return;
    }
    q->rq = rq;
    serve(q, self, rq->message, rq->body);
}

void node_calls_serve(struct coordinator *co, void (*const *services)(struct node_question *q))
{
    co->services = services;
    co->served = (struct remote_service){.transport = co->o.transport,
                                         .self = co,
                                         .rows = rows,
                                         .n = ARRAY_LEN(rows),
                                         .pools = {[MESSAGE_ON_READS] = co->o.workers}};
    if (co->o.transport != NULL) {
        remote_serve(&co->served);
    }
}
