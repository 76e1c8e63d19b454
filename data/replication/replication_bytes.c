#include "data/replication/replication_bytes.h"

#define REPLICATION_VERSION 1

enum { FLAG_LAST = 1 };

void replication_msg_begin(const struct replication_msg *m, size_t n, struct buf *out)
{
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
    put_varint(out, n);
}

enum err replication_msg_decode(struct replication_msg *m, struct str bytes, struct arena *a,
                                struct errmsg *em)
{
    struct bytes_in in = bytes_in(bytes);
    *m = (struct replication_msg){0};
    bool known = get_u8(&in) == REPLICATION_VERSION;
    m->uuid = get_str(&in);
    uint64_t shard = get_varint(&in);
    m->shard = (uint32_t)shard;
    m->allocation_id = get_str(&in);
    m->term = get_varint(&in);
    m->global_checkpoint = get_zigzag(&in);
    m->max_seq_no = get_zigzag(&in);
    m->retain_from = get_zigzag(&in);
    m->mapping_version = get_varint(&in);
    uint8_t refresh = get_u8(&in);
    m->refresh = (enum refresh_policy)refresh;
    m->last = (get_u8(&in) & FLAG_LAST) != 0;
    m->n = get_count(&in, OP_BYTES_MIN);
    if (in.bad || !known || shard > UINT32_MAX || refresh > REFRESH_WAIT || m->global_checkpoint < SEQ_NONE
        || m->global_checkpoint > m->max_seq_no || m->max_seq_no > OP_SEQ_NO_MAX || m->term == 0
        || m->term > INT64_MAX) {
        return err_set(em, ERR_CORRUPT, "operations from the primary cannot be read");
    }
    m->ops = ARENA_ARRAY(a, struct engine_op, m->n);
    if (m->ops == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < m->n && !in.bad; i++) {
        op_decode(&m->ops[i], &in);
    }
    if (in.bad || bytes_left(&in) > 0) {
        return err_set(em, ERR_CORRUPT, "operations from the primary cannot be read");
    }
    return ERR_OK;
}

void replication_answer_encode(const struct replication_answer *r, struct buf *out)
{
    put_u8(out, REPLICATION_VERSION);
    put_zigzag(out, r->local_checkpoint);
    put_zigzag(out, r->max_seq_no);
    put_zigzag(out, r->global_checkpoint);
}

enum err replication_answer_decode(struct replication_answer *r, struct str bytes, struct errmsg *em)
{
    struct bytes_in in = bytes_in(bytes);
    bool known = get_u8(&in) == REPLICATION_VERSION;
    r->local_checkpoint = get_zigzag(&in);
    r->max_seq_no = get_zigzag(&in);
    r->global_checkpoint = get_zigzag(&in);
    if (in.bad || !known || r->local_checkpoint < SEQ_NONE || r->local_checkpoint > r->max_seq_no
        || r->global_checkpoint < SEQ_NONE || r->global_checkpoint > r->max_seq_no
        || r->max_seq_no > OP_SEQ_NO_MAX) {
        return err_set(em, ERR_CORRUPT, "a copy's answer cannot be read");
    }
    return ERR_OK;
}
