#include "coordinator/rest/master_view.h"

/* The question is the master service's until done(), and its answer the request's: the arena of the request
 * holds both. */
struct master_question {
    struct pending_rq rq;
    struct master_view view;
    struct later end; /* when nobody is asked */
};

/* Moves the answer's texts into the request, which has an end that everybody reaches. */
static bool keep(struct master_question *a)
{
    struct arena *in = a->view.r->arena;
    struct pending_task *v = ARENA_ARRAY(in, struct pending_task, a->rq.queue.n);
    bool ok = v != NULL;
    for (uint32_t i = 0; ok && i < a->rq.queue.n; i++) {
        v[i] = a->rq.queue.v[i];
        v[i].source = arena_str(in, a->rq.queue.v[i].source);
        ok = v[i].source.p != NULL;
    }
    a->rq.queue.v = v;
    a->rq.queue.n = ok ? a->rq.queue.n : 0;
    return ok;
}

static void master_view_continue(void *arg)
{
    struct master_question *a = arg;
    struct pending_rq *rq = &a->rq;
    struct rest *r = a->view.r;
    if (err_is(&rq->error)) {
        err_copy(&r->em, &rq->error);
    } else if (!keep(a)) {
        err_no_memory(&r->em);
    }
    pending_rq_fini(rq);
    if (err_is(&r->em)) {
        rest_fail(r, NULL);
        return;
    }
    cluster_state_unref(r->state);
    r->state = r->co->o.state(r->co->o.self);
    a->view.then(&a->view);
}

/* The continuation may take long, and the loop that answers has heartbeats to send. */
static void answered(struct pending_rq *rq)
{
    struct master_question *a = rq->user;
    const struct executor *workers = a->view.r->co->o.workers;
    if (workers == NULL || !executor_submit_force(workers, master_view_continue, a)) {
        master_view_continue(a);
    }
}

static void master_view_local(struct later *l)
{
    struct master_question *a = CONTAINER_OF(l, struct master_question, end);
    a->view.then(&a->view);
}

static void ask(struct rest *r, bool local, bool at_once, int64_t timeout_ms,
                void (*then)(struct master_view *v), void *user)
{
    struct master_question *a = ARENA_NEW(r->arena, struct master_question);
    if (a == NULL) {
        rest_no_memory(r);
        return;
    }
    a->view = (struct master_view){.r = r, .pending = &a->rq, .then = then, .user = user};
    pending_rq_init(&a->rq, timeout_ms, answered, a);
    a->rq.at_once = at_once;
    if (local || r->co->o.pending == NULL) {
        pending_rq_fini(&a->rq);
        later(&a->end, master_view_local);
    } else {
        r->co->o.pending(r->co->o.self, &a->rq);
    }
}

void rest_ask_master(struct rest *r, bool local, int64_t timeout_ms, void (*then)(struct master_view *v),
                     void *user)
{
    ask(r, local, false, timeout_ms, then, user);
}

void rest_ask_queue(struct rest *r, bool local, int64_t timeout_ms, void (*then)(struct master_view *v))
{
    const struct node_meta *master = cluster_master(r->state);
    bool here = master != NULL && str_eq(master->id, r->co->o.node_id);
    ask(r, local && !here, true, timeout_ms, then, NULL);
}

int64_t master_view_longest_ms(const struct master_view *v)
{
    int64_t longest = 0;
    for (uint32_t i = 0; i < v->pending->queue.n; i++) {
        longest = MAX_OF(longest, v->pending->queue.v[i].queued_ms);
    }
    return longest;
}

static void seen(struct master_view *v)
{
    void (*go)(struct rest * r);
    memcpy(&go, v->user, sizeof(go));
    go(v->r);
}

void rest_with_master_state(struct rest *r, void (*go)(struct rest *r))
{
    bool local;
    int64_t timeout_ms;
    void *keep = arena_alloc(r->arena, sizeof(go));
    enum err e = keep != NULL ? rest_bool(r, "local", false, &local) : err_no_memory(&r->em);
    e = e == ERR_OK ? rest_time(r, "master_timeout", MASTER_TIMEOUT_MS, &timeout_ms) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    memcpy(keep, &go, sizeof(go));
    rest_ask_master(r, local || cluster_master(r->state) == NULL, timeout_ms, seen, keep);
}
