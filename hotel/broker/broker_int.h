/* broker_int.h - the inside of a broker connection. For hotel/broker/ alone. */
#ifndef HOTEL_BROKER_BROKER_INT_H
#define HOTEL_BROKER_BROKER_INT_H

#include "hotel/broker/broker.h"

#include <amqp.h>

#define BROKER_CHANNEL 1

struct broker {
    struct broker_opts opts;
    amqp_connection_state_t state;
    bool confirming;        /* the channel is in confirm mode */
    uint64_t sent, settled; /* tags: the last one sent, the last one when all were confirmed */
    bool confirmed[BROKER_UNCONFIRMED_MAX]; /* of tag settled + 1 + i */
    size_t first_open;                      /* the first that is not */
    uint64_t returned;                      /* messages that no queue took */
};

/* What the last call on b failed with, as ours. */
enum err broker_rpc_failed(struct broker *b, const char *doing, struct errmsg *em);
enum err broker_failed(int status, const char *doing, struct errmsg *em);
struct timeval broker_timeval(int64_t ms);

#endif
