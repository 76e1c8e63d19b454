/* message.h - the messages between nodes: one row for each message, and a list of all.
 *
 * A row says everything about a message but what answers it: its number on the wire, its bytes and its answer's, on which
 * connections and where it is served, how long it may take. Rows stand beside their bytes. remote.h sends any of them, and serves
 * any. A name of the list without a row does not link, and one without a function that serves it does not compile. */
#ifndef PROTO_MESSAGE_H
#define PROTO_MESSAGE_H

#include "common/base/bytes.h"
#include "proto/transport.h"

/* Name of the number, name of the row, number on the wire. Numbers do not change; 10, 97, 131 and 132 were others'. */
#define QUORUM_MESSAGES(X)                                               \
    X(HANDSHAKE, handshake, 1) /* master/: coordination; who are you? */ \
    X(PEERS, peers, 2)                                                   \
    X(PRE_VOTE, pre_vote, 3)                                             \
    X(START_JOIN, start_join, 4)                                         \
    X(JOIN, join, 5)                                                     \
    X(PUBLISH, publish, 6)                                               \
    X(COMMIT, commit, 7)                                                 \
    X(FOLLOWER_CHECK, follower_check, 8)                                 \
    X(LEADER_CHECK, leader_check, 9)                                     \
    X(HAND_OVER, hand_over, 11) /* of a leader whose vote does not count any more: stand in its place */
#define MASTER_MESSAGES(X)                                                                               \
    X(META, meta, 32) /* master/: a change of metadata; what nodes tell the master of their shards */    \
    X(SHARD_STARTED, shard_started, 33)                                                                  \
    X(SHARD_FAILED, shard_failed, 34)                                                                    \
    X(MARK_STALE, mark_stale, 35)                                                                        \
    X(LIST_COPIES, list_copies, 36) /* the master asks: what copies of these shards are on your disk? */ \
    X(DISK_USAGE, disk_usage, 37)                                                                        \
    X(PENDING_TASKS, pending_tasks, 38) /* what waits at the master, and its state's version */
#define SHARD_MESSAGES(X) X(CANCEL_QUERY, cancel_query, 71) /* the number of a call to a shard */
#define REPLICATION_MESSAGES(X)                                                     \
    X(REPLICATE, replicate, 72) /* data/: a primary to another copy of its shard */ \
    X(RESYNC, resync, 73)                                                           \
    X(GLOBAL_CHECKPOINT, global_checkpoint, 74)
#define RECOVERY_MESSAGES(X)                                                                   \
    X(RECOVERY_START, recovery_start, 96) /* data/: a copy of a shard recovers from another */ \
    X(RECOVERY_CHUNK, recovery_chunk, 98)                                                      \
    X(RECOVERY_CLEAN, recovery_clean, 99)                                                      \
    X(RECOVERY_OPS, recovery_ops, 100)                                                         \
    X(RECOVERY_FINALIZE, recovery_finalize, 101)                                               \
    X(RECOVERY_HANDOFF, recovery_handoff, 102)
#define NODE_MESSAGES(X)                                                     \
    X(NODE_INFO, node_info, 128) /* coordinator/: questions to every node */ \
    X(NODE_STATS, node_stats, 129)                                           \
    X(TASKS, tasks, 130)

#define MESSAGE_LIST(X)     \
    QUORUM_MESSAGES(X)      \
    MASTER_MESSAGES(X)      \
    SHARD_MESSAGES(X)       \
    REPLICATION_MESSAGES(X) \
    RECOVERY_MESSAGES(X)    \
    NODE_MESSAGES(X)

#define MESSAGE_KIND(NAME, name, number) MESSAGE_##NAME = (number),
enum message_kind {
    MESSAGE_LIST(MESSAGE_KIND)
    /* operations on a shard, which have a list of their own (shard_ops.h) */
    MESSAGE_SHARD_WRITE = 64,
    MESSAGE_SHARD_GET,
    MESSAGE_SHARD_QUERY,
    MESSAGE_SHARD_FETCH,
    MESSAGE_SHARD_ACT,
    MESSAGE_SHARD_EXPLAIN,
    MESSAGE_FREE_CONTEXTS,
    MESSAGE_SHARD_CAN_MATCH = 75,
    MESSAGE_SHARD_DFS,
    MESSAGE_SHARD_SCROLL,
    MESSAGE_SHARD_TERM_VECTORS
};
#undef MESSAGE_KIND

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
/* For codecs: a flag, and a text in any case; p == NULL is none. */
void put_opt(struct buf *b, struct str s);
struct str get_opt(struct bytes_in *in);
/* *of is zeroed, and read from all of the bytes. false: they do not read. */
bool codec_read(const struct codec *c, void *of, struct str bytes, struct arena *arena) NODISCARD;

/* The codec of a struct whose members stand one after the other: FIELDS(M) lists them as M(form, member), in the order of the bytes, by
 * what follows put_ and get_ in names of functions. `holds` says of *m whether that can be. */
#define FLAT_CODEC(name, type, FIELDS, holds)                                 \
    static void name##_encode(const void *of, struct buf *out)                \
    {                                                                         \
        const struct type *m = of;                                            \
        FIELDS(FIELD_PUT)                                                     \
    }                                                                         \
    static void name##_decode(void *of, struct bytes_in *in, struct arena *a) \
    {                                                                         \
        struct type *m = of;                                                  \
        (void)a;                                                              \
        FIELDS(FIELD_GET)                                                     \
        in->bad |= !(holds);                                                  \
    }                                                                         \
    static const struct codec name##_codec = {sizeof(struct type), name##_encode, name##_decode}
#define FIELD_PUT(form, member) put_##form(out, m->member);
#define FIELD_GET(form, member) m->member = get_##form(in);
void put_u32_varint(struct buf *b, uint32_t v);
uint32_t get_u32_varint(struct bytes_in *in);
void put_rest(struct buf *b, struct str s); /* the last one: all that is left */
struct str get_rest(struct bytes_in *in);

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

/* How many a list has. */
#define MESSAGE_COUNT(list)             (0 list(MESSAGE_ONE))
#define MESSAGE_ONE(NAME, name, number) +1

#define MESSAGE_ROW(NAME, name, number) extern const struct message message_##name;
MESSAGE_LIST(MESSAGE_ROW)
#undef MESSAGE_ROW

#endif
