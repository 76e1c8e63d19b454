/* replication_int.h - declarations shared by the files of replication: a shard's part, the input of its cores (group.h, follower.h), and
 * what is done for them: links (links.c), leading (primary.c), requests (fanout.c), following (replica.c). All on the shard's strand. */
#ifndef DATA_REPLICATION_REPLICATION_INT_H
#define DATA_REPLICATION_REPLICATION_INT_H

#include "data/replication/follower.h"
#include "data/replication/group.h"
#include "data/replication/replication.h"
#include "data/replication/replication_bytes.h"
#include "proto/remote.h"

/* A shard's part. */
struct replication {
    struct group group;         /* the other copies, when this one leads */
    bool performing;            /* what follows from a step is being done */
    void (*drained)(void *arg); /* NULL: no handover waits */
    void *drained_arg;
    struct follower follower; /* the copy here, when it does not lead */
    bool follows;             /* what follows from a step of it is being done */
    bool maintains;           /* it has refreshed: there may be work afterwards */
    int64_t *own_terms;       /* what its core compares; NULL: nothing */
    int64_t retain_from;      /* what other copies may still ask for */
    int64_t lease_renewed_ms;
};

/* Another copy, and the way to it. */
struct copy_link {
    struct group_copy c; /* first */
    struct shard *sh;
    struct arena arena; /* its allocation id */
    struct arena peer_arena;
    struct transport_peer peer;     /* address.p == NULL: on no node */
    enum err event_result;          /* what the master said */
    struct engine_history *history; /* of what is re-sent */
};

struct fanout {
    struct group_request r; /* first */
    struct shard *sh;
    bool confirms;  /* asks the copies who leads */
    struct buf ops; /* not sent yet */
    size_t n_ops;
    uint64_t mapping_version;
    struct shard_waiter *waiter;
};

/* A message to a copy. */
struct outgoing {
    struct group_message m; /* first */
    struct remote_call call;
    struct replication_answer answer;
};

/* ---- links.c ---- */

/* Does what follows from what the core was told. Nothing of the core is in use by the caller afterwards. */
void group_perform(struct shard *sh);
struct copy_link *link_new(struct shard *sh, struct str allocation_id); /* NULL: no memory */
/* Where the copy is, as the state says; NULL: nowhere. false: no memory. */
bool link_set_peer(struct copy_link *l, const struct node_meta *n);
struct outgoing *outgoing_new(struct copy_link *l, enum group_message_kind kind); /* NULL: no memory */
/* Sends it with n operations (their bytes), or, without them, lets it fail. The caller performs. */
void link_send(struct outgoing *o, struct replication_msg *m, size_t n, const struct buf *ops);

/* An operation as copies get it: with all that was decided here. */
void replicated_op_encode(const struct engine_op *op, struct buf *out);

/* ---- fanout.c ---- */

/* Its wait has ended. */
void fanout_woken(struct fanout *f, enum group_outcome outcome);
/* Its wait to begin has ended. */
void request_unparked(struct shard *sh, struct parked_request *p, enum group_outcome outcome);
/* No request is under way: a handover may wait for that. */
void requests_quiet(struct shard *sh);

/* ---- replica.c ---- */

/* Tells the core, and does what follows. */
void replica_step(struct shard *sh, const struct follower_event *e);

#endif
