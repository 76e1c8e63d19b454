/* message.h - what nodes say to each other: one row for each message, and a list of all.
 *
 * A row says everything about a message but what answers it: its number on the wire, its bytes and its answer's, on which
 * connections and where it is served, how long it may take. Rows stand beside their bytes. remote.h sends any of them, and serves
 * any. A name of the list without a row does not link, and one without a function that serves it does not compile. */
#ifndef PROTO_MESSAGE_H
#define PROTO_MESSAGE_H

#include "common/base/bytes.h"
#include "proto/transport.h"

/* Name of the number, name of the row, number on the wire. Numbers do not change; 10, 97, 131 and 132 were others'. */
#define NODE_MESSAGES(X)                                                     \
    X(NODE_INFO, node_info, 128) /* coordinator/: questions to every node */ \
    X(NODE_STATS, node_stats, 129)                                           \
    X(TASKS, tasks, 130)

/* Who sends what. */
enum message_kind {
#define MESSAGE_KIND(NAME, name, number) MESSAGE_##NAME = (number),
    NODE_MESSAGES(MESSAGE_KIND)
#undef MESSAGE_KIND
        MESSAGE_HANDSHAKE = 1, /* who are you? -> node_meta, cluster name and uuid, version of the protocol */
    /* master/: coordination */
    MESSAGE_PEERS,
    MESSAGE_PRE_VOTE,
    MESSAGE_START_JOIN,
    MESSAGE_JOIN,
    MESSAGE_PUBLISH,
    MESSAGE_COMMIT,
    MESSAGE_FOLLOWER_CHECK,
    MESSAGE_LEADER_CHECK,
    MESSAGE_STATE_CHUNK,
    MESSAGE_HAND_OVER, /* a leader whose vote does not count any more -> who is to stand in its place */
    /* master/: tasks */
    MESSAGE_META = 32, /* struct meta_request */
    MESSAGE_SHARD_STARTED,
    MESSAGE_SHARD_FAILED,
    MESSAGE_MARK_STALE,  /* a primary asks to take a copy out of the in-sync set */
    MESSAGE_LIST_COPIES, /* master -> node: what copies of these shards are on your disk? */
    MESSAGE_DISK_USAGE,
    MESSAGE_PENDING_TASKS, /* what waits at the master, and its state's version */
    /* data/: shards */
    MESSAGE_SHARD_WRITE = 64,
    MESSAGE_SHARD_GET,
    MESSAGE_SHARD_QUERY,
    MESSAGE_SHARD_FETCH,
    MESSAGE_SHARD_ACT,
    MESSAGE_SHARD_EXPLAIN,
    MESSAGE_FREE_CONTEXTS,
    MESSAGE_CANCEL_QUERY,
    MESSAGE_REPLICATE,
    MESSAGE_RESYNC,
    MESSAGE_GLOBAL_CHECKPOINT,
    MESSAGE_SHARD_CAN_MATCH,
    MESSAGE_SHARD_DFS,
    MESSAGE_SHARD_SCROLL,
    /* data/: recovery */
    MESSAGE_RECOVERY_START = 96,
    MESSAGE_RECOVERY_FILES,
    MESSAGE_RECOVERY_CHUNK,
    MESSAGE_RECOVERY_CLEAN,
    MESSAGE_RECOVERY_OPS,
    MESSAGE_RECOVERY_FINALIZE,
    MESSAGE_RECOVERY_HANDOFF,
};

/* A struct as bytes. Decoders get it zeroed and trust nothing: they set in->bad on whatever does not read (also without
 * memory), and the struct is not to be used then. Strings are borrowed from the bytes, arrays are in the arena. What is left
 * behind the struct is refused. */
struct codec {
    size_t size; /* of the struct */
    void (*encode)(const void *of, struct buf *out);
    void (*decode)(void *of, struct bytes_in *in, struct arena *arena);
};
extern const struct codec codec_nothing;
extern const struct codec codec_number; /* uint64_t */
extern const struct codec codec_bytes;  /* struct str: whatever the bytes are */
/* *of is zeroed, and read from all of the bytes. false: they do not read. */
bool codec_read(const struct codec *c, void *of, struct str bytes, struct arena *arena) NODISCARD;

/* Where messages are served, as the service says what these are. */
enum message_pool { MESSAGE_ON_LOOP, MESSAGE_ON_READS, MESSAGE_ON_WRITES, MESSAGE_POOLS };

struct message {
    uint16_t kind;      /* on the wire: enum message_kind */
    const char *action; /* what it is called, as a task too: Elasticsearch's name where that has one */
    enum transport_class lane;
    enum message_pool pool;
    int64_t timeout_ms; /* an answer that takes longer does not come; 0: the sender says */
    const struct codec *request, *answer;
};

/* The row: its action, lane, pool, time-out, and the two codecs. */
#define MESSAGE(NAME, name, ...) const struct message message_##name = {MESSAGE_##NAME, __VA_ARGS__}

#define MESSAGE_ROW(NAME, name, number) extern const struct message message_##name;
NODE_MESSAGES(MESSAGE_ROW)
#undef MESSAGE_ROW

#endif
