/* fs_mem_tree.h - the files and folders behind fs_mem.c: what is there now, and what a power failure would
 * leave.
 *
 * A file's bytes are an append-only run (shared, copied before anything but an append), so that mappings and
 * the synced state are views of it. A folder is its durable names plus the list of changes since; syncing
 * replays them, a crash forgets the list or a tail of it. Not thread-safe: fs_mem.c locks. Allocation failure
 * gives false or NULL. */
#ifndef SEAMS_FS_MEM_TREE_H
#define SEAMS_FS_MEM_TREE_H

#include "common/base/rand.h"
#include "common/base/str.h"

struct mem_blob {
    size_t refs, cap;
    uint8_t bytes[];
};

struct mem_inode;

struct mem_entry {
    char *name;
    struct mem_inode *inode; /* one reference */
};

struct mem_names { /* sorted by name */
    struct mem_entry *v;
    size_t n, cap;
};

struct mem_change {
    char *name;
    struct mem_inode *inode; /* what the name stands for from then on; NULL: removed */
    char *also_gone;         /* a rename within the folder: the old name; else NULL */
};

/* Bytes of a file that are not what was written there: what should be. */
struct mem_wound {
    struct mem_wound *next;
    size_t at, n;
    bool end; /* the file ends there since */
    uint8_t bytes[];
};

struct mem_inode {
    size_t refs; /* entries of both kinds, changes, open files */
    bool is_dir;
    /* file */
    struct mem_blob *blob, *synced; /* NULL: no bytes */
    size_t n, synced_n;
    bool rewritten; /* emptied since the last sync, which had kept bytes */
    size_t patched; /* what was overwritten since the last sync lies below it */
    bool lost;      /* a sync failed: later ones claim success but keep nothing more, as Linux does */
    bool set_back; /* a power failure met what was overwritten: the file may say of itself less than it has */
    struct mem_wound *wounds;
    /* folder */
    struct mem_names now, durable;
    struct mem_change *changes;
    size_t changes_n, changes_cap;
};

struct mem_inode *mem_inode_new(bool is_dir);
void mem_inode_unref(struct mem_inode *i);
void mem_blob_unref(struct mem_blob *b); /* NULL ok */

bool mem_file_append(struct mem_inode *f, const void *p, size_t n) NODISCARD;
/* Overwrites bytes that are there; neither mappings nor the synced state see it. */
bool mem_file_patch(struct mem_inode *f, size_t at, const void *p, size_t n) NODISCARD;
void mem_file_empty(struct mem_inode *f);
bool mem_file_cut(struct mem_inode *f, size_t n) NODISCARD; /* durable at once */
void mem_file_sync(struct mem_inode *f);

/* At rest: the bytes there become others, on the disk as well; mappings keep what they show.
 * What was there is remembered. */
bool mem_file_harm(struct mem_inode *f, size_t at, const void *to, size_t n) NODISCARD;
/* The file ends there. */
bool mem_file_harm_end(struct mem_inode *f, size_t n) NODISCARD;
/* These n bytes belong at `at`, and are not there. */
bool mem_file_note_lost(struct mem_inode *f, size_t at, const void *p, size_t n) NODISCARD;
/* All that is remembered goes back into its place, on the disk as well. */
bool mem_file_heal(struct mem_inode *f) NODISCARD;
/* The bytes from there on are written anew, or gone. */
void mem_wounds_over(struct mem_inode *f, size_t at, size_t n);
void mem_wounds_free(struct mem_inode *f);
/* Gives the file a run of its own with room for `cap` bytes. */
bool mem_own_blob(struct mem_inode *f, size_t cap) NODISCARD;

struct mem_inode *mem_dir_get(const struct mem_inode *d, const char *name, size_t n); /* borrowed, or NULL */
/* inode NULL removes. `also_gone`: that name goes in the same step. */
bool mem_dir_set(struct mem_inode *d, struct str name, struct mem_inode *inode,
                 struct str also_gone) NODISCARD;
bool mem_dir_sync(struct mem_inode *d) NODISCARD;

/* Back to what was durable, below d too; with r, a random part of the rest stays. */
bool mem_tree_crash(struct mem_inode *d, struct rng *r) NODISCARD;
uint64_t mem_tree_bytes(const struct mem_inode *d);

#endif
