/* Java's hash codes, and the order in which its hash maps and sets are walked. */
#include "common/base/sort_items.h"
#include "common/base/utf8.h"
#include "engine/script/value.h"

#include <string.h>

/* String.hashCode: over UTF-16 units. */
static uint32_t text_hash(struct str s)
{
    uint32_t h = 0;
    for (size_t at = 0; at < s.n;) {
        uint32_t c = utf8_next(s, &at);
        if (c > 0xFFFF) {
            h = h * 31 + (0xD800 + ((c - 0x10000) >> 10));
            c = 0xDC00 + ((c - 0x10000) & 0x3FF);
        }
        h = h * 31 + c;
    }
    return h;
}

static uint32_t fold(uint64_t v)
{
    return (uint32_t)(v ^ v >> 32);
}

#define HASH_VALUES_MAX 1000 /* enough to tell containers apart; one may hold itself */

/* Of a value, and of what is in it as long as *left is not used up. */
static uint32_t hash_part(struct sv v, uint32_t *left);

/* Of a list in order, of a set without. */
static uint32_t list_hash(const struct sv_list *l, uint32_t *left)
{
    uint32_t h = l->form == LIST_SET ? 0 : 1;
    for (uint32_t i = 0; *left != 0 && i < l->n; i++) {
        uint32_t one = hash_part(l->v[i], left);
        h = l->form == LIST_SET ? h + one : h * 31 + one;
    }
    return h;
}

static uint32_t map_hash(const struct sv_map *m, uint32_t *left)
{
    uint32_t h = 0;
    for (uint32_t i = 0; *left != 0 && i < m->n; i++) {
        uint32_t key = hash_part(m->e[i].key, left);
        h += key ^ hash_part(m->e[i].value, left);
    }
    return h;
}

static uint32_t hash_part(struct sv v, uint32_t *left)
{
    uint64_t bits;
    float f;
    uint32_t fbits;
    if (*left == 0) {
        return 0;
    }
    --*left;
    switch (v.kind) {
    case SV_BOOL:
        return v.b ? 1231 : 1237;
    case SV_LONG:
        return fold((uint64_t)v.i);
    case SV_FLOAT:
        f = (float)v.d;
        memcpy(&fbits, &f, sizeof(fbits));
        return fbits;
    case SV_DOUBLE:
        memcpy(&bits, &v.d, sizeof(bits));
        return fold(bits);
    case SV_STR:
        return text_hash(v.s);
    case SV_LIST:
        return list_hash(v.list, left);
    case SV_MAP:
        return map_hash(v.map, left);
    case SV_INSTANT:
    case SV_LOCAL:
    case SV_DURATION:
        return sv_hash_date(v);
    default:
        return sv_is_whole(v) ? (uint32_t)v.i : 0;
    }
}

uint32_t sv_hash(struct sv v)
{
    uint32_t left = HASH_VALUES_MAX;
    return hash_part(v, &left);
}

/* The bucket of a hash in a table that has grown for n entries: 16 buckets, twice as many whenever more than three quarters are full. */
static uint32_t bucket_of(uint32_t hash, uint32_t n)
{
    uint32_t size = 16;
    while (n > size / 4 * 3) {
        size *= 2;
    }
    return (hash ^ hash >> 16) & (size - 1);
}

struct place {
    uint32_t bucket, put;
    struct sv_map_entry entry;
};

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return x->bucket != y->bucket ? (x->bucket < y->bucket ? -1 : 1) : (x->put > y->put) - (x->put < y->put);
}

bool sv_map_arrange(struct sv_map *m)
{
    if (!m->hashed || m->arranged || m->n == 0) {
        return true;
    }
    struct place *v = alloc_get(alloc_default(), m->n * sizeof(*v));
    if (v == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < m->n; i++) {
        v[i] = (struct place){bucket_of(m->e[i].hash, m->n), m->e[i].put, m->e[i]};
    }
    sort_items(v, m->n, sizeof(*v), by_place);
    for (uint32_t i = 0; i < m->n; i++) {
        m->e[i] = v[i].entry;
    }
    alloc_put(alloc_default(), v);
    m->arranged = true;
    if (m->slots != NULL) {
        sv_map_index(m);
    }
    return true;
}

/* A stable sort of what is in order but for a table that grew. */
static void arrange_set(struct sv_list *l)
{
    for (uint32_t i = 1; i < l->n; i++) {
        struct sv one = l->v[i];
        uint32_t bucket = bucket_of(sv_hash(one), l->n), k = i;
        for (; k > 0 && bucket_of(sv_hash(l->v[k - 1]), l->n) > bucket; k--) {
            l->v[k] = l->v[k - 1];
        }
        l->v[k] = one;
    }
}

void sv_set_settle(struct sv_list *l)
{
    uint32_t at = l->n - 1;
    struct sv newest = l->v[at];
    if (bucket_of(UINT32_MAX << 16, l->n) != bucket_of(UINT32_MAX << 16, l->n - 1)) { /* the table grew */
        arrange_set(l);
        return;
    }
    uint32_t bucket = bucket_of(sv_hash(newest), l->n);
    for (; at > 0 && bucket_of(sv_hash(l->v[at - 1]), l->n) > bucket; at--) {
        l->v[at] = l->v[at - 1];
    }
    l->v[at] = newest;
}
