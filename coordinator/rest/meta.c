#include "coordinator/rest/meta.h"

#include "coordinator/core/meta.h"
#include "coordinator/rest/setting_warnings.h"

#include "common/cluster/blocks.h"

#include <stdlib.h>

struct rest_meta {
    struct meta_call call; /* first: handlers have its request */
    struct rest *r;
    void (*then)(struct rest *r, struct meta_request *rq);
};

static struct rest_meta *rest_meta_of(struct meta_request *rq)
{
    return CONTAINER_OF(rq, struct rest_meta, call.rq);
}

static void rest_meta_done(struct meta_call *call)
{
    struct rest_meta *c = rest_meta_of(&call->rq);
    if (!err_is(&call->rq.error)) {
        setting_warnings(c->r, &call->rq);
    }
    c->then(c->r, &call->rq);
}

struct meta_request *rest_meta(struct rest *r, enum meta_action action, const struct str *names, uint32_t n)
{
    struct rest_meta *c = calloc(1, sizeof(*c));
    if (c == NULL || meta_call_init(&c->call, &r->env, action, names, n) != ERR_OK) {
        free(c);
        rest_no_memory(r);
        return NULL;
    }
    c->r = r;
    return &c->call.rq;
}

void rest_meta_free(struct meta_request *rq)
{
    struct rest_meta *c = rest_meta_of(rq);
    meta_call_fini(&c->call);
    free(c);
}

void rest_meta_then(UNUSED struct rest *r, struct meta_request *rq,
                    void (*then)(struct rest *r, struct meta_request *rq))
{
    struct rest_meta *c = rest_meta_of(rq);
    c->then = then;
    meta_call_send(&c->call, rest_meta_done, NULL);
}

static void acknowledge(struct rest *r, struct meta_request *rq)
{
    if (err_is(&rq->error)) {
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

void rest_meta_wait_active(struct rest *r, struct meta_request *rq,
                           void (*then)(struct active_wait *wait, bool active))
{
    struct active_wait *w = !err_is(&rq->error) ? ARENA_NEW(r->arena, struct active_wait) : NULL;
    if (!err_is(&rq->error) && w == NULL) {
        err_no_memory(&rq->error);
    }
    if (err_is(&rq->error)) {
        rest_fail(r, &rq->error);
        rest_meta_free(rq);
        return;
    }
    *w = (struct active_wait){.r = &r->env,
                              .names = rq->names,
                              .n_names = rq->n_names,
                              .timeout_ms = r->ack_ms,
                              .then = then,
                              .user = rq};
    if (rest_active_shards(r, &w->wanted) != ERR_OK) {
        w->wanted = ACTIVE_DEFAULT; /* was refused before */
    }
    active_wait_begin(w);
}

enum err rest_meta_timeouts(struct rest *r, int64_t *master_ms)
{
    enum err e = rest_time(r, "master_timeout", MASTER_TIMEOUT_MS, master_ms);
    return e == ERR_OK ? rest_time(r, "timeout", MASTER_TIMEOUT_MS, &r->ack_ms) : e;
}

/* Nothing named is not everything. action.destructive_requires_name: no index is deleted, opened, closed or blocked that is not
 * named. */
static enum err check_named(struct rest *r, enum meta_action action, struct str expression)
{
    if (expression.n == 0 && (action == META_OPEN_INDEX || action == META_CLOSE_INDEX)) {
        return err_set(&r->em, ERR_ACTION_VALIDATION, "Validation Failed: 1: index is missing;");
    }
    bool required = cluster_setting_bool(r->state, SET_ACTION_DESTRUCTIVE_REQUIRES_NAME);
    bool destructive = action == META_DELETE_INDEX || action == META_OPEN_INDEX || action == META_CLOSE_INDEX
                       || (action == META_UPDATE_SETTINGS && rest_has(r, "block"));
    bool named = expression.n > 0 && !str_is(expression, "_all") && str_find(expression, '*', 0) == SIZE_MAX;
    return !destructive || !required || named
               ? ERR_OK
               : err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "Wildcard expressions or all indices are not allowed");
}

struct meta_request *rest_meta_indices(struct rest *r, enum meta_action action, struct expand_options *o)
{
    const struct index_target *t;
    uint32_t n;
    int64_t timeout_ms;
    struct str expression = rest_param(r, "index");
    enum err e = rest_index_options(r, o);
    e = e == ERR_OK ? rest_meta_timeouts(r, &timeout_ms) : e;
    if (e == ERR_OK && !rest_ready(r)) {
        return NULL;
    }
    e = e == ERR_OK ? check_named(r, action, expression) : e;
    e = e == ERR_OK ? resolve_indices(r->state, expression, o, clock_wall_ms(r->co->o.clock), r->arena, &t,
                                      &n, &r->em)
                    : e;
    struct str *names = e == ERR_OK ? ARENA_ARRAY(r->arena, struct str, n) : NULL;
    if (e == ERR_OK && names == NULL) {
        e = err_no_memory(&r->em);
    }
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++) {
        names[i] = t[i].meta->name;
    }
    struct meta_request *rq = rest_meta(r, action, names, n);
    if (rq != NULL) {
        rq->timeout_ms = timeout_ms;
        rq->text = r->body;
    }
    return rq;
}

enum err rest_metadata_readable(struct rest *r, const struct index_target *t, uint32_t n)
{
    const struct index_meta **v = ARENA_ARRAY(r->arena, const struct index_meta *, n);
    if (v == NULL) {
        return err_no_memory(&r->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        v[i] = t[i].meta;
    }
    return indices_block_check(r->state, v, n, BLOCK_METADATA_READ, &r->em);
}
