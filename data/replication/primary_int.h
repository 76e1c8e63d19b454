/* primary_int.h - what the files of a primary's side of replication share: requests that wait for copies (fanout.c), the
 * links to copies (links.c), leading (primary.c). All on the shard's strand. */
#ifndef DATA_REPLICATION_PRIMARY_INT_H
#define DATA_REPLICATION_PRIMARY_INT_H

#include "data/replication/replication.h"
#include "data/replication/replication_bytes.h"

#define REPLICATE_MS  60000 /* a copy that takes longer has failed */
#define TELL_AGAIN_MS 1000  /* an idle copy, of what it knows */
#define CHECKPOINT_MS 10000 /* the same for one that is only told of the global checkpoint */

/* Another copy that this primary sends to, or that has to be taken out of the in-sync set. Gone when the tracker knows it
 * no more; it is freed when nothing is out. */
struct copy_link {
    struct copy_link *next;
    struct shard *sh;
    struct arena arena; /* the next one */
    struct str allocation_id;
    struct arena peer_arena;
    struct transport_peer peer; /* address.p == NULL: on no node */
    struct outgoing *sent;      /* at the transport */
    struct outgoing *failed;    /* wait for the master's word */
    bool gone, ended;           /* the copy is none of ours; this one does not lead any more */
    bool left;      /* gone because the state says so: it moved, or is not wanted; it did not fail */
    bool broken;    /* it has missed something */
    bool event_out; /* the master is being asked to take it out */
    bool resyncing;
    struct errmsg event_error;
    struct engine_history *history; /* of what is re-sent */
    int64_t told, safe;             /* the global checkpoint that it has heard of; that it has on disk */
    int64_t tell_after_ms;
};

struct fanout {
    struct shard *sh;
    struct fanout *next, *prev; /* waiting */
    bool listed, dropped;
    struct buf ops; /* not sent yet */
    size_t n_ops;
    uint64_t mapping_version;
    uint32_t sends, pending, ok, failed;
    bool asks;     /* who leads, of the copies */
    int64_t needs; /* the global checkpoint that it waits for */
    struct shard_waiter *waiter;
    struct errmsg error;
};

enum outgoing_kind { OUT_WRITE, OUT_REFRESH, OUT_RESYNC, OUT_CHECKPOINT };
struct outgoing {
    struct transport_rq rq;
    struct outgoing *next;
    struct copy_link *link;
    struct fanout *fanout; /* OUT_WRITE, OUT_REFRESH */
    enum outgoing_kind kind;
    bool counts; /* the first message to that copy: it is what _shards tells of */
    bool
        away; /* the copy was not there to fail: told neither as a success nor as a failure, as in Elasticsearch */
    bool last; /* OUT_RESYNC */
    int64_t global;
};

/* ---- links.c ---- */

struct copy_link *link_find(struct shard *sh, struct str allocation_id); /* NULL: none */
struct copy_link *link_new(struct shard *sh, struct str allocation_id);  /* NULL: no memory */
/* Those that are gone, with nothing out. */
void links_sweep(struct shard *sh);
/* What is under way ends soon. */
void link_cancel(struct copy_link *l);
/* Where the copy is, as the state says; NULL: nowhere. What is under way to a node that left ends. false: no memory. */
bool link_set_peer(struct copy_link *l, const struct node_meta *n);
struct outgoing *outgoing_new(struct copy_link *l, enum outgoing_kind kind); /* NULL: no memory */
/* Sends it with n operations (their bytes), or lets it fail. */
void link_send(struct outgoing *o, struct replication_msg *m, size_t n, struct str ops);
/* It did not get there: it ends when the copy is out of the in-sync set, or nobody can say. */
void link_failed(struct outgoing *o, const struct errmsg *why);
/* What failed may end: error NULL: the copy does not count any more. */
void link_settle_failed(struct copy_link *l, const struct errmsg *error);
/* The copy has missed something: it must be out of the in-sync set before what it missed is acknowledged. */
void link_ask_master(struct copy_link *l, struct str why);
/* Re-sends what lies above the global checkpoint to every copy in sync. */
void links_resync(struct shard *sh);
/* An operation as copies get it: with all that was decided here. */
void replicated_op_encode(const struct engine_op *op, struct buf *out);

/* ---- fanout.c ---- */

/* A message to a copy has ended. */
void fanout_settle(struct fanout *f, bool ok, bool counts, const struct errmsg *error);
void fanout_wake(struct fanout *f, const struct errmsg *error);
void fanout_wake_if_settled(struct fanout *f);
void requests_unpark(struct shard *sh);
/* A handover may wait for the last answer. */
void requests_look_drained(struct shard *sh);
/* "Not led by this copy any more: unknown." */
void primary_unknown(struct shard *sh, struct errmsg *em);

/* ---- primary.c ---- */

void primary_moved(struct shard *sh); /* the tracker's global checkpoint */
/* Requests go on once all copies in sync have this one's history. */
void primary_check_active(struct shard *sh);

#endif
