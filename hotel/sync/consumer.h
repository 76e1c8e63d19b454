/* consumer.h - the synchronisation: it learns of changed hotels from the message broker, and makes the index agree
 * with the database.
 *
 * A thread of its own. It takes what waits, up to the prefetch, brings the hotels of all those messages to
 * agreement (each once, so a hotel's messages are served one after the other), and then acknowledges them. A
 * meaningless message goes to hotel.dead with a reason. While the database or the search service is
 * away it holds what it has, and tries again, ever less often; without the broker it connects again, and
 * what was not acknowledged comes once more. */
#ifndef HOTEL_SYNC_CONSUMER_H
#define HOTEL_SYNC_CONSUMER_H

#include "common/base/log.h"
#include "hotel/config.h"

struct consumer;

struct consumer_status {
    bool connected;                 /* to the broker */
    bool paused;                    /* the database or the search service is away */
    uint64_t messages, dead;        /* acknowledged; of them, put aside */
    uint64_t held;                  /* in its hands, not acknowledged yet */
    uint64_t written;               /* documents indexed or deleted */
    char problem[ERR_REASON_BYTES]; /* "" */
};

/* Starts its thread. config (with both services) and log are borrowed. */
enum err consumer_new(struct consumer **out, const struct hotel_config *config, const struct log *log,
                      struct errmsg *em);
/* Ends it between two steps; what is not acknowledged comes again. NULL ok. */
void consumer_free(struct consumer *c);
void consumer_status(struct consumer *c, struct consumer_status *out); /* any thread */

#endif
