/* filter_cache.h - bitmaps of filters that come back: ranges, patterns, sets of terms, areas.
 *
 * An entry belongs to one segment (by its unique number) and one query (by its bytes, filter_key). A filter
 * is kept from its second use on. The cache is bounded in bytes, forgets what was not used for longest, and
 * is thread-safe; entries in use stay valid until they are released. It knows nothing of queries. */
#ifndef ENGINE_QUERY_FILTER_CACHE_H
#define ENGINE_QUERY_FILTER_CACHE_H

#include "common/base/alloc.h"
#include "common/base/str.h"

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
struct filter_cache *filter_cache_new(const struct allocator *alloc, size_t bytes_max);
void filter_cache_free(struct filter_cache *c); /* NULL ok; no entry may be in use */
/* The entry (release it with cached_bits_release), or NULL. *worth: it was asked for before, so keep it once
 * made. */
const struct cached_bits *filter_cache_get(struct filter_cache *c, uint64_t segment, struct str key,
                                           bool *worth);
/* Copies the words; refuses silently what does not fit. */
void filter_cache_put(struct filter_cache *c, uint64_t segment, struct str key, const uint64_t *words,
                      uint32_t n_docs, uint32_t count);
void cached_bits_release(const struct cached_bits *b);
/* A segment is gone: its entries are forgotten. */
void filter_cache_drop_segment(struct filter_cache *c, uint64_t segment);
void filter_cache_clear(struct filter_cache *c);
struct filter_cache_stats filter_cache_stats(struct filter_cache *c);

#endif
