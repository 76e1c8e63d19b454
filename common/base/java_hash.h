/* java_hash.h - the order in which Java's HashMap and HashSet give their strings.
 *
 * Elasticsearch keeps names in such maps, and their order shows: in which field's error is reported, in
 * explanations, in lists. Order within one bucket is that of insertion (buckets of nine and more, which Java
 * keeps as trees, included). */
#ifndef BASE_JAVA_HASH_H
#define BASE_JAVA_HASH_H

#include "common/base/json.h"

/* String.hashCode(): over UTF-16 units. */
int32_t java_string_hash(struct str s);
/* The buckets of a map that grew to n entries from its default size. */
uint32_t java_map_buckets(size_t n);
/* Puts n items of `size` bytes, which stand in the order of their insertion, into that of a map with so many buckets; `key` is an
 * item's. Takes time for items and buckets, whatever their order; without memory for it they stay as they are. */
void java_map_sort(void *items, size_t n, size_t size, struct str (*key)(const void *item), uint32_t buckets);
/* The same of texts, in a set that grew to n of them. */
void java_set_order(struct str *v, size_t n);
/* The members of an object as a map of them gives them: an array of v->n pointers in `arena`; NULL: no memory. */
const struct json_member **java_order(const struct json *v, struct arena *arena) NODISCARD;
/* The value with the members of all its objects in that order; without memory, as they are. */
struct json java_ordered(const struct json *v, struct arena *arena);
/* The bucket of a key among `buckets`, a power of two. */
uint32_t java_map_bucket(struct str key, uint32_t buckets);
/* The same of a key with this hashCode(). */
uint32_t java_map_bucket_of(int32_t hash, uint32_t buckets);

#endif
