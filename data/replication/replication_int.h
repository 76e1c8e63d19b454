/* replication_int.h - what the files of replication share: a shard's part, requests that wait for copies (fanout.c), the links to
 * copies (links.c), leading (primary.c), following (replica.c). All on the shard's strand. */
#ifndef DATA_REPLICATION_REPLICATION_INT_H
#define DATA_REPLICATION_REPLICATION_INT_H

#include "data/replication/replication.h"
#include "data/replication/replication_bytes.h"

#define REPLICATE_MS  60000 /* a copy that takes longer has failed */
#define TELL_AGAIN_MS 1000  /* an idle copy, of what it knows */
#define CHECKPOINT_MS 10000 /* the same for one that is only told of the global checkpoint */

/* A primary's account of the other copies, beside its tracker (primary.c). */
struct copy_link;
struct primary_side {
    struct copy_link *links;
    struct fanout *waiting;      /* of requests that wait for copies */
    struct shard_waiter *parked; /* requests that may not begin yet */
    bool active;                 /* all copies in sync have what this one has of earlier terms */
    bool deposed;                /* the master knows another primary: the state that says so is on its way */
    uint32_t requests;           /* under way */
    int64_t lease_from,
        lease_ms;      /* what copies that left may still ask for, and since when; SEQ_UNASSIGNED: nothing */
    bool handing_over; /* its place is being taken by another copy: new writes wait for the next state */
    void (*drained)(void *arg);
    void *drained_arg;
};

/* What a copy knows of its primary (replica.c). */
struct replica_run;
struct replica_side {
    struct replica_run *waiting; /* messages that wait for a mapping or for room */
    uint64_t term;        /* of the newest primary that was heard of, once its history is this copy's */
    uint64_t resync_term; /* of the one that is re-sending its history */
    int64_t *own_terms;   /* of the operations from own_from on, when that began; 0: none */
    int64_t own_from;
    size_t n_own;
    int64_t retain_from;
    bool diverged;                           /* from that one's history */
    char allocation_id[ALLOCATION_ID_BYTES]; /* of the copy that this is about */
};

/* A shard's part. */
struct replication {
    struct tracker tracker; /* of a primary, when it leads */
    bool leads;
    struct primary_side lead;
    struct replica_side replica;
    int64_t lease_renewed_ms;
};

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
    struct engine_history *history;                 /* of what is re-sent */
    int64_t known_checkpoint, persisted_checkpoint; /* the global one, as it has heard; as it has on disk */
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
    bool confirms; /* asks the copies who leads */
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
    bool absent; /* the copy was not there to fail: neither a success nor a failure, as in Elasticsearch */
    bool last;   /* OUT_RESYNC */
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

/* ---- replica.c ---- */

void replica_tick(struct shard *sh, int64_t now_ms);
void replica_give_up(struct shard *sh); /* those that wait */

/* ---- primary.c ---- */

void primary_moved(struct shard *sh); /* the tracker's global checkpoint */
/* Requests go on once all copies in sync have this one's history. */
void primary_check_active(struct shard *sh);

#endif
