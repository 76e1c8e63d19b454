/* master_messages.h - questions from nodes to the master, and from the master to nodes: structs of MASTER_MESSAGES that no other header has.
 *
 * META is a struct meta_request, whose arena, callbacks and answer stay behind; what becomes of a shard is a struct shard_event,
 * and its answer the version of the state that shows it. */
#ifndef MASTER_MASTER_MESSAGES_H
#define MASTER_MASTER_MESSAGES_H

#include "master/allocation.h"
#include "master/metadata.h"
#include "proto/message.h"
#include "proto/shard_event.h"

#define MASTER_TIMEOUT_DEFAULT_MS 30000

struct meta_answer { /* what the request says of itself, and the state's version that shows it */
    bool changed, acknowledged;
    struct str response;
    uint64_t version;
    struct errmsg error;
};

struct copies_question {
    struct shard_id *v; /* uuid and number alone */
    uint32_t n;
};

struct copies_answer {
    struct found_copy *v; /* uuid, number, allocation id and damage */
    uint32_t n;
};

struct disk_answer {
    uint64_t total_bytes, free_bytes;
};

#endif
