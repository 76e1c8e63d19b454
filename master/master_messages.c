#include "master/master_messages.h"

/* ---- what becomes of a shard --------------------------------------------------------------------------- */

static void event_encode(const void *of, struct buf *out)
{
    const struct shard_event *e = of;
    put_u8(out, (uint8_t)e->kind);
    put_str(out, e->index_uuid);
    put_varint(out, e->shard);
    put_str(out, e->allocation_id);
    put_varint(out, e->primary_term);
    put_str(out, e->why);
}

static void event_decode(void *of, struct bytes_in *in, UNUSED struct arena *a)
{
    struct shard_event *e = of;
    uint8_t kind = get_u8(in);
    in->bad |= kind > SHARD_EVENT_STALE;
    e->kind = (enum shard_event_kind)kind;
    e->index_uuid = get_str(in);
    e->shard = (uint32_t)get_varint(in);
    e->allocation_id = get_str(in);
    e->primary_term = get_varint(in);
    e->why = get_str(in);
}

#define EVENT_MS 15000 /* then whoever is the master gets it */
static const struct codec event_codec = {sizeof(struct shard_event), event_encode, event_decode};
MESSAGE(SHARD_STARTED, shard_started, "internal:cluster/shard/started", TRANSPORT_DATA, MESSAGE_ON_LOOP,
        EVENT_MS, &event_codec, &codec_number);
MESSAGE(SHARD_FAILED, shard_failed, "internal:cluster/shard/failure", TRANSPORT_DATA, MESSAGE_ON_LOOP,
        EVENT_MS, &event_codec, &codec_number);
MESSAGE(MARK_STALE, mark_stale, "internal:cluster/shard/stale", TRANSPORT_DATA, MESSAGE_ON_LOOP, EVENT_MS,
        &event_codec, &codec_number);

/* ---- copies on disks ----------------------------------------------------------------------------------- */

static void copies_encode(const void *of, struct buf *out)
{
    const struct copies_question *q = of;
    put_varint(out, q->n);
    for (uint32_t i = 0; i < q->n; i++) {
        put_str(out, q->v[i].uuid);
        put_varint(out, q->v[i].shard);
    }
}

static void copies_decode(void *of, struct bytes_in *in, struct arena *a)
{
    struct copies_question *q = of;
    size_t n = get_count(in, 2);
    q->v = ARENA_ARRAY(a, struct shard_id, n);
    in->bad |= q->v == NULL;
    while (q->n < n && !in->bad) {
        struct shard_id *s = &q->v[q->n++];
        s->uuid = get_str(in);
        s->shard = (uint32_t)get_varint(in);
    }
}

static void found_encode(const void *of, struct buf *out)
{
    const struct copies_answer *f = of;
    put_varint(out, f->n);
    for (uint32_t i = 0; i < f->n; i++) {
        put_str(out, f->v[i].index_uuid);
        put_varint(out, f->v[i].shard);
        put_str(out, f->v[i].allocation_id);
        put_u8(out, f->v[i].damaged);
    }
}

static void found_decode(void *of, struct bytes_in *in, struct arena *a)
{
    struct copies_answer *f = of;
    size_t n = get_count(in, 4);
    f->v = ARENA_ARRAY(a, struct found_copy, n);
    in->bad |= f->v == NULL;
    while (f->n < n && !in->bad) {
        struct found_copy *c = &f->v[f->n++];
        c->index_uuid = get_str(in);
        c->shard = (uint32_t)get_varint(in);
        c->allocation_id = get_str(in);
        c->damaged = get_u8(in) != 0;
    }
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
