/* map.h - a hash map from byte strings to pointers, in an arena.
 *
 * Open addressing with linear probing; keys are borrowed (they must outlive the map); entries keep the order
 * of their insertion for iteration. Removal is not offered: maps in arenas live as long as what they
 * index. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "common/base/arena.h"

struct map_entry {
    struct str key;
    void *value;
    uint32_t hash;
};

struct map {
    struct arena *arena; /* borrowed */
    struct map_entry *entries;
    size_t n, entries_cap;
    uint32_t *slots; /* entry number + 1, 0 = free */
    size_t slots_n;  /* a power of two */
};

void map_init(struct map *m, struct arena *arena);
/* The value, or NULL. */
void *map_get(const struct map *m, struct str key);
bool map_has(const struct map *m, struct str key);
/* Sets or replaces. false: no memory, the map is unchanged. */
bool map_put(struct map *m, struct str key, void *value) NODISCARD;
/* for (size_t i = 0; i < m.n; i++) m.entries[i] ... walks in order of insertion. */

#endif
