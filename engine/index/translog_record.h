/* translog_record.h - the bytes of a translog generation: its header, its records, and where its good part
 * ends.
 *
 * Pure functions over bytes, safe on any bytes; docs/store-format.md draws them. A record's checks are seeded
 * with its generation and offset, so that nothing passes for a record but what was written there. */
#ifndef ENGINE_INDEX_TRANSLOG_RECORD_H
#define ENGINE_INDEX_TRANSLOG_RECORD_H

#include "common/base/buf.h"
#include "engine/index/engine.h"

#define TLOG_HEADER_BYTES   216 /* of a new generation */
#define TLOG_MARK_BYTES     40
#define TLOG_RECORD_BYTES   24 /* before its body */
#define TLOG_BODY_BYTES_MAX ((size_t)1 << 30)
#define TLOG_UUID_BYTES     64 /* with its NUL; of before there were ids of logs */
#define TLOG_UUID_BYTES_NOW 56
#define TLOG_END_BODY_BYTES 49 /* kind, four numbers, global checkpoint, own offset */
#define TLOG_NO_TRIM        INT64_MAX

/* How far a generation was synced. Two slots in its header take turns: one is always whole. Written once the bytes are
 * durable and made durable by the next sync, so that a mark never says too much. */
struct tlog_synced {
    uint64_t end, ops; /* bytes, and operations in them */
    int64_t max_seq;
};

struct tlog_header {
    bool older; /* of before there were marks: 128 bytes */
    uint64_t generation;
    uint64_t
        id; /* of the log: all generations of a copy have it, and no other copy's; 0: of before there were ids */
    uint32_t shard;
    char uuid[TLOG_UUID_BYTES];
    int64_t trim_above; /* operations of earlier generations above it are void (a rollback) */
    /* the highest sequence number of every earlier generation, removed ones included; of the first: the local checkpoint of the
     * commit that it was made for */
    int64_t max_seq_before;
    int64_t created_ms; /* wall clock */
    int64_t global_checkpoint;
    struct tlog_synced mark; /* the newer one that is whole; the header's end in a new generation */
    unsigned next_mark;      /* the slot of the other */
    bool followed;           /* the next generation is on disk */
};

/* What a generation holds; written into its last record when the next one begins. */
struct tlog_summary {
    uint64_t ops;
    int64_t min_seq, max_seq;  /* INT64_MAX, SEQ_NONE without operations */
    int64_t global_checkpoint; /* the newest noted */
    uint64_t end;              /* bytes that are good */
    bool ended;                /* the last record says that the generation is complete */
};

enum tlog_kind {
    TLOG_INDEX = OP_INDEX,
    TLOG_DELETE = OP_DELETE,
    TLOG_NOOP = OP_NOOP,
    TLOG_GLOBAL = 16,
    TLOG_END = 17
};

struct tlog_record {
    enum tlog_kind kind;
    struct engine_op op;         /* operations; strings borrowed from the bytes */
    int64_t global_checkpoint;   /* TLOG_GLOBAL */
    struct tlog_summary summary; /* TLOG_END */
    uint64_t durable;            /* bytes of its generation that were durable when it was written */
    uint64_t size;               /* header and body */
};

static inline uint64_t tlog_header_bytes(const struct tlog_header *h)
{
    return h->older ? 128 : TLOG_HEADER_BYTES;
}

/* Of a new generation, both marks at its own end. */
void tlog_header_encode(const struct tlog_header *h, struct buf *out);
/* The bytes of a slot, and where they go. */
uint64_t tlog_mark_encode(const struct tlog_synced *m, uint64_t generation, unsigned slot,
                          char out[TLOG_MARK_BYTES]);
/* The 8 bytes that say that the next generation is on disk, and where they go. */
uint64_t tlog_followed_encode(uint64_t generation, char out[8]);
/* *torn: the bytes end before the header does: the file was being made. ERR_CORRUPT otherwise when it is not
 * one. */
enum err tlog_header_decode(struct tlog_header *h, struct str bytes, bool *torn, struct errmsg *em);

/* Appends a record that begins at offset `at` of its generation. buf failure sticks. */
void tlog_encode_op(struct buf *out, uint64_t generation, uint64_t at, uint64_t durable,
                    const struct engine_op *op);
void tlog_encode_global(struct buf *out, uint64_t generation, uint64_t at, uint64_t durable,
                        int64_t global_checkpoint);
void tlog_encode_end(struct buf *out, uint64_t generation, uint64_t at, uint64_t durable,
                     const struct tlog_summary *s);

/* The record at offset `at` of a generation's bytes; ERR_CORRUPT when it is short or wrong. */
enum err tlog_decode(struct tlog_record *r, struct str bytes, uint64_t generation, uint64_t at,
                     struct errmsg *em);
/* A generation that is complete, by its TLOG_END record at the end of the bytes, or where its mark says; what lies behind
 * is not looked at. ERR_CORRUPT when there is none. */
enum err tlog_decode_end(struct tlog_summary *s, struct str bytes, const struct tlog_header *h,
                         struct errmsg *em);

void tlog_summary_init(struct tlog_summary *s, const struct tlog_header *h);
void tlog_summary_add(struct tlog_summary *s, const struct tlog_record *r);
/* Walks a last generation. Its good part ends at the first bad record behind the mark, however the bytes there look;
 * s->end says where. ERR_CORRUPT when a bad record, or the end of the bytes, lies before the mark or before what a later
 * record says that the disk had: operations are missing. In an older one, also when a bad record cannot be a torn write:
 * it is complete without an unwritten sector in it. */
enum err tlog_scan(struct tlog_summary *s, struct str bytes, const struct tlog_header *h, struct errmsg *em);

#endif
