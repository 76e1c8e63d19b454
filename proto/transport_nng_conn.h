/* transport_nng_conn.h - one connection: a preface each way, then messages.
 *
 * Preface: magic(4) version(1) class(1) zero(2); the side that dialed sends it first, the other answers with the
 * same. Message: length(4) id(8) frame (frame.h), length being the frame's. Owns the stream, what waits to be
 * sent, and the message that is being read; knows nothing of requests and peers.
 *
 * Threads: any thread queues, flushes and closes; the callbacks run on NNG's, one at a time for a connection, no lock held: once
 * greeted(), then message()s, and in the end, always, gone() once, not before tnng_conn_start() and never inside another
 * call. Whoever keeps a pointer holds a reference.
 *
 * In NNG an operation that is begun on a closed stream may never complete. So none is: a stream is closed once
 * nothing is being begun on it, and nothing is begun after that. */
#ifndef PROTO_TRANSPORT_NNG_CONN_H
#define PROTO_TRANSPORT_NNG_CONN_H

#include "proto/frame.h"
#include "proto/transport.h"

#include <nng/nng.h>

/* A message to send. */
struct tnng_out {
    struct tnng_out *next;
    uint64_t id;
    struct buf head, payload; /* what goes out is both; a small payload is in the head */
};

struct tnng_conn;

struct tnng_conn_events {
    /* The other side's preface came. Of a connection that was dialed, cls is its own. */
    void (*greeted)(void *arg, struct tnng_conn *c, enum transport_class cls);
    void (*message)(void *arg, struct tnng_conn *c, uint64_t id, struct buf *frame /* taken */);
    void (*gone)(void *arg, struct tnng_conn *c);
};

/* Longest frame of a class. */
size_t tnng_frame_max(enum transport_class cls);

/* NULL without memory or when the payload is over its class's limit (em says which). payload is taken when there is a message. */
struct tnng_out *tnng_out_new(const struct frame *f, struct buf *payload, struct errmsg *em);
void tnng_out_set_id(struct tnng_out *m, uint64_t id);
void tnng_out_free(struct tnng_out *m);
static inline size_t tnng_out_bytes(const struct tnng_out *m)
{
    return m->head.n + m->payload.n;
}

/* The stream is taken, also when there is no memory (NULL). cls: of one that was dialed; the other kind learns it. */
struct tnng_conn *tnng_conn_new(nng_stream *s, bool dialed, enum transport_class cls,
                                const struct tnng_conn_events *events /* static */, void *arg);
void tnng_conn_ref(struct tnng_conn *c);
void tnng_conn_unref(struct tnng_conn *c);
/* Begins to read, and to send the preface of one that was dialed. */
void tnng_conn_start(struct tnng_conn *c);
/* Stops reading while more than so many bytes wait to be sent. 0: never. Before start(). */
void tnng_conn_pause_above(struct tnng_conn *c, size_t bytes);

/* ERR_NODE_NOT_CONNECTED: closed; ERR_REJECTED: more than bytes_max would wait (one message always may). Taken when ERR_OK. It
 * leaves with the next flush, which makes system calls. */
enum err tnng_conn_queue(struct tnng_conn *c, struct tnng_out *m, size_t bytes_max);
void tnng_conn_flush(struct tnng_conn *c);
/* Takes back what has not begun to leave; NULL if it has. */
struct tnng_out *tnng_conn_unqueue(struct tnng_conn *c, uint64_t id);
/* All that had not begun to leave when it closed: for gone(). */
struct tnng_out *tnng_conn_unsent(struct tnng_conn *c);
/* gone() comes soon. Never blocks. */
void tnng_conn_close(struct tnng_conn *c);
/* When bytes came last: CLOCK_MONOTONIC, ms. */
int64_t tnng_conn_received_ms(struct tnng_conn *c);

int64_t tnng_mono_ms(void);

#endif
