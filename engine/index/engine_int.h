/* engine_int.h - the engine's inside, for engine*.c only.
 *
 * Invariants (engine_invariant() asserts those that can be seen):
 * - An id has at most one living document over the buffer and all slots, as the strand sees them
 * (slot_live()).
 * - A name in the version map's buffered table points to a living buffered document; a tombstone's id has
 * none anywhere.
 * - The root of a tombstone is dead from the moment it is buffered.
 * - What a manifest names is durable before the manifest is; a file goes only when no manifest, slot or job
 * names it.
 * - Every operation above a kept commit's local checkpoint is in the translog from that commit's generation
 * on.
 * - processed.checkpoint >= persisted.checkpoint; a commit's operations are durable in the translog before
 * its manifest. */
#ifndef ENGINE_INDEX_ENGINE_INT_H
#define ENGINE_INDEX_ENGINE_INT_H

#include "engine/index/checkpoint.h"
#include "engine/index/engine.h"
#include "engine/index/live.h"
#include "engine/index/manifest.h"
#include "engine/index/op_ids.h"
#include "engine/index/segment_writer.h"
#include "engine/index/translog.h"
#include "engine/index/version_map.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct slot {        /* a segment in the engine */
    uint64_t number; /* of its file, whether or not it has one */
    struct segment *segment;
    const char *memory; /* its bytes when they are in memory (owned by the segment) */
    struct live *live;  /* as last settled; NULL: all documents live */
    struct live *next;  /* the strand's copy with later deletions; NULL: none since */
    struct live *saved; /* the one that the file of live_generation holds; NULL: none */
    uint64_t live_generation, live_bytes, live_checksum;
    bool in_file, durable; /* durable: synced, and the two below are known */
    uint64_t bytes, checksum;
    bool settled;               /* counted: of the last refresh or flush */
    bool shown;                 /* searches see it */
    struct engine_merge *merge; /* that holds it */
    struct num_column seq_no, primary_term, version;
    uint32_t retained, retained_live; /* dead documents that history needs, as counted when so many lived */
    int64_t retained_from;
};

struct commit {
    struct engine_commit pub;
    struct commit *next; /* older */
    struct manifest m;
    struct arena arena; /* of all the above */
    uint32_t pins;
    bool dropped; /* superseded; goes when the pins do */
};

struct held_leaf { /* what a leaf shows, with the view's references */
    struct segment *segment;
    struct live *live;
};

struct engine_view {
    struct view v;
    const struct allocator *alloc;
    size_t n;
    struct leaf *leaves;
    struct held_leaf *held;
};

struct engine {
    const struct fs *fs;
    const struct clock *clock;
    const struct allocator *alloc;
    char *dir, *uuid;
    uint32_t shard;
    engine_parse_fn *parse;
    void *parse_self;
    struct engine_settings settings;
    struct buf user_data;

    enum err failure;
    struct errmsg failure_em; /* in failure_arena */
    struct arena failure_arena;

    struct mapping *mapping;
    uint64_t mapping_version;

    struct index_buffer *buffer;
    uint64_t *buffer_dead; /* roots of the buffer that died in it */
    size_t buffer_dead_words, buffer_dead_n;
    struct version_map versions;
    struct slot **slots; /* oldest first */
    size_t n_slots, slots_cap;
    uint64_t next_number, next_commit;
    bool changed;          /* a refresh would give a new view */
    bool unseen;           /* one that has other documents */
    bool uncommitted;      /* a flush would give a new commit */
    bool doubts;           /* that one is to need nothing of the log there is */
    int64_t history_floor; /* operations below are not given as history: the log may not have them any more */

    struct seq_tracker processed, persisted;
    int64_t global_checkpoint, global_persisted;
    int64_t append_barrier; /* above it, no operation but appends of fresh ids was applied */
    int64_t max_auto_id_ms;
    int64_t retention_from;
    int64_t held_from; /* as engine_hold_history() */
    struct op_ids op_ids;

    struct translog log;
    enum engine_verify verify;
    bool replaying; /* operations come from our own translog */
    struct arena parse_arena;
    int64_t last_sync_ms, last_prune_ms;
    _Atomic uint64_t durable;

    struct commit *commits; /* newest first */
    struct engine_flush *flush;
    bool sweep;                  /* files may have lost their names while the flush was out */
    struct engine_merge *merges; /* that are out */
    uint64_t epoch;              /* counts rollbacks: a merge of an earlier one is void */

    pthread_mutex_t view_lock; /* held for a pointer's load and a count */
    struct view *view;
    uint64_t view_generation, refreshed;

    struct engine_stats stats; /* the counters of it */
};

/* Where an id's newest state is. */
enum place { PLACE_NONE, PLACE_TOMB, PLACE_BUFFER, PLACE_SLOT };
struct found {
    enum place place;
    int64_t seq_no, primary_term, version;
    int64_t at_ms; /* PLACE_TOMB */
    doc_id doc;
    struct slot *slot;
};

/* engine.c */
enum err engine_check(const struct engine *e, struct errmsg *em); /* its failure, if any */
enum err engine_fail(struct engine *e, enum err code, const struct errmsg *why);

/* engine_retain.c: dead documents from this sequence number on stay in merges; INT64_MAX: none. */
int64_t engine_retained_from(struct engine *e);
uint32_t slot_count_retained(struct slot *s, int64_t from);
void slot_mark_retained(const struct slot *s, int64_t from, uint64_t *bits);

/* engine_slots.c */
static inline const struct live *slot_live(const struct slot *s)
{
    return s->next != NULL ? s->next : s->live;
}
static inline const uint64_t *slot_words(const struct slot *s)
{
    const struct live *l = slot_live(s);
    return l != NULL ? l->words : NULL;
}
uint32_t slot_live_docs(const struct slot *s);
uint32_t slot_live_roots(const struct slot *s);
/* Takes the segment on success. */
enum err slot_new(struct slot **out, struct engine *e, uint64_t number, struct segment *segment,
                  struct errmsg *em);
void slot_free(struct engine *e, struct slot *s);               /* NULL ok */
void slot_set_segment(struct slot *s, struct segment *segment); /* takes it; the columns are opened anew */
/* Makes sure that there is a copy of the live documents to change. */
enum err slot_prepare_kill(struct engine *e, struct slot *s, struct errmsg *em);
enum err engine_slots_reserve(struct engine *e, struct errmsg *em); /* room for one more */
void engine_remove_slot(struct engine *e, size_t i); /* frees it; its file goes when nothing names it */
void engine_slots_free(struct engine *e);
/* A damaged segment on the way fails the engine: engine_check() comes after. */
void engine_find(struct engine *e, struct str id, uint64_t hash, bool in_segments, struct found *out);
/* Does a slot, commit or merge need the segment's file (live_generation 0), a commit the bitmap's? */
bool engine_names(const struct engine *e, uint64_t number, uint64_t live_generation);
/* Removes the file unless something names it. */
void engine_remove_if_unnamed(struct engine *e, uint64_t number, uint64_t live_generation);
enum err engine_path(const struct engine *e, const char *name, char **out,
                     struct errmsg *em); /* free with e->alloc */

/* engine_refresh.c */
enum err engine_publish(struct engine *e, struct errmsg *em); /* a view of the slots as they are */
/* Deletions made since become bitmaps that do not change any more; searches do not see them yet. Slots without documents go. */
void engine_settle(struct engine *e);
void engine_prune(struct engine *e);

/* engine_merge.c */
bool engine_merge_names(const struct engine *e, uint64_t number);

/* engine_commit.c */
/* ERR_CORRUPT also when it is another index's or shard's. */
enum err commit_new(struct commit **out, const struct allocator *alloc, const char *uuid, uint32_t shard,
                    struct str manifest, struct errmsg *em);
void commit_free(struct commit *c); /* NULL ok */
/* The files that a manifest names, in `arena`. false: no memory. */
bool manifest_files(const struct manifest *m, struct arena *arena, const struct engine_file **out, size_t *n);
struct commit *engine_safe_commit(struct engine *e,
                                  int64_t seq_no); /* newest kept one with max_seq_no <= seq_no; NULL */
/* Dropped commits that nobody copies from: their files go unless something else names them. */
void engine_sweep_commits(struct engine *e);
/* Its manifest goes now, its files when nothing names them. false: the manifest cannot be removed, nothing
 * changed. */
bool engine_remove_commit(struct engine *e, struct commit *c);
enum err hash_file(const struct fs *fs, const char *path, uint64_t *bytes, uint64_t *checksum,
                   struct errmsg *em);
enum err write_file(const struct fs *fs, const char *path, struct str bytes, bool sync, struct errmsg *em);

/* engine_files.c */
struct engine_files { /* what the folder holds */
    struct fs_names names;
    uint64_t *manifests; /* generations, ascending */
    size_t n_manifests;
    uint64_t next_number, next_commit; /* above everything seen */
    bool any;                          /* something of ours */
    bool used;                         /* more than what a first commit that was not finished leaves */
};
/* Looks through the folder; *s lives in `arena`. */
enum err engine_scan(const struct engine *e, struct arena *arena, struct engine_files *s, struct errmsg *em);
enum err engine_remove_name(const struct engine *e, struct arena *arena, struct str name, struct errmsg *em);
/* Removes all that is a copy's. */
enum err engine_wipe(const struct engine *e, struct arena *arena, const struct engine_files *s,
                     struct errmsg *em);
/* Does the folder hold a commit, or a log with operations? */
enum err engine_holds_data(const struct engine *e, struct arena *arena, const struct engine_files *s,
                           bool *held, struct errmsg *em);

/* engine_recover.c */
enum err engine_load(struct engine *e, struct commit *c,
                     struct errmsg *em); /* slots and trackers as of the commit */
/* Empty translog and first manifest of a folder without a copy. */
enum err engine_write_first(struct engine *e, struct manifest *m, struct errmsg *em);
enum err engine_start(struct engine *e, enum engine_open_mode mode, struct errmsg *em);
enum err engine_remove_orphans(struct engine *e, struct errmsg *em);

#endif
