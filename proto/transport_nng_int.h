/* transport_nng_int.h - declarations shared by the transport's files.
 *
 * A link is what goes to one peer for one class: a connection, or the attempts at one; a slot is a request on its way. Whatever has
 * a time (redialing, attempts, deadlines) and whatever may wait for NNG (freeing a dialer) is the keeper's, a thread of the
 * transport: what NNG does not allow in its callbacks happens nowhere else.
 *
 * Lock order: the transport's, then a connection's. Neither is held while done() is handed over, or where NNG waits. */
#ifndef PROTO_TRANSPORT_NNG_INT_H
#define PROTO_TRANSPORT_NNG_INT_H

#include "proto/transport_nng.h"
#include "proto/transport_nng_conn.h"

#include <pthread.h>

#define KINDS         256
#define NEVER         INT64_MAX
#define CONNECT_MS    1000 /* how long requests wait for a connection that was never there */
#define ATTEMPT_MS    1000 /* one attempt at a connection, until the other side has greeted */
#define REDIAL_MIN_MS 20
#define REDIAL_MAX_MS 1000

struct dial;

/* A request on its way. */
struct slot {
    struct slot *next, **at; /* of its link; next alone when it is over */
    struct link *link;
    struct transport_rq *rq;
    uint64_t id;
    struct tnng_out *out; /* while it waits for a connection */
    bool sent;            /* it has been queued on the link's connection */
    int64_t sent_ms, deadline, expires;
    uint32_t heap_at;
};

struct link {
    struct link *next;
    struct transport_nng *t;
    char address[64], ephemeral_id[FRAME_ID_BYTES + 1];
    enum transport_class cls;
    struct tnng_conn *conn; /* up once greeted */
    struct dial *dial;
    bool up, was_up, given_up /* this attempt */, closing /* freed when conn and dial are gone */;
    int64_t opened, attempt_begun, next_dial, redial_ms, up_since;
    struct slot *slots;
    /* times that a request had no answer in time and nothing else came either */
    unsigned misses;
    int64_t silent_since, missed_at;
};

struct served {
    const struct executor *where;
    void (*handle)(void *arg, struct transport_call *call);
    void *arg;
};

struct slot_entry {
    struct slot *slot; /* NULL: free */
    uint32_t generation, next_free;
};

struct transport_nng {
    struct transport api;
    char ephemeral_id[FRAME_ID_BYTES + 1];
    nng_stream_listener *listener;
    nng_aio *accept;
    unsigned port;
    struct served served[KINDS];
    const struct executor *watch_on;
    void (*lost)(void *arg, const struct transport_peer *peer);
    void *lost_arg;
    pthread_t keeper;
    bool keeping;

    pthread_mutex_t lock; /* all below */
    pthread_cond_t changed /* the keeper's */, quiet /* free()'s */;
    struct link *links; /* those that are closing too */
    struct accepted *accepted;
    uint32_t n_accepted, n_strangers, open_calls, calls[TRANSPORT_CLASSES];
    bool accepting, stopping, quit;
    int64_t accept_again, wake_at;
    struct slot_entry *table;
    struct slot **heap; /* by expires; as large as the table */
    uint32_t table_cap, first_free, n_heap;
    struct transport_nng_stats stats;
};

/* ---- transport_nng.c ---- */

/* The keeper looks no later than then. The lock is held. */
void transport_nng_wake(struct transport_nng *t, int64_t at);

/* ---- transport_nng_requests.c; the lock is held where nothing else is said ---- */

void transport_nng_send(void *self, const struct transport_peer *to, struct transport_rq *rq); /* not held */
void transport_nng_cancel(void *self, struct transport_rq *rq);                                /* not held */
/* Ends a request; it goes to the list, for tnng_slots_hand_over(). */
void tnng_slot_end(struct slot *s, enum err code, const char *why, struct slot **ended);
void tnng_slots_hand_over(struct slot *ended); /* not held */
/* The link has a connection: what waits for one is queued there. */
void tnng_slots_connected(struct link *l, struct slot **ended);
/* The link's connection is gone. */
void tnng_slots_disconnected(struct link *l, struct tnng_conn *c, struct slot **ended);
/* Nobody wants the link any more. */
void tnng_slots_closed(struct link *l, struct slot **ended);
/* Those whose time is over; tells when the next one's is. */
int64_t tnng_slots_expire(struct transport_nng *t, int64_t now, struct slot **ended);
void tnng_slot_answered(struct link *l, uint64_t id, struct buf *frame /* taken */); /* not held */

/* ---- transport_nng_links.c; the lock is held ---- */

struct link *tnng_link_find(struct transport_nng *t, const struct transport_peer *p,
                            enum transport_class cls);
/* Makes it if need be. NULL: em says why. */
struct link *tnng_link_get(struct transport_nng *t, const struct transport_peer *p, enum transport_class cls,
                           struct errmsg *em);
void tnng_link_close(struct link *l, struct slot **ended);
/* A request had no answer in time. */
void tnng_link_missed(struct link *l, const struct slot *s, int64_t now);
/* Dials, gives up, frees; tells when to look again. Attempts that are over go to the list, for tnng_dials_free(). */
int64_t tnng_links_tend(struct transport_nng *t, int64_t now, struct dial **over);
void tnng_dials_free(struct dial *over); /* not held; waits for NNG */

/* ---- transport_nng_calls.c ---- */

void tnng_calls_accept(struct transport_nng *t); /* the lock is held */
void tnng_calls_accept_event(void *transport);   /* NNG's thread */
/* The lock is held. */
int64_t tnng_calls_tend(struct transport_nng *t, int64_t now);
void tnng_calls_close(struct transport_nng *t);
void transport_nng_reply(void *self, struct transport_call *call, struct buf *payload);
void transport_nng_refuse(void *self, struct transport_call *call, const struct errmsg *error);

#endif
