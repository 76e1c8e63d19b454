/* broadcast.h - one action on every active copy of every shard of some indices, and the answers.
 *
 * The run lives in the request's arena; done() is called once, on whichever thread finished last, and reads
 * the answers from acts[]. It knows nothing of what the action means. */
#ifndef COORDINATOR_CORE_BROADCAST_H
#define COORDINATOR_CORE_BROADCAST_H

#include "coordinator/core/op_env.h"
#include "coordinator/core/resolve.h"

struct broadcast {
    struct op_env *r;
    const struct index_target *targets;
    struct shard_act *acts;   /* by index in the order of the targets, then by shard, the primary first */
    struct shard_copy *asked; /* of each act: the copy, as the request's state has it */
    uint32_t n_targets, n;
    uint32_t copies, failed,
        absent; /* all copies that should be there; acts that failed, that found no copy */
    void (*done)(struct broadcast *bc);
    void *user;
    struct shard_act model;
    struct str node; /* p != NULL: only the copies there */
    _Atomic uint32_t pending;
    struct later end; /* when there is no copy to ask */
};

/* Asks the active copies of the targets, closed indices left out. done(), which never runs inside the call, must end the
 * operation after broadcast_fini(). false: no memory, and nothing was asked. */
bool broadcast_start(struct op_env *r, const struct index_target *targets, uint32_t n_targets,
                     const struct shard_act *model, void (*done)(struct broadcast *bc), void *user) NODISCARD;
/* The same, of the copies on one node. */
bool broadcast_start_on(struct op_env *r, struct str node, const struct index_target *targets,
                        uint32_t n_targets, const struct shard_act *model, void (*done)(struct broadcast *bc),
                        void *user) NODISCARD;
/* Frees the answers. */
void broadcast_fini(struct broadcast *bc);
/* Has the copy refused? One that is not there has not. */
bool broadcast_failed(const struct shard_rq *rq);
/* The member "_shards" with total, successful, failed and the failures. */
void broadcast_write_shards(const struct broadcast *bc, struct jsonw *w);

#endif
