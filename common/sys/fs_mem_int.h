/* fs_mem_int.h - the inside of the files in memory: for fs_mem.c (the calls) and fs_mem_faults.c (what a disk
 * does to them). Everything below the mutex. */
#ifndef SYS_FS_MEM_INT_H
#define SYS_FS_MEM_INT_H

#include "common/sys/fs_mem.h"
#include "common/sys/fs_mem_tree.h"

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
    void (*before_sync)(void *arg); /* NULL: nothing */
    void *before_sync_arg;
};

extern const struct fs mem_calls;

void mem_handle_free(struct fs_file *h);
/* NULL: no such file or folder. */
struct mem_inode *mem_lookup(const struct fs_mem *m, const char *path);

#endif
