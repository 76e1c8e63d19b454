/* transport_nng_conn_int.h - one connection, as its two files share it: transport_nng_conn.c (beginning, closing, reading) and
 * transport_nng_write.c (what is sent). */
#ifndef PROTO_TRANSPORT_NNG_CONN_INT_H
#define PROTO_TRANSPORT_NNG_CONN_INT_H

#include "proto/transport_nng_conn.h"

#include <pthread.h>
#include <stdatomic.h>

#define PREFACE_MAGIC   0x504E5253U /* "SRNP" */
#define PREFACE_VERSION 1
#define PREFACE_BYTES   8
#define HEADER_BYTES    12                /* length, id */
#define READ_BYTES      ((size_t)4 << 10) /* read ahead; longer messages are read to where they stay */
#define PIECES          8                 /* NNG takes no more at once */

struct tnng_conn {
    const struct tnng_conn_events *events;
    void *arg;
    nng_stream *stream;
    nng_aio *recv, *send;
    bool dialed;
    size_t pause_above;
    atomic_uint refs;
    _Atomic int64_t received_ms;

    pthread_mutex_t lock; /* all of this part */
    bool closed, stream_closed, paused;
    unsigned beginning; /* operations that are being begun: the stream must not close meanwhile */
    bool writing;
    struct tnng_out *queue, **queue_end;
    size_t waiting; /* bytes of the queue, and of the write under way */

    /* the writer's, whoever has set `writing` */
    struct tnng_out *leaving;
    char *gather;
    nng_iov out[PIECES];
    unsigned n_out;
    size_t write_bytes, write_left;

    /* the reader's: the one callback at a time that reads */
    enum transport_class cls;
    bool greeted;
    size_t ahead; /* bytes in `read` */
    struct buf message;
    uint64_t message_id;
    size_t message_left; /* 0: between two messages */
    size_t room;         /* bytes of the read under way that go to the message */
    char preface[PREFACE_BYTES];
    char read[READ_BYTES];
};

/* Whether an operation may be begun; if so, tnng_conn_begun() must follow it. The lock is held. */
bool tnng_conn_may_begin(struct tnng_conn *c);
void tnng_conn_begun(struct tnng_conn *c);
/* A read that may begin. */
void tnng_conn_begin_read(struct tnng_conn *c);

void tnng_conn_send_preface(struct tnng_conn *c);
void tnng_conn_written(void *conn); /* NNG's thread */
void tnng_out_free_all(struct tnng_out *m);

#endif
