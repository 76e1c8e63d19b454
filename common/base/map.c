#include "common/base/map.h"
#include "common/base/arena_list.h"

#include "common/base/hash.h"

void map_init(struct map *m, struct arena *arena)
{
    *m = (struct map){.arena = arena};
}

static size_t probe(const struct map *m, struct str key, uint32_t hash)
{
    size_t mask = m->slots_n - 1, at = hash & mask;
    while (m->slots[at] != 0) {
        const struct map_entry *e = &m->entries[m->slots[at] - 1];
        if (e->hash == hash && str_eq(e->key, key)) {
            break;
        }
        at = (at + 1) & mask;
    }
    return at;
}

static struct map_entry *slot_find(const struct map *m, struct str key)
{
    if (m->n == 0) {
        return NULL;
    }
    uint32_t slot = m->slots[probe(m, key, (uint32_t)hash_str(key))];
    return slot != 0 ? &m->entries[slot - 1] : NULL;
}

void *map_get(const struct map *m, struct str key)
{
    struct map_entry *e = slot_find(m, key);
    return e != NULL ? e->value : NULL;
}

bool map_has(const struct map *m, struct str key)
{
    return slot_find(m, key) != NULL;
}

static bool grow_slots(struct map *m)
{
    size_t n = m->slots_n == 0 ? 16 : m->slots_n * 2;
    uint32_t *slots = ARENA_ARRAY(m->arena, uint32_t, n);
    if (slots == NULL) {
        return false;
    }
    m->slots = slots;
    m->slots_n = n;
    for (size_t i = 0; i < m->n; i++) {
        m->slots[probe(m, m->entries[i].key, m->entries[i].hash)] = (uint32_t)i + 1;
    }
    return true;
}

bool map_put(struct map *m, struct str key, void *value)
{
    struct map_entry *old = slot_find(m, key);
    if (old != NULL) {
        old->value = value;
        return true;
    }
    if ((m->n + 1) * 4 > m->slots_n * 3 && !grow_slots(m)) {
        return false;
    }
    if (!ARENA_ROOM(m->arena, m->entries, m->n, m->entries_cap)) {
        return false;
    }
    uint32_t hash = (uint32_t)hash_str(key);
    m->entries[m->n] = (struct map_entry){key, value, hash};
    m->slots[probe(m, key, hash)] = (uint32_t)m->n + 1;
    m->n++;
    return true;
}
