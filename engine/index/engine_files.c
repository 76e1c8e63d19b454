/* The files of a copy's folder: listing, recognition and removal. */
#include "engine/index/engine_int.h"

#include "common/base/sort_items.h"

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* live_<segment>_<generation> */
static bool live_numbers(struct str name, uint64_t *number, uint64_t *generation)
{
    struct str rest, head;
    if (!str_starts(name, STR(LIVE_PREFIX))) {
        return false;
    }
    head = str_cut(str_slice(name, strlen(LIVE_PREFIX), name.n), '_', &rest);
    return rest.p != NULL && file_number(head, "", number) && file_number(rest, "", generation);
}

static bool is_tmp(struct str name)
{
    return str_is(name, MANIFEST_TMP) || str_is(name, TLOG_TMP);
}

static enum err translog_bytes(const struct engine *e, struct arena *arena, struct str name, uint64_t *size,
                               struct errmsg *em)
{
    bool exists;
    struct str path = arena_printf(arena, "%s/%.*s", e->dir, STR_ARG(name));
    return path.p == NULL ? err_no_memory(em) : e->fs->size(e->fs->self, path.p, &exists, size, em);
}

enum err engine_scan(const struct engine *e, struct arena *arena, struct engine_files *s, struct errmsg *em)
{
    *s = (struct engine_files){.next_number = 1, .next_commit = 1};
    enum err r = e->fs->list(e->fs->self, e->dir, arena, &s->names, em);
    if (r != ERR_OK) {
        return r;
    }
    s->manifests = ARENA_ARRAY(arena, uint64_t, s->names.n);
    if (s->manifests == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < s->names.n; i++) {
        uint64_t number, generation, size;
        struct str name = s->names.v[i];
        if (file_number(name, TLOG_PREFIX, &number)) {
            s->any = true;
            r = translog_bytes(e, arena, name, &size, em);
            if (r != ERR_OK) {
                return r;
            }
            s->used |= number > 1 || size > TLOG_HEADER_BYTES;
            continue;
        }
        s->used |= file_number(name, SEGMENT_PREFIX, &number) || live_numbers(name, &number, &generation);
        if (file_number(name, MANIFEST_PREFIX, &number)) {
            s->manifests[s->n_manifests++] = number;
            s->next_commit = MAX_OF(s->next_commit, number + 1);
        } else if (file_number(name, SEGMENT_PREFIX, &number)) {
            s->next_number = MAX_OF(s->next_number, number + 1);
        } else if (live_numbers(name, &number, &generation)) {
            s->next_number = MAX_OF(s->next_number, generation + 1);
        } else if (!is_tmp(name)) {
            continue;
        }
        s->any = true;
    }
    sort_items(s->manifests, s->n_manifests, sizeof(*s->manifests), by_number);
    return ERR_OK;
}

enum err engine_remove_name(const struct engine *e, struct arena *arena, struct str name, struct errmsg *em)
{
    struct str path = arena_printf(arena, "%s/%.*s", e->dir, STR_ARG(name));
    return path.p == NULL ? err_no_memory(em) : e->fs->remove(e->fs->self, path.p, em);
}

/* Everything of ours goes; manifests first and durably, so that a half-emptied folder is not taken for a
 * copy. */
enum err engine_wipe(const struct engine *e, struct arena *arena, const struct engine_files *s,
                     struct errmsg *em)
{
    enum err r = ERR_OK;
    uint64_t a, b;
    for (size_t i = 0; i < s->names.n && r == ERR_OK; i++) {
        r = file_number(s->names.v[i], MANIFEST_PREFIX, &a) ? engine_remove_name(e, arena, s->names.v[i], em)
                                                            : ERR_OK;
    }
    r = r == ERR_OK && s->n_manifests > 0 ? e->fs->sync_dir(e->fs->self, e->dir, em) : r;
    for (size_t i = 0; i < s->names.n && r == ERR_OK; i++) {
        struct str name = s->names.v[i];
        if (file_number(name, SEGMENT_PREFIX, &a) || file_number(name, TLOG_PREFIX, &a)
            || live_numbers(name, &a, &b) || is_tmp(name)) {
            r = engine_remove_name(e, arena, name, em);
        }
    }
    return r;
}

/* Does a generation of the log have operations, or may it have had any? */
static bool log_holds(const struct str bytes)
{
    struct tlog_header h;
    struct tlog_summary s;
    bool torn;
    if (tlog_header_decode(&h, bytes, &torn, NULL) != ERR_OK) {
        return !torn;
    }
    return tlog_scan(&s, bytes, &h, NULL) != ERR_OK || s.ops > 0;
}

static bool manifest_holds(const struct str bytes, struct arena *arena)
{
    struct manifest m;
    return manifest_decode(&m, bytes, arena, NULL) != ERR_OK || m.n_segments > 0 || m.max_seq_no >= 0;
}

/* Does the folder hold what was written to a copy? What a creation left that was cut short does not count. */
enum err engine_holds_data(const struct engine *e, struct arena *arena, const struct engine_files *s,
                           bool *held, struct errmsg *em)
{
    *held = false;
    for (size_t i = 0; i < s->names.n && !*held; i++) {
        uint64_t a, b;
        struct str name = s->names.v[i];
        bool log = file_number(name, TLOG_PREFIX, &a), manifest = file_number(name, MANIFEST_PREFIX, &a);
        *held = file_number(name, SEGMENT_PREFIX, &a) || live_numbers(name, &a, &b);
        if (!log && !manifest) {
            continue;
        }
        struct fs_map map;
        const char *path = arena_printf(arena, "%s/%.*s", e->dir, STR_ARG(name)).p;
        enum err r = path == NULL ? err_no_memory(em) : e->fs->map(e->fs->self, path, &map, em);
        if (r != ERR_OK) {
            return r;
        }
        struct str bytes = str_mk(map.p, map.n);
        *held = log ? log_holds(bytes) : manifest_holds(bytes, arena);
        e->fs->unmap(e->fs->self, &map);
    }
    return ERR_OK;
}

static bool commit_is(const struct engine *e, uint64_t generation)
{
    for (const struct commit *c = e->commits; c != NULL; c = c->next) {
        if (!c->dropped && c->m.generation == generation) {
            return true;
        }
    }
    return false;
}

enum err engine_remove_orphans(struct engine *e, struct errmsg *em)
{
    struct arena arena;
    arena_init(&arena, e->alloc, ARENA_UNLIMITED);
    struct engine_files s;
    enum err r = engine_scan(e, &arena, &s, em);
    for (size_t i = 0; i < s.names.n && r == ERR_OK; i++) {
        uint64_t a, b;
        struct str name = s.names.v[i];
        bool orphan = is_tmp(name) || (file_number(name, MANIFEST_PREFIX, &a) && !commit_is(e, a))
                      || (file_number(name, SEGMENT_PREFIX, &a) && !engine_names(e, a, 0))
                      || (live_numbers(name, &a, &b) && !engine_names(e, a, b));
        r = orphan ? engine_remove_name(e, &arena, name, em) : ERR_OK;
    }
    arena_fini(&arena);
    return r;
}
