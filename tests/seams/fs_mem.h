/* fs_mem.h - files in memory, for tests and the simulator: every fault a disk has, on demand.
 *
 * Each file knows which of its bytes were synced, each folder which of its names were; fs_mem_drop_unsynced()
 * forgets the rest, as a power failure may. Deterministic: no time, no chance of its own. Any thread may
 * call. */
#ifndef SEAMS_FS_MEM_H
#define SEAMS_FS_MEM_H

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
bool fs_mem_fired(struct fs_mem *m);     /* since the last fs_mem_fail_at() */
uint64_t fs_mem_syncs(struct fs_mem *m); /* of files and folders */

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
uint64_t fs_mem_used(struct fs_mem *m);
/* Flips one bit of a file, synced or not; seen through mappings as well. false: no such byte. */
bool fs_mem_flip(struct fs_mem *m, const char *path, uint64_t byte, unsigned bit);

/* ---- what bad disks do ----
 *
 * What is not as it was written is remembered with the file, and is gone with it, or when it is written anew. */

/* At rest, as a page that is read again is seen: by mappings made from then on. A file that a process has mapped stays as it is:
 * one that is in memory is not read again. */
enum fs_mem_harm {
    FS_MEM_FLIP,  /* one bit */
    FS_MEM_ZEROS, /* a sector of 512 bytes, or what the file has of it */
    FS_MEM_CUT,   /* the file ends earlier; only while no process has it open */
};
/* Somewhere in that file. false: there is no such file, nothing in it, it is mapped, or a power failure took back what was written
 * over in it and nobody synced it since: what the file said of its end may be older than the end, which nobody would miss. */
bool fs_mem_harm(struct fs_mem *m, const char *path, enum fs_mem_harm how, struct rng *r);
/* The file has what another one has, on any disk, as far as it reaches. false: as above, or they have the same. */
bool fs_mem_harm_with(struct fs_mem *m, const char *path, struct fs_mem *of, const char *other);
/* How many files at or below `path` are not as they were written. */
unsigned fs_mem_harmed(struct fs_mem *m, const char *path);
/* All at or below `path` becomes again what was written; for files that no process has open. */
void fs_mem_heal(struct fs_mem *m, const char *path);
/* Each file at or below `path`, by name; it may not call back. */
void fs_mem_each(struct fs_mem *m, const char *path, void (*fn)(void *self, const char *path, uint64_t bytes),
                 void *self);
/* The next write to a file below `dir` does not get there, and zeros are in its place (of a patch: what was there before);
 * `misplaced`: it lands somewhere in another file below `dir` that is not mapped, and not in a "seal". NULL: no write. */
void fs_mem_lose_write(struct fs_mem *m, const char *dir, bool misplaced, uint64_t seed);
uint64_t fs_mem_writes_lost(struct fs_mem *m);

struct fs_mem_trouble { /* of a thousand calls so many fail */
    unsigned reads, writes, syncs;
};
void fs_mem_trouble(struct fs_mem *m, const struct fs_mem_trouble *t, uint64_t seed);

#endif
