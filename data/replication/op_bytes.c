#include "data/replication/op_bytes.h"

enum { FLAG_RETRY = 1, FLAG_ROUTING = 2, FLAG_OP_ID = 4, OUTCOME_SHIFT = 3 };

#define ID_BYTES_MAX 512

void op_encode(const struct engine_op *op, struct buf *out)
{
    bool named = op->op_id.session != 0, routed = op->routing.p != NULL;
    unsigned flags = (op->retry ? FLAG_RETRY : 0U) | (routed ? FLAG_ROUTING : 0U) | (named ? FLAG_OP_ID : 0U);
    put_u8(out, (uint8_t)op->kind);
    put_u8(out, (uint8_t)(flags | (unsigned)op->outcome << OUTCOME_SHIFT));
    put_varint(out, (uint64_t)op->seq_no);
    put_varint(out, (uint64_t)op->primary_term);
    put_zigzag(out, op->version);
    put_varint(out, op->mapping_version);
    put_zigzag(out, op->auto_id_ms);
    put_str(out, op->kind == OP_NOOP ? op->reason : op->id);
    if (named) {
        put_u64(out, op->op_id.session);
        put_varint(out, op->op_id.counter);
        put_varint(out, op->settled_below);
    }
    if (routed) {
        put_str(out, op->routing);
    }
    if (op->kind == OP_INDEX) {
        put_str(out, op->source);
    }
}

static bool is_right(const struct engine_op *op, unsigned outcome)
{
    bool has_id = op->id.n > 0 && op->id.n <= ID_BYTES_MAX;
    return (op->kind == OP_NOOP || ((op->kind == OP_INDEX || op->kind == OP_DELETE) && has_id))
           && outcome <= OUTCOME_NOOP && op->seq_no >= 0 && op->seq_no <= OP_SEQ_NO_MAX
           && op->primary_term > 0;
}

void op_decode(struct engine_op *op, struct bytes_in *in)
{
    *op = (struct engine_op)ENGINE_OP_INIT;
    op->kind = (enum engine_op_kind)get_u8(in);
    unsigned flags = get_u8(in);
    op->seq_no = (int64_t)get_varint(in);
    op->primary_term = (int64_t)get_varint(in);
    op->version = get_zigzag(in);
    op->mapping_version = get_varint(in);
    op->auto_id_ms = get_zigzag(in);
    *(op->kind == OP_NOOP ? &op->reason : &op->id) = get_str(in);
    op->retry = (flags & FLAG_RETRY) != 0;
    if ((flags & FLAG_OP_ID) != 0) {
        op->op_id.session = get_u64(in);
        op->op_id.counter = get_varint(in);
        op->settled_below = get_varint(in);
    }
    if ((flags & FLAG_ROUTING) != 0) {
        op->routing = get_str(in);
    }
    if (op->kind == OP_INDEX) {
        op->source = get_str(in);
    }
    in->bad |= !is_right(op, flags >> OUTCOME_SHIFT);
    op->outcome = in->bad ? OUTCOME_NOOP : (enum engine_outcome)(flags >> OUTCOME_SHIFT);
}
