/* meta.h - requests to the master, each answered when its result is applied here.
 *
 * The continuation then() sees the resulting state: the environment's state is renewed before the call. */
#ifndef COORDINATOR_CORE_META_H
#define COORDINATOR_CORE_META_H

#include "coordinator/core/op_env.h"

struct meta_call {
    struct meta_request rq; /* first: its done() gets it */
    struct op_env *env;
    void (*then)(struct meta_call *c); /* on any thread; frees it */
    void *arg;
};

/* A request with `n` names (copied) in memory of the caller's. ERR_NO_MEMORY: there is nothing to free. */
enum err meta_call_init(struct meta_call *c, struct op_env *env, enum meta_action action,
                        const struct str *names, uint32_t n);
void meta_call_fini(struct meta_call *c);
/* One with memory of its own; NULL: no memory. */
struct meta_call *meta_call_new(struct op_env *env, enum meta_action action, const struct str *names,
                                uint32_t n);
void meta_call_free(struct meta_call *c);
void meta_call_send(struct meta_call *c, void (*then)(struct meta_call *c), void *arg);

#endif
