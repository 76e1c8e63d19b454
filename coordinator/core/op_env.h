/* op_env.h - the environment of an operation: the coordinator, memory, one snapshot of the cluster state, and the waiting client.
 *
 * A request over HTTP has one, and operations that answer no client have one of their own. One thread at a time. */
#ifndef COORDINATOR_CORE_OP_ENV_H
#define COORDINATOR_CORE_OP_ENV_H

#include "coordinator/core/coordinator.h"

/* The members, for structs that are an environment and more. */
#define OP_ENV_MEMBERS                                                           \
    struct coordinator *co;                                                      \
    struct http_request *http; /* NULL: no client waits */                       \
    struct arena *arena;                                                         \
    struct cluster_state *state; /* the snapshot; the owner has its reference */ \
    struct errmsg em;

struct op_env {
    OP_ENV_MEMBERS
};

/* The newest applied state as the operation's; what it has of the old one stays valid. */
void op_env_renew(struct op_env *env);
/* Has the client gone? `http` is a request's; NULL: it has none. For questions like shard_rq.cancelled. Any thread. */
bool op_client_gone(void *http);
/* Is this the thread of the loop that the request came by? */
bool op_on_loop(const struct op_env *env);
/* The client's X-Opaque-Id, as it was sent; p == NULL: none. */
struct str op_opaque_id(const struct op_env *env);

#endif
