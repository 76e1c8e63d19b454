#include "proto/message.h"

/* ---- forms of fields ----------------------------------------------------------------------------------- */

void put_u32_varint(struct buf *b, uint32_t v)
{
    put_varint(b, v);
}

uint32_t get_u32_varint(struct bytes_in *in)
{
    uint64_t v = get_varint(in);
    in->bad |= v > UINT32_MAX;
    return in->bad ? 0 : (uint32_t)v;
}

void put_rest(struct buf *b, struct str s)
{
    buf_str(b, s);
}

struct str get_rest(struct bytes_in *in)
{
    return get_raw(in, bytes_left(in));
}

void put_opt(struct buf *b, struct str s)
{
    put_bool(b, s.p != NULL);
    put_str(b, s);
}

struct str get_opt(struct bytes_in *in)
{
    bool there = get_bool(in);
    struct str s = get_str(in);
    return there ? s : STR_NULL;
}

/* ---- codecs --------------------------------------------------------------------------------------------- */

static void nothing_encode(UNUSED const void *of, UNUSED struct buf *out)
{
}

static void nothing_decode(UNUSED void *of, UNUSED struct bytes_in *in, UNUSED struct arena *arena)
{
}

const struct codec codec_nothing = {0, nothing_encode, nothing_decode};

static void number_encode(const void *of, struct buf *out)
{
    const uint64_t *n = of;
    put_varint(out, *n);
}

static void number_decode(void *of, struct bytes_in *in, UNUSED struct arena *arena)
{
    uint64_t *n = of;
    *n = get_varint(in);
}

const struct codec codec_number = {sizeof(uint64_t), number_encode, number_decode};

static void bytes_encode(const void *of, struct buf *out)
{
    const struct str *s = of;
    put_rest(out, *s);
}

static void bytes_decode(void *of, struct bytes_in *in, UNUSED struct arena *arena)
{
    struct str *s = of;
    *s = get_rest(in);
}

const struct codec codec_bytes = {sizeof(struct str), bytes_encode, bytes_decode};

bool codec_read(const struct codec *c, void *of, struct str bytes, struct arena *arena)
{
    struct bytes_in in = bytes_in(bytes);
    memset(of, 0, c->size);
    c->decode(of, &in, arena);
    return !in.bad && bytes_left(&in) == 0;
}
