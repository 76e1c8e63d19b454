/* publisher.h - moves changes from the database's outbox to the message broker.
 *
 * A thread of its own, with a connection of its own to each. Entries are sent in the outbox's order and
 * removed when the broker has confirmed them: dying at any instant repeats messages, and loses none. Of
 * several management services on one database, one publishes at a time. While the database or the broker is
 * away it tries again, ever less often. */
#ifndef HOTEL_ADMIN_PUBLISHER_H
#define HOTEL_ADMIN_PUBLISHER_H

#include "common/base/log.h"
#include "hotel/broker/broker.h"
#include "hotel/config.h"
#include "hotel/mysql/db.h"

struct publisher;

struct publisher_status {
    bool broker_up, leading;
    uint64_t published;   /* since the start */
    int64_t queues_at_ms; /* when the queues were read (monotonic); 0: never */
    struct broker_queue insert, remove, dead;
    char problem[ERR_REASON_BYTES]; /* what keeps it from working; "" */
};

/* Starts its thread. config, db and log are borrowed. */
enum err publisher_new(struct publisher **out, const struct hotel_config *config, struct db *db,
                       const struct log *log, struct errmsg *em);
/* Ends the thread, what is under way first. NULL ok. */
void publisher_free(struct publisher *p);
/* There is something new in the outbox. Any thread. */
void publisher_wake(struct publisher *p);
/* Any thread; also has the queues read soon. */
void publisher_status(struct publisher *p, struct publisher_status *out);

#endif
