/* Refresh: the buffer becomes a segment, deletions made since become bitmaps, and both a new view. Nothing else makes a view of
 * documents that the last one did not have: flushes and merges leave searches what they see. */
#include "common/base/invariant.h"
#include "engine/index/engine_int.h"
#include "engine/index/structure.h"

#include "common/base/bits.h"
#include "common/base/hash.h"

/* ---- buffer to segment ---- */

/* A file, or the bytes in memory when they are few or the disk does not take them: until a flush, the
 * translog is what makes operations durable, so that is no reason to fail. Takes `bytes`. */
static enum err segment_of(struct engine *e, uint64_t number, char *bytes, size_t n, struct segment **out,
                           bool *in_file, struct errmsg *em)
{
    *in_file = false;
    char name[FILE_NAME_BYTES], *path = NULL;
    segment_file_name(number, name);
    if (n > e->settings.memory_segment_bytes_max && engine_path(e, name, &path, NULL) == ERR_OK) {
        enum err r = write_file(e->fs, path, str_mk(bytes, n), false, NULL);
        r = r == ERR_OK ? segment_open(out, e->fs, path, em) : r;
        if (r == ERR_OK) {
            *in_file = true;
            alloc_put(e->alloc, bytes);
        } else {
            e->fs->remove(e->fs->self, path, NULL);
        }
        alloc_put(e->alloc, path);
        if (*in_file) {
            return ERR_OK;
        }
    }
    return segment_open_memory(out, bytes, n, e->alloc, em); /* takes the bytes, whatever comes of it */
}

/* Carries the deaths in the buffer over to the segment made of it. */
static enum err bury(struct engine *e, struct slot *s, struct errmsg *em)
{
    if (e->buffer_dead_n == 0) {
        return ERR_OK;
    }
    enum err r = slot_prepare_kill(e, s, em);
    size_t n = MIN_OF(e->buffer_dead_words * 64, (size_t)segment_doc_count(s->segment));
    for (size_t d = bits_next(e->buffer_dead, 0, n); r == ERR_OK && d < n;
         d = bits_next(e->buffer_dead, d + 1, n)) {
        live_kill(s->next, segment_roots(s->segment), (doc_id)d);
    }
    return r;
}

static enum err spill(struct engine *e, struct errmsg *em)
{
    uint32_t docs = index_buffer_docs(e->buffer);
    uint64_t number = e->next_number++;
    struct buf out;
    buf_init(&out, e->alloc, BUF_UNLIMITED);
    enum err r = index_buffer_write(e->buffer, &out, em);
    size_t n = 0;
    char *bytes = r == ERR_OK ? buf_take(&out, &n) : NULL;
    buf_fini(&out);
    if (r != ERR_OK || bytes == NULL) {
        return r != ERR_OK ? r : err_no_memory(em);
    }
    struct segment *segment;
    struct slot *s = NULL;
    bool in_file;
    r = segment_of(e, number, bytes, n, &segment, &in_file, em);
    if (r != ERR_OK) {
        return r;
    }
    INVARIANT(segment_invariant(segment));
    if (segment_doc_count(segment) != docs) {
        r = err_set(em, ERR_INTERNAL, "a segment holds [%u] documents, the buffer held [%u]",
                    segment_doc_count(segment), docs);
    }
    r = r == ERR_OK ? slot_new(&s, e, number, segment, em) : r;
    if (r != ERR_OK) {
        segment_unref(segment);
        return r;
    }
    s->in_file = in_file;
    s->memory = in_file ? NULL : bytes;
    r = bury(e, s, em);
    if (r != ERR_OK) {
        slot_free(e, s);
        return r;
    }
    e->slots[e->n_slots++] = s;
    return ERR_OK;
}

enum err engine_spill(struct engine *e, struct errmsg *em)
{
    ERR_LOCAL(why);
    enum err r = engine_check(e, em);
    if (r != ERR_OK || index_buffer_docs(e->buffer) == 0) {
        return r;
    }
    r = engine_slots_reserve(e, em);
    if (r != ERR_OK) {
        return r; /* the buffer is untouched */
    }
    r = spill(e, &why);
    if (r != ERR_OK) {
        /* The buffer is lost; the translog has it. */
        engine_fail(e, r, &why);
        return engine_check(e, em);
    }
    version_map_forget_docs(&e->versions);
    if (e->buffer_dead_n > 0) {
        memset(e->buffer_dead, 0, e->buffer_dead_words * sizeof(*e->buffer_dead));
        e->buffer_dead_n = 0;
    }
    e->changed = true;
    return ERR_OK;
}

/* ---- views ---- */

static void engine_view_free(struct view *v)
{
    struct engine_view *ev = (struct engine_view *)(void *)v;
    const struct allocator *alloc = ev->alloc;
    for (size_t i = 0; i < ev->n; i++) {
        live_unref(ev->held[i].live);
        segment_unref(ev->held[i].segment);
    }
    mapping_unref(v->mapping);
    alloc_put(alloc, ev->leaves);
    alloc_put(alloc, ev->held);
    alloc_put(alloc, ev);
}

static struct engine_view *view_new(const struct engine *e, size_t n)
{
    struct engine_view *v = alloc_get(e->alloc, sizeof(*v));
    struct leaf *leaves = alloc_get(e->alloc, MAX_OF(n, 1) * sizeof(*leaves));
    struct held_leaf *held = alloc_get(e->alloc, MAX_OF(n, 1) * sizeof(*held));
    if (v == NULL || leaves == NULL || held == NULL) {
        alloc_put(e->alloc, v);
        alloc_put(e->alloc, leaves);
        alloc_put(e->alloc, held);
        return NULL;
    }
    *v = (struct engine_view){.alloc = e->alloc, .leaves = leaves, .held = held};
    v->v.leaves = leaves;
    v->v.mapping = e->mapping != NULL ? mapping_ref(e->mapping) : NULL;
    v->v.refs = 1;
    v->v.free = engine_view_free;
    return v;
}

static void add_leaf(struct engine_view *v, struct segment *segment, struct live *live, uint32_t live_roots)
{
    size_t i = v->n++;
    v->held[i] = (struct held_leaf){segment_ref(segment), live_ref(live)};
    v->leaves[i] = (struct leaf){.segment = segment,
                                 .live = live != NULL ? live->words : NULL,
                                 .roots = segment_roots(segment),
                                 .doc_count = segment_doc_count(segment),
                                 .live_count = live_roots,
                                 .base = v->v.doc_count,
                                 .index = (uint32_t)i};
    v->v.n_leaves = (uint32_t)v->n;
    v->v.doc_count += segment_doc_count(segment);
    v->v.live_count += live_roots;
}

static void show(struct engine *e, struct engine_view *v)
{
    v->v.generation = ++e->view_generation;
    pthread_mutex_lock(&e->view_lock);
    struct view *old = e->view;
    e->view = &v->v;
    pthread_mutex_unlock(&e->view_lock);
    view_unref(old);
}

void engine_settle(struct engine *e)
{
    int64_t from = engine_retained_from(e);
    for (size_t i = e->n_slots; i > 0; i--) { /* those that a merge holds are its business */
        struct slot *s = e->slots[i - 1];
        if (s->merge == NULL && slot_live_docs(s) + slot_count_retained(s, from) == 0) {
            engine_remove_slot(e, i - 1);
            e->uncommitted = e->changed = true;
        }
    }
    for (size_t i = 0; i < e->n_slots; i++) {
        struct slot *s = e->slots[i];
        if (s->next != NULL) {
            live_unref(s->live);
            s->live = s->next;
            s->next = NULL;
        }
        s->settled = true;
    }
}

enum err engine_publish(struct engine *e, struct errmsg *em)
{
    engine_settle(e);
    struct engine_view *v = view_new(e, e->n_slots);
    if (v == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < e->n_slots; i++) {
        struct slot *s = e->slots[i];
        s->shown = true;
        add_leaf(v, s->segment, s->live, slot_live_roots(s));
    }
    v->v.max_seq_no = e->processed.max;
    show(e, v);
    e->changed = e->unseen = false;
    e->refreshed = e->log.location;
    return ERR_OK;
}

struct view *engine_view_ref(struct engine *e)
{
    pthread_mutex_lock(&e->view_lock);
    struct view *v = view_ref(e->view);
    pthread_mutex_unlock(&e->view_lock);
    return v;
}

enum err engine_get_view(struct engine *e, struct str id, bool want_source, struct arena *arena,
                         struct view **out, struct engine_doc *doc, struct errmsg *em)
{
    struct found f = {.place = PLACE_NONE};
    *out = NULL;
    enum err r = engine_spill(e, em);
    if (r == ERR_OK) {
        engine_find(e, id, hash_str(id), true, &f);
        r = engine_check(e, em);
    }
    if (r != ERR_OK || f.place != PLACE_SLOT) {
        *doc = (struct engine_doc){0};
        return r;
    }
    struct engine_view *v = view_new(e, e->n_slots);
    if (v == NULL) {
        return err_no_memory(em);
    }
    uint32_t leaf = 0;
    for (size_t i = 0; i < e->n_slots; i++) {
        leaf = e->slots[i] == f.slot ? (uint32_t)i : leaf;
        add_leaf(v, e->slots[i]->segment, e->slots[i]->live, slot_live_roots(e->slots[i]));
    }
    v->v.generation = e->view_generation;
    r = engine_get(e, id, want_source, arena, doc, em);
    doc->leaf = leaf;
    doc->doc = f.doc;
    if (r != ERR_OK) {
        view_unref(&v->v);
        return r;
    }
    *out = &v->v;
    return ERR_OK;
}

enum err engine_set_mapping(struct engine *e, struct mapping *m, uint64_t version, struct errmsg *em)
{
    const struct view *now = e->view;
    struct mapping *old = e->mapping;
    e->mapping = m;
    struct engine_view *v = view_new(e, now->n_leaves);
    if (v == NULL) {
        e->mapping = old;
        return err_no_memory(em);
    }
    const struct engine_view *shown = (const struct engine_view *)(const void *)now;
    for (size_t i = 0; i < shown->n; i++) {
        add_leaf(v, shown->held[i].segment, shown->held[i].live, shown->leaves[i].live_count);
    }
    v->v.max_seq_no = now->max_seq_no;
    e->mapping = m != NULL ? mapping_ref(m) : NULL;
    mapping_unref(old);
    e->mapping_version = version;
    show(e, v);
    return ERR_OK;
}

/* ---- refresh ---- */

void engine_prune(struct engine *e)
{
    int64_t now = clock_mono_ms(e->clock);
    if (e->versions.n_tombs > 0 && now - e->last_prune_ms >= e->settings.gc_deletes_ms / 4) {
        version_map_prune(&e->versions, now - e->settings.gc_deletes_ms, e->processed.checkpoint);
        e->last_prune_ms = now;
    }
}

enum err engine_show_merged(struct engine *e, struct errmsg *em)
{
    enum err r = engine_check(e, em);
    if (r != ERR_OK || !e->changed) {
        return r;
    }
    if (e->unseen) { /* searches keep the old segments until the next refresh */
        engine_settle(e);
        return ERR_OK;
    }
    return engine_publish(e, em);
}

bool engine_refresh_needed(const struct engine *e)
{
    return e->changed;
}

size_t engine_buffer_bytes(const struct engine *e)
{
    return index_buffer_bytes(e->buffer) + version_map_bytes(&e->versions);
}

enum err engine_refresh(struct engine *e, bool *changed, struct errmsg *em)
{
    if (changed != NULL) {
        *changed = false;
    }
    enum err r = engine_check(e, em);
    if (r != ERR_OK) {
        return r;
    }
    engine_prune(e);
    if (!e->changed) {
        e->refreshed = e->log.location;
        e->stats.refresh_total++;
        return ERR_OK;
    }
    int64_t since = e->clock->mono_ns(e->clock->self);
    r = engine_spill(e, em);
    r = r == ERR_OK ? engine_publish(e, em) : r;
    if (r == ERR_OK && changed != NULL) {
        *changed = true;
    }
    e->stats.refresh_total++;
    e->stats.refresh_ns += (uint64_t)(e->clock->mono_ns(e->clock->self) - since);
    return r;
}
