/* broker_names.h - the message broker's objects, as both services declare and use them. */
#ifndef HOTEL_BROKER_NAMES_H
#define HOTEL_BROKER_NAMES_H

#define MQ_EXCHANGE      "hotel.topic" /* topic, durable, not deleted by itself */
#define MQ_EXCHANGE_TYPE "topic"
#define MQ_INSERT_QUEUE  "hotel.insert.queue" /* durable: hotels added or changed */
#define MQ_DELETE_QUEUE  "hotel.delete.queue" /* durable: hotels deleted */
#define MQ_INSERT_KEY    "hotel.insert"       /* routing keys; a message is the hotel's id in digits */
#define MQ_DELETE_KEY    "hotel.delete"
#define MQ_DEAD_QUEUE    "hotel.dead" /* durable: messages that mean nothing; the default exchange leads to it */

#define MQ_HEADER_REASON "x-reason" /* of a message in hotel.dead: why it is there */
#define MQ_HEADER_KEY    "x-original-routing-key"

#endif
