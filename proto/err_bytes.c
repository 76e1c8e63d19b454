#include "proto/err_bytes.h"

static void put_frame(struct buf *out, const struct err_frame *f)
{
    put_varint(out, f->code);
    put_varint(out, f->line);
    put_varint(out, f->col);
    put_str(out, str_of(f->reason));
}

static void get_text(struct bytes_in *in, char *to, size_t cap)
{
    struct str s = get_str(in);
    in->bad |= s.n >= cap;
    if (!in->bad) {
        memcpy(to, s.p, s.n);
        to[s.n] = 0;
    }
}

static void get_frame(struct bytes_in *in, struct err_frame *f)
{
    uint64_t code = get_varint(in), line = get_varint(in), col = get_varint(in);
    get_text(in, f->reason, sizeof(f->reason));
    in->bad |= code == ERR_OK || code >= ERR_COUNT || line > UINT32_MAX || col > UINT32_MAX;
    if (!in->bad) {
        f->code = (enum err)code;
        f->line = (uint32_t)line;
        f->col = (uint32_t)col;
    }
}

/* A place in a source, in bytes. */
static uint32_t get_place(struct bytes_in *in)
{
    uint64_t at = get_varint(in);
    in->bad |= at > UINT32_MAX;
    return (uint32_t)at;
}

void errmsg_encode(const struct errmsg *em, struct buf *out)
{
    put_u8(out, (uint8_t)em->n);
    if (em->n == 0) {
        return;
    }
    for (unsigned i = 0; i < em->n; i++) {
        put_frame(out, &em->frame[i]);
    }
    put_u8(out, (uint8_t)em->n_suppressed);
    for (unsigned i = 0; i < em->n_suppressed; i++) {
        put_frame(out, &em->suppressed[i]);
    }
    const struct err_about *a = &em->about;
    put_str(out, str_of(a->index));
    put_str(out, str_of(a->index_uuid));
    put_str(out, str_of(a->resource_type));
    put_str(out, str_of(a->resource_id));
    put_zigzag(out, a->shard);
    put_str(out, str_of(a->script));
    put_str(out, str_of(a->lang));
    put_bool(out, a->script_placed);
    put_varint(out, a->script_at);
    put_varint(out, a->script_start);
    put_varint(out, a->script_end);
    put_zigzag(out, a->limit);
    put_zigzag(out, a->refused.bytes_wanted);
    put_zigzag(out, a->refused.bytes_limit);
    put_bool(out, a->refused.lasting);
    put_zigzag(out, a->status_set ? a->http_status : 0);
}

void errmsg_decode(struct errmsg *em, struct bytes_in *in)
{
    err_clear(em);
    uint8_t n = get_u8(in);
    in->bad |= n > ERR_FRAMES_MAX;
    if (in->bad || n == 0) {
        return;
    }
    for (uint8_t i = 0; i < n; i++) {
        get_frame(in, &em->frame[i]);
    }
    uint8_t suppressed = get_u8(in);
    in->bad |= suppressed > ERR_SUPPRESSED_MAX;
    for (uint8_t i = 0; !in->bad && i < suppressed; i++) {
        get_frame(in, &em->suppressed[i]);
    }
    struct err_about *a = &em->about;
    get_text(in, a->index, sizeof(a->index));
    get_text(in, a->index_uuid, sizeof(a->index_uuid));
    get_text(in, a->resource_type, sizeof(a->resource_type));
    get_text(in, a->resource_id, sizeof(a->resource_id));
    int64_t shard = get_zigzag(in);
    get_text(in, a->script, sizeof(a->script));
    get_text(in, a->lang, sizeof(a->lang));
    a->script_placed = get_bool(in);
    a->script_at = get_place(in);
    a->script_start = get_place(in);
    a->script_end = get_place(in);
    a->limit = get_zigzag(in);
    a->refused.bytes_wanted = get_zigzag(in);
    a->refused.bytes_limit = get_zigzag(in);
    a->refused.lasting = get_bool(in);
    int64_t status = get_zigzag(in);
    in->bad |= shard < -1 || shard > INT32_MAX || status < 0 || status > 599;
    if (in->bad) {
        err_clear(em);
        return;
    }
    a->shard = (int)shard;
    a->status_set = status != 0;
    a->http_status = (int)status;
    em->n = n;
    em->n_suppressed = suppressed;
}
