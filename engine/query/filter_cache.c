#include "engine/query/filter_cache.h"

#include "common/base/bits.h"
#include "common/base/hash.h"

#include <pthread.h>
#include <stdatomic.h>

#define TABLE_MIN  64U
#define SEEN_SLOTS 1024U /* hashes of filters asked for lately */

struct entry {
    struct cached_bits bits; /* what users see; first */
    _Atomic uint32_t refs;
    const struct allocator *alloc;
    uint64_t segment, hash;
    struct entry *next;          /* in its bucket */
    struct entry *newer, *older; /* by use */
    size_t bytes;
    size_t key_n;
    uint64_t data[]; /* words, then the key's bytes */
};

struct filter_cache {
    const struct allocator *alloc;
    pthread_mutex_t lock;
    struct entry **buckets;
    size_t n_buckets;
    struct entry *newest, *oldest;
    size_t bytes_max;
    struct filter_cache_stats stats;
    uint64_t seen[SEEN_SLOTS];
};

struct filter_cache *filter_cache_new(const struct allocator *alloc, size_t bytes_max)
{
    alloc = alloc != NULL ? alloc : alloc_default();
    struct filter_cache *c = alloc_get(alloc, sizeof(*c));
    if (c == NULL) {
        return NULL;
    }
    memset(c, 0, sizeof(*c));
    c->alloc = alloc;
    c->bytes_max = bytes_max;
    c->n_buckets = TABLE_MIN;
    c->buckets = alloc_get(alloc, c->n_buckets * sizeof(struct entry *));
    if (c->buckets == NULL) {
        alloc_put(alloc, c);
        return NULL;
    }
    memset(c->buckets, 0, c->n_buckets * sizeof(struct entry *));
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

static void unref(struct entry *e)
{
    if (atomic_fetch_sub(&e->refs, 1) == 1) {
        alloc_put(e->alloc, e);
    }
}

void cached_bits_release(const struct cached_bits *b)
{
    if (b != NULL) {
        unref((struct entry *)(uintptr_t)b);
    }
}

static uint64_t hash_of(uint64_t segment, struct str key)
{
    return hash_bytes(key.p, key.n, segment);
}

static struct str key_of(const struct entry *e)
{
    return str_mk((const char *)(e->data + bits_words(e->bits.n_docs)), e->key_n);
}

static struct entry **bucket(struct filter_cache *c, uint64_t hash)
{
    return &c->buckets[hash & (c->n_buckets - 1)];
}

static struct entry *find(struct filter_cache *c, uint64_t segment, struct str key, uint64_t hash)
{
    for (struct entry *e = *bucket(c, hash); e != NULL; e = e->next) {
        if (e->hash == hash && e->segment == segment && str_eq(key_of(e), key)) {
            return e;
        }
    }
    return NULL;
}

static void unlink_use(struct filter_cache *c, struct entry *e)
{
    *(e->newer != NULL ? &e->newer->older : &c->newest) = e->older;
    *(e->older != NULL ? &e->older->newer : &c->oldest) = e->newer;
    e->newer = e->older = NULL;
}

static void link_newest(struct filter_cache *c, struct entry *e)
{
    e->older = c->newest;
    *(c->newest != NULL ? &c->newest->newer : &c->oldest) = e;
    c->newest = e;
}

static void drop(struct filter_cache *c, struct entry *e)
{
    struct entry **at = bucket(c, e->hash);
    while (*at != e) {
        at = &(*at)->next;
    }
    *at = e->next;
    unlink_use(c, e);
    c->stats.entries--;
    c->stats.bytes -= e->bytes;
    unref(e);
}

const struct cached_bits *filter_cache_get(struct filter_cache *c, uint64_t segment, struct str key,
                                           bool *worth)
{
    uint64_t hash = hash_of(segment, key);
    pthread_mutex_lock(&c->lock);
    struct entry *e = find(c, segment, key, hash);
    *worth = false;
    if (e != NULL) {
        c->stats.hits++;
        unlink_use(c, e);
        link_newest(c, e);
        atomic_fetch_add(&e->refs, 1);
    } else {
        uint64_t *seen = &c->seen[hash % SEEN_SLOTS];
        c->stats.misses++;
        *worth = *seen == hash;
        *seen = hash;
    }
    pthread_mutex_unlock(&c->lock);
    return e != NULL ? &e->bits : NULL;
}

static void grow(struct filter_cache *c)
{
    size_t n = c->n_buckets * 2;
    struct entry **buckets = alloc_get(c->alloc, n * sizeof(*buckets));
    if (buckets == NULL) {
        return; /* longer chains do no harm */
    }
    memset(buckets, 0, n * sizeof(*buckets));
    for (size_t i = 0; i < c->n_buckets; i++) {
        for (struct entry *e = c->buckets[i], *next; e != NULL; e = next) {
            next = e->next;
            e->next = buckets[e->hash & (n - 1)];
            buckets[e->hash & (n - 1)] = e;
        }
    }
    alloc_put(c->alloc, c->buckets);
    c->buckets = buckets;
    c->n_buckets = n;
}

static struct entry *entry_new(struct filter_cache *c, uint64_t segment, struct str key, uint64_t hash,
                               const uint64_t *words, uint32_t n_docs, uint32_t count)
{
    size_t n = bits_words(n_docs), bytes = sizeof(struct entry) + n * sizeof(uint64_t) + key.n;
    if (bytes > c->bytes_max / 4) {
        return NULL;
    }
    struct entry *e = alloc_get(c->alloc, bytes);
    if (e == NULL) {
        return NULL;
    }
    memset(e, 0, sizeof(*e));
    memcpy(e->data, words, n * sizeof(uint64_t));
    memcpy(e->data + n, key.p, key.n);
    e->bits = (struct cached_bits){n_docs, count, e->data};
    e->refs = 1;
    e->alloc = c->alloc;
    e->segment = segment;
    e->hash = hash;
    e->bytes = bytes;
    e->key_n = key.n;
    return e;
}

void filter_cache_put(struct filter_cache *c, uint64_t segment, struct str key, const uint64_t *words,
                      uint32_t n_docs, uint32_t count)
{
    uint64_t hash = hash_of(segment, key);
    struct entry *e = entry_new(c, segment, key, hash, words, n_docs, count);
    if (e == NULL) {
        return;
    }
    pthread_mutex_lock(&c->lock);
    if (find(c, segment, key, hash) != NULL) {
        unref(e);
    } else {
        if (c->stats.entries >= c->n_buckets) {
            grow(c);
        }
        struct entry **at = bucket(c, hash);
        e->next = *at;
        *at = e;
        link_newest(c, e);
        c->stats.entries++;
        c->stats.bytes += e->bytes;
        while (c->stats.bytes > c->bytes_max && c->oldest != NULL) {
            c->stats.evictions++;
            drop(c, c->oldest);
        }
    }
    pthread_mutex_unlock(&c->lock);
}

static void drop_where(struct filter_cache *c, bool all, uint64_t segment)
{
    pthread_mutex_lock(&c->lock);
    for (struct entry *e = c->newest, *older; e != NULL; e = older) {
        older = e->older;
        if (all || e->segment == segment) {
            drop(c, e);
        }
    }
    pthread_mutex_unlock(&c->lock);
}

void filter_cache_drop_segment(struct filter_cache *c, uint64_t segment)
{
    drop_where(c, false, segment);
}

void filter_cache_clear(struct filter_cache *c)
{
    drop_where(c, true, 0);
}

struct filter_cache_stats filter_cache_stats(struct filter_cache *c)
{
    pthread_mutex_lock(&c->lock);
    struct filter_cache_stats s = c->stats;
    pthread_mutex_unlock(&c->lock);
    return s;
}

void filter_cache_free(struct filter_cache *c)
{
    if (c != NULL) {
        drop_where(c, true, 0);
        pthread_mutex_destroy(&c->lock);
        alloc_put(c->alloc, c->buckets);
        alloc_put(c->alloc, c);
    }
}
