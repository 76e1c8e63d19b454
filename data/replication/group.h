/* group.h - the copies of a shard as their primary sees them: what is under way to each, which requests wait for it, and which
 * copies have to leave the in-sync set. A pure core, beside the tracker, which it has.
 *
 * No clock, thread, message or memory of its own here: the driver makes copies, messages and requests, and embeds these structs.
 * Each step takes what has happened; group_effect() gives what follows, one thing after another, until there is nothing more.
 *
 * A message that a copy of the in-sync set did not take does not end: the copy is reported to the master, and the message ends when the
 * master has taken the copy out, or nobody can say any more. So a request that has ended well is on every copy in sync. */
#ifndef DATA_REPLICATION_GROUP_H
#define DATA_REPLICATION_GROUP_H

#include "data/replication/tracker.h"

#define GROUP_TELL_AGAIN_MS 1000             /* an idle copy, of what it knows */
#define GROUP_LEASE_MS      (12 * 3600000LL) /* index.soft_deletes.retention_lease.period */

enum group_message_kind { GROUP_WRITE, GROUP_REFRESH, GROUP_RESYNC, GROUP_CHECKPOINT };

/* How a request ends, beside its counts. */
enum group_outcome {
    GROUP_FINE,
    GROUP_UNKNOWN,   /* this copy does not lead any more: whether it is kept is unknown */
    GROUP_NO_MEMORY, /* a copy misses it, and nobody can say what becomes of it */
    GROUP_TIMED_OUT
};

struct group_message {
    struct group_message *next;
    struct group_copy *copy;
    struct group_request *request; /* GROUP_WRITE, GROUP_REFRESH */
    enum group_message_kind kind;
    bool counts; /* the first message to that copy: it is what _shards tells of */
    bool absent; /* the copy was not there to fail: neither a success nor a failure, as in Elasticsearch */
    bool last;   /* GROUP_RESYNC */
    int64_t global;
};

/* Another copy that this primary sends to, or that has to be taken out of the in-sync set. Gone when the tracker knows it no
 * more; over when nothing is out. */
struct group_copy {
    struct group_copy *next;
    struct str allocation_id; /* the driver's */
    bool placed;              /* it is on a node */
    struct group_message *sent;
    struct group_message *failed; /* wait for the master's word */
    bool gone, ended;             /* the copy is none of ours; this one does not lead any more */
    bool left;      /* gone because the state says so: it moved, or is not wanted; it did not fail */
    bool broken;    /* it has missed something */
    bool reporting; /* the master is being asked to take it out */
    bool resyncing; /* it gets what lies above the global checkpoint, part by part */
    int64_t known_checkpoint,
        persisted_checkpoint; /* the global one, as the copy knows it; as it has on disk */
    int64_t tell_after_ms;
    char why[ERR_REASON_BYTES];            /* GROUP_REPORT */
    bool cancels, reports, resyncs, tells; /* effects that are due */
};

/* A request that may not begin yet. */
struct group_parked {
    struct group_parked *next;
    int64_t deadline_ms; /* 0: none */
    bool timed_out;
};

struct group_request {
    struct group_request *next, *prev; /* waiting; or what follows for it */
    bool waits, dropped;
    uint32_t sends, pending, ok, failed;
    int64_t needs; /* the global checkpoint that it waits for */
    int64_t deadline_ms;
    enum group_outcome outcome;
};

struct group {
    struct tracker tracker; /* when it leads */
    bool leads;
    bool active;       /* all copies in sync have what this one has of earlier terms */
    bool deposed;      /* the master knows another primary: the state that says so is on its way */
    bool handing_over; /* its place is being taken by another copy: new requests wait for the next state */
    bool quiet_wanted; /* GROUP_QUIET is waited for */
    uint32_t requests; /* under way */
    struct group_copy *copies;
    struct group_request *waiting;
    struct group_parked *parked; /* newest first */
    int64_t lease_from; /* what copies that left may still ask for, and since when; SEQ_UNASSIGNED: nothing */
    int64_t lease_ms;
    /* effects that are due */
    bool moved, admits;
    struct group_message *over;
    struct group_request *woken, *done;
    struct group_parked *unparked; /* oldest first */
};

enum group_effect_kind {
    GROUP_MOVED,        /* the tracker's global checkpoint */
    GROUP_MESSAGE_OVER, /* free it */
    GROUP_WAKE,         /* the request's wait has ended, with `outcome` */
    GROUP_REQUEST_OVER, /* free it */
    GROUP_CANCEL,       /* what is sent to the copy ends soon */
    GROUP_REPORT,       /* the copy must leave the in-sync set, because of copy->why; then group_reported() */
    GROUP_SEND_RESYNC,  /* the next part, or group_report() */
    GROUP_SEND_CHECKPOINT,
    GROUP_UNPARK,   /* the request asks again whether it may begin, unless its time is up */
    GROUP_QUIET,    /* nothing is under way: the handover may go on, if group_still_quiet() then */
    GROUP_COPY_OVER /* free it */
};
struct group_effect {
    enum group_effect_kind kind;
    struct group_copy *copy;
    struct group_message *message;
    struct group_request *request;
    struct group_parked *parked;
    enum group_outcome outcome;
};
bool group_effect(struct group *g, struct group_effect *out);

/* ---- leading; the driver has changed the tracker ---- */

/* It leads from now on: the copies are added; then it serves. promoted: the others first get what this one has above the global
 * checkpoint. */
void group_begin(struct group *g);
void group_serve(struct group *g, bool promoted);
void group_stop(struct group *g);
/* Copies that the tracker does not know any more. */
void group_forget_gone(struct group *g, int64_t now_ms);
void group_add(struct group *g, struct group_copy *c);
struct group_copy *group_find(const struct group *g, struct str allocation_id); /* NULL: none */
/* It is on a node, another one than before, or on none. */
void group_place(struct group_copy *c, bool placed);
/* All copies that the state wants are there: nothing more need be kept for others. */
void group_end_lease(struct group *g);
/* A copy in sync on no node holds the checkpoint back that a request waits for. */
void group_report_lost(struct group *g);
/* Has everything been done for it to serve? After copies came or went. */
void group_check_active(struct group *g);
/* The tracker's global checkpoint moved by what the driver told it. */
void group_checkpoint_moved(struct group *g);

/* ---- messages ---- */

/* Begins one. true: it is sent; false: it has failed, and that is seen to. */
bool group_send(struct group *g, struct group_copy *c, struct group_message *m);
/* It cannot be made, or did not get there. absent: the copy is not there to fail. */
void group_failed(struct group *g, struct group_message *m, const char *why, bool absent, int64_t now_ms);
/* max_seq_no: of this copy. One that says what cannot be has failed. */
void group_answered(struct group *g, struct group_message *m, int64_t local_checkpoint,
                    int64_t global_checkpoint, int64_t max_seq_no);
/* The copy will miss something; of a request, if that could not be sent. */
void group_report(struct group_copy *c, const char *why);
void group_missed(struct group_copy *c, struct group_request *r, const char *why);
/* Part of the request was sent to all whom it concerns. */
void group_sent(struct group_request *r);
/* It ends like that, whatever copies say. */
void group_spoil(struct group_request *r, enum group_outcome outcome);
/* What the master said: it is out; else nobody can say. deposed: there is another primary. */
void group_reported(struct group *g, struct group_copy *c, bool out, bool deposed);

/* ---- requests ---- */

enum group_admission { GROUP_ADMITTED, GROUP_PARKED, GROUP_REFUSED };
/* GROUP_PARKED: group_effect() gives GROUP_UNPARK of `p` once. deadline_ms 0: none. */
enum group_admission group_enter(struct group *g, struct group_parked *p, int64_t deadline_ms);
void group_leave(struct group *g);
void group_drain(struct group *g);
void group_undrain(struct group *g);
bool group_is_quiet(const struct group *g);
/* Since GROUP_QUIET? Else that comes again. */
bool group_still_quiet(struct group *g);
/* Must it be sent to that copy? One that is in sync on no node has missed it already. */
bool group_concerns(const struct group *g, const struct tracked *c, enum group_message_kind kind);
bool group_settled(const struct group *g, const struct group_request *r);
/* group_effect() gives GROUP_WAKE once. deadline_ms 0: none. */
void group_wait(struct group *g, struct group_request *r, int64_t deadline_ms);
void group_abandon(struct group *g, struct group_request *r); /* its end is GROUP_REQUEST_OVER */

/* ---- now and then ---- */

void group_expire(struct group *g, int64_t now_ms); /* requests whose time is up, parked ones too */
void group_tick(struct group *g, int64_t now_ms, int64_t max_seq_no);
/* From where on history must stay, when `from` is what this copy itself needs. */
int64_t group_retain_from(const struct group *g, int64_t from, int64_t now_ms);

void group_invariant(const struct group *g);

#endif
