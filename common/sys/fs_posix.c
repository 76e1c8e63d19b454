#include "common/sys/fs_posix.h"
#include "common/base/sort_items.h"

#include "common/base/mapped.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct fs_file {
    int fd;
    off_t end;
};

static enum err io_error(struct errmsg *em, const char *what, const char *path)
{
    int errnum = errno;
    char text[PATH_MAX + 32];
    snprintf(text, sizeof(text), "%s [%s]", what, path);
    return err_errno(em, errnum, text);
}

static enum err posix_open(UNUSED void *self, const char *path, bool fresh, struct fs_file **out,
                           struct errmsg *em)
{
    *out = NULL;
    struct fs_file *f = malloc(sizeof(*f));
    if (f == NULL) {
        return err_no_memory(em);
    }
    f->fd = open(path, O_WRONLY | O_CLOEXEC | (fresh ? O_CREAT | O_TRUNC : 0), 0644);
    if (f->fd < 0) {
        free(f);
        return io_error(em, "open", path);
    }
    f->end = lseek(f->fd, 0, SEEK_END);
    if (f->end < 0) {
        enum err e = io_error(em, "seek", path);
        close(f->fd);
        free(f);
        return e;
    }
    *out = f;
    return ERR_OK;
}

static enum err posix_write(UNUSED void *self, struct fs_file *f, const void *p, size_t n, struct errmsg *em)
{
    const char *at = p;
    while (n > 0) {
        ssize_t w = pwrite(f->fd, at, n, f->end);
        if (w < 0 && errno == EINTR) {
            continue;
        }
        if (w <= 0) {
            return err_errno(em, w == 0 ? ENOSPC : errno, "write");
        }
        at += w;
        n -= (size_t)w;
        f->end += w;
    }
    return ERR_OK;
}

static enum err posix_patch(UNUSED void *self, struct fs_file *f, uint64_t at, const void *p, size_t n,
                            struct errmsg *em)
{
    if (at + n > (uint64_t)f->end) {
        return err_set(em, ERR_IO, "patch: the file ends before byte %llu", (unsigned long long)(at + n));
    }
    for (const char *from = p; n > 0;) {
        ssize_t w = pwrite(f->fd, from, n, (off_t)at);
        if (w < 0 && errno == EINTR) {
            continue;
        }
        if (w <= 0) {
            return err_errno(em, w == 0 ? ENOSPC : errno, "write");
        }
        from += w;
        at += (uint64_t)w;
        n -= (size_t)w;
    }
    return ERR_OK;
}

static enum err posix_sync(UNUSED void *self, struct fs_file *f, struct errmsg *em)
{
    return fdatasync(f->fd) == 0 ? ERR_OK : err_errno(em, errno, "fdatasync");
}

static void posix_close(UNUSED void *self, struct fs_file *f)
{
    if (f != NULL) {
        close(f->fd);
        free(f);
    }
}

static enum err posix_truncate(UNUSED void *self, const char *path, uint64_t n, struct errmsg *em)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return io_error(em, "open", path);
    }
    struct stat st;
    enum err e = ERR_OK;
    if (fstat(fd, &st) != 0) {
        e = io_error(em, "stat", path);
    } else if ((uint64_t)st.st_size < n) {
        e = err_set(em, ERR_IO, "truncate [%s]: it has only %lld bytes", path, (long long)st.st_size);
    } else if (ftruncate(fd, (off_t)n) != 0 || fsync(fd) != 0) {
        e = io_error(em, "truncate", path);
    }
    close(fd);
    return e;
}

/* A page of a mapping cannot be read: its file was cut off, or the disk fails. Zeroes take the place of it and of all behind,
 * and the mapping's owner can know (mapped.h). Anything else is what it always was. */
static void on_bus(int signo, siginfo_t *info, UNUSED void *context)
{
    int errnum = errno;
    uintptr_t page_mask = (uintptr_t)sysconf(_SC_PAGESIZE) - 1, page = (uintptr_t)info->si_addr & ~page_mask;
    const void *end;
    if (!mapped_lose(info->si_addr, &end)
        || mmap((void *)page, (((uintptr_t)end + page_mask) & ~page_mask) - page, PROT_READ,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
               == MAP_FAILED) {
        signal(signo, SIG_DFL);
    }
    errno = errnum;
}

static void watch_bus(void)
{
    struct sigaction a = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO};
    sigemptyset(&a.sa_mask);
    sigaction(SIGBUS, &a, NULL);
}

static enum err posix_map(UNUSED void *self, const char *path, struct fs_map *out, struct errmsg *em)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_bus);
    *out = (struct fs_map){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return io_error(em, "open", path);
    }
    struct stat st;
    enum err e = ERR_OK;
    if (fstat(fd, &st) != 0) {
        e = io_error(em, "stat", path);
    } else if (!S_ISREG(st.st_mode)) {
        e = err_set(em, ERR_IO, "map [%s]: not a file", path);
    } else if (st.st_size > 0) {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (p == MAP_FAILED) {
            e = io_error(em, "map", path);
        } else {
            *out =
                (struct fs_map){.p = p, .n = (size_t)st.st_size, .handle = mapped_add(p, (size_t)st.st_size)};
            if (out->handle == NULL) {
                munmap(p, (size_t)st.st_size);
                *out = (struct fs_map){0};
                e = err_no_memory(em);
            }
        }
    }
    close(fd);
    return e;
}

static void posix_unmap(UNUSED void *self, struct fs_map *m)
{
    if (m->p != NULL) {
        mapped_remove(m->handle);
        munmap(UNCONST(void *, m->p), m->n); /* POSIX's: the map is for reading alone */
    }
    *m = (struct fs_map){0};
}

static enum err posix_rename(UNUSED void *self, const char *from, const char *to, struct errmsg *em)
{
    return rename(from, to) == 0 ? ERR_OK : io_error(em, "rename", from);
}

static enum err posix_remove(UNUSED void *self, const char *path, struct errmsg *em)
{
    return unlink(path) == 0 || errno == ENOENT ? ERR_OK : io_error(em, "remove", path);
}

/* Empties the folder open as fd, which it closes. 0, or errno. Symbolic links are removed, not followed. */
static int empty_folder(int fd)
{
    DIR *dir = fdopendir(fd);
    if (dir == NULL) {
        int errnum = errno;
        close(fd);
        return errnum;
    }
    int errnum = 0;
    struct dirent *entry;
    while (errnum == 0 && (entry = readdir(dir)) != NULL) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
            continue;
        }
        if (unlinkat(dirfd(dir), name, 0) == 0 || errno == ENOENT) {
            continue;
        }
        if (errno != EISDIR && errno != EPERM) {
            errnum = errno;
            break;
        }
        int below = openat(dirfd(dir), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        errnum = below < 0 ? errno : empty_folder(below);
        if (errnum == 0 && unlinkat(dirfd(dir), name, AT_REMOVEDIR) != 0) {
            errnum = errno;
        }
    }
    closedir(dir);
    return errnum;
}

static enum err posix_remove_tree(UNUSED void *self, const char *path, struct errmsg *em)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT    ? ERR_OK
               : errno == ENOTDIR ? posix_remove(self, path, em)
                                  : io_error(em, "open", path);
    }
    int errnum = empty_folder(fd);
    if (errnum == 0 && rmdir(path) != 0) {
        errnum = errno;
    }
    errno = errnum;
    return errnum == 0 ? ERR_OK : io_error(em, "remove", path);
}

static enum err posix_sync_dir(UNUSED void *self, const char *path, struct errmsg *em)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return io_error(em, "open", path);
    }
    enum err e = fsync(fd) == 0 ? ERR_OK : io_error(em, "fsync", path);
    close(fd);
    return e;
}

/* Makes the folder path[0, end) if it is absent, and its name durable in its parent. `path` is changed and
 * restored. */
static enum err make_one(char *path, size_t end, struct errmsg *em)
{
    char kept = path[end];
    path[end] = '\0';
    enum err e = ERR_OK;
    struct stat st;
    if (mkdir(path, 0755) == 0) {
        size_t parent = end;
        while (parent > 0 && path[parent - 1] != '/') {
            parent--;
        }
        if (parent == 0) {
            e = posix_sync_dir(NULL, ".", em);
        } else {
            char first = path[parent];
            path[parent] = '\0';
            e = posix_sync_dir(NULL, path, em);
            path[parent] = first;
        }
    } else if (errno != EEXIST) {
        e = io_error(em, "make folder", path);
    } else if (stat(path, &st) != 0) {
        e = io_error(em, "make folder", path);
    } else if (!S_ISDIR(st.st_mode)) {
        errno = ENOTDIR;
        e = io_error(em, "make folder", path);
    }
    path[end] = kept;
    return e;
}

static enum err posix_make_dir(UNUSED void *self, const char *path, struct errmsg *em)
{
    char copy[PATH_MAX];
    size_t n = strlen(path);
    if (n >= sizeof(copy)) {
        errno = ENAMETOOLONG;
        return io_error(em, "make folder", path);
    }
    memcpy(copy, path, n + 1);
    for (size_t i = 1; i <= n; i++) {
        if ((i == n || copy[i] == '/') && copy[i - 1] != '/') {
            enum err e = make_one(copy, i, em);
            if (e != ERR_OK) {
                return e;
            }
        }
    }
    return ERR_OK;
}

static int by_bytes(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static enum err posix_list(UNUSED void *self, const char *path, struct arena *arena, struct fs_names *out,
                           struct errmsg *em)
{
    *out = (struct fs_names){0};
    DIR *dir = opendir(path);
    if (dir == NULL) {
        return errno == ENOENT ? ERR_OK : io_error(em, "list", path);
    }
    enum err e = ERR_OK;
    size_t cap = 0;
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(dir);
        if (entry == NULL) {
            e = errno != 0 ? io_error(em, "list", path) : ERR_OK;
            break;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        struct str *v = arena_grow(arena, out->v, out->n, &cap, sizeof(*v));
        struct str name = arena_str(arena, str_of(entry->d_name));
        if (v == NULL || name.p == NULL) {
            e = err_no_memory(em);
            break;
        }
        out->v = v;
        out->v[out->n++] = name;
    }
    closedir(dir);
    sort_items(out->v, out->n, sizeof(*out->v), by_bytes);
    return e;
}

static enum err posix_size(UNUSED void *self, const char *path, bool *exists, uint64_t *n, struct errmsg *em)
{
    struct stat st;
    *exists = false;
    *n = 0;
    if (stat(path, &st) != 0) {
        return errno == ENOENT || errno == ENOTDIR ? ERR_OK : io_error(em, "stat", path);
    }
    *exists = true;
    *n = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    return ERR_OK;
}

static enum err posix_lock(UNUSED void *self, const char *path, void **lock, struct errmsg *em)
{
    *lock = NULL;
    char name[PATH_MAX];
    if ((size_t)snprintf(name, sizeof(name), "%s/node.lock", path) >= sizeof(name)) {
        errno = ENAMETOOLONG;
        return io_error(em, "lock", path);
    }
    int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) {
        return io_error(em, "open", name);
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        enum err e = errno == EWOULDBLOCK ? err_set(em, ERR_IO, "lock [%s]: already held", name)
                                          : io_error(em, "lock", name);
        close(fd);
        return e;
    }
    *lock = (void *)((intptr_t)fd + 1); /* + 1: descriptor 0 is not NULL */
    return ERR_OK;
}

static void posix_unlock(UNUSED void *self, void *lock)
{
    if (lock != NULL) {
        close((int)((intptr_t)lock - 1));
    }
}

static enum err posix_space(UNUSED void *self, const char *path, uint64_t *total, uint64_t *available,
                            struct errmsg *em)
{
    struct statvfs st;
    if (statvfs(path, &st) != 0) {
        return io_error(em, "statvfs", path);
    }
    *total = (uint64_t)st.f_blocks * st.f_frsize;
    *available = (uint64_t)st.f_bavail * st.f_frsize;
    return ERR_OK;
}

static const struct fs the_posix = {
    .open = posix_open,
    .write = posix_write,
    .patch = posix_patch,
    .sync = posix_sync,
    .close = posix_close,
    .truncate = posix_truncate,
    .map = posix_map,
    .unmap = posix_unmap,
    .rename = posix_rename,
    .remove = posix_remove,
    .remove_tree = posix_remove_tree,
    .make_dir = posix_make_dir,
    .sync_dir = posix_sync_dir,
    .list = posix_list,
    .size = posix_size,
    .lock = posix_lock,
    .unlock = posix_unlock,
    .space = posix_space,
};

const struct fs *fs_posix(void)
{
    return &the_posix;
}
