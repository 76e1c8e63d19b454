/* Java's hash codes, and the order in which its hash maps and sets are walked. */
#include "common/base/sort_items.h"
#include "common/base/utf8.h"
#include "engine/script/kinds.h"

#include <string.h>

/* String.hashCode: over UTF-16 units. */
uint32_t hash_text(struct sv v, UNUSED uint32_t *left)
{
    uint32_t h = 0;
    for (size_t at = 0; at < v.s.n;) {
        uint32_t c = utf8_next(v.s, &at);
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

uint32_t hash_bool(struct sv v, UNUSED uint32_t *left)
{
    return v.b ? 1231 : 1237;
}

uint32_t hash_int(struct sv v, UNUSED uint32_t *left)
{
    return (uint32_t)v.i;
}

uint32_t hash_long(struct sv v, UNUSED uint32_t *left)
{
    return fold((uint64_t)v.i);
}

uint32_t hash_float(struct sv v, UNUSED uint32_t *left)
{
    float f = (float)v.d;
    uint32_t bits;
    memcpy(&bits, &f, sizeof(bits));
    return bits;
}

uint32_t hash_double(struct sv v, UNUSED uint32_t *left)
{
    uint64_t bits;
    memcpy(&bits, &v.d, sizeof(bits));
    return fold(bits);
}

/* Of a list in order, of a set without. */
uint32_t hash_list(struct sv v, uint32_t *left)
{
    bool set = v.list->form == LIST_SET;
    uint32_t h = set ? 0 : 1;
    for (uint32_t i = 0; *left != 0 && i < v.list->n; i++) {
        uint32_t one = kinds_hash(v.list->v[i], left);
        h = set ? h + one : h * 31 + one;
    }
    return h;
}

uint32_t hash_map(struct sv v, uint32_t *left)
{
    uint32_t h = 0;
    for (uint32_t i = 0; *left != 0 && i < v.map->n; i++) {
        uint32_t key = kinds_hash(v.map->e[i].key, left);
        h += key ^ kinds_hash(v.map->e[i].value, left);
    }
    return h;
}

uint32_t kinds_hash(struct sv v, uint32_t *left)
{
    if (*left == 0) {
        return 0;
    }
    --*left;
    return kinds[v.kind].hash != NULL ? kinds[v.kind].hash(v, left) : 0;
}

#define HASH_VALUES_MAX 1000 /* enough to tell containers apart; one may hold itself */

uint32_t sv_hash(struct sv v)
{
    uint32_t left = HASH_VALUES_MAX;
    return kinds_hash(v, &left);
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
