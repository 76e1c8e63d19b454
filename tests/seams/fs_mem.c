#include "tests/seams/fs_mem_int.h"

#include <stdlib.h>

enum outcome { GO, FAIL, TEAR, AFTERWARDS };

enum call { CALL_READ, CALL_WRITE, CALL_SYNC };

static bool in_trouble(struct fs_mem *m, enum call what)
{
    const struct fs_mem_trouble *t = &m->trouble;
    unsigned per_thousand = what == CALL_READ ? t->reads : what == CALL_WRITE ? t->writes : t->syncs;
    return per_thousand > 0 && rng_below(&m->chance, 1000) < per_thousand;
}

/* Every call that can fail passes here first; the lock is held from here to fs_mem_leave(). */
static enum outcome fs_mem_enter(struct fs_mem *m, enum call what)
{
    pthread_mutex_lock(&m->mutex);
    m->calls++;
    if (m->countdown == 0 || --m->countdown > 0) {
        return in_trouble(m, what) ? FAIL : GO;
    }
    m->fired = true;
    switch (m->how) {
    case FS_MEM_TEAR:
        return TEAR;
    case FS_MEM_AFTERWARDS:
        return AFTERWARDS;
    case FS_MEM_FAIL_FROM:
        m->countdown = 1;
        return FAIL;
    case FS_MEM_FAIL:
        break;
    }
    return FAIL;
}

static enum err injected(struct errmsg *em, const char *what, const char *path)
{
    return err_set(em, ERR_IO, "%s [%s]: Input/output error", what, path);
}

static enum err fs_mem_leave(struct fs_mem *m, enum outcome o, enum err e, const char *what,
                             struct errmsg *em)
{
    pthread_mutex_unlock(&m->mutex);
    return e == ERR_OK && o != GO ? injected(em, what, "afterwards") : e;
}

static enum err no_such(struct errmsg *em, const char *what, const char *path)
{
    return err_set(em, ERR_IO, "%s [%s]: No such file or directory", what, path);
}

/* Takes the next name off *path; false at its end. "." and empty names are skipped. */
static bool next_name(const char **path, struct str *name)
{
    do {
        while (**path == '/') {
            (*path)++;
        }
        size_t n = strcspn(*path, "/");
        *name = str_mk(*path, n);
        *path += n;
    } while (name->n > 0 && str_is(*name, "."));
    return name->n > 0;
}

struct mem_inode *mem_lookup(const struct fs_mem *m, const char *path)
{
    struct mem_inode *at = m->root;
    struct str name;
    while (at != NULL && next_name(&path, &name)) {
        at = at->is_dir ? mem_dir_get(at, name.p, name.n) : NULL;
    }
    return at;
}

/* The folder that holds path's last name, or NULL when there is none. */
static struct mem_inode *lookup_parent(const struct fs_mem *m, const char *path, struct str *last)
{
    struct mem_inode *at = m->root;
    struct str name;
    *last = STR_NULL;
    while (next_name(&path, &name)) {
        if (last->p != NULL) {
            at = mem_dir_get(at, last->p, last->n);
        }
        if (at == NULL || !at->is_dir) {
            return NULL;
        }
        *last = name;
    }
    return last->p != NULL ? at : NULL;
}

static struct fs_file *handle_new(struct fs_mem *m, enum handle_kind kind, struct mem_inode *inode)
{
    struct fs_file *h = calloc(1, sizeof(*h));
    if (h == NULL) {
        return NULL;
    }
    h->kind = kind;
    h->inode = inode;
    if (inode != NULL) {
        inode->refs++;
    }
    h->next = &m->handles;
    h->prev = m->handles.prev;
    h->prev->next = h;
    m->handles.prev = h;
    return h;
}

void mem_handle_free(struct fs_file *h)
{
    h->prev->next = h->next;
    h->next->prev = h->prev;
    if (h->inode != NULL) {
        mem_inode_unref(h->inode);
    }
    mem_blob_unref(h->blob);
    free(h->path);
    free(h);
}

static enum err open_locked(struct fs_mem *m, const char *path, bool fresh, struct fs_file **out,
                            struct errmsg *em)
{
    struct mem_inode *f = mem_lookup(m, path);
    if (f != NULL && f->is_dir) {
        return err_set(em, ERR_IO, "open [%s]: Is a directory", path);
    }
    if (f == NULL) {
        struct str name;
        struct mem_inode *parent = fresh ? lookup_parent(m, path, &name) : NULL;
        if (parent == NULL) {
            return no_such(em, "open", path);
        }
        f = mem_inode_new(false);
        bool ok = f != NULL && mem_dir_set(parent, name, f, STR_NULL);
        if (f != NULL) {
            mem_inode_unref(f); /* the folder has its own reference */
        }
        if (!ok) {
            return err_no_memory(em);
        }
    }
    *out = handle_new(m, HANDLE_FILE, f);
    if (*out == NULL) {
        return err_no_memory(em);
    }
    (*out)->path = strdup(path);
    if ((*out)->path == NULL) {
        mem_handle_free(*out);
        *out = NULL;
        return err_no_memory(em);
    }
    if (fresh) {
        m->used -= f->n;
        mem_file_empty(f);
    }
    return ERR_OK;
}

static enum err mem_open(void *self, const char *path, bool fresh, struct fs_file **out, struct errmsg *em)
{
    struct fs_mem *m = self;
    *out = NULL;
    enum outcome o = fs_mem_enter(m, CALL_WRITE);
    enum err e = o == FAIL || o == TEAR ? injected(em, "open", path) : open_locked(m, path, fresh, out, em);
    if (o == AFTERWARDS && *out != NULL) {
        mem_handle_free(*out);
        *out = NULL;
    }
    return fs_mem_leave(m, o, e, "open", em);
}

static enum err mem_write(void *self, struct fs_file *f, const void *p, size_t n, struct errmsg *em)
{
    struct fs_mem *m = self;
    enum outcome o = fs_mem_enter(m, CALL_WRITE);
    enum err e = ERR_OK;
    size_t fits = o == FAIL ? 0 : o == TEAR ? n / 2 : n;
    if (o == FAIL || o == TEAR) {
        e = injected(em, "write", "file");
    } else if (fits > m->capacity - MIN_OF(m->used, m->capacity)) {
        fits = (size_t)(m->capacity - MIN_OF(m->used, m->capacity));
        e = err_set(em, ERR_IO, "write: No space left on device");
    }
    if (f->dead) {
        e = err_set(em, ERR_IO, "write: Bad file descriptor");
    } else if (mem_write_is_lost(m, f) ? !mem_lose_append(m, f, p, fits)
                                       : !mem_file_append(f->inode, p, fits)) {
        e = err_no_memory(em);
    } else {
        m->used += fits;
    }
    return fs_mem_leave(m, o, e, "write", em);
}

static enum err mem_patch(void *self, struct fs_file *f, uint64_t at, const void *p, size_t n,
                          struct errmsg *em)
{
    struct fs_mem *m = self;
    enum outcome o = fs_mem_enter(m, CALL_WRITE);
    enum err e = o == FAIL || o == TEAR ? injected(em, "write", "file") : ERR_OK;
    size_t fits = o == FAIL ? 0 : o == TEAR ? n / 2 : n;
    if (f->dead) {
        e = err_set(em, ERR_IO, "write: Bad file descriptor");
    } else if (at + n > f->inode->n) {
        e = err_set(em, ERR_IO, "patch: the file ends before byte %llu", (unsigned long long)(at + n));
    } else if (mem_write_is_lost(m, f) ? !mem_lose_patch(m, f, (size_t)at, p, fits)
                                       : !mem_file_patch(f->inode, (size_t)at, p, fits)) {
        e = err_no_memory(em);
    }
    return fs_mem_leave(m, o, e, "write", em);
}

/* Without the lock: others go on while a disk is slow. */
static void before_sync(const struct fs_mem *m)
{
    if (m->before_sync != NULL) {
        m->before_sync(m->before_sync_arg);
    }
}

static enum err mem_sync(void *self, struct fs_file *f, struct errmsg *em)
{
    struct fs_mem *m = self;
    before_sync(m);
    enum outcome o = fs_mem_enter(m, CALL_SYNC);
    enum err e = ERR_OK;
    if (f->dead) {
        e = err_set(em, ERR_IO, "sync: Bad file descriptor");
    } else if (o == FAIL || o == TEAR) {
        f->inode->lost = true;
        e = injected(em, "sync", "file");
    } else {
        m->syncs++;
        mem_file_sync(f->inode);
    }
    return fs_mem_leave(m, o, e, "sync", em);
}

static void mem_close(void *self, struct fs_file *f)
{
    struct fs_mem *m = self;
    if (f != NULL) {
        pthread_mutex_lock(&m->mutex);
        mem_handle_free(f);
        pthread_mutex_unlock(&m->mutex);
    }
}

static enum err mem_truncate(void *self, const char *path, uint64_t n, struct errmsg *em)
{
    struct fs_mem *m = self;
    enum outcome o = fs_mem_enter(m, CALL_WRITE);
    enum err e = ERR_OK;
    struct mem_inode *f = mem_lookup(m, path);
    if (o == FAIL || o == TEAR) {
        e = injected(em, "truncate", path);
    } else if (f == NULL || f->is_dir) {
        e = no_such(em, "truncate", path);
    } else if (n > f->n) {
        e = err_set(em, ERR_IO, "truncate [%s]: it has only %zu bytes", path, f->n);
    } else {
        m->used -= f->n - n;
        e = mem_file_cut(f, (size_t)n) ? ERR_OK : err_no_memory(em);
    }
    return fs_mem_leave(m, o, e, "truncate", em);
}

static enum err map_locked(struct fs_mem *m, const char *path, struct fs_map *out, struct errmsg *em)
{
    struct mem_inode *f = mem_lookup(m, path);
    if (f == NULL) {
        return no_such(em, "map", path);
    }
    if (f->is_dir) {
        return err_set(em, ERR_IO, "map [%s]: not a file", path);
    }
    if (f->n == 0) {
        return ERR_OK;
    }
    struct fs_file *h = handle_new(m, HANDLE_MAP, NULL);
    if (h == NULL) {
        return err_no_memory(em);
    }
    h->blob = f->blob;
    h->blob->refs++;
    *out = (struct fs_map){.p = f->blob->bytes, .n = f->n, .handle = h};
    return ERR_OK;
}

static void mem_unmap(void *self, struct fs_map *map)
{
    struct fs_mem *m = self;
    if (map->handle != NULL) {
        pthread_mutex_lock(&m->mutex);
        mem_handle_free(map->handle);
        pthread_mutex_unlock(&m->mutex);
    }
    *map = (struct fs_map){0};
}

static enum err mem_map(void *self, const char *path, struct fs_map *out, struct errmsg *em)
{
    struct fs_mem *m = self;
    *out = (struct fs_map){0};
    enum outcome o = fs_mem_enter(m, CALL_READ);
    enum err e = o != GO ? injected(em, "map", path) : map_locked(m, path, out, em);
    return fs_mem_leave(m, o, e, "map", em);
}

static enum err rename_locked(struct fs_mem *m, const char *from, const char *to, struct errmsg *em)
{
    struct str a, b;
    struct mem_inode *from_dir = lookup_parent(m, from, &a);
    struct mem_inode *to_dir = lookup_parent(m, to, &b);
    struct mem_inode *inode = from_dir != NULL ? mem_dir_get(from_dir, a.p, a.n) : NULL;
    if (inode == NULL || to_dir == NULL) {
        return no_such(em, "rename", from);
    }
    struct mem_inode *old = mem_dir_get(to_dir, b.p, b.n);
    if (old == inode) {
        return ERR_OK;
    }
    if (old != NULL && (old->is_dir != inode->is_dir || old->now.n > 0)) {
        return err_set(em, ERR_IO, "rename [%s]: [%s] is in the way", from, to);
    }
    m->used -= old != NULL ? old->n : 0;
    inode->refs++; /* it must outlive the moment between two folders */
    bool ok = from_dir == to_dir
                  ? mem_dir_set(to_dir, b, inode, a)
                  : mem_dir_set(to_dir, b, inode, STR_NULL) && mem_dir_set(from_dir, a, NULL, STR_NULL);
    mem_inode_unref(inode);
    return ok ? ERR_OK : err_no_memory(em);
}

static enum err mem_rename(void *self, const char *from, const char *to, struct errmsg *em)
{
    struct fs_mem *m = self;
    enum outcome o = fs_mem_enter(m, CALL_WRITE);
    enum err e = o == FAIL || o == TEAR ? injected(em, "rename", from) : rename_locked(m, from, to, em);
    return fs_mem_leave(m, o, e, "rename", em);
}

static enum err remove_locked(struct fs_mem *m, const char *path, bool tree, struct errmsg *em)
{
    struct str name;
    struct mem_inode *dir = lookup_parent(m, path, &name);
    struct mem_inode *inode = dir != NULL ? mem_dir_get(dir, name.p, name.n) : NULL;
    if (inode == NULL) {
        return ERR_OK;
    }
    if (inode->is_dir && !tree) {
        return err_set(em, ERR_IO, "remove [%s]: Is a directory", path);
    }
    m->used -= mem_tree_bytes(inode);
    return mem_dir_set(dir, name, NULL, STR_NULL) ? ERR_OK : err_no_memory(em);
}

static enum err mem_remove(void *self, const char *path, struct errmsg *em)
{
    struct fs_mem *m = self;
    enum outcome o = fs_mem_enter(m, CALL_WRITE);
    enum err e = o == FAIL || o == TEAR ? injected(em, "remove", path) : remove_locked(m, path, false, em);
    return fs_mem_leave(m, o, e, "remove", em);
}

static enum err mem_remove_tree(void *self, const char *path, struct errmsg *em)
{
    struct fs_mem *m = self;
    enum outcome o = fs_mem_enter(m, CALL_WRITE);
    enum err e = o == FAIL || o == TEAR ? injected(em, "remove", path) : remove_locked(m, path, true, em);
    return fs_mem_leave(m, o, e, "remove", em);
}

static enum err make_dir_locked(struct fs_mem *m, const char *path, struct errmsg *em)
{
    struct mem_inode *at = m->root;
    struct str name;
    const char *rest = path;
    while (next_name(&rest, &name)) {
        struct mem_inode *next = mem_dir_get(at, name.p, name.n);
        if (next == NULL) {
            next = mem_inode_new(true);
            bool ok = next != NULL && mem_dir_set(at, name, next, STR_NULL);
            if (next != NULL) {
                mem_inode_unref(next);
            }
            if (!ok || !mem_dir_sync(at)) {
                return err_no_memory(em);
            }
        } else if (!next->is_dir) {
            return err_set(em, ERR_IO, "make folder [%s]: Not a directory", path);
        }
        at = next;
    }
    return ERR_OK;
}

static enum err mem_make_dir(void *self, const char *path, struct errmsg *em)
{
    struct fs_mem *m = self;
    enum outcome o = fs_mem_enter(m, CALL_WRITE);
    enum err e = o == FAIL || o == TEAR ? injected(em, "make folder", path) : make_dir_locked(m, path, em);
    return fs_mem_leave(m, o, e, "make folder", em);
}

static enum err mem_sync_dir(void *self, const char *path, struct errmsg *em)
{
    struct fs_mem *m = self;
    before_sync(m);
    enum outcome o = fs_mem_enter(m, CALL_SYNC);
    struct mem_inode *d = mem_lookup(m, path);
    enum err e = ERR_OK;
    if (o == FAIL || o == TEAR) {
        e = injected(em, "sync", path);
    } else if (d == NULL || !d->is_dir) {
        e = no_such(em, "sync", path);
    } else {
        m->syncs++;
        e = mem_dir_sync(d) ? ERR_OK : err_no_memory(em);
    }
    return fs_mem_leave(m, o, e, "sync", em);
}

static enum err mem_list(void *self, const char *path, struct arena *arena, struct fs_names *out,
                         struct errmsg *em)
{
    struct fs_mem *m = self;
    *out = (struct fs_names){0};
    enum outcome o = fs_mem_enter(m, CALL_READ);
    struct mem_inode *d = mem_lookup(m, path);
    enum err e = ERR_OK;
    if (o != GO) {
        e = injected(em, "list", path);
    } else if (d != NULL && !d->is_dir) {
        e = err_set(em, ERR_IO, "list [%s]: Not a directory", path);
    } else if (d != NULL && d->now.n > 0) {
        out->v = ARENA_ARRAY(arena, struct str, d->now.n);
        e = out->v != NULL ? ERR_OK : err_no_memory(em);
        for (size_t i = 0; i < d->now.n && e == ERR_OK; i++) {
            out->v[i] = arena_str(arena, str_of(d->now.v[i].name));
            e = out->v[i].p != NULL ? ERR_OK : err_no_memory(em);
            out->n++;
        }
    }
    return fs_mem_leave(m, o, e, "list", em);
}

static enum err mem_size(void *self, const char *path, bool *exists, uint64_t *n, struct errmsg *em)
{
    struct fs_mem *m = self;
    enum outcome o = fs_mem_enter(m, CALL_READ);
    const struct mem_inode *i = mem_lookup(m, path);
    *exists = i != NULL;
    *n = i != NULL ? i->n : 0;
    return fs_mem_leave(m, o, o != GO ? injected(em, "stat", path) : ERR_OK, "stat", em);
}

static enum err lock_locked(struct fs_mem *m, const char *path, void **lock, struct errmsg *em)
{
    struct mem_inode *d = mem_lookup(m, path);
    if (d == NULL || !d->is_dir) {
        return no_such(em, "lock", path);
    }
    for (const struct fs_file *h = m->handles.next; h != &m->handles; h = h->next) {
        if (h->kind == HANDLE_LOCK && h->inode == d && !h->dead) {
            return err_set(em, ERR_IO, "lock [%s/node.lock]: already held", path);
        }
    }
    /* The real one leaves its file behind. */
    struct mem_inode *file = mem_dir_get(d, "node.lock", 9);
    if (file == NULL) {
        file = mem_inode_new(false);
        bool ok = file != NULL && mem_dir_set(d, STR("node.lock"), file, STR_NULL);
        if (file != NULL) {
            mem_inode_unref(file);
        }
        if (!ok) {
            return err_no_memory(em);
        }
    }
    *lock = handle_new(m, HANDLE_LOCK, d);
    return *lock != NULL ? ERR_OK : err_no_memory(em);
}

static enum err mem_lock(void *self, const char *path, void **lock, struct errmsg *em)
{
    struct fs_mem *m = self;
    *lock = NULL;
    enum outcome o = fs_mem_enter(m, CALL_READ);
    enum err e = o != GO ? injected(em, "lock", path) : lock_locked(m, path, lock, em);
    return fs_mem_leave(m, o, e, "lock", em);
}

static void mem_unlock(void *self, void *lock)
{
    mem_close(self, lock);
}

static enum err mem_space(void *self, const char *path, uint64_t *total, uint64_t *available,
                          struct errmsg *em)
{
    struct fs_mem *m = self;
    enum outcome o = fs_mem_enter(m, CALL_READ);
    *total = m->capacity;
    *available = m->capacity - MIN_OF(m->used, m->capacity);
    return fs_mem_leave(m, o, o != GO ? injected(em, "statvfs", path) : ERR_OK, "statvfs", em);
}

const struct fs mem_calls = {
    .open = mem_open,
    .write = mem_write,
    .patch = mem_patch,
    .sync = mem_sync,
    .close = mem_close,
    .truncate = mem_truncate,
    .map = mem_map,
    .unmap = mem_unmap,
    .rename = mem_rename,
    .remove = mem_remove,
    .remove_tree = mem_remove_tree,
    .make_dir = mem_make_dir,
    .sync_dir = mem_sync_dir,
    .list = mem_list,
    .size = mem_size,
    .lock = mem_lock,
    .unlock = mem_unlock,
    .space = mem_space,
};
