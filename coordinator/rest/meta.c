#include "coordinator/rest/meta.h"

#include <stdlib.h>

struct meta_call {
    struct meta_request rq;
    struct rest *r;
    void (*then)(struct rest *r, struct meta_request *rq);
};

static void done(struct meta_request *rq)
{
    struct meta_call *c = (struct meta_call *)rq;
    /* Read-your-writes: what follows sees the state that has just been applied. */
    cluster_state_unref(c->r->state);
    c->r->state = c->r->co->o.state(c->r->co->o.self);
    c->then(c->r, rq);
}

struct meta_request *rest_meta(struct rest *r, enum meta_action action, const struct str *names, uint32_t n)
{
    struct meta_call *c = calloc(1, sizeof(*c));
    if (c == NULL) {
        err_no_memory(&r->em);
        rest_fail(r, NULL);
        return NULL;
    }
    meta_request_init(&c->rq, action, done, NULL);
    c->r = r;
    struct str *copy = ARENA_ARRAY(&c->rq.arena, struct str, n);
    for (uint32_t i = 0; copy != NULL && i < n; i++) {
        copy[i] = arena_str(&c->rq.arena, names[i]);
        if (copy[i].p == NULL) {
            copy = NULL;
        }
    }
    if (copy == NULL) {
        rest_meta_free(&c->rq);
        err_no_memory(&r->em);
        rest_fail(r, NULL);
        return NULL;
    }
    c->rq.names = copy;
    c->rq.n_names = n;
    return &c->rq;
}

void rest_meta_free(struct meta_request *rq)
{
    meta_request_fini(rq);
    free(rq);
}

void rest_meta_then(struct rest *r, struct meta_request *rq, void (*then)(struct rest *r, struct meta_request *rq))
{
    ((struct meta_call *)rq)->then = then;
    r->co->o.master(r->co->o.self, rq);
}

static void acknowledge(struct rest *r, struct meta_request *rq)
{
    if (rq->error.n > 0) {
        rest_fail(r, &rq->error);
    } else {
        rest_acknowledge(r);
    }
    rest_meta_free(rq);
}

void rest_meta_acknowledge(struct rest *r, struct meta_request *rq)
{
    rest_meta_then(r, rq, acknowledge);
}

enum err rest_meta_timeouts(struct rest *r, int64_t *timeout_ms)
{
    int64_t master;
    enum err e = rest_time(r, "master_timeout", 30000, &master);
    return e == ERR_OK ? rest_time(r, "timeout", 30000, timeout_ms) : e;
}
