/* filter_cache.h - bitmaps of filters that come back: ranges, patterns, sets of terms, areas.
 *
 * A store is what all shards of a node may keep together, bounded in bytes: past it, what was not used for longest goes,
 * whosever it is. A cache is one shard's part of it. An entry belongs to one segment (by its unique number) and one query (by
 * the bytes of its key). A filter is kept from its second use on; entries in use stay valid until they are released. Both are
 * thread-safe, and know nothing of queries. */
#ifndef ENGINE_QUERY_FILTER_CACHE_H
#define ENGINE_QUERY_FILTER_CACHE_H

#include "common/base/alloc.h"
#include "common/base/str.h"

struct filter_store;
struct filter_cache;

struct cached_bits { /* reference-counted, immutable */
    uint32_t n_docs, count;
    const uint64_t *words;
};

struct filter_cache_stats {
    uint64_t hits, misses, evictions, entries;
    size_t bytes;
};

/* NULL: no memory. */
struct filter_store *filter_store_new(const struct allocator *alloc, size_t bytes_max);
void filter_store_free(struct filter_store *st); /* NULL ok; its caches are gone */

/* NULL: no memory. The store is borrowed. */
struct filter_cache *filter_cache_new(struct filter_store *st);
void filter_cache_free(struct filter_cache *c); /* NULL ok; forgets its entries, those in use live on */
/* The entry (release it with cached_bits_unref), or NULL. *worth: it was asked for before, so keep it once made. */
struct cached_bits *filter_cache_get(struct filter_cache *c, uint64_t segment, struct str key, bool *worth);
/* Copies the words; refuses silently what does not fit. */
void filter_cache_put(struct filter_cache *c, uint64_t segment, struct str key, const uint64_t *words,
                      uint32_t n_docs, uint32_t count);
void cached_bits_unref(struct cached_bits *b);
/* Forgets the entries of all segments but these. */
void filter_cache_keep(struct filter_cache *c, const uint64_t *segments, size_t n);
void filter_cache_clear(struct filter_cache *c);
struct filter_cache_stats filter_cache_stats(struct filter_cache *c);

#endif
