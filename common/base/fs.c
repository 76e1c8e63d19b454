#include "common/base/fs.h"

enum err fs_read_file(const struct fs *fs, const char *path, size_t bytes_max, struct arena *arena,
                      struct str *out, struct errmsg *em)
{
    struct fs_map map;
    enum err e = fs->map(fs->self, path, &map, em);
    if (e != ERR_OK) {
        return e;
    }
    if (map.n > bytes_max) {
        e = err_set(em, ERR_IO, "[%s] has %zu bytes, more than the %zu allowed", path, map.n, bytes_max);
    } else {
        *out = arena_str(arena, str_mk(map.p, map.n));
        e = out->p != NULL ? ERR_OK : err_no_memory(em);
    }
    fs->unmap(fs->self, &map);
    return e;
}

/* The folder that holds `path`, in the arena. */
static struct str folder_of(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) {
        return arena_str(arena, STR("."));
    }
    return arena_str(arena, str_mk(path, slash == path ? 1 : (size_t)(slash - path)));
}

static enum err write_synced(const struct fs *fs, const char *path, struct str bytes, struct errmsg *em)
{
    struct fs_file *f = NULL;
    enum err e = fs->remove(fs->self, path, em); /* not over a file whose fsync failed */
    e = e == ERR_OK ? fs->open(fs->self, path, true, &f, em) : e;
    if (e == ERR_OK && bytes.n > 0) {
        e = fs->write(fs->self, f, bytes.p, bytes.n, em);
    }
    e = e == ERR_OK ? fs->sync(fs->self, f, em) : e;
    fs->close(fs->self, f);
    return e;
}

enum err fs_replace_file(const struct fs *fs, const char *path, struct str bytes, struct errmsg *em)
{
    struct arena arena;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    struct str tmp = arena_printf(&arena, "%s.tmp", path);
    struct str folder = folder_of(path, &arena);
    enum err e = tmp.p != NULL && folder.p != NULL ? ERR_OK : err_no_memory(em);
    e = e == ERR_OK ? write_synced(fs, tmp.p, bytes, em) : e;
    e = e == ERR_OK ? fs->rename(fs->self, tmp.p, path, em) : e;
    e = e == ERR_OK ? fs->sync_dir(fs->self, folder.p, em) : e;
    arena_fini(&arena);
    return e;
}
