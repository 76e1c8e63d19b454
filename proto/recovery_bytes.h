/* recovery_bytes.h - messages between two copies of a shard while one recovers from the other: the structs of
 * RECOVERY_MESSAGES.
 *
 * The target asks, the source answers (docs/cluster.md, "Recovery"). */
#ifndef PROTO_RECOVERY_BYTES_H
#define PROTO_RECOVERY_BYTES_H

#include "proto/message.h"

/* MESSAGE_RECOVERY_START: what the target has. */
struct recovery_start {
    struct str index_uuid;
    uint32_t shard;
    struct str allocation_id, node_id; /* the target's */
    struct str history_uuid;           /* of the copy on its disk; n == 0: there is none */
    int64_t from;                      /* operations it lacks of that history; -2: it wants files */
};

/* Its answer. */
struct recovery_plan {
    uint64_t session;      /* names the recovery in what follows, at this process of the source */
    uint64_t primary_term; /* the source's */
    int64_t global_checkpoint;
    struct str manifest; /* of the files to copy; n == 0: operations are enough */
    uint64_t ops;        /* to be sent, at most, as of now */
};

/* MESSAGE_RECOVERY_CHUNK: bytes of a file, which are the answer. */
struct recovery_chunk {
    uint64_t session;
    uint32_t file; /* its place in the manifest's list */
    uint64_t offset;
    uint32_t length; /* 1 .. TRANSPORT_CHUNK_BYTES */
};

/* MESSAGE_RECOVERY_OPS: the batch of that number, from 0 on. From the first one on the source's writes go to the
 * target too. The last one asked for may be asked for again. */
struct recovery_ops_wish {
    uint64_t session, batch;
};

/* Its answer. */
struct recovery_ops {
    uint64_t batch, n, total;
    bool more;
    uint64_t mapping_version; /* of the source: the target waits until it has that */
    struct str ops;           /* n of them (data/replication/op_bytes.h) */
};

/* MESSAGE_RECOVERY_FINALIZE: the target has replayed what it was given, durably. */
struct recovery_finalize {
    uint64_t session;
    int64_t local_checkpoint;
};

struct recovery_finalized { /* its answer */
    bool in_sync;           /* else it has not caught up yet: ask again */
    int64_t global_checkpoint;
};

/* MESSAGE_RECOVERY_HANDOFF and MESSAGE_RECOVERY_CLEAN (nobody needs the session any more) are the session alone: a number.
 * The answer of the first: what the old primary knows of the copies. */
struct recovery_handoff {
    int64_t global_checkpoint;
    struct recovery_copy {
        struct str allocation_id;
        int64_t local_checkpoint;
        bool in_sync;
    } * v;
    size_t n;
};

#endif
