/* remote.h - any message of message.h to another node, and the service of those that come from there.
 *
 * A call encodes, sends, and decodes the answer; a service decodes, and encodes what it is given as the answer. Neither knows what
 * a message is about. What does not read is refused with ERR_CORRUPT. Any thread. */
#ifndef PROTO_REMOTE_H
#define PROTO_REMOTE_H

#include "proto/message.h"

/* A question to another node, in the caller's memory until done(). */
struct remote_call {
    /* Set by the caller. */
    const struct executor *on; /* where done() runs; it is never refused there */
    void (*done)(struct remote_call *c);
    int64_t timeout_ms; /* 0: the message's; below: none */
    void *answer;       /* where the answer is read into; NULL: into `arena` */
    /* The answer, until remote_call_fini(). Errors of the way itself are the transport's: ERR_NODE_NOT_CONNECTED: it never left;
     * ERR_NODE_DISCONNECTED, ERR_RECEIVE_TIMEOUT: it may have been acted on. */
    struct errmsg error; /* empty: fine */
    bool unreadable;     /* error: an answer came, and does not read */
    struct arena arena;  /* of its arrays, and of the error */
    /* The call's own. */
    const struct message *message;
    struct transport_rq t;
};

/* done() comes later, never inside the call. rq: the message's struct; it may go when this returns. */
void remote_ask(const struct transport *tr, const struct transport_peer *to, const struct message *m,
                const void *rq, struct remote_call *c);
/* Whose answer is not needed any more. One that never was sent may be zero. */
void remote_call_fini(struct remote_call *c);
/* A message without a wait for its answer. */
void remote_tell(const struct transport *tr, const struct transport_peer *to, const struct message *m,
                 const void *rq, const struct executor *on);

/* A request of another node. It is answered once, by one of the functions below, and gone then. */
struct remote_rq {
    const struct message *message;
    struct arena arena; /* of the request's arrays; whoever serves it may put more there */
    struct transport_call *call;
    const struct transport *transport;
    _Alignas(max_align_t) char body[]; /* the message's struct */
};
static inline void *remote_body(struct remote_rq *rq)
{
    return rq->body;
}
void remote_reply(struct remote_rq *rq, const void *answer);
void remote_reply_bytes(struct remote_rq *rq, struct buf *answer /* taken */); /* encoded already */
void remote_refuse(struct remote_rq *rq, const struct errmsg *error);

struct remote_row {
    const struct message *message;
    void (*serve)(void *self, struct remote_rq *rq);
};

/* Who serves which messages, and where. It outlives the transport. */
struct remote_service {
    const struct transport *transport;
    void *self;
    const struct remote_row *rows;
    size_t n;
    const struct executor *pools[MESSAGE_POOLS]; /* those that the rows' messages name */
};
/* Before the transport starts. */
void remote_serve(struct remote_service *s);

#endif
