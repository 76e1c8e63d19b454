#include "proto/recovery_bytes.h"

#define COPY_BYTES_MIN 3      /* an empty id, a checkpoint, a flag */
#define REQUEST_MS     30000  /* a request without an answer has failed */
#define CHUNK_MS       900000 /* a part of a file, which waits for its turn under a low limit */

static void start_encode(const void *of, struct buf *out)
{
    const struct recovery_start *m = of;
    put_str(out, m->index_uuid);
    put_varint(out, m->shard);
    put_str(out, m->allocation_id);
    put_str(out, m->node_id);
    put_str(out, m->history_uuid);
    put_zigzag(out, m->from);
}

static void start_decode(void *of, struct bytes_in *in, struct arena *a)
{
    struct recovery_start *m = of;
    (void)a;
    m->index_uuid = get_str(in);
    uint64_t shard = get_varint(in);
    m->shard = (uint32_t)shard;
    m->allocation_id = get_str(in);
    m->node_id = get_str(in);
    m->history_uuid = get_str(in);
    m->from = get_zigzag(in);
    in->bad |= shard > UINT32_MAX || m->allocation_id.n == 0 || m->node_id.n == 0;
}

static void plan_encode(const void *of, struct buf *out)
{
    const struct recovery_plan *m = of;
    put_varint(out, m->session);
    put_varint(out, m->primary_term);
    put_zigzag(out, m->global_checkpoint);
    put_str(out, m->manifest);
    put_varint(out, m->ops);
}

static void plan_decode(void *of, struct bytes_in *in, struct arena *a)
{
    struct recovery_plan *m = of;
    (void)a;
    m->session = get_varint(in);
    m->primary_term = get_varint(in);
    m->global_checkpoint = get_zigzag(in);
    m->manifest = get_str(in);
    m->ops = get_varint(in);
    in->bad |= m->primary_term == 0 || m->primary_term > INT64_MAX;
}

static const struct codec start_codec = {sizeof(struct recovery_start), start_encode, start_decode},
                          plan_codec = {sizeof(struct recovery_plan), plan_encode, plan_decode};
MESSAGE(RECOVERY_START, recovery_start, "internal:index/shard/recovery/start_recovery", TRANSPORT_RECOVERY,
        MESSAGE_ON_WRITES, REQUEST_MS, &start_codec, &plan_codec);

static void chunk_encode(const void *of, struct buf *out)
{
    const struct recovery_chunk *m = of;
    put_varint(out, m->session);
    put_varint(out, m->file);
    put_varint(out, m->offset);
    put_varint(out, m->length);
}

static void chunk_decode(void *of, struct bytes_in *in, struct arena *a)
{
    struct recovery_chunk *m = of;
    (void)a;
    m->session = get_varint(in);
    uint64_t file = get_varint(in);
    m->offset = get_varint(in);
    uint64_t length = get_varint(in);
    m->file = (uint32_t)file;
    m->length = (uint32_t)length;
    in->bad |= file > UINT32_MAX || length == 0 || length > TRANSPORT_CHUNK_BYTES;
}

static const struct codec chunk_codec = {sizeof(struct recovery_chunk), chunk_encode, chunk_decode};
MESSAGE(RECOVERY_CHUNK, recovery_chunk, "internal:index/shard/recovery/file_chunk", TRANSPORT_RECOVERY,
        MESSAGE_ON_READS, CHUNK_MS, &chunk_codec, &codec_bytes);

MESSAGE(RECOVERY_CLEAN, recovery_clean, "internal:index/shard/recovery/clean_files", TRANSPORT_RECOVERY,
        MESSAGE_ON_WRITES, REQUEST_MS, &codec_number, &codec_nothing);

static void wish_encode(const void *of, struct buf *out)
{
    const struct recovery_ops_wish *m = of;
    put_varint(out, m->session);
    put_varint(out, m->batch);
}

static void wish_decode(void *of, struct bytes_in *in, struct arena *a)
{
    struct recovery_ops_wish *m = of;
    (void)a;
    m->session = get_varint(in);
    m->batch = get_varint(in);
}

static void ops_encode(const void *of, struct buf *out)
{
    const struct recovery_ops *m = of;
    put_varint(out, m->batch);
    put_varint(out, m->n);
    put_varint(out, m->total);
    put_bool(out, m->more);
    put_varint(out, m->mapping_version);
    buf_str(out, m->ops);
}

static void ops_decode(void *of, struct bytes_in *in, struct arena *a)
{
    struct recovery_ops *m = of;
    (void)a;
    m->batch = get_varint(in);
    m->n = get_varint(in);
    m->total = get_varint(in);
    m->more = get_bool(in);
    m->mapping_version = get_varint(in);
    m->ops = get_raw(in, bytes_left(in));
    in->bad |= m->n > m->ops.n;
}

static const struct codec wish_codec = {sizeof(struct recovery_ops_wish), wish_encode, wish_decode},
                          ops_codec = {sizeof(struct recovery_ops), ops_encode, ops_decode};
MESSAGE(RECOVERY_OPS, recovery_ops, "internal:index/shard/recovery/translog_ops", TRANSPORT_RECOVERY,
        MESSAGE_ON_WRITES, REQUEST_MS, &wish_codec, &ops_codec);

static void finalize_encode(const void *of, struct buf *out)
{
    const struct recovery_finalize *m = of;
    put_varint(out, m->session);
    put_zigzag(out, m->local_checkpoint);
}

static void finalize_decode(void *of, struct bytes_in *in, struct arena *a)
{
    struct recovery_finalize *m = of;
    (void)a;
    m->session = get_varint(in);
    m->local_checkpoint = get_zigzag(in);
}

static void finalized_encode(const void *of, struct buf *out)
{
    const struct recovery_finalized *m = of;
    put_bool(out, m->in_sync);
    put_zigzag(out, m->global_checkpoint);
}

static void finalized_decode(void *of, struct bytes_in *in, struct arena *a)
{
    struct recovery_finalized *m = of;
    (void)a;
    m->in_sync = get_bool(in);
    m->global_checkpoint = get_zigzag(in);
}

static const struct codec finalize_codec = {sizeof(struct recovery_finalize), finalize_encode,
                                            finalize_decode},
                          finalized_codec = {sizeof(struct recovery_finalized), finalized_encode,
                                             finalized_decode};
MESSAGE(RECOVERY_FINALIZE, recovery_finalize, "internal:index/shard/recovery/finalize", TRANSPORT_RECOVERY,
        MESSAGE_ON_WRITES, REQUEST_MS, &finalize_codec, &finalized_codec);

static void handoff_encode(const void *of, struct buf *out)
{
    const struct recovery_handoff *m = of;
    put_zigzag(out, m->global_checkpoint);
    put_varint(out, m->n);
    for (size_t i = 0; i < m->n; i++) {
        put_str(out, m->v[i].allocation_id);
        put_zigzag(out, m->v[i].local_checkpoint);
        put_bool(out, m->v[i].in_sync);
    }
}

static void handoff_decode(void *of, struct bytes_in *in, struct arena *a)
{
    struct recovery_handoff *m = of;
    m->global_checkpoint = get_zigzag(in);
    size_t n = get_count(in, COPY_BYTES_MIN);
    m->v = ARENA_ARRAY(a, struct recovery_copy, n);
    in->bad |= m->v == NULL;
    while (m->n < n && !in->bad) {
        struct recovery_copy *c = &m->v[m->n++];
        c->allocation_id = get_str(in);
        c->local_checkpoint = get_zigzag(in);
        c->in_sync = get_bool(in);
    }
}

static const struct codec handoff_codec = {sizeof(struct recovery_handoff), handoff_encode, handoff_decode};
MESSAGE(RECOVERY_HANDOFF, recovery_handoff, "internal:index/shard/recovery/handoff_primary_context",
        TRANSPORT_RECOVERY, MESSAGE_ON_WRITES, REQUEST_MS, &codec_number, &handoff_codec);
