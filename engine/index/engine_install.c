/* Making a copy of files that came from another node. */
#include "engine/index/engine_int.h"

/* The parts of an engine that the file work needs. */
static enum err shell_init(struct engine *e, const struct engine_opts *o, struct errmsg *em)
{
    memset(e, 0, sizeof(*e));
    e->fs = o->fs;
    e->clock = o->clock;
    e->alloc = o->alloc != NULL ? o->alloc : alloc_default();
    e->shard = o->shard;
    size_t dir_n = strlen(o->dir) + 1, uuid_n = strlen(o->index_uuid) + 1;
    e->dir = alloc_get(e->alloc, dir_n);
    e->uuid = alloc_get(e->alloc, uuid_n);
    if (e->dir == NULL || e->uuid == NULL) {
        return err_no_memory(em);
    }
    memcpy(e->dir, o->dir, dir_n);
    memcpy(e->uuid, o->index_uuid, uuid_n);
    return ERR_OK;
}

static void shell_fini(struct engine *e)
{
    translog_fini(&e->log);
    while (e->commits != NULL) {
        struct commit *c = e->commits;
        e->commits = c->next;
        commit_free(c);
    }
    alloc_put(e->alloc, e->dir);
    alloc_put(e->alloc, e->uuid);
}

static enum err size_of(const struct engine *e, const char *prefix, struct str name, bool *same,
                        uint64_t want, struct errmsg *em)
{
    char *path, full[FILE_NAME_BYTES * 2];
    snprintf(full, sizeof(full), "%s%.*s", prefix, STR_ARG(name));
    enum err r = engine_path(e, full, &path, em);
    if (r == ERR_OK) {
        uint64_t n = 0;
        bool exists;
        r = e->fs->size(e->fs->self, path, &exists, &n, em);
        *same = r == ERR_OK && exists && n == want;
        alloc_put(e->alloc, path);
    }
    return r;
}

/* Every file is there, under one of its names. */
static enum err check_files(const struct engine *e, const struct commit *c, struct errmsg *em)
{
    for (size_t i = 0; i < c->pub.n_files; i++) {
        const struct engine_file *f = &c->pub.files[i];
        bool received = false, there = false;
        enum err r = size_of(e, ENGINE_RECEIVED_PREFIX, f->name, &received, f->bytes, em);
        r = r == ERR_OK && !received ? size_of(e, "", f->name, &there, f->bytes, em) : r;
        if (r != ERR_OK) {
            return r;
        }
        if (!received && !there) {
            return err_set(em, ERR_CORRUPT, "file [%.*s] is missing or of another size", STR_ARG(f->name));
        }
    }
    return ERR_OK;
}

static enum err place_files(const struct engine *e, const struct commit *c, struct arena *arena,
                            struct errmsg *em)
{
    for (size_t i = 0; i < c->pub.n_files; i++) {
        const struct engine_file *f = &c->pub.files[i];
        bool received = false;
        enum err r = size_of(e, ENGINE_RECEIVED_PREFIX, f->name, &received, f->bytes, em);
        if (r == ERR_OK && received) {
            struct str from =
                arena_printf(arena, "%s/" ENGINE_RECEIVED_PREFIX "%.*s", e->dir, STR_ARG(f->name));
            const char *to = store_path(arena, e->dir, f->name.p);
            r = from.p == NULL || to == NULL ? err_no_memory(em) : e->fs->rename(e->fs->self, from.p, to, em);
        }
        if (r != ERR_OK) {
            return r;
        }
    }
    return ERR_OK;
}

static enum err remove_prefixed(const struct engine *e, const char *prefix, struct arena *arena,
                                struct errmsg *em)
{
    struct fs_names names;
    enum err r = e->fs->list(e->fs->self, e->dir, arena, &names, em);
    for (size_t i = 0; r == ERR_OK && i < names.n; i++) {
        uint64_t number;
        if (file_number(names.v[i], prefix, &number)) {
            const char *path = store_path(arena, e->dir, names.v[i].p);
            r = path == NULL ? err_no_memory(em) : e->fs->remove(e->fs->self, path, em);
        }
    }
    return r;
}

static enum err install(struct engine *e, struct commit *c, struct str user_data, int64_t global_checkpoint,
                        struct arena *arena, struct errmsg *em)
{
    enum err r = check_files(e, c, em);
    r = r == ERR_OK ? remove_prefixed(e, MANIFEST_PREFIX, arena, em) : r;
    r = r == ERR_OK ? e->fs->sync_dir(e->fs->self, e->dir, em) : r; /* from here on there is no copy */
    r = r == ERR_OK ? remove_prefixed(e, TLOG_PREFIX, arena, em) : r;
    r = r == ERR_OK ? place_files(e, c, arena, em) : r;
    struct manifest m = c->m;
    m.generation = m.translog_generation = 1;
    m.global_checkpoint = MIN_OF(MAX_OF(m.global_checkpoint, global_checkpoint), m.local_checkpoint);
    m.user_data = user_data.n > 0 ? user_data : m.user_data;
    m.translog_id = translog_id_of(m.user_data);
    return r == ERR_OK ? engine_write_first(e, &m, em) : r;
}

enum err engine_install(const struct engine_opts *opts, struct str manifest, int64_t global_checkpoint,
                        struct errmsg *em)
{
    struct engine e;
    struct commit *c = NULL;
    struct arena arena;
    enum err r = shell_init(&e, opts, em);
    arena_init(&arena, e.alloc, ARENA_UNLIMITED);
    r = r == ERR_OK ? commit_new(&c, e.alloc, e.uuid, e.shard, manifest, em) : r;
    r = r == ERR_OK ? install(&e, c, opts->user_data, global_checkpoint, &arena, em) : r;
    commit_free(c);
    arena_fini(&arena);
    shell_fini(&e);
    return r;
}

static bool is_file(const struct fs *fs, const char *path, const struct engine_file *f)
{
    bool exists;
    uint64_t n, checksum;
    return path != NULL && fs->size(fs->self, path, &exists, &n, NULL) == ERR_OK && exists && n == f->bytes
           && hash_file(fs, path, &n, &checksum, NULL) == ERR_OK && checksum == f->checksum;
}

/* Did a commit in the folder name it? Then it was synced before. What an engine that ended left otherwise may be in the system's
 * memory alone, and a sync that failed is not made good by another one. */
static bool is_committed(const struct manifest *m, size_t n, const struct engine_file *f, struct arena *arena)
{
    for (size_t i = 0; i < n; i++) {
        const struct engine_file *files;
        size_t n_files;
        bool listed = manifest_files(&m[i], arena, &files, &n_files);
        for (size_t k = 0; listed && k < n_files; k++) {
            if (str_eq(files[k].name, f->name) && files[k].bytes == f->bytes
                && files[k].checksum == f->checksum) {
                return true;
            }
        }
    }
    return false;
}

/* The manifests in the folder that can be read. */
static enum err read_manifests(const struct fs *fs, const char *dir, struct arena *arena,
                               struct manifest **out, size_t *n, struct errmsg *em)
{
    struct fs_names names;
    enum err r = fs->list(fs->self, dir, arena, &names, em);
    *n = 0;
    *out = r == ERR_OK ? ARENA_ARRAY(arena, struct manifest, names.n) : NULL;
    if (*out == NULL) {
        return r == ERR_OK ? err_no_memory(em) : r;
    }
    for (size_t i = 0; i < names.n; i++) {
        uint64_t number;
        struct fs_map map;
        const char *path =
            file_number(names.v[i], MANIFEST_PREFIX, &number) ? store_path(arena, dir, names.v[i].p) : NULL;
        if (path != NULL && fs->map(fs->self, path, &map, NULL) == ERR_OK) {
            *n += manifest_decode(&(*out)[*n], str_mk(map.p, map.n), arena, NULL) == ERR_OK;
            fs->unmap(fs->self, &map);
        }
    }
    return ERR_OK;
}

enum err engine_files_present(const struct fs *fs, const char *dir, struct str manifest, struct arena *arena,
                              bool **have, const struct engine_file **files, size_t *n, struct errmsg *em)
{
    struct manifest m, *there = NULL;
    size_t n_there = 0;
    enum err r = manifest_decode(&m, manifest, arena, em);
    r = r == ERR_OK ? read_manifests(fs, dir, arena, &there, &n_there, em) : r;
    if (r != ERR_OK) {
        return r;
    }
    if (!manifest_files(&m, arena, files, n) || (*have = ARENA_ARRAY(arena, bool, *n)) == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < *n; i++) {
        const struct engine_file *f = &(*files)[i];
        struct str received = arena_printf(arena, "%s/" ENGINE_RECEIVED_PREFIX "%.*s", dir, STR_ARG(f->name));
        bool arrived = is_file(fs, received.p, f);
        if (!arrived && received.p != NULL) {
            fs->remove(fs->self, received.p, NULL); /* it must not take the place of a good one */
        }
        (*have)[i] =
            arrived
            || (is_committed(there, n_there, f, arena) && is_file(fs, store_path(arena, dir, f->name.p), f));
    }
    return ERR_OK;
}
