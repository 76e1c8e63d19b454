/* java_hash.h - the order in which Java's HashMap and HashSet give their strings.
 *
 * Elasticsearch keeps names in such maps, and their order shows: in which field's error is reported, in
 * explanations, in lists. Order within one bucket is that of insertion (buckets of nine and more, which Java
 * keeps as trees, included). */
#ifndef BASE_JAVA_HASH_H
#define BASE_JAVA_HASH_H

#include "common/base/str.h"

/* String.hashCode(): over UTF-16 units. */
int32_t java_string_hash(struct str s);
/* The buckets of a map that grew to n entries from its default size. */
uint32_t java_map_buckets(size_t n);
/* The bucket of a key among `buckets`, a power of two. */
uint32_t java_map_bucket(struct str key, uint32_t buckets);
/* The same of a key with this hashCode(). */
uint32_t java_map_bucket_of(int32_t hash, uint32_t buckets);

#endif
