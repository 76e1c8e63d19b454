/* recovery_bytes.h - what two copies of a shard say to each other while one recovers from the other, as bytes.
 *
 * The target asks, the source answers (docs/cluster.md, "Recovery"). Strings of what was decoded are borrowed
 * from the bytes. Decoders set in->bad on anything that the encoders do not write. */
#ifndef PROTO_RECOVERY_BYTES_H
#define PROTO_RECOVERY_BYTES_H

#include "common/base/bytes.h"

/* MESSAGE_RECOVERY_START: what the target has. */
struct recovery_start {
    struct str index_uuid;
    uint32_t shard;
    struct str allocation_id, node_id; /* the target's */
    struct str history_uuid;           /* of the copy on its disk; n == 0: there is none */
    int64_t from;                      /* operations it lacks of that history; -2: it wants files */
};
void recovery_start_encode(const struct recovery_start *m, struct buf *out);
void recovery_start_decode(struct recovery_start *m, struct bytes_in *in);

/* Its answer. */
struct recovery_plan {
    uint64_t session;      /* names the recovery in what follows, at this process of the source */
    uint64_t primary_term; /* the source's */
    int64_t global_checkpoint;
    struct str manifest; /* of the files to copy; n == 0: operations are enough */
    uint64_t ops;        /* to be sent, at most, as of now */
};
void recovery_plan_encode(const struct recovery_plan *m, struct buf *out);
void recovery_plan_decode(struct recovery_plan *m, struct bytes_in *in);

/* MESSAGE_RECOVERY_CHUNK: bytes of a file, which are the answer. */
struct recovery_chunk {
    uint64_t session;
    uint32_t file; /* its place in the manifest's list */
    uint64_t offset;
    uint32_t length; /* 1 .. TRANSPORT_CHUNK_BYTES */
};
void recovery_chunk_encode(const struct recovery_chunk *m, struct buf *out);
void recovery_chunk_decode(struct recovery_chunk *m, struct bytes_in *in);

/* MESSAGE_RECOVERY_OPS: the batch of that number, from 0 on. From the first one on the source's writes go to the
 * target too. The last one asked for may be asked for again. */
struct recovery_ops_wish {
    uint64_t session, batch;
};
void recovery_ops_wish_encode(const struct recovery_ops_wish *m, struct buf *out);
void recovery_ops_wish_decode(struct recovery_ops_wish *m, struct bytes_in *in);

/* Its answer's head; n operations follow (data/replication/op_bytes.h). */
struct recovery_ops {
    uint64_t batch, n, total;
    bool more;
    uint64_t mapping_version; /* of the source: the target waits until it has that */
};
void recovery_ops_encode(const struct recovery_ops *m, struct buf *out);
void recovery_ops_decode(struct recovery_ops *m, struct bytes_in *in);

/* MESSAGE_RECOVERY_FINALIZE: the target has replayed what it was given, durably. */
struct recovery_finalize {
    uint64_t session;
    int64_t local_checkpoint;
};
void recovery_finalize_encode(const struct recovery_finalize *m, struct buf *out);
void recovery_finalize_decode(struct recovery_finalize *m, struct bytes_in *in);

struct recovery_finalized { /* its answer */
    bool in_sync;           /* else it has not caught up yet: ask again */
    int64_t global_checkpoint;
};
void recovery_finalized_encode(const struct recovery_finalized *m, struct buf *out);
void recovery_finalized_decode(struct recovery_finalized *m, struct bytes_in *in);

/* MESSAGE_RECOVERY_HANDOFF and MESSAGE_RECOVERY_CLEAN (nobody needs the session any more) carry the session alone.
 * The answer of the first: what the old primary knows of the copies; the head of it, then n of the next. */
struct recovery_handoff {
    int64_t global_checkpoint;
    size_t n;
};
struct recovery_copy {
    struct str allocation_id;
    int64_t local_checkpoint;
    bool in_sync;
};
void recovery_handoff_encode(const struct recovery_handoff *m, struct buf *out);
void recovery_handoff_decode(struct recovery_handoff *m, struct bytes_in *in);
void recovery_copy_encode(const struct recovery_copy *m, struct buf *out);
void recovery_copy_decode(struct recovery_copy *m, struct bytes_in *in);

#endif
