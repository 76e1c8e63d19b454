/* flat.h - bytes of structs and lists whose members stand one after the other. FIELDS(M) lists them as FLAT_CODEC's do
 * (message.h). */
#ifndef PROTO_FLAT_H
#define PROTO_FLAT_H

#include "proto/message.h"

/* put_NAME(out, m) and get_NAME(in, m) of a struct. */
#define FLAT_PART(name, type, FIELDS)                             \
    static void put_##name(struct buf *out, const struct type *m) \
    {                                                             \
        FIELDS(FIELD_PUT)                                         \
    }                                                             \
    static void get_##name(struct bytes_in *in, struct type *m)   \
    {                                                             \
        FIELDS(FIELD_GET)                                         \
    }

/* The same of `n` of them, with their number in front: put_NAME(out, v, n) and get_NAME(in, &n, arena), which gives an array in
 * the arena; `least`: the bytes that one takes at least. */
#define FLAT_LIST(name, type, FIELDS, least)                                              \
    static void put_##name(struct buf *out, const struct type *v, size_t n)               \
    {                                                                                     \
        put_varint(out, n);                                                               \
        for (const struct type *m = v; m < v + n; m++) {                                  \
            FIELDS(FIELD_PUT)                                                             \
        }                                                                                 \
    }                                                                                     \
    static struct type *get_##name(struct bytes_in *in, uint32_t *n, struct arena *arena) \
    {                                                                                     \
        size_t count = get_count(in, least);                                              \
        struct type *v = in->bad ? NULL : ARENA_ARRAY(arena, struct type, count);         \
        in->bad |= v == NULL;                                                             \
        *n = 0;                                                                           \
        while (*n < count && !in->bad) {                                                  \
            struct type *m = &v[(*n)++];                                                  \
            FIELDS(FIELD_GET)                                                             \
        }                                                                                 \
        return v;                                                                         \
    }

#endif
