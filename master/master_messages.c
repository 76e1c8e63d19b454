#include "master/master_messages.h"
#include "proto/flat.h"

/* ---- what becomes of a shard --------------------------------------------------------------------------- */

static void put_event_kind(struct buf *out, enum shard_event_kind kind)
{
    put_u8(out, (uint8_t)kind);
}

static enum shard_event_kind get_event_kind(struct bytes_in *in)
{
    uint8_t kind = get_u8(in);
    in->bad |= kind > SHARD_EVENT_STALE;
    return (enum shard_event_kind)kind;
}

#define EVENT_FIELDS(M) \
    M(event_kind, kind) \
    M(str, index_uuid) M(u32_varint, shard) M(str, allocation_id) M(varint, primary_term) M(str, why)
FLAT_CODEC(event, shard_event, EVENT_FIELDS, true);

#define EVENT_MS 15000 /* then whoever is the master gets it */
MESSAGE(SHARD_STARTED, shard_started, "internal:cluster/shard/started", TRANSPORT_DATA, MESSAGE_ON_LOOP,
        EVENT_MS, &event_codec, &codec_number);
MESSAGE(SHARD_FAILED, shard_failed, "internal:cluster/shard/failure", TRANSPORT_DATA, MESSAGE_ON_LOOP,
        EVENT_MS, &event_codec, &codec_number);
MESSAGE(MARK_STALE, mark_stale, "internal:cluster/shard/stale", TRANSPORT_DATA, MESSAGE_ON_LOOP, EVENT_MS,
        &event_codec, &codec_number);

/* ---- copies on disks ----------------------------------------------------------------------------------- */

#define SHARD_FIELDS(M) M(str, uuid) M(u32_varint, shard)
FLAT_LIST(shards, shard_id, SHARD_FIELDS, 2)

static void copies_encode(const void *of, struct buf *out)
{
    const struct copies_question *q = of;
    put_shards(out, q->v, q->n);
}

static void copies_decode(void *of, struct bytes_in *in, struct arena *a)
{
    struct copies_question *q = of;
    q->v = get_shards(in, &q->n, a);
}

#define FOUND_FIELDS(M) M(str, index_uuid) M(u32_varint, shard) M(str, allocation_id) M(bool, damaged)
FLAT_LIST(found, found_copy, FOUND_FIELDS, 4)

static void found_encode(const void *of, struct buf *out)
{
    const struct copies_answer *f = of;
    put_found(out, f->v, f->n);
}

static void found_decode(void *of, struct bytes_in *in, struct arena *a)
{
    struct copies_answer *f = of;
    f->v = get_found(in, &f->n, a);
}

static const struct codec copies_codec = {sizeof(struct copies_question), copies_encode, copies_decode},
                          found_codec = {sizeof(struct copies_answer), found_encode, found_decode};
MESSAGE(LIST_COPIES, list_copies, "internal:gateway/local/started_shards", TRANSPORT_DATA, MESSAGE_ON_READS,
        MASTER_TIMEOUT_DEFAULT_MS, &copies_codec, &found_codec);

/* ---- space on disks ------------------------------------------------------------------------------------ */

#define DISK_FIELDS(M) M(varint, total_bytes) M(varint, free_bytes)
FLAT_CODEC(disk, disk_answer, DISK_FIELDS, true);
MESSAGE(DISK_USAGE, disk_usage, "internal:cluster/disk/usage", TRANSPORT_DATA, MESSAGE_ON_READS, 0,
        &codec_nothing, &disk_codec);
