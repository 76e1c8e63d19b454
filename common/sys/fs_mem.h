/* fs_mem.h - files in memory, for tests and the simulator: every fault a disk has, on demand.
 *
 * Each file knows which of its bytes were synced, each folder which of its names were; fs_mem_drop_unsynced()
 * forgets the rest, as a power failure may. Deterministic: no time, no chance of its own. Any thread may
 * call. */
#ifndef SYS_FS_MEM_H
#define SYS_FS_MEM_H

#include "common/base/fs.h"
#include "common/base/rand.h"

struct fs_mem;

enum fs_mem_fault {
    FS_MEM_FAIL,       /* the call does nothing and fails */
    FS_MEM_TEAR,       /* a write leaves its first half; other calls as FS_MEM_FAIL */
    FS_MEM_FAIL_FROM,  /* that call and every later one: a disk that died */
    FS_MEM_AFTERWARDS, /* the call does its work and says that it failed */
};

struct fs_mem *fs_mem_new(void); /* NULL: no memory */
/* With all that is still open or mapped: a simulated process that was killed closes nothing. NULL ok. */
void fs_mem_free(struct fs_mem *m);
const struct fs *fs_mem_fs(struct fs_mem *m); /* borrowed from m */

/* The nth call from now (1-based; every call that can fail counts) fails with ERR_IO; 0 turns it off. */
void fs_mem_fail_at(struct fs_mem *m, uint64_t n, enum fs_mem_fault how);
bool fs_mem_fired(const struct fs_mem *m); /* since the last fs_mem_fail_at() */
uint64_t fs_mem_calls(const struct fs_mem *m);
uint64_t fs_mem_syncs(const struct fs_mem *m); /* of files and folders */

/* Power loss: unsynced bytes and names are gone, locks are free, open files are dead (every call on one fails
 * but close). Mappings stay readable. */
void fs_mem_drop_unsynced(struct fs_mem *m);
/* The same, but of what was not synced a random part survives: a prefix of a file's tail, some of a folder's
 * changes. A disk is free to do that, too. */
void fs_mem_crash(struct fs_mem *m, struct rng *r);
/* kill -9 of the process: bytes and names stay, locks are free, open files are dead. */
void fs_mem_kill(struct fs_mem *m);

/* Called before each sync of a file or folder does anything, in its caller's thread; it may take its time, and the process may
 * be killed meanwhile. NULL: nothing. */
void fs_mem_before_sync(struct fs_mem *m, void (*fn)(void *arg), void *arg);

/* Room on the disk in bytes (default 1 TiB); a write that does not fit fails, leaving what fits. */
void fs_mem_set_capacity(struct fs_mem *m, uint64_t bytes);
uint64_t fs_mem_used(const struct fs_mem *m);
/* Flips one bit of a file, synced or not; seen through mappings as well. false: no such byte. */
bool fs_mem_flip(struct fs_mem *m, const char *path, uint64_t byte, unsigned bit);

#endif
