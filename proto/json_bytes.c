#include "proto/json_bytes.h"

#define VALUE_BYTES_MIN 3 /* a type and two places */

static void put_json(struct buf *b, const struct json *v)
{
    put_u8(b, (uint8_t)v->type);
    put_varint(b, v->off);
    put_varint(b, v->end);
    switch (v->type) {
    case JSON_STRING:
    case JSON_NUMBER:
        put_str(b, v->s);
        break;
    case JSON_ARRAY:
        put_varint(b, v->n);
        for (uint32_t i = 0; i < v->n; i++) {
            put_json(b, &v->items[i]);
        }
        break;
    case JSON_OBJECT:
        put_varint(b, v->n);
        for (uint32_t i = 0; i < v->n; i++) {
            put_str(b, v->members[i].key);
            put_varint(b, v->members[i].key_off);
            put_json(b, &v->members[i].value);
        }
        break;
    case JSON_NULL:
    case JSON_BOOL:
        put_bool(b, v->b);
        break;
    }
}

static uint32_t get_place(struct bytes_in *in)
{
    uint64_t v = get_varint(in);
    in->bad |= v > UINT32_MAX;
    return (uint32_t)v;
}

static void get_json(struct bytes_in *in, struct json *v, struct arena *arena, unsigned depth)
{
    uint8_t type = get_u8(in);
    in->bad |= type > JSON_OBJECT || depth > JSON_DEPTH_MAX;
    v->type = in->bad ? JSON_NULL : (enum json_type)type;
    v->off = get_place(in);
    v->end = get_place(in);
    switch (v->type) {
    case JSON_STRING:
    case JSON_NUMBER:
        v->s = arena_str(arena, get_str(in));
        in->bad |= v->s.p == NULL;
        break;
    case JSON_ARRAY:
        v->n = (uint32_t)get_count(in, VALUE_BYTES_MIN);
        v->items = ARENA_ARRAY(arena, struct json, v->n);
        in->bad |= v->items == NULL;
        for (uint32_t i = 0; i < v->n && !in->bad; i++) {
            get_json(in, &v->items[i], arena, depth + 1);
        }
        break;
    case JSON_OBJECT:
        v->n = (uint32_t)get_count(in, VALUE_BYTES_MIN + 2);
        v->members = ARENA_ARRAY(arena, struct json_member, v->n);
        in->bad |= v->members == NULL;
        for (uint32_t i = 0; i < v->n && !in->bad; i++) {
            struct json_member *m = &v->members[i];
            m->key = arena_str(arena, get_str(in));
            m->key_off = get_place(in);
            in->bad |= m->key.p == NULL;
            get_json(in, &m->value, arena, depth + 1);
        }
        break;
    case JSON_NULL:
    case JSON_BOOL:
        v->b = get_bool(in);
        break;
    }
}

void json_value_encode(const struct json *v, struct str text, struct buf *out)
{
    put_str(out, text);
    put_json(out, v);
}

void json_value_decode(struct json *v, struct str *text, struct bytes_in *in, struct arena *arena)
{
    *v = (struct json){.type = JSON_NULL};
    *text = arena_str(arena, get_str(in));
    in->bad |= text->p == NULL;
    get_json(in, v, arena, 0);
}
