/* transport.h - requests between nodes, each answered exactly once: one of the simulator's seams.
 *
 * Every frame names the process that it is meant for (the ephemeral id of the target), so that a request
 * never reaches another node that has taken over an address. Nothing is sent twice by the transport. A
 * request without a connection fails at once; one whose connection goes fails at once; whether the other side
 * acted on it is then unknown. Classes have connections of their own, so that a segment on its way never
 * delays a heartbeat. The real transport is transport_nng.c; the simulator brings its own. */
#ifndef PROTO_TRANSPORT_H
#define PROTO_TRANSPORT_H

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/executor.h"
#include "common/base/later.h"

enum transport_class { TRANSPORT_CONTROL, TRANSPORT_DATA, TRANSPORT_RECOVERY, TRANSPORT_CLASSES };

#define TRANSPORT_CONTROL_BYTES_MAX \
    ((size_t)1 << 20) /* a frame of class control; larger states go in chunks */
#define TRANSPORT_DATA_BYTES_MAX ((size_t)128 << 20) /* of the others */
#define TRANSPORT_CHUNK_BYTES    ((size_t)512 << 10) /* of states and files */

struct transport_peer {
    struct str address;      /* "127.0.0.1:9300" */
    struct str ephemeral_id; /* n == 0: whoever answers there (a handshake) */
};

/* A request, in the sender's memory until done(). */
struct transport_rq {
    enum transport_class cls;
    uint16_t kind;             /* message.h */
    struct buf payload;        /* taken by send() */
    int64_t timeout_ms;        /* 0: none */
    const struct executor *on; /* where done() runs; it is never refused there */
    void (*done)(struct transport_rq *rq);
    void *user;
    /* The answer. ERR_NODE_NOT_CONNECTED: it never left; ERR_NODE_DISCONNECTED, ERR_RECEIVE_TIMEOUT: it may
     * have been acted on; others: the target's own refusal. */
    struct errmsg error; /* empty: fine; in error_memory */
    struct str answer;   /* in answer_memory */
    struct buf answer_memory;
    struct arena error_memory;
    void *slot;       /* the transport's */
    struct later end; /* the transport's, when `on` takes nothing any more */
};
/* The transport's, as it takes a request over: there is no answer yet. */
static inline void transport_rq_take(struct transport_rq *rq)
{
    rq->error_memory = (struct arena){0};
    rq->error = err_in(&rq->error_memory);
    rq->answer = STR_NULL;
    buf_init(&rq->answer_memory, NULL, BUF_UNLIMITED);
    rq->slot = NULL;
}
/* The owner's, once it has looked at the answer: frees that. Also of one that is all zeros. */
static inline void transport_rq_fini(struct transport_rq *rq)
{
    buf_fini(&rq->answer_memory);
    arena_fini(&rq->error_memory);
}

/* A request at its target. Answered once, by reply() or refuse(), from any thread; it is gone then. */
struct transport_call {
    enum transport_class cls;
    uint16_t kind;
    struct str from;    /* ephemeral id of the sender */
    struct str payload; /* lives until the answer */
    void *slot;         /* the transport's */
};

struct transport {
    void *self;
    /* done() comes later, never inside the call. Any thread. */
    void (*send)(void *self, const struct transport_peer *to, struct transport_rq *rq);
    /* done() comes soon, with ERR_CANCELLED unless the answer was quicker. */
    void (*cancel)(void *self, struct transport_rq *rq);
    /* Whom requests of this kind go to, and where they are handled. Set up before the transport starts. When
     * `where` refuses (its queue is full), the sender gets ERR_REJECTED. */
    void (*serve)(void *self, uint16_t kind, const struct executor *where,
                  void (*handle)(void *arg, struct transport_call *call), void *arg);
    void (*reply)(void *self, struct transport_call *call, struct buf *payload /* taken */);
    void (*refuse)(void *self, struct transport_call *call, const struct errmsg *error);
    /* Connects, and goes on trying, until forget(); done by send() too. */
    void (*connect)(void *self, const struct transport_peer *to);
    void (*forget)(void *self, const struct transport_peer *to);
    /* lost(arg, peer) on `on`, each time the control connection to a peer that was connected goes. */
    void (*watch)(void *self, const struct executor *on,
                  void (*lost)(void *arg, const struct transport_peer *peer), void *arg);
};

#endif
