/* remote_shards.h - requests of shard_api.h to other nodes, and the service of theirs.
 *
 * A call is encoded, sent over the transport's data class, served there by the node's own shards, and ends as one that
 * was served here: done() once, on one of the executors. It knows nothing of who should be asked, nor of
 * asking again. Any thread. */
#ifndef PROTO_REMOTE_SHARDS_H
#define PROTO_REMOTE_SHARDS_H

#include "proto/shard_api.h"
#include "proto/transport.h"

struct remote_shards;

struct remote_shards_opts { /* borrowed */
    const struct transport *transport;
    const struct shard_api *local;         /* serves what other nodes ask */
    const struct executor *reads, *writes; /* where calls are decoded, and answers arrive */
};

/* Before the transport starts: it says there what it serves. */
enum err remote_shards_new(struct remote_shards **out, const struct remote_shards_opts *opts,
                           struct errmsg *em);
/* Calls of other nodes' tasks are told to begin(self, rq) just before they are served; it may put itself before rq->done
 * and rq->cancelled. Before the transport starts. */
void remote_shards_listen(struct remote_shards *r, void (*begin)(void *self, struct shard_rq *rq),
                          void *self);
/* The node's shards are about to go: calls of other nodes are refused from now on, and those under way waited
 * for. Not from a pool's thread. */
/* false: some calls were not answered within so many seconds (0: waits for all). May be called again. */
bool remote_shards_stop(struct remote_shards *r, unsigned wait_s);
/* Once the transport has stopped and every call was answered. NULL ok. */
void remote_shards_free(struct remote_shards *r);

/* As serving it here, at the node at `to` (copied). Errors of the way itself are the transport's: ERR_NODE_NOT_CONNECTED:
 * nothing was done there; ERR_NODE_DISCONNECTED, ERR_RECEIVE_TIMEOUT: it is not known. */
void remote_shards_call(struct remote_shards *r, const struct transport_peer *to, struct shard_rq *rq);

/* To be called now and then while calls are under way: those whose maker has cancelled them are
 * cancelled there, and calls to processes that are gone(self, ephemeral id) end with ERR_NODE_DISCONNECTED. How
 * many are under way. */
size_t remote_shards_look(struct remote_shards *r, bool (*gone)(void *self, struct str ephemeral_id),
                          void *self);

#endif
