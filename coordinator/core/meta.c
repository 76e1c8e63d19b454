/* Requests to the master (meta.h). */
#include "coordinator/core/meta.h"

#include <stdlib.h>

static void meta_done(struct meta_request *rq)
{
    struct meta_call *c = CONTAINER_OF(rq, struct meta_call, rq);
    op_env_renew(c->env);
    c->then(c);
}

enum err meta_call_init(struct meta_call *c, struct op_env *env, enum meta_action action,
                        const struct str *names, uint32_t n)
{
    meta_request_init(&c->rq, action, meta_done, NULL);
    c->env = env;
    struct str *copy = ARENA_ARRAY(&c->rq.arena, struct str, n);
    for (uint32_t i = 0; copy != NULL && i < n; i++) {
        copy[i] = arena_str(&c->rq.arena, names[i]);
        if (copy[i].p == NULL) {
            copy = NULL;
        }
    }
    if (copy == NULL) {
        meta_call_fini(c);
        return ERR_NO_MEMORY;
    }
    c->rq.names = copy;
    c->rq.n_names = n;
    return ERR_OK;
}

void meta_call_fini(struct meta_call *c)
{
    meta_request_fini(&c->rq);
}

struct meta_call *meta_call_new(struct op_env *env, enum meta_action action, const struct str *names,
                                uint32_t n)
{
    struct meta_call *c = calloc(1, sizeof(*c));
    if (c != NULL && meta_call_init(c, env, action, names, n) != ERR_OK) {
        free(c);
        c = NULL;
    }
    return c;
}

void meta_call_free(struct meta_call *c)
{
    meta_call_fini(c);
    free(c);
}

void meta_call_send(struct meta_call *c, void (*then)(struct meta_call *c), void *arg)
{
    const struct coordinator_opts *o = &c->env->co->o;
    c->then = then;
    c->arg = arg;
    o->master(o->self, &c->rq);
}
