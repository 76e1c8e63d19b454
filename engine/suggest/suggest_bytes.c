/* The byte form of one shard's suggestions. */
#include "engine/suggest/suggest_int.h"

static void put_option(struct buf *b, const struct suggest_option *o)
{
    put_str(b, o->text);
    put_f32(b, o->score);
    put_varint(b, o->doc);
    put_zigzag(b, o->freq);
    put_bool(b, o->highlighted.p != NULL);
    put_str(b, o->highlighted);
    put_varint(b, o->n_contexts);
    for (uint32_t i = 0; i < 2 * o->n_contexts; i++) {
        put_str(b, o->contexts[i]);
    }
}

void suggest_result_encode(const struct suggest_result *r, struct buf *out)
{
    put_varint(out, r->n);
    for (uint32_t i = 0; i < r->n; i++) {
        const struct suggest_entry *e = &r->entries[i];
        put_str(out, e->text);
        put_varint(out, e->offset);
        put_varint(out, e->length);
        put_f64(out, e->cutoff);
        put_varint(out, e->n);
        for (uint32_t k = 0; k < e->n; k++) {
            put_option(out, &e->options[k]);
        }
    }
}

static struct str suggest_keep(struct bytes_in *in, struct arena *arena)
{
    struct str s = arena_str(arena, get_str(in));
    in->bad |= s.p == NULL;
    return s;
}

static void get_option(struct bytes_in *in, struct arena *arena, struct suggest_option *o)
{
    o->text = suggest_keep(in, arena);
    o->score = get_f32(in);
    o->doc = (uint32_t)get_varint(in);
    o->freq = get_zigzag(in);
    bool highlighted = get_bool(in);
    o->highlighted = suggest_keep(in, arena);
    if (!highlighted) {
        o->highlighted = STR_NULL;
    }
    size_t n = get_count(in, 2);
    struct str *contexts = ARENA_ARRAY(arena, struct str, 2 * n);
    in->bad |= contexts == NULL;
    for (size_t i = 0; i < 2 * n && !in->bad; i++) {
        contexts[i] = suggest_keep(in, arena);
    }
    o->contexts = contexts;
    o->n_contexts = in->bad ? 0 : (uint32_t)n;
}

bool suggest_result_decode(struct suggest_result *r, struct bytes_in *in, struct arena *arena)
{
    size_t n = get_count(in, 12);
    *r = (struct suggest_result){ARENA_ARRAY(arena, struct suggest_entry, n), 0};
    in->bad |= r->entries == NULL;
    for (size_t i = 0; i < n && !in->bad; i++) {
        struct suggest_entry *e = &r->entries[r->n++];
        e->text = suggest_keep(in, arena);
        e->offset = (uint32_t)get_varint(in);
        e->length = (uint32_t)get_varint(in);
        e->cutoff = get_f64(in);
        size_t m = get_count(in, 10);
        e->options = ARENA_ARRAY(arena, struct suggest_option, m);
        in->bad |= e->options == NULL;
        for (size_t k = 0; k < m && !in->bad; k++) {
            get_option(in, arena, &e->options[e->n++]);
        }
    }
    return !in->bad;
}

/* UTF-8 orders as code points do; surrogates come before U+E000 to U+FFFF. */
int utf16_cmp(struct str a, struct str b)
{
    size_t n = MIN_OF(a.n, b.n), i = 0;
    while (i < n && a.p[i] == b.p[i]) {
        i++;
    }
    if (i == n) {
        return (a.n > b.n) - (a.n < b.n);
    }
    uint8_t x = (uint8_t)a.p[i], y = (uint8_t)b.p[i];
    bool high_x = x >= 0xF0, high_y = y >= 0xF0;
    if (high_x != high_y && x >= 0xEE && y >= 0xEE) {
        return high_x ? -1 : 1;
    }
    return x < y ? -1 : 1;
}
