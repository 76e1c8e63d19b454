#include "proto/json_bytes.h"

#include "common/base/jsonw.h"

static void put_compact(const struct json *v, struct buf *out)
{
    struct jsonw w;
    jsonw_init(&w, out, false);
    jw_value(&w, v);
}

void json_value_encode(const struct json *v, struct str text, struct buf *out)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    put_compact(v, &b);
    put_str(out, text);
    put_varint(out, v->off);
    put_varint(out, v->end);
    put_str(out, buf_view(&b));
    out->failed |= b.failed;
    buf_fini(&b);
}

static const struct json *at_offset(const struct json *v, uint64_t off, uint64_t end)
{
    if (v->off == off && v->end == end) {
        return v;
    }
    for (uint32_t i = 0; (v->type == JSON_ARRAY || v->type == JSON_OBJECT) && i < v->n; i++) {
        const struct json *in = v->type == JSON_ARRAY ? &v->items[i] : &v->members[i].value;
        if (in->off <= off && end <= in->end) {
            return at_offset(in, off, end);
        }
    }
    return NULL;
}

static bool reads_as(const struct json *v, struct str compact)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    put_compact(v, &b);
    bool same = !b.failed && str_eq(buf_view(&b), compact);
    buf_fini(&b);
    return same;
}

void json_value_decode(struct json *v, struct str *text, struct bytes_in *in, struct arena *arena)
{
    struct json tree;
    *text = arena_str(arena, get_str(in));
    uint64_t off = get_varint(in), end = get_varint(in);
    struct str compact = arena_str(arena, get_str(in));
    *v = (struct json){.type = JSON_NULL};
    in->bad |= text->p == NULL || compact.p == NULL;
    if (in->bad) {
        return;
    }
    if (text->n > 0 && json_parse(&tree, *text, arena, &json_limits_default, NULL) == ERR_OK) {
        const struct json *at = at_offset(&tree, off, end);
        if (at != NULL && reads_as(at, compact)) {
            *v = *at;
            return;
        }
    }
    /* made, not sent by a client */
    in->bad |= json_parse(v, compact, arena, &json_limits_default, NULL) != ERR_OK;
}
