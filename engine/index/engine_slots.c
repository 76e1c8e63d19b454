/* The engine's segments: look-ups over them, deletions in them, the life of their files. */
#include "engine/index/engine_int.h"

#include "common/base/bits.h"

uint32_t slot_live_docs(const struct slot *s)
{
    const struct live *l = slot_live(s);
    return l != NULL ? l->n_live : segment_doc_count(s->segment);
}

uint32_t slot_live_roots(const struct slot *s)
{
    const struct live *l = slot_live(s);
    if (l != NULL) {
        return l->n_roots;
    }
    const uint64_t *roots = segment_roots(s->segment);
    uint32_t n = segment_doc_count(s->segment);
    return roots != NULL ? (uint32_t)bits_count(roots, n) : n;
}

void slot_set_segment(struct slot *s, struct segment *segment)
{
    segment_unref(s->segment);
    s->segment = segment;
    num_column_place(&s->seq_no, segment_field(segment, STR("_seq_no")));
    num_column_place(&s->primary_term, segment_field(segment, STR("_primary_term")));
    num_column_place(&s->version, segment_field(segment, STR("_version")));
}

enum err slot_new(struct slot **out, struct engine *e, uint64_t number, struct segment *segment,
                  struct errmsg *em)
{
    struct slot *s = alloc_get(e->alloc, sizeof(*s));
    *out = s;
    if (s == NULL) {
        return err_no_memory(em);
    }
    *s = (struct slot){
        .number = number, .bytes = segment_bytes(segment), .retained_from = INT64_MAX}; /* none counted */
    slot_set_segment(s, segment);
    return ERR_OK;
}

void slot_free(struct engine *e, struct slot *s)
{
    if (s != NULL) {
        segment_unref(s->segment);
        live_unref(s->live);
        live_unref(s->next);
        live_unref(s->saved);
        alloc_put(e->alloc, s);
    }
}

enum err slot_prepare_kill(struct engine *e, struct slot *s, struct errmsg *em)
{
    if (s->next == NULL) {
        s->next = s->live != NULL
                      ? live_copy(s->live)
                      : live_new(e->alloc, segment_doc_count(s->segment), segment_roots(s->segment));
    }
    return s->next != NULL ? ERR_OK : err_no_memory(em);
}

enum err engine_slots_reserve(struct engine *e, struct errmsg *em)
{
    if (e->n_slots == e->slots_cap) {
        size_t cap = e->slots_cap == 0 ? 16 : e->slots_cap * 2;
        struct slot **slots = e->alloc->resize(e->alloc->self, e->slots, cap * sizeof(struct slot *));
        if (slots == NULL) {
            return err_no_memory(em);
        }
        e->slots = slots;
        e->slots_cap = cap;
    }
    return ERR_OK;
}

void engine_remove_slot(struct engine *e, size_t i)
{
    struct slot *s = e->slots[i];
    e->n_slots--;
    memmove(e->slots + i, e->slots + i + 1, (e->n_slots - i) * sizeof(struct slot *));
    if (s->in_file) {
        engine_remove_if_unnamed(e, s->number, 0);
    }
    slot_free(e, s);
}

void engine_slots_free(struct engine *e)
{
    for (size_t i = 0; i < e->n_slots; i++) {
        slot_free(e, e->slots[i]);
    }
    e->n_slots = 0;
}

static bool column(const struct num_column *c, doc_id doc, int64_t *out)
{
    *out = 0;
    return num_column_check(c) && num_column_first(c, doc, out);
}

void engine_find(struct engine *e, struct str id, uint64_t hash, bool in_segments, struct found *out)
{
    *out = (struct found){.place = PLACE_NONE};
    const struct vm_tomb *t = version_map_tomb(&e->versions, id, hash);
    if (t != NULL) {
        *out = (struct found){PLACE_TOMB, t->seq_no, t->primary_term, t->version, t->at_ms, 0, NULL};
        return;
    }
    const struct vm_doc *d = version_map_doc(&e->versions, id, hash);
    if (d != NULL) {
        *out = (struct found){PLACE_BUFFER, d->seq_no, d->primary_term, d->version, 0, d->root, NULL};
        return;
    }
    for (size_t i = e->n_slots; i > 0 && in_segments; i--) {
        struct slot *s = e->slots[i - 1];
        ERR_LOCAL(em);
        doc_id doc;
        if (seg_find_id(s->segment, id, slot_words(s), &doc)) {
            out->place = PLACE_SLOT;
            out->slot = s;
            out->doc = doc;
            column(&s->seq_no, doc, &out->seq_no);
            column(&s->primary_term, doc, &out->primary_term);
            column(&s->version, doc, &out->version);
        }
        if (segment_damage(s->segment, &em) != ERR_OK) {
            engine_fail(e, ERR_CORRUPT, &em);
            return;
        }
        if (out->place == PLACE_SLOT) {
            return;
        }
    }
}

enum err engine_damage(struct engine *e)
{
    ERR_LOCAL(em);
    for (size_t i = 0; i < e->n_slots; i++) {
        if (segment_damage(e->slots[i]->segment, &em) != ERR_OK) {
            return engine_fail(e, ERR_CORRUPT, &em);
        }
    }
    return e->failure;
}

void engine_look(const struct engine *e, bool doubt)
{
    for (size_t i = 0; i < e->n_slots; i++) {
        segment_look(e->slots[i]->segment);
        if (doubt) {
            segment_doubt(e->slots[i]->segment);
        }
    }
}

/* ---- files ---- */

enum err engine_path(const struct engine *e, const char *name, char **out, struct errmsg *em)
{
    size_t d = strlen(e->dir), n = strlen(name);
    *out = alloc_get(e->alloc, d + n + 2);
    if (*out == NULL) {
        return err_no_memory(em);
    }
    memcpy(*out, e->dir, d);
    (*out)[d] = '/';
    memcpy(*out + d + 1, name, n + 1);
    return ERR_OK;
}

/* Without memory or with a failing disk the file stays: the next engine_open() removes it. */
static void remove_file(struct engine *e, const char *name)
{
    char *path;
    if (engine_path(e, name, &path, NULL) == ERR_OK) {
        e->fs->remove(e->fs->self, path, NULL);
        alloc_put(e->alloc, path);
    }
}

static bool manifest_names(const struct manifest *m, uint64_t number, uint64_t live_generation)
{
    for (size_t i = 0; i < m->n_segments; i++) {
        if (m->segments[i].number == number
            && (live_generation == 0 || m->segments[i].live_generation == live_generation)) {
            return true;
        }
    }
    return false;
}

bool engine_names(const struct engine *e, uint64_t number, uint64_t live_generation)
{
    for (const struct commit *c = e->commits; c != NULL; c = c->next) {
        if (manifest_names(&c->m, number, live_generation)) {
            return true;
        }
    }
    if (live_generation != 0) {
        return false; /* a slot's saved bitmap is in the newest commit */
    }
    for (size_t i = 0; i < e->n_slots; i++) {
        if (e->slots[i]->number == number) {
            return true;
        }
    }
    return engine_merge_names(e, number);
}

/* While a flush is out, it names what the slots were when it began: what goes meanwhile is swept when it is
 * done. */
void engine_remove_if_unnamed(struct engine *e, uint64_t number, uint64_t live_generation)
{
    if (e->flush != NULL) {
        e->sweep = true;
    } else if (!engine_names(e, number, live_generation)) {
        char name[FILE_NAME_BYTES];
        if (live_generation == 0) {
            segment_file_name(number, name);
        } else {
            live_file_name(number, live_generation, name);
        }
        remove_file(e, name);
    }
}
