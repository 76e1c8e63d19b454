#include "common/base/java_hash.h"

#include "common/base/utf8.h"

#include <stdlib.h>

int32_t java_string_hash(struct str s)
{
    uint32_t h = 0;
    for (size_t at = 0; at < s.n;) {
        uint32_t c = utf8_next(s, &at);
        if (c >= 0x10000) {
            h = h * 31 + (0xD800 + ((c - 0x10000) >> 10));
            c = 0xDC00 + ((c - 0x10000) & 0x3FF);
        }
        h = h * 31 + c;
    }
    return (int32_t)h;
}

uint32_t java_map_buckets(size_t n)
{
    uint32_t size = 16;
    while (n > size - size / 4) { /* it doubles when it holds more than three quarters */
        size *= 2;
    }
    return size;
}

uint32_t java_map_bucket(struct str key, uint32_t buckets)
{
    return java_map_bucket_of(java_string_hash(key), buckets);
}

uint32_t java_map_bucket_of(int32_t hash, uint32_t buckets)
{
    uint32_t h = (uint32_t)hash;
    return (h ^ h >> 16) & (buckets - 1);
}

void java_map_sort(void *items, size_t n, size_t size, struct str (*key)(const void *item), uint32_t buckets)
{
    if (n < 2) {
        return;
    }
    size_t *start = calloc((size_t)buckets + 1 + n, sizeof(*start)), *bucket = start + buckets + 1;
    char *from = start != NULL ? malloc(n * size) : NULL, *to = items;
    if (from == NULL) {
        free(start);
        return;
    }
    memcpy(from, items, n * size);
    for (size_t i = 0; i < n; i++) {
        bucket[i] = java_map_bucket(key(from + i * size), buckets);
        start[bucket[i] + 1]++;
    }
    for (uint32_t i = 1; i <= buckets; i++) {
        start[i] += start[i - 1];
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(to + start[bucket[i]]++ * size, from + i * size, size);
    }
    free(from);
    free(start);
}

static struct str itself(const void *item)
{
    return *(const struct str *)item;
}

void java_set_order(struct str *v, size_t n)
{
    java_map_sort(v, n, sizeof(*v), itself, java_map_buckets(n));
}

static struct str member_key(const void *item)
{
    return (*(const struct json_member *const *)item)->key;
}

const struct json_member **java_order(const struct json *v, struct arena *arena)
{
    const struct json_member **out = arena_alloc(arena, v->n * sizeof(*out));
    for (uint32_t i = 0; out != NULL && i < v->n; i++) {
        out[i] = &v->members[i];
    }
    if (out != NULL) {
        java_map_sort(out, v->n, sizeof(*out), member_key, java_map_buckets(v->n));
    }
    return out;
}

static struct str key_of_member(const void *item)
{
    return ((const struct json_member *)item)->key;
}

struct json java_ordered(const struct json *v, struct arena *arena)
{
    struct json out = *v;
    if (v->type == JSON_ARRAY) {
        out.items = ARENA_ARRAY(arena, struct json, v->n);
        for (uint32_t i = 0; out.items != NULL && i < v->n; i++) {
            out.items[i] = java_ordered(&v->items[i], arena);
        }
        return out.items != NULL ? out : *v;
    }
    if (v->type != JSON_OBJECT) {
        return out;
    }
    out.members = ARENA_ARRAY(arena, struct json_member, v->n);
    if (out.members == NULL) {
        return *v;
    }
    for (uint32_t i = 0; i < v->n; i++) {
        out.members[i] = v->members[i];
        out.members[i].value = java_ordered(&v->members[i].value, arena);
    }
    java_map_sort(out.members, v->n, sizeof(*out.members), key_of_member, java_map_buckets(v->n));
    return out;
}
