/* The bytes of found documents and of the values that they are sorted by. */
#include "engine/collect/top_doc.h"

#include "common/base/arena.h"

#define SORT_KEYS_MAX 1024

void sort_value_encode(const struct sort_value *v, struct buf *b)
{
    put_u8(b, (uint8_t)v->kind);
    if (sort_value_is_bytes(v)) {
        put_str(b, v->s);
    } else if (v->kind == SV_DOUBLE || v->kind == SV_FLOAT) {
        put_f64(b, v->d);
    } else if (v->kind != SV_NULL) {
        put_zigzag(b, v->l);
    }
}

void sort_value_decode(struct sort_value *v, struct bytes_in *in, struct arena *arena)
{
    uint8_t kind = get_u8(in);
    in->bad |= kind > SV_IP;
    v->kind = in->bad ? SV_NULL : (enum sort_value_kind)kind;
    if (sort_value_is_bytes(v)) {
        v->s = arena_str(arena, get_str(in));
        in->bad |= v->s.p == NULL;
    } else if (v->kind == SV_DOUBLE || v->kind == SV_FLOAT) {
        v->d = get_f64(in);
    } else if (v->kind != SV_NULL) {
        v->l = get_zigzag(in);
    }
}

void top_docs_encode(const struct top_doc *docs, uint32_t n, uint32_t n_sort, struct buf *out)
{
    put_varint(out, n_sort);
    put_varint(out, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct top_doc *d = &docs[i];
        put_varint(out, d->doc);
        put_varint(out, d->slot);
        put_f32(out, d->score);
        sort_value_encode(&d->collapse, out);
        put_bool(out, d->sort != NULL);
        for (uint32_t k = 0; d->sort != NULL && k < n_sort; k++) {
            sort_value_encode(&d->sort[k], out);
        }
    }
}

void top_docs_decode(struct top_doc **docs, uint32_t *n, uint32_t *n_sort, struct bytes_in *in,
                     struct arena *arena)
{
    uint64_t keys = get_varint(in);
    size_t count = get_count(in, 8);
    in->bad |= keys > SORT_KEYS_MAX;
    *n = 0;
    *n_sort = in->bad ? 0 : (uint32_t)keys;
    *docs = ARENA_ARRAY(arena, struct top_doc, in->bad ? 0 : count);
    in->bad |= *docs == NULL;
    for (size_t i = 0; i < count && !in->bad; i++) {
        struct top_doc *d = &(*docs)[(*n)++];
        d->doc = (uint32_t)get_varint(in);
        d->slot = (uint32_t)get_varint(in);
        d->score = get_f32(in);
        sort_value_decode(&d->collapse, in, arena);
        struct sort_value *v = get_bool(in) && !in->bad ? ARENA_ARRAY(arena, struct sort_value, keys) : NULL;
        for (uint32_t k = 0; v != NULL && k < keys; k++) {
            sort_value_decode(&v[k], in, arena);
        }
        d->sort = v;
    }
}
