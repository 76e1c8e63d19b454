/* broker.h - a connection to the message broker with one channel: the objects declared, messages out with
 * confirms, messages in with acknowledgements.
 *
 * Knows AMQP, not what a message means. A broker belongs to one thread; calls block, for as long as said or
 * for the time-out. After an error it can only be closed: open another. Errors: ERR_IO (away, refused,
 * closed), ERR_TIMEOUT, ERR_STATUS (the broker took a message, and could not place or keep it),
 * ERR_NO_MEMORY. */
#ifndef HOTEL_BROKER_BROKER_H
#define HOTEL_BROKER_BROKER_H

#include "common/base/arena.h"
#include "common/base/err.h"
#include "hotel/services.h"

struct broker;

struct broker_opts {
    const struct service_url *url;  /* borrowed; its path is the virtual host ("/" when there is none) */
    int64_t connect_ms_max, ms_max; /* of connecting, of each answer */
    unsigned heartbeat_s;           /* [30] */
};

/* Connects, and declares exchange, queues and bindings (broker_names.h): all durable, without arguments, so
 * that they agree with declarations of others. */
enum err broker_open(struct broker **out, const struct broker_opts *opts, struct errmsg *em);
void broker_close(struct broker *b); /* NULL ok; what is not acknowledged comes again */

/* ---- out ---- */

struct broker_message {
    const char *exchange, *key;
    struct str body;
    const char *content_type;
    const char *reason, *original_key; /* headers of a dead message; NULL: none */
};

#define BROKER_UNCONFIRMED_MAX 1024

/* Sends, persistent and mandatory, without waiting; at most BROKER_UNCONFIRMED_MAX until broker_confirm(). */
enum err broker_publish(struct broker *b, const struct broker_message *m, struct errmsg *em);
/* Waits until the broker has confirmed all that was sent. ERR_STATUS: one was refused or has no queue. */
enum err broker_confirm(struct broker *b, struct errmsg *em);

/* ---- in ---- */

struct broker_delivery { /* texts are in the arena given */
    uint64_t tag;
    struct str key, content_type, body;
};

/* Begins to receive a queue's messages, at most `prefetch` unacknowledged ones of it. */
enum err broker_consume(struct broker *b, const char *queue, unsigned prefetch, struct errmsg *em);
/* The next message, waiting up to ms for one. *got false: none came. */
enum err broker_next(struct broker *b, int64_t ms, struct arena *arena, struct broker_delivery *out,
                     bool *got, struct errmsg *em);
/* Acknowledges this one, or (all) everything up to it. */
enum err broker_ack(struct broker *b, uint64_t tag, bool all, struct errmsg *em);

/* ---- beside ---- */

struct broker_queue {
    uint32_t ready, consumers; /* messages that wait for a consumer */
};

enum err broker_queue_state(struct broker *b, const char *queue, struct broker_queue *out, struct errmsg *em);
/* Keeps an idle connection alive and sees whether it still is: at least every heartbeat. Not for one that
 * consumes. */
enum err broker_idle(struct broker *b, struct errmsg *em);

#endif
