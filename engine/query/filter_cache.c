#include "engine/query/filter_cache.h"

#include "common/base/bits.h"
#include "common/base/hash.h"
#include "common/base/stop.h"

#include <pthread.h>
#include <stdatomic.h>

#define TABLE_MIN  64U
#define SEEN_SLOTS 1024U /* hashes of filters asked for lately */

struct entry {
    struct cached_bits bits; /* what users see; first */
    _Atomic uint32_t refs;
    const struct allocator *alloc;
    struct filter_cache *owner; /* while it is linked */
    uint64_t segment, hash;
    struct entry *next;          /* in its bucket */
    struct entry *newer, *older; /* by use */
    size_t bytes;
    size_t key_n;
    uint64_t data[]; /* words, then the key's bytes */
};

struct filter_store {
    const struct allocator *alloc;
    pthread_mutex_t lock; /* of everything below, and of the caches' statistics */
    struct entry **buckets;
    size_t n_buckets, n_entries;
    struct entry *newest, *oldest;
    size_t bytes, bytes_max;
    uint64_t seen[SEEN_SLOTS];
};

struct filter_cache {
    struct filter_store *store;
    struct filter_cache_stats stats;
};

struct filter_store *filter_store_new(const struct allocator *alloc, size_t bytes_max)
{
    alloc = alloc != NULL ? alloc : alloc_default();
    struct filter_store *st = alloc_get(alloc, sizeof(*st));
    if (st == NULL) {
        return NULL;
    }
    memset(st, 0, sizeof(*st));
    st->alloc = alloc;
    st->bytes_max = bytes_max;
    st->n_buckets = TABLE_MIN;
    st->buckets = alloc_get(alloc, st->n_buckets * sizeof(struct entry *));
    if (st->buckets == NULL) {
        alloc_put(alloc, st);
        return NULL;
    }
    memset(st->buckets, 0, st->n_buckets * sizeof(struct entry *));
    pthread_mutex_init(&st->lock, NULL);
    return st;
}

void filter_store_free(struct filter_store *st)
{
    if (st != NULL) {
        pthread_mutex_destroy(&st->lock);
        alloc_put(st->alloc, st->buckets);
        alloc_put(st->alloc, st);
    }
}

struct filter_cache *filter_cache_new(struct filter_store *st)
{
    struct filter_cache *c = alloc_get(st->alloc, sizeof(*c));
    if (c != NULL) {
        *c = (struct filter_cache){.store = st};
    }
    return c;
}

static void unref(struct entry *e)
{
    if (atomic_fetch_sub(&e->refs, 1) == 1) {
        alloc_put(e->alloc, e);
    }
}

void cached_bits_unref(struct cached_bits *b)
{
    if (b != NULL) {
        unref(CONTAINER_OF(b, struct entry, bits));
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

static struct entry **bucket(struct filter_store *st, uint64_t hash)
{
    return &st->buckets[hash & (st->n_buckets - 1)];
}

static struct entry *cache_find(struct filter_store *st, uint64_t segment, struct str key, uint64_t hash)
{
    for (struct entry *e = *bucket(st, hash); e != NULL; e = e->next) {
        if (e->hash == hash && e->segment == segment && str_eq(key_of(e), key)) {
            return e;
        }
    }
    return NULL;
}

static void unlink_use(struct filter_store *st, struct entry *e)
{
    *(e->newer != NULL ? &e->newer->older : &st->newest) = e->older;
    *(e->older != NULL ? &e->older->newer : &st->oldest) = e->newer;
    e->newer = e->older = NULL;
}

static void link_newest(struct filter_store *st, struct entry *e)
{
    e->older = st->newest;
    *(st->newest != NULL ? &st->newest->newer : &st->oldest) = e;
    st->newest = e;
}

static void drop(struct filter_store *st, struct entry *e)
{
    struct entry **at = bucket(st, e->hash);
    while (*at != e) {
        at = &(*at)->next;
    }
    *at = e->next;
    unlink_use(st, e);
    st->n_entries--;
    st->bytes -= e->bytes;
    e->owner->stats.entries--;
    e->owner->stats.bytes -= e->bytes;
    unref(e);
}

struct cached_bits *filter_cache_get(struct filter_cache *c, uint64_t segment, struct str key, bool *worth)
{
    struct filter_store *st = c->store;
    uint64_t hash = hash_of(segment, key);
    pthread_mutex_lock(&st->lock);
    struct entry *e = cache_find(st, segment, key, hash);
    *worth = false;
    if (e != NULL) {
        c->stats.hits++;
        unlink_use(st, e);
        link_newest(st, e);
        atomic_fetch_add(&e->refs, 1);
    } else {
        uint64_t *seen = &st->seen[hash % SEEN_SLOTS];
        c->stats.misses++;
        *worth = *seen == hash;
        *seen = hash;
    }
    pthread_mutex_unlock(&st->lock);
    return e != NULL ? &e->bits : NULL;
}

static void grow(struct filter_store *st)
{
    size_t n = st->n_buckets * 2;
    struct entry **buckets = alloc_get(st->alloc, n * sizeof(*buckets));
    if (buckets == NULL) {
        return; /* longer chains do no harm */
    }
    memset(buckets, 0, n * sizeof(*buckets));
    for (size_t i = 0; i < st->n_buckets; i++) {
        for (struct entry *e = st->buckets[i], *next; e != NULL; e = next) {
            next = e->next;
            e->next = buckets[e->hash & (n - 1)];
            buckets[e->hash & (n - 1)] = e;
        }
    }
    alloc_put(st->alloc, st->buckets);
    st->buckets = buckets;
    st->n_buckets = n;
}

static struct entry *entry_new(struct filter_cache *c, uint64_t segment, struct str key, uint64_t hash,
                               const uint64_t *words, uint32_t n_docs, uint32_t count)
{
    struct filter_store *st = c->store;
    size_t n = bits_words(n_docs), bytes = sizeof(struct entry) + n * sizeof(uint64_t) + key.n;
    if (bytes > st->bytes_max / 4) {
        return NULL;
    }
    struct entry *e = alloc_get(st->alloc, bytes);
    if (e == NULL) {
        return NULL;
    }
    memset(e, 0, sizeof(*e));
    memcpy(e->data, words, n * sizeof(uint64_t));
    memcpy(e->data + n, key.p, key.n);
    e->bits = (struct cached_bits){n_docs, count, e->data};
    e->refs = 1;
    e->alloc = st->alloc;
    e->owner = c;
    e->segment = segment;
    e->hash = hash;
    e->bytes = bytes;
    e->key_n = key.n;
    return e;
}

static void cache_add(struct filter_store *st, struct entry *e)
{
    if (st->n_entries >= st->n_buckets) {
        grow(st);
    }
    struct entry **at = bucket(st, e->hash);
    e->next = *at;
    *at = e;
    link_newest(st, e);
    st->n_entries++;
    st->bytes += e->bytes;
    e->owner->stats.entries++;
    e->owner->stats.bytes += e->bytes;
    while (st->bytes > st->bytes_max && st->oldest != NULL) {
        st->oldest->owner->stats.evictions++;
        drop(st, st->oldest);
    }
}

void filter_cache_put(struct filter_cache *c, uint64_t segment, struct str key, const uint64_t *words,
                      uint32_t n_docs, uint32_t count)
{
    if (stop_now()) { /* what was gathered meanwhile may be incomplete */
        return;
    }
    struct filter_store *st = c->store;
    uint64_t hash = hash_of(segment, key);
    struct entry *e = entry_new(c, segment, key, hash, words, n_docs, count);
    if (e == NULL) {
        return;
    }
    pthread_mutex_lock(&st->lock);
    if (cache_find(st, segment, key, hash) != NULL) {
        unref(e);
    } else {
        cache_add(st, e);
    }
    pthread_mutex_unlock(&st->lock);
}

void filter_cache_keep(struct filter_cache *c, const uint64_t *segments, size_t n)
{
    struct filter_store *st = c->store;
    pthread_mutex_lock(&st->lock);
    for (struct entry *e = st->newest, *older; e != NULL; e = older) {
        bool keep = e->owner != c;
        older = e->older;
        for (size_t i = 0; i < n && !keep; i++) {
            keep = segments[i] == e->segment;
        }
        if (!keep) {
            drop(st, e);
        }
    }
    pthread_mutex_unlock(&st->lock);
}

void filter_cache_clear(struct filter_cache *c)
{
    filter_cache_keep(c, NULL, 0);
}

struct filter_cache_stats filter_cache_stats(struct filter_cache *c)
{
    pthread_mutex_lock(&c->store->lock);
    struct filter_cache_stats s = c->stats;
    pthread_mutex_unlock(&c->store->lock);
    return s;
}

void filter_cache_free(struct filter_cache *c)
{
    if (c != NULL) {
        filter_cache_clear(c);
        alloc_put(c->store->alloc, c);
    }
}
