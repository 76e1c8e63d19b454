#include "proto/frame.h"

#include "common/base/hash.h"

#define FRAME_MAGIC    0x49415253U /* "SRAI" */
#define CHECKSUM_PLACE 9           /* bytes before it */

void frame_encode_head(const struct frame *f, struct buf *out)
{
    size_t at = out->n;
    put_u32(out, FRAME_MAGIC);
    put_u8(out, FRAME_VERSION);
    put_u8(out, f->flags);
    put_u8(out, f->cls);
    put_u16(out, f->kind);
    put_u64(out, 0);
    put_str(out, f->from);
    put_str(out, f->target);
    put_varint(out, f->payload.n);
    if (!out->failed) {
        size_t body = at + CHECKSUM_PLACE + 8;
        uint64_t seed = hash_bytes(out->p + at, CHECKSUM_PLACE, 0);
        store_u64(out->p + at + CHECKSUM_PLACE,
                  hash_two(str_mk(out->p + body, out->n - body), f->payload, seed));
    }
}

void frame_encode(const struct frame *f, struct buf *out)
{
    frame_encode_head(f, out);
    buf_str(out, f->payload);
}

enum err frame_decode(struct frame *f, struct str bytes, struct errmsg *em)
{
    struct bytes_in in = bytes_in(bytes);
    uint32_t magic = get_u32(&in);
    uint8_t version = get_u8(&in);
    if (in.bad || magic != FRAME_MAGIC) {
        return err_set(em, ERR_CORRUPT, "not a frame");
    }
    if (version != FRAME_VERSION) {
        return err_set(em, ERR_CORRUPT, "a frame of version [%u], this node speaks [%u]", version,
                       FRAME_VERSION);
    }
    f->flags = get_u8(&in);
    f->cls = get_u8(&in);
    f->kind = get_u16(&in);
    uint64_t checksum = get_u64(&in);
    if (in.bad || checksum != hash_bytes(in.at, bytes_left(&in), hash_bytes(bytes.p, CHECKSUM_PLACE, 0))) {
        return err_set(em, ERR_CORRUPT, "a frame's checksum is wrong");
    }
    f->from = get_str(&in);
    f->target = get_str(&in);
    f->payload = get_str(&in);
    if (in.bad || bytes_left(&in) != 0 || f->from.n > FRAME_ID_BYTES || f->target.n > FRAME_ID_BYTES) {
        return err_set(em, ERR_CORRUPT, "a frame's lengths do not fit");
    }
    return ERR_OK;
}
