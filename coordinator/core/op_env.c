/* The environment of an operation (op_env.h). */
#include "coordinator/core/op_env.h"

static void drop_state(void *s)
{
    cluster_state_unref(s);
}

void op_env_renew(struct op_env *env)
{
    struct cluster_state *now = env->co->o.state(env->co->o.self);
    if (!arena_defer(env->arena, drop_state, cluster_state_ref(env->state))) {
        cluster_state_unref(now); /* without memory the operation goes on with the state that it has */
        return;
    }
    cluster_state_unref(env->state); /* the arena's reference is left */
    env->state = now;
}

bool op_client_gone(void *http)
{
    return http != NULL && http_aborted(http);
}

bool op_on_loop(const struct op_env *env)
{
    return env->http != NULL && env->http->loop != NULL && loop_inside(env->http->loop);
}

struct str op_opaque_id(const struct op_env *env)
{
    const struct http_request *http = env->http;
    const struct str *id =
        http != NULL ? http_header_find(http->headers, http->headers_n, "x-opaque-id") : NULL;
    return id != NULL ? *id : STR_NULL;
}
