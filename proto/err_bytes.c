#include "proto/err_bytes.h"

static void put_frames(struct buf *out, const struct err_frame *f)
{
    put_u8(out, (uint8_t)(f != NULL ? f->depth : 0));
    for (; f != NULL; f = f->cause) {
        put_varint(out, f->code);
        put_varint(out, f->line);
        put_varint(out, f->col);
        put_str(out, str_of(f->reason));
    }
}

/* The newest stands first, as in the list. */
static void put_suppressed(struct buf *out, const struct err_suppressed *s)
{
    put_u8(out, (uint8_t)(s != NULL ? s->n : 0));
    for (; s != NULL; s = s->before) {
        put_frames(out, s->frame);
    }
}

/* Outermost first: each is read before what is wrapped in it, and put around that afterwards. */
static void get_frames(struct bytes_in *in, unsigned n, struct errmsg *em)
{
    uint64_t code = get_varint(in), line = get_varint(in), col = get_varint(in);
    struct str reason = get_str(in);
    in->bad |= code == ERR_OK || code >= ERR_COUNT || line > UINT32_MAX || col > UINT32_MAX
               || reason.n > ERR_REASON_MAX;
    if (!in->bad && n > 1) {
        get_frames(in, n - 1, em);
    }
    if (!in->bad) {
        err_wrap_at(em, (enum err)code, (uint32_t)line, (uint32_t)col, "%.*s", STR_ARG(reason));
    }
}

static void get_chain(struct bytes_in *in, struct errmsg *em)
{
    uint8_t n = get_u8(in);
    in->bad |= n > ERR_FRAMES_MAX;
    err_clear(em);
    if (!in->bad && n > 0) {
        get_frames(in, n, em);
    }
}

static void get_suppressed(struct bytes_in *in, unsigned n, struct errmsg *em)
{
    ERR_LOCAL(one);
    get_chain(in, &one);
    in->bad |= !err_is(&one);
    if (!in->bad && n > 1) {
        get_suppressed(in, n - 1, em);
    }
    if (!in->bad) {
        err_suppress(em, &one);
    }
}

static const char *get_text(struct bytes_in *in, const struct errmsg *em)
{
    struct str s = get_str(in);
    in->bad |= s.n > ERR_REASON_MAX;
    return in->bad ? "" : err_text(em, s);
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
    put_frames(out, em->frame);
    if (em->frame == NULL) {
        return;
    }
    put_suppressed(out, em->suppressed);
    const struct err_about *a = err_about(em);
    put_str(out, str_of(a->index));
    put_str(out, str_of(a->index_uuid));
    put_str(out, str_of(a->resource_type));
    put_str(out, str_of(a->resource_id));
    put_zigzag(out, a->shard);
    put_str(out, str_of(a->script));
    put_str(out, str_of(a->lang));
    put_str(out, str_of(a->script_id));
    put_bool(out, a->script_placed);
    put_varint(out, a->script_at);
    put_varint(out, a->script_start);
    put_varint(out, a->script_end);
    put_zigzag(out, a->limit);
    put_zigzag(out, a->refused.bytes_wanted);
    put_zigzag(out, a->refused.bytes_limit);
    put_bool(out, a->refused.lasting);
    put_zigzag(out, a->http_status);
}

static void get_about(struct bytes_in *in, struct errmsg *em)
{
    struct err_about a = {.processor_type = "", .processor_tag = "", .property = ""};
    a.index = get_text(in, em);
    a.index_uuid = get_text(in, em);
    a.resource_type = get_text(in, em);
    a.resource_id = get_text(in, em);
    int64_t shard = get_zigzag(in);
    a.script = get_text(in, em);
    a.lang = get_text(in, em);
    a.script_id = get_text(in, em);
    a.script_placed = get_bool(in);
    a.script_at = get_place(in);
    a.script_start = get_place(in);
    a.script_end = get_place(in);
    a.limit = get_zigzag(in);
    a.refused.bytes_wanted = get_zigzag(in);
    a.refused.bytes_limit = get_zigzag(in);
    a.refused.lasting = get_bool(in);
    int64_t status = get_zigzag(in);
    in->bad |= shard < -1 || shard > INT32_MAX || status < 0 || status > 599;
    struct err_about *to = in->bad ? NULL : err_about_change(em);
    if (to != NULL) {
        a.shard = (int)shard;
        a.http_status = (int)status;
        *to = a;
    }
}

void errmsg_decode(struct errmsg *em, struct bytes_in *in)
{
    get_chain(in, em);
    if (!in->bad && err_is(em)) {
        uint8_t n = get_u8(in);
        in->bad |= n > ERR_SUPPRESSED_MAX;
        if (!in->bad && n > 0) {
            get_suppressed(in, n, em);
        }
        get_about(in, em);
    }
    if (in->bad) {
        err_clear(em);
    }
}
