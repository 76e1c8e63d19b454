/* shard_event.h - events of one shard copy that a node reports to the master. */
#ifndef PROTO_SHARD_EVENT_H
#define PROTO_SHARD_EVENT_H

#include "common/base/err.h"

enum shard_event_kind {
    SHARD_EVENT_STARTED, /* its recovery is done: it may be searched, and is in sync */
    SHARD_EVENT_FAILED,
    SHARD_EVENT_STALE /* a primary's word: the copy has missed a write, and must leave the in-sync set */
};

struct shard_event {
    enum shard_event_kind kind;
    struct str index_uuid;
    uint32_t shard;
    struct str allocation_id;
    uint64_t primary_term; /* of the sender; 0: not a primary's word */
    struct str why;
};

#endif
