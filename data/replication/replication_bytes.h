/* replication_bytes.h - messages from a primary to another copy of its shard, and the answers, as bytes.
 *
 * One form for MESSAGE_REPLICATE (operations of a request), MESSAGE_RESYNC (those above the global checkpoint, after a
 * promotion) and MESSAGE_GLOBAL_CHECKPOINT (none): u8 version, uuid, varint shard, allocation id, varint term, zigzag
 * global checkpoint, zigzag max_seq_no, zigzag retain_from, varint mapping version, u8 refresh, u8 flags, varint number
 * of operations, the operations (op_bytes.h). Decoders trust nothing. */
#ifndef DATA_REPLICATION_REPLICATION_BYTES_H
#define DATA_REPLICATION_REPLICATION_BYTES_H

#include "data/replication/op_bytes.h"
#include "proto/message.h"
#include "proto/shard_api.h"

struct replication_msg {
    struct str uuid; /* of the index; strings of a decoded message are borrowed from the bytes */
    uint32_t shard;
    struct str allocation_id; /* of the copy that is meant */
    uint64_t term;            /* of the sender */
    int64_t global_checkpoint, max_seq_no;
    int64_t retain_from;      /* what other copies may still ask for */
    uint64_t mapping_version; /* that its documents need */
    enum refresh_policy refresh;
    bool last;             /* MESSAGE_RESYNC: nothing follows */
    struct str bytes;      /* of its operations */
    struct engine_op *ops; /* read from there, in the arena; not looked at when it is sent */
    size_t n;
};

struct replication_answer {
    int64_t local_checkpoint; /* on the copy's disk */
    int64_t max_seq_no;
    int64_t global_checkpoint; /* as its disk knows it */
};

#endif
