#include "proto/recovery_bytes.h"

#include "proto/transport.h"

#define COPY_BYTES_MIN 3 /* an empty id, a checkpoint, a flag */

void recovery_start_encode(const struct recovery_start *m, struct buf *out)
{
    put_str(out, m->index_uuid);
    put_varint(out, m->shard);
    put_str(out, m->allocation_id);
    put_str(out, m->node_id);
    put_str(out, m->history_uuid);
    put_zigzag(out, m->from);
}

void recovery_start_decode(struct recovery_start *m, struct bytes_in *in)
{
    m->index_uuid = get_str(in);
    uint64_t shard = get_varint(in);
    m->shard = (uint32_t)shard;
    m->allocation_id = get_str(in);
    m->node_id = get_str(in);
    m->history_uuid = get_str(in);
    m->from = get_zigzag(in);
    in->bad |= shard > UINT32_MAX || m->allocation_id.n == 0 || m->node_id.n == 0;
}

void recovery_plan_encode(const struct recovery_plan *m, struct buf *out)
{
    put_varint(out, m->session);
    put_varint(out, m->primary_term);
    put_zigzag(out, m->global_checkpoint);
    put_str(out, m->manifest);
    put_varint(out, m->ops);
}

void recovery_plan_decode(struct recovery_plan *m, struct bytes_in *in)
{
    m->session = get_varint(in);
    m->primary_term = get_varint(in);
    m->global_checkpoint = get_zigzag(in);
    m->manifest = get_str(in);
    m->ops = get_varint(in);
    in->bad |= m->primary_term == 0 || m->primary_term > INT64_MAX;
}

void recovery_chunk_encode(const struct recovery_chunk *m, struct buf *out)
{
    put_varint(out, m->session);
    put_varint(out, m->file);
    put_varint(out, m->offset);
    put_varint(out, m->length);
}

void recovery_chunk_decode(struct recovery_chunk *m, struct bytes_in *in)
{
    m->session = get_varint(in);
    uint64_t file = get_varint(in);
    m->offset = get_varint(in);
    uint64_t length = get_varint(in);
    m->file = (uint32_t)file;
    m->length = (uint32_t)length;
    in->bad |= file > UINT32_MAX || length == 0 || length > TRANSPORT_CHUNK_BYTES;
}

void recovery_ops_wish_encode(const struct recovery_ops_wish *m, struct buf *out)
{
    put_varint(out, m->session);
    put_varint(out, m->batch);
}

void recovery_ops_wish_decode(struct recovery_ops_wish *m, struct bytes_in *in)
{
    m->session = get_varint(in);
    m->batch = get_varint(in);
}

void recovery_ops_encode(const struct recovery_ops *m, struct buf *out)
{
    put_varint(out, m->batch);
    put_varint(out, m->n);
    put_varint(out, m->total);
    put_bool(out, m->more);
    put_varint(out, m->mapping_version);
}

void recovery_ops_decode(struct recovery_ops *m, struct bytes_in *in)
{
    m->batch = get_varint(in);
    m->n = get_varint(in);
    m->total = get_varint(in);
    m->more = get_bool(in);
    m->mapping_version = get_varint(in);
    in->bad |= m->n > bytes_left(in);
}

void recovery_finalize_encode(const struct recovery_finalize *m, struct buf *out)
{
    put_varint(out, m->session);
    put_zigzag(out, m->local_checkpoint);
}

void recovery_finalize_decode(struct recovery_finalize *m, struct bytes_in *in)
{
    m->session = get_varint(in);
    m->local_checkpoint = get_zigzag(in);
}

void recovery_finalized_encode(const struct recovery_finalized *m, struct buf *out)
{
    put_bool(out, m->in_sync);
    put_zigzag(out, m->global_checkpoint);
}

void recovery_finalized_decode(struct recovery_finalized *m, struct bytes_in *in)
{
    m->in_sync = get_bool(in);
    m->global_checkpoint = get_zigzag(in);
}

void recovery_handoff_encode(const struct recovery_handoff *m, struct buf *out)
{
    put_zigzag(out, m->global_checkpoint);
    put_varint(out, m->n);
}

void recovery_handoff_decode(struct recovery_handoff *m, struct bytes_in *in)
{
    m->global_checkpoint = get_zigzag(in);
    m->n = get_count(in, COPY_BYTES_MIN);
}

void recovery_copy_encode(const struct recovery_copy *m, struct buf *out)
{
    put_str(out, m->allocation_id);
    put_zigzag(out, m->local_checkpoint);
    put_bool(out, m->in_sync);
}

void recovery_copy_decode(struct recovery_copy *m, struct bytes_in *in)
{
    m->allocation_id = get_str(in);
    m->local_checkpoint = get_zigzag(in);
    m->in_sync = get_bool(in);
}
