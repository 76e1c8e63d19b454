/* Commits as the engine holds them: which are kept, and what goes with one that is not. */
#include "engine/index/engine_int.h"

#include "common/base/hash.h"

enum err hash_file(const struct fs *fs, const char *path, uint64_t *bytes, uint64_t *checksum,
                   struct errmsg *em)
{
    struct fs_map map;
    enum err r = fs->map(fs->self, path, &map, em);
    if (r == ERR_OK) {
        *bytes = map.n;
        *checksum = hash_bytes(map.p, map.n, 0);
        fs->unmap(fs->self, &map);
    }
    return r;
}

enum err write_file(const struct fs *fs, const char *path, struct str bytes, bool sync, struct errmsg *em)
{
    struct fs_file *f;
    enum err r = fs->open(fs->self, path, true, &f, em);
    if (r != ERR_OK) {
        return r;
    }
    r = fs->write(fs->self, f, bytes.p, bytes.n, em);
    r = r == ERR_OK && sync ? fs->sync(fs->self, f, em) : r;
    fs->close(fs->self, f);
    return r;
}

bool manifest_files(const struct manifest *m, struct arena *arena, const struct engine_file **out,
                    size_t *n_out)
{
    struct engine_file *v = ARENA_ARRAY(arena, struct engine_file, m->n_segments * 2);
    if (v == NULL) {
        return false;
    }
    size_t n = 0;
    for (size_t i = 0; i < m->n_segments; i++) {
        const struct manifest_segment *s = &m->segments[i];
        char name[FILE_NAME_BYTES];
        segment_file_name(s->number, name);
        v[n++] = (struct engine_file){arena_str(arena, str_of(name)), s->bytes, s->checksum};
        if (s->live_generation != 0) {
            live_file_name(s->number, s->live_generation, name);
            v[n++] = (struct engine_file){arena_str(arena, str_of(name)), s->live_bytes, s->live_checksum};
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (v[i].name.p == NULL) {
            return false;
        }
    }
    *out = v;
    *n_out = n;
    return true;
}

enum err commit_new(struct commit **out, const struct allocator *alloc, const char *uuid, uint32_t shard,
                    struct str manifest, struct errmsg *em)
{
    *out = NULL;
    struct commit *c = alloc_get(alloc, sizeof(*c));
    if (c == NULL) {
        return err_no_memory(em);
    }
    *c = (struct commit){0};
    arena_init(&c->arena, alloc, ARENA_UNLIMITED);
    c->pub.manifest = arena_str(&c->arena, manifest);
    enum err r = c->pub.manifest.p == NULL ? err_no_memory(em)
                                           : manifest_decode(&c->m, c->pub.manifest, &c->arena, em);
    if (r == ERR_OK && (c->m.shard != shard || strcmp(c->m.uuid, uuid) != 0)) {
        r = err_set(em, ERR_CORRUPT, "manifest of another shard: [%s][%u]", c->m.uuid, c->m.shard);
    }
    c->pub.generation = c->m.generation;
    c->pub.max_seq_no = c->m.max_seq_no;
    c->pub.local_checkpoint = c->m.local_checkpoint;
    if (r == ERR_OK && !manifest_files(&c->m, &c->arena, &c->pub.files, &c->pub.n_files)) {
        r = err_no_memory(em);
    }
    for (size_t i = 0; i < c->m.n_segments && r == ERR_OK; i++) {
        c->pub.doc_count += c->m.segments[i].live_docs;
    }
    if (r != ERR_OK) {
        commit_free(c);
        return r;
    }
    *out = c;
    return ERR_OK;
}

void commit_free(struct commit *c)
{
    if (c != NULL) {
        const struct allocator *alloc = c->arena.alloc;
        arena_fini(&c->arena);
        alloc_put(alloc, c);
    }
}

struct commit *engine_safe_commit(struct engine *e, int64_t seq_no)
{
    for (struct commit *c = e->commits; c != NULL; c = c->next) {
        if (!c->dropped && c->m.max_seq_no <= seq_no) {
            return c;
        }
    }
    return NULL;
}

void engine_sweep_commits(struct engine *e)
{
    for (struct commit **at = &e->commits; *at != NULL;) {
        struct commit *c = *at;
        if (!c->dropped || c->pins > 0) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        for (size_t i = 0; i < c->m.n_segments; i++) {
            engine_remove_if_unnamed(e, c->m.segments[i].number, 0);
            if (c->m.segments[i].live_generation != 0) {
                engine_remove_if_unnamed(e, c->m.segments[i].number, c->m.segments[i].live_generation);
            }
        }
        commit_free(c);
    }
}

bool engine_remove_commit(struct engine *e, struct commit *c)
{
    char name[FILE_NAME_BYTES], *path;
    manifest_file_name(c->m.generation, name);
    if (engine_path(e, name, &path, NULL) != ERR_OK) {
        return false;
    }
    bool gone = e->fs->remove(e->fs->self, path, NULL) == ERR_OK;
    alloc_put(e->alloc, path);
    if (gone) {
        c->dropped = true;
        engine_sweep_commits(e);
    }
    return gone;
}

/* The lowest translog generation that commits or retention need. */
static uint64_t needed_generation(const struct engine *e)
{
    const struct translog *t = &e->log;
    uint64_t need = translog_current(t)->header.generation;
    for (const struct commit *c = e->commits; c != NULL; c = c->next) {
        if (!c->dropped) {
            need = MIN_OF(need, c->m.translog_generation);
        }
    }
    if (e->held_from != INT64_MAX) {
        need = MIN_OF(need, translog_generation_above(t, e->held_from - 1));
    }
    uint64_t lease =
        e->retention_from == INT64_MAX ? need : translog_generation_above(t, e->retention_from - 1);
    uint64_t bytes = 0, first = t->gens[0].header.generation;
    int64_t oldest = clock_wall_ms(e->clock) - e->settings.retention_ms;
    for (size_t i = t->n_gens; i > 0; i--) {
        const struct tlog_gen *g = &t->gens[i - 1];
        bytes += g->sum.end;
        if (g->header.generation < need
            && (g->header.generation < lease || bytes > e->settings.retention_bytes
                || g->header.created_ms < oldest)) {
            return g->header.generation + 1;
        }
    }
    return first;
}

void engine_trim(struct engine *e)
{
    struct commit *safe = engine_safe_commit(e, e->global_persisted);
    if (safe == NULL || e->failure != ERR_OK) {
        return;
    }
    for (;;) { /* oldest first: what is left is always newest ones */
        struct commit *last = NULL;
        for (struct commit *c = safe->next; c != NULL; c = c->next) {
            last = c->dropped ? last : c;
        }
        if (last == NULL || !engine_remove_commit(e, last)) {
            break;
        }
    }
    translog_trim(&e->log, needed_generation(e));
}

const struct engine_commit *engine_commit_ref(struct engine *e, bool safe)
{
    struct commit *c = safe ? engine_safe_commit(e, e->global_persisted) : engine_safe_commit(e, INT64_MAX);
    if (c == NULL) {
        return NULL;
    }
    c->pins++;
    return &c->pub;
}

void engine_commit_unref(struct engine *e, const struct engine_commit *pub)
{
    for (struct commit *c = e->commits; c != NULL; c = c->next) {
        if (&c->pub == pub) {
            assert(c->pins > 0);
            c->pins--;
            engine_sweep_commits(e);
            return;
        }
    }
}
