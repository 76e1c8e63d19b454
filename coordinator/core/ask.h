/* ask.h - requests to shards, wherever their copies are.
 *
 * Chooses the copy (copies.h), asks it here or over remote_shards.h, and asks the next one when it fails
 * (retry.h). A request to a shard of this node never crosses the transport, and costs nothing more when there is no other
 * copy. done() is called as shard_api.h says: once, on any thread, never inside the call; rq->node then names the node that
 * answered (p == NULL: none was asked). */
#ifndef COORDINATOR_CORE_ASK_H
#define COORDINATOR_CORE_ASK_H

#include "coordinator/core/coordinator.h"

/* Where a reading request may go. */
struct ask_where {
    const struct cluster_state *state; /* the request's snapshot; for the length of the call */
    struct str preference;             /* the caller's until done(); n == 0: none */
    uint64_t turn;                     /* ask_turn(), one for all shards of a request */
};
uint64_t ask_turn(struct coordinator *co);
struct ask_where ask_anywhere(struct coordinator *co, const struct cluster_state *state,
                              struct str preference);

void ask_get(struct coordinator *co, const struct ask_where *where, struct shard_get *rq);
/* A phase of a search. With a context: the node that has it, rq->node, and no other. Without: rq->node, if set, is asked
 * first. */
void ask_search(struct coordinator *co, const struct ask_where *where, struct shard_rq *rq);
void ask_explain(struct coordinator *co, const struct ask_where *where, struct shard_explain *rq);
void ask_term_vectors(struct coordinator *co, const struct ask_where *where, struct shard_term_vectors *rq);
/* The node that has the context, rq->rq.node. */
void ask_fetch(struct coordinator *co, struct shard_fetch *rq);
/* The copy on rq->rq.node. */
void ask_act(struct coordinator *co, struct shard_act *rq);
/* The node of the primary, as of the newest state; ERR_NO_SHARD when there is no active one. Asking again is
 * the caller's. */
void ask_write(struct coordinator *co, struct shard_write *rq);
/* Frees a context. The result is not reported. */
void ask_forget(struct coordinator *co, struct str node, uint64_t context);
/* Frees contexts on rq->rq.node. */
void ask_free(struct coordinator *co, struct shard_free *rq);

/* Cancels calls of cancelled tasks on the other nodes soon, before the next regular check. Any thread; takes no lock of the tasks'. */
void ask_check_soon(struct coordinator *co);

/* Is there any copy to ask? ERR_ILLEGAL_ARGUMENT: the preference leaves none. */
enum err ask_possible(struct coordinator *co, const struct ask_where *where, const struct shard_ref *shard,
                      bool *possible, struct arena *arena, struct errmsg *em);

#endif
