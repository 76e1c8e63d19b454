#include "data/replication/replication_bytes.h"

#define REPLICATION_VERSION 1

enum { FLAG_LAST = 1 };

static void msg_encode(const void *of, struct buf *out)
{
    const struct replication_msg *m = of;
    put_u8(out, REPLICATION_VERSION);
    put_str(out, m->uuid);
    put_varint(out, m->shard);
    put_str(out, m->allocation_id);
    put_varint(out, m->term);
    put_zigzag(out, m->global_checkpoint);
    put_zigzag(out, m->max_seq_no);
    put_zigzag(out, m->retain_from);
    put_varint(out, m->mapping_version);
    put_u8(out, (uint8_t)m->refresh);
    put_u8(out, m->last ? FLAG_LAST : 0);
    put_varint(out, m->n);
    buf_str(out, m->bytes);
}

static void msg_decode(void *of, struct bytes_in *in, struct arena *a)
{
    struct replication_msg *m = of;
    in->bad |= get_u8(in) != REPLICATION_VERSION;
    m->uuid = get_str(in);
    uint64_t shard = get_varint(in);
    m->shard = (uint32_t)shard;
    m->allocation_id = get_str(in);
    m->term = get_varint(in);
    m->global_checkpoint = get_zigzag(in);
    m->max_seq_no = get_zigzag(in);
    m->retain_from = get_zigzag(in);
    m->mapping_version = get_varint(in);
    uint8_t refresh = get_u8(in);
    m->refresh = (enum refresh_policy)refresh;
    m->last = (get_u8(in) & FLAG_LAST) != 0;
    m->n = get_count(in, OP_BYTES_MIN);
    in->bad |= shard > UINT32_MAX || refresh > REFRESH_WAIT || m->global_checkpoint < SEQ_NONE
               || m->global_checkpoint > m->max_seq_no || m->max_seq_no > OP_SEQ_NO_MAX || m->term == 0
               || m->term > INT64_MAX;
    m->bytes = str_mk((const char *)in->at, bytes_left(in));
    m->ops = in->bad ? NULL : ARENA_ARRAY(a, struct engine_op, m->n);
    in->bad |= m->ops == NULL;
    for (size_t i = 0; i < m->n && !in->bad; i++) {
        op_decode(&m->ops[i], in);
    }
}

static void answer_encode(const void *of, struct buf *out)
{
    const struct replication_answer *r = of;
    put_u8(out, REPLICATION_VERSION);
    put_zigzag(out, r->local_checkpoint);
    put_zigzag(out, r->max_seq_no);
    put_zigzag(out, r->global_checkpoint);
}

static void answer_decode(void *of, struct bytes_in *in, UNUSED struct arena *a)
{
    struct replication_answer *r = of;
    in->bad |= get_u8(in) != REPLICATION_VERSION;
    r->local_checkpoint = get_zigzag(in);
    r->max_seq_no = get_zigzag(in);
    r->global_checkpoint = get_zigzag(in);
    in->bad |= r->local_checkpoint < SEQ_NONE || r->local_checkpoint > r->max_seq_no
               || r->global_checkpoint < SEQ_NONE || r->global_checkpoint > r->max_seq_no
               || r->max_seq_no > OP_SEQ_NO_MAX;
}

#define REPLICATE_MS  60000 /* a copy that takes longer has failed */
#define CHECKPOINT_MS 10000 /* the same for one that is only told of the global checkpoint */
static const struct codec msg_codec = {sizeof(struct replication_msg), msg_encode, msg_decode},
                          answer_codec = {sizeof(struct replication_answer), answer_encode, answer_decode};
MESSAGE(REPLICATE, replicate, "indices:data/write/bulk[s][r]", TRANSPORT_DATA, MESSAGE_ON_WRITES,
        REPLICATE_MS, &msg_codec, &answer_codec);
MESSAGE(RESYNC, resync, "internal:index/seq_no/resync[r]", TRANSPORT_DATA, MESSAGE_ON_WRITES, REPLICATE_MS,
        &msg_codec, &answer_codec);
MESSAGE(GLOBAL_CHECKPOINT, global_checkpoint, "indices:admin/seq_no/global_checkpoint_sync[r]",
        TRANSPORT_DATA, MESSAGE_ON_WRITES, CHECKPOINT_MS, &msg_codec, &answer_codec);
