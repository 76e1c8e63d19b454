#include "tests/sim/null_disk.h"

static char handle; /* what every open file is */

static enum err null_open(void *self, const char *path, bool fresh, struct fs_file **out, struct errmsg *em)
{
    (void)self, (void)path, (void)fresh, (void)em;
    *out = (struct fs_file *)(void *)&handle;
    return ERR_OK;
}

static enum err null_write(void *self, struct fs_file *f, const void *p, size_t n, struct errmsg *em)
{
    (void)self, (void)f, (void)p, (void)n, (void)em;
    return ERR_OK;
}

static enum err null_patch(void *self, struct fs_file *f, uint64_t at, const void *p, size_t n,
                           struct errmsg *em)
{
    (void)self, (void)f, (void)at, (void)p, (void)n, (void)em;
    return ERR_OK;
}

static enum err null_sync(void *self, struct fs_file *f, struct errmsg *em)
{
    (void)self, (void)f, (void)em;
    return ERR_OK;
}

static void null_close(void *self, struct fs_file *f)
{
    (void)self, (void)f;
}

static enum err null_truncate(void *self, const char *path, uint64_t n, struct errmsg *em)
{
    (void)self, (void)path, (void)n, (void)em;
    return ERR_OK;
}

static enum err null_map(void *self, const char *path, struct fs_map *out, struct errmsg *em)
{
    (void)self;
    *out = (struct fs_map){0};
    return err_set(em, ERR_IO, "map [%s]: No such file or directory", path);
}

static void null_unmap(void *self, struct fs_map *m)
{
    (void)self;
    *m = (struct fs_map){0};
}

static enum err null_rename(void *self, const char *from, const char *to, struct errmsg *em)
{
    (void)self, (void)from, (void)to, (void)em;
    return ERR_OK;
}

static enum err null_path(void *self, const char *path, struct errmsg *em)
{
    (void)self, (void)path, (void)em;
    return ERR_OK;
}

static enum err null_list(void *self, const char *path, struct arena *arena, struct fs_names *out,
                          struct errmsg *em)
{
    (void)self, (void)path, (void)arena, (void)em;
    *out = (struct fs_names){0};
    return ERR_OK;
}

static enum err null_size(void *self, const char *path, bool *exists, uint64_t *n, struct errmsg *em)
{
    (void)self, (void)path, (void)em;
    *exists = false;
    *n = 0;
    return ERR_OK;
}

static enum err null_lock(void *self, const char *path, void **lock, struct errmsg *em)
{
    (void)self, (void)path, (void)em;
    *lock = &handle;
    return ERR_OK;
}

static void null_unlock(void *self, void *lock)
{
    (void)self, (void)lock;
}

static enum err null_space(void *self, const char *path, uint64_t *total, uint64_t *available,
                           struct errmsg *em)
{
    (void)self, (void)path, (void)em;
    *total = *available = (uint64_t)1 << 40;
    return ERR_OK;
}

const struct fs *null_disk(void)
{
    static const struct fs fs = {.open = null_open,
                                 .write = null_write,
                                 .patch = null_patch,
                                 .sync = null_sync,
                                 .close = null_close,
                                 .truncate = null_truncate,
                                 .map = null_map,
                                 .unmap = null_unmap,
                                 .rename = null_rename,
                                 .remove = null_path,
                                 .remove_tree = null_path,
                                 .make_dir = null_path,
                                 .sync_dir = null_path,
                                 .list = null_list,
                                 .size = null_size,
                                 .lock = null_lock,
                                 .unlock = null_unlock,
                                 .space = null_space};
    return &fs;
}
