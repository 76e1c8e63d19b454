#include "engine/index/version_map.h"

void version_map_init(struct version_map *m, const struct allocator *alloc)
{
    *m = (struct version_map){.alloc = alloc};
    arena_init(&m->ids, alloc, ARENA_UNLIMITED);
}

void version_map_fini(struct version_map *m)
{
    for (size_t i = 0; i < m->tombs_cap; i++) {
        alloc_put(m->alloc, m->tombs[i]);
    }
    alloc_put(m->alloc, m->tombs);
    alloc_put(m->alloc, m->docs);
    alloc_put(m->alloc, m->slots);
    arena_fini(&m->ids);
    version_map_init(m, m->alloc);
}

/* ---- buffered documents ---- */

static struct vm_doc *find_doc(const struct version_map *m, struct str id, uint64_t hash)
{
    if (m->n_docs == 0) {
        return NULL;
    }
    for (size_t i = hash & (m->n_slots - 1);; i = (i + 1) & (m->n_slots - 1)) {
        if (m->slots[i] == 0) {
            return NULL;
        }
        struct vm_doc *d = &m->docs[m->slots[i] - 1];
        if (d->hash == hash && str_eq(str_mk(d->id, d->id_n), id)) {
            return d;
        }
    }
}

struct vm_doc *version_map_doc(const struct version_map *m, struct str id, uint64_t hash)
{
    struct vm_doc *d = find_doc(m, id, hash);
    return d != NULL && d->alive ? d : NULL;
}

static void slot_doc(struct version_map *m, size_t n)
{
    size_t i = m->docs[n].hash & (m->n_slots - 1);
    while (m->slots[i] != 0) {
        i = (i + 1) & (m->n_slots - 1);
    }
    m->slots[i] = (uint32_t)n + 1;
}

static bool grow_docs(struct version_map *m)
{
    if (m->n_docs == m->docs_cap) {
        size_t cap = m->docs_cap == 0 ? 64 : m->docs_cap * 2;
        struct vm_doc *docs = m->alloc->resize(m->alloc->self, m->docs, cap * sizeof(*docs));
        if (docs == NULL) {
            return false;
        }
        m->docs = docs;
        m->docs_cap = cap;
    }
    if ((m->n_docs + 1) * 2 > m->n_slots) {
        size_t n = m->n_slots == 0 ? 128 : m->n_slots * 2;
        uint32_t *slots = alloc_get(m->alloc, n * sizeof(*slots));
        if (slots == NULL) {
            return false;
        }
        memset(slots, 0, n * sizeof(*slots));
        alloc_put(m->alloc, m->slots);
        m->slots = slots;
        m->n_slots = n;
        for (size_t i = 0; i < m->n_docs; i++) {
            slot_doc(m, i);
        }
    }
    return m->n_docs < UINT32_MAX - 1;
}

struct vm_doc *version_map_prepare_doc(struct version_map *m, struct str id, uint64_t hash)
{
    struct vm_doc *d = find_doc(m, id, hash);
    if (d != NULL) {
        return d;
    }
    if (!grow_docs(m)) {
        return NULL;
    }
    char *copy = arena_alloc(&m->ids, id.n);
    if (copy == NULL) {
        return NULL;
    }
    memcpy(copy, id.p, id.n);
    d = &m->docs[m->n_docs];
    *d = (struct vm_doc){.hash = hash, .id = copy, .id_n = (uint32_t)id.n};
    slot_doc(m, m->n_docs++);
    return d;
}

void version_map_forget_docs(struct version_map *m)
{
    m->n_docs = 0;
    if (m->n_slots > 0) {
        memset(m->slots, 0, m->n_slots * sizeof(*m->slots));
    }
    arena_reset(&m->ids);
    if (m->docs_cap > 4096) { /* an idle shard keeps little */
        alloc_put(m->alloc, m->docs);
        alloc_put(m->alloc, m->slots);
        m->docs = NULL;
        m->slots = NULL;
        m->docs_cap = m->n_slots = 0;
        arena_fini(&m->ids);
    }
}

/* ---- tombstones ---- */

static bool is_tomb(const struct vm_tomb *t, struct str id, uint64_t hash)
{
    return t->hash == hash && str_eq(str_mk(t->id, t->id_n), id);
}

/* The slot that holds the id, or the free one where it belongs. */
static size_t tomb_slot(const struct version_map *m, struct str id, uint64_t hash)
{
    size_t i = hash & (m->tombs_cap - 1);
    while (m->tombs[i] != NULL && !is_tomb(m->tombs[i], id, hash)) {
        i = (i + 1) & (m->tombs_cap - 1);
    }
    return i;
}

struct vm_tomb *version_map_tomb(const struct version_map *m, struct str id, uint64_t hash)
{
    return m->n_tombs == 0 ? NULL : m->tombs[tomb_slot(m, id, hash)];
}

static bool grow_tombs(struct version_map *m)
{
    if ((m->n_tombs + 1) * 2 <= m->tombs_cap) {
        return true;
    }
    size_t cap = m->tombs_cap == 0 ? 16 : m->tombs_cap * 2, old_cap = m->tombs_cap;
    struct vm_tomb **old = m->tombs, **tombs = alloc_get(m->alloc, cap * sizeof(struct vm_tomb *));
    if (tombs == NULL) {
        return false;
    }
    memset(tombs, 0, cap * sizeof(struct vm_tomb *));
    m->tombs = tombs;
    m->tombs_cap = cap;
    for (size_t i = 0; i < old_cap; i++) {
        if (old[i] != NULL) {
            tombs[tomb_slot(m, str_mk(old[i]->id, old[i]->id_n), old[i]->hash)] = old[i];
        }
    }
    alloc_put(m->alloc, old);
    return true;
}

struct vm_tomb *version_map_prepare_tomb(struct version_map *m, struct str id, uint64_t hash)
{
    if (!grow_tombs(m)) {
        return NULL;
    }
    struct vm_tomb *t = alloc_get(m->alloc, sizeof(*t) + id.n);
    if (t != NULL) {
        *t = (struct vm_tomb){.hash = hash, .id_n = (uint32_t)id.n};
        memcpy(t->id, id.p, id.n);
    }
    return t;
}

void version_map_free_tomb(struct version_map *m, struct vm_tomb *t)
{
    alloc_put(m->alloc, t);
}

static size_t tomb_size(const struct vm_tomb *t)
{
    return sizeof(*t) + t->id_n;
}

void version_map_put_tomb(struct version_map *m, struct vm_tomb *t)
{
    struct str id = str_mk(t->id, t->id_n);
    struct vm_doc *d = find_doc(m, id, t->hash);
    if (d != NULL) {
        d->alive = false;
    }
    size_t i = tomb_slot(m, id, t->hash);
    if (m->tombs[i] != NULL) {
        m->tomb_bytes -= tomb_size(m->tombs[i]);
        alloc_put(m->alloc, m->tombs[i]);
    } else {
        m->n_tombs++;
    }
    m->tombs[i] = t;
    m->tomb_bytes += tomb_size(t);
}

/* Empties a slot and closes the gap, so that probing needs no marks of the removed. */
static void remove_tomb(struct version_map *m, size_t hole)
{
    m->tomb_bytes -= tomb_size(m->tombs[hole]);
    alloc_put(m->alloc, m->tombs[hole]);
    m->n_tombs--;
    size_t mask = m->tombs_cap - 1;
    for (size_t i = (hole + 1) & mask; m->tombs[i] != NULL; i = (i + 1) & mask) {
        size_t home = m->tombs[i]->hash & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            m->tombs[hole] = m->tombs[i];
            hole = i;
        }
    }
    m->tombs[hole] = NULL;
}

void version_map_clear_tomb(struct version_map *m, struct str id, uint64_t hash)
{
    if (m->n_tombs > 0) {
        size_t i = tomb_slot(m, id, hash);
        if (m->tombs[i] != NULL) {
            remove_tomb(m, i);
        }
    }
}

void version_map_prune(struct version_map *m, int64_t before_ms, int64_t checkpoint)
{
    /* Removal moves later entries into the hole: look at the slot again before going on. An entry that wraps
     * around the end may be passed over; the next round gets it. */
    for (size_t i = 0; i < m->tombs_cap && m->n_tombs > 0;) {
        const struct vm_tomb *t = m->tombs[i];
        if (t != NULL && t->at_ms < before_ms && t->seq_no <= checkpoint) {
            remove_tomb(m, i);
        } else {
            i++;
        }
    }
    if (m->n_tombs == 0) {
        alloc_put(m->alloc, m->tombs);
        m->tombs = NULL;
        m->tombs_cap = 0;
    }
}

size_t version_map_bytes(const struct version_map *m)
{
    return m->ids.bytes_used + m->docs_cap * sizeof(*m->docs) + m->n_slots * sizeof(*m->slots)
           + m->tombs_cap * sizeof(*m->tombs) + m->tomb_bytes;
}
