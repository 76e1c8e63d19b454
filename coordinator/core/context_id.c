#include "coordinator/core/context_id.h"

#include "common/base/bytes.h"

#define SHARDS_MAX   (64 * KIB)
#define ID_BYTES_MAX (16 * MIB)

static const char base64url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void encode_base64url(struct str bytes, struct buf *text)
{
    for (size_t i = 0; i < bytes.n; i += 3) {
        uint32_t bits = 0;
        size_t n = MIN_OF(bytes.n - i, (size_t)3);
        for (size_t k = 0; k < 3; k++) {
            bits = bits << 8 | (k < n ? (unsigned char)bytes.p[i + k] : 0U);
        }
        for (size_t k = 0; k <= n; k++) {
            buf_char(text, base64url[(bits >> (18 - 6 * k)) & 63]);
        }
    }
}

static bool decode_base64url(struct str text, struct buf *out)
{
    uint32_t bits = 0;
    unsigned have = 0;
    for (size_t i = 0; i < text.n; i++) {
        const char *at = text.p[i] != '\0' ? strchr(base64url, text.p[i]) : NULL;
        if (at == NULL) {
            return text.p[i] == '='; /* padding that a client added */
        }
        bits = bits << 6 | (uint32_t)(at - base64url);
        have += 6;
        if (have >= 8) {
            have -= 8;
            buf_char(out, (char)(bits >> have));
        }
    }
    return !out->failed;
}

struct str context_id_write(enum context_id_kind kind, const struct context_ref *refs, uint32_t n,
                            struct arena *arena)
{
    struct buf b, text;
    buf_init(&b, NULL, ID_BYTES_MAX);
    buf_init(&text, NULL, BUF_UNLIMITED);
    put_u8(&b, (uint8_t)kind);
    put_varint(&b, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct context_ref *r = &refs[i];
        put_str(&b, r->shard.index);
        put_str(&b, r->shard.uuid);
        put_varint(&b, r->shard.shard);
        put_str(&b, r->node);
        put_varint(&b, r->context);
        put_varint(&b, r->n_filters);
        for (uint32_t k = 0; k < r->n_filters; k++) {
            put_str(&b, r->filters[k]);
        }
    }
    encode_base64url(buf_view(&b), &text);
    struct str id = b.failed || text.failed ? STR_NULL : arena_str(arena, buf_view(&text));
    buf_fini(&b);
    buf_fini(&text);
    return id;
}

static void read_ref(struct bytes_in *in, struct arena *arena, struct context_ref *r)
{
    r->shard.index = get_str(in);
    r->shard.uuid = get_str(in);
    r->shard.shard = (uint32_t)get_varint(in);
    r->node = get_str(in);
    r->context = get_varint(in);
    size_t n = get_count(in, 1);
    struct str *filters = in->bad ? NULL : ARENA_ARRAY(arena, struct str, n);
    in->bad |= filters == NULL;
    for (size_t k = 0; k < n && !in->bad; k++) {
        filters[k] = get_str(in);
    }
    r->filters = filters;
    r->n_filters = (uint32_t)n;
}

/* The decoded id, in the arena; `bad` for an invalid id, or without memory. */
static struct bytes_in id_bytes(struct str id, struct arena *arena)
{
    struct buf b;
    buf_init(&b, NULL, ID_BYTES_MAX);
    bool ok = decode_base64url(id, &b);
    struct str bytes = ok ? arena_str(arena, buf_view(&b)) : STR_NULL;
    buf_fini(&b);
    struct bytes_in in = bytes_in(bytes.p != NULL ? bytes : STR(""));
    in.bad = bytes.p == NULL;
    return in;
}

bool context_id_read(enum context_id_kind kind, struct str id, struct arena *arena, struct context_ref **refs,
                     uint32_t *n)
{
    struct bytes_in in = id_bytes(id, arena);
    in.bad |= get_u8(&in) != kind;
    size_t count = get_count(&in, 6);
    in.bad |= count > SHARDS_MAX;
    *refs = in.bad ? NULL : ARENA_ARRAY(arena, struct context_ref, count);
    in.bad |= *refs == NULL;
    for (size_t i = 0; i < count && !in.bad; i++) {
        read_ref(&in, arena, &(*refs)[i]);
    }
    *n = in.bad ? 0 : (uint32_t)count;
    return !in.bad && bytes_left(&in) == 0;
}

bool context_id_read_elasticsearch(struct str id, struct arena *arena, struct context_ref **refs, uint32_t *n)
{
    struct bytes_in in = id_bytes(id, arena);
    struct str kind = get_str(&in);
    bool sessions = str_is(kind, "include_context_uuid"); /* before each context */
    kind = sessions ? get_str(&in) : kind;
    in.bad |= !str_is(kind, "queryThenFetch") && !str_is(kind, "queryAndFetch");
    size_t count = get_count(&in, 9);
    in.bad |= count > SHARDS_MAX;
    *refs = in.bad ? NULL : ARENA_ARRAY(arena, struct context_ref, count);
    in.bad |= *refs == NULL;
    for (size_t i = 0; i < count && !in.bad; i++) {
        struct context_ref *r = &(*refs)[i];
        *r = (struct context_ref){0};
        if (sessions) {
            (void)get_str(&in);
        }
        for (size_t k = 0; k < 8; k++) { /* its numbers begin with the high byte */
            r->context = r->context << 8 | get_u8(&in);
        }
        r->node = get_str(&in);
        in.bad |= r->context == 0;
    }
    *n = in.bad ? 0 : (uint32_t)count;
    return !in.bad && bytes_left(&in) == 0;
}
