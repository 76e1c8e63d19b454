/* fs_mem_int.h - the inside of the files in memory: for fs_mem.c (the calls) and fs_mem_faults.c and fs_mem_damage.c
 * (what a disk does to them). Everything below the mutex. */
#ifndef SEAMS_FS_MEM_INT_H
#define SEAMS_FS_MEM_INT_H

#include "tests/seams/fs_mem.h"
#include "tests/seams/fs_mem_tree.h"

#include <pthread.h>

enum handle_kind { HANDLE_FILE, HANDLE_MAP, HANDLE_LOCK };

/* Whatever the code under test holds open; all of them are known, so that those of a killed one can be freed.
 */
struct fs_file {
    struct fs_file *prev, *next;
    enum handle_kind kind;
    bool dead;               /* its process was killed */
    struct mem_inode *inode; /* file; folder of a lock */
    struct mem_blob *blob;   /* map */
    char *path;              /* file: as it was opened */
};

struct fs_mem {
    struct fs fs;
    pthread_mutex_t mutex;
    struct mem_inode *root;
    struct fs_file handles; /* ring */
    uint64_t used, capacity;
    uint64_t calls, syncs;
    uint64_t countdown; /* 0: off */
    enum fs_mem_fault how;
    bool fired;
    struct fs_mem_trouble trouble;
    struct rng chance; /* of trouble, and of where a misplaced write lands */
    char *lose_in;     /* the next write below it does not get to its place; NULL: off */
    bool misplaced;
    uint64_t writes_lost;
    void (*before_sync)(void *arg); /* NULL: nothing */
    void *before_sync_arg;
};

extern const struct fs mem_calls;

/* Writes to a file of which nothing gets there. */
bool mem_write_is_lost(const struct fs_mem *m, const struct fs_file *f);
bool mem_lose_append(struct fs_mem *m, struct fs_file *f, const void *p, size_t n);
bool mem_lose_patch(struct fs_mem *m, struct fs_file *f, size_t at, const void *p, size_t n);

void mem_handle_free(struct fs_file *h);
/* NULL: no such file or folder. */
struct mem_inode *mem_lookup(const struct fs_mem *m, const char *path);

#endif
