#include "proto/shard_bytes.h"

void put_opt_str(struct buf *b, struct str s)
{
    put_bool(b, s.p != NULL);
    if (s.p != NULL) {
        put_str(b, s);
    }
}

struct str get_opt_str(struct bytes_in *in)
{
    struct str s = get_bool(in) ? get_str(in) : STR_NULL;
    return in->bad ? STR_NULL : s;
}

void put_strs(struct buf *b, const struct str *v, uint32_t n)
{
    put_varint(b, n);
    for (uint32_t i = 0; i < n; i++) {
        put_opt_str(b, v[i]);
    }
}

struct str *get_strs(struct bytes_in *in, uint32_t *n, struct arena *arena)
{
    size_t count = get_count(in, 1);
    struct str *v = in->bad ? NULL : ARENA_ARRAY(arena, struct str, count);
    in->bad |= v == NULL;
    *n = 0;
    for (size_t i = 0; i < count && !in->bad; i++) {
        v[(*n)++] = get_opt_str(in);
    }
    return in->bad ? NULL : v;
}

void put_flags(struct buf *b, const bool *v, size_t n)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < n; i++) {
        bits |= (uint32_t)v[i] << i;
    }
    put_varint(b, bits);
}

uint32_t get_flags(struct bytes_in *in, unsigned n)
{
    uint64_t bits = get_varint(in);
    in->bad |= bits >> n != 0;
    return in->bad ? 0 : (uint32_t)bits;
}

void put_shard_ref(struct buf *b, const struct shard_ref *r)
{
    put_str(b, r->index);
    put_str(b, r->uuid);
    put_varint(b, r->shard);
}

void get_shard_ref(struct bytes_in *in, struct shard_ref *r)
{
    r->index = get_str(in);
    r->uuid = get_str(in);
    r->shard = get_u32_varint(in);
}

uint8_t get_below(struct bytes_in *in, unsigned limit)
{
    uint8_t v = get_u8(in);
    in->bad |= v >= limit;
    return in->bad ? 0 : v;
}
