/* fs.h - files, as everything above sees them: one of the simulator's seams.
 *
 * common/sys/fs_posix.c is the real one; tests/seams/fs_mem.c keeps everything in memory and can fail any
 * call, tear writes, forget what was not synced, and keep a mapping alive after its file was removed, as a
 * real system does.
 *
 * Paths are '/'-separated and absolute or relative to the process (posix) or to the root (memory). A file
 * that was written is durable after sync() of it, and its name (after create, rename, remove) after
 * sync_dir() of its folder. Calls block; those that take long are made on pool threads. Every call may be
 * made from any thread; one file handle belongs to one thread at a time. Errors are ERR_IO, with ERR_CORRUPT
 * for a mapping that cannot be what it should. */
#ifndef BASE_FS_H
#define BASE_FS_H

#include "common/base/arena.h"
#include "common/base/err.h"

struct fs_file; /* open for appending */

struct fs_map { /* a whole file, read-only */
    const uint8_t *p;
    size_t n;
    void *handle; /* the implementation's */
};

struct fs_names {
    struct str *v; /* in the caller's arena, sorted by bytes, without "." and ".." */
    size_t n;
};

struct fs {
    void *self;
    /* Opens for appending. `fresh`: the file is made, or emptied; else it must exist, and writes go behind
     * its end. */
    enum err (*open)(void *self, const char *path, bool fresh, struct fs_file **out, struct errmsg *em);
    /* Appends all n bytes. After an error nothing is known of the tail. */
    enum err (*write)(void *self, struct fs_file *f, const void *p, size_t n, struct errmsg *em);
    /* Overwrites n bytes that the file has, from `at` on. Until the next sync a crash leaves any part of them as
     * it was. */
    enum err (*patch)(void *self, struct fs_file *f, uint64_t at, const void *p, size_t n, struct errmsg *em);
    /* Durable when it returns ERR_OK. After an error the file must be taken for lost (never retried). */
    enum err (*sync)(void *self, struct fs_file *f, struct errmsg *em);
    void (*close)(void *self, struct fs_file *f); /* NULL ok */
    /* Cuts an unopened file down to n bytes, durably. */
    enum err (*truncate)(void *self, const char *path, uint64_t n, struct errmsg *em);
    /* Maps a whole file; an empty file gives p == NULL, n == 0. The mapping outlives remove(). */
    enum err (*map)(void *self, const char *path, struct fs_map *out, struct errmsg *em);
    void (*unmap)(void *self, struct fs_map *m);
    /* Replaces `to` atomically. */
    enum err (*rename)(void *self, const char *from, const char *to, struct errmsg *em);
    enum err (*remove)(void *self, const char *path, struct errmsg *em); /* a file; absent is ERR_OK */
    enum err (*remove_tree)(void *self, const char *path, struct errmsg *em);
    /* With its parents, durably; present is ERR_OK. */
    enum err (*make_dir)(void *self, const char *path, struct errmsg *em);
    enum err (*sync_dir)(void *self, const char *path, struct errmsg *em);
    /* ERR_OK with n == 0 for a folder that does not exist. */
    enum err (*list)(void *self, const char *path, struct arena *arena, struct fs_names *out,
                     struct errmsg *em);
    enum err (*size)(void *self, const char *path, bool *exists, uint64_t *n, struct errmsg *em);
    /* Takes the exclusive lock of a data folder (held until unlock or the end of the process). */
    enum err (*lock)(void *self, const char *path, void **lock, struct errmsg *em);
    void (*unlock)(void *self, void *lock);
    enum err (*space)(void *self, const char *path, uint64_t *total, uint64_t *available, struct errmsg *em);
};

/* A whole small file, copied into the arena with a NUL behind it. ERR_IO when it is absent or above
 * bytes_max. */
enum err fs_read_file(const struct fs *fs, const char *path, size_t bytes_max, struct arena *arena,
                      struct str *out, struct errmsg *em);
/* Puts `bytes` in place of a file (or makes it) so that after a crash there is the old or the new one:
 * written beside it as
 * "<path>.tmp", synced, renamed, folder synced. Durable when it returns ERR_OK. */
enum err fs_replace_file(const struct fs *fs, const char *path, struct str bytes, struct errmsg *em);

#endif
