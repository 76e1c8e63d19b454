#include "coordinator/rest/meta.h"

#include "common/base/num.h"
#include "coordinator/rest/setting_warnings.h"

#include "common/cluster/blocks.h"

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
    rest_renew_state(c->r);
    if (rq->error.n == 0) {
        setting_warnings(c->r, rq);
    }
    c->then(c->r, rq);
}

struct meta_request *rest_meta_new(struct rest *r, enum meta_action action, const struct str *names,
                                   uint32_t n)
{
    struct meta_call *c = calloc(1, sizeof(*c));
    if (c == NULL) {
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
        return NULL;
    }
    c->rq.names = copy;
    c->rq.n_names = n;
    return &c->rq;
}

struct meta_request *rest_meta(struct rest *r, enum meta_action action, const struct str *names, uint32_t n)
{
    struct meta_request *rq = rest_meta_new(r, action, names, n);
    if (rq == NULL) {
        err_no_memory(&r->em);
        rest_fail(r, NULL);
    }
    return rq;
}

void rest_meta_free(struct meta_request *rq)
{
    meta_request_fini(rq);
    free(rq);
}

void rest_meta_then(struct rest *r, struct meta_request *rq,
                    void (*then)(struct rest *r, struct meta_request *rq))
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

void rest_meta_wait_active(struct rest *r, struct meta_request *rq,
                           void (*then)(struct active_wait *wait, bool active))
{
    struct active_wait *w = rq->error.n == 0 ? ARENA_NEW(r->arena, struct active_wait) : NULL;
    if (rq->error.n == 0 && w == NULL) {
        err_no_memory(&rq->error);
    }
    if (rq->error.n > 0) {
        rest_fail(r, &rq->error);
        rest_meta_free(rq);
        return;
    }
    *w = (struct active_wait){.r = r,
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
    bool required = false;
    bool destructive = action == META_DELETE_INDEX || action == META_OPEN_INDEX || action == META_CLOSE_INDEX
                       || (action == META_UPDATE_SETTINGS && rest_has(r, "block"));
    num_parse_bool(cluster_setting(r->state, "action.destructive_requires_name", STR("false")), &required);
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
