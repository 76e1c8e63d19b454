/* orders.h - orders and questions of operators about copies of shards, as read from bodies of requests.
 *
 * Whoever takes the request reads it first, so that a body that is none is refused there; allocation.h acts on
 * it. Knows no state. Pure functions. */
#ifndef MASTER_ORDERS_H
#define MASTER_ORDERS_H

#include "common/base/arena.h"
#include "common/base/err.h"
#include "common/base/json.h"

enum reroute_kind {
    REROUTE_MOVE,
    REROUTE_CANCEL,
    REROUTE_ALLOCATE_REPLICA,
    REROUTE_ALLOCATE_STALE, /* the copy becomes primary, whatever it misses: with the allocation id that it
                               has on disk, which is not in sync until it has started; its history is new */
    REROUTE_ALLOCATE_EMPTY
};
struct reroute_command {
    enum reroute_kind kind;
    struct str index, node; /* REROUTE_MOVE: from there */
    struct str to_node;
    uint32_t shard;
    bool allow_primary, accept_data_loss;
};
/* Reads a _cluster/reroute body (NULL: no commands) into `arena`. Errors are Elasticsearch's, with places in
 * `text`. */
enum err reroute_parse(struct reroute_command **out, uint32_t *n, const struct json *body, struct str text,
                       struct arena *arena, struct errmsg *em);

struct explain_question {
    struct str index; /* n == 0: any copy without a place, a primary first */
    uint32_t shard;
    bool primary;
    struct str current_node; /* n == 0: any */
    bool include_yes, include_disk;
};
/* Reads a _cluster/allocation/explain body (NULL: none). */
enum err explain_parse(struct explain_question *out, const struct json *body, struct str text,
                       struct errmsg *em);

#endif
