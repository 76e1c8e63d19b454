/* manifest.h - commits on disk: which files make up a shard copy, and up to which operation.
 *
 * A manifest is written beside its place, synced, and renamed there, so that a file of the final name is
 * whole: one that is not is corruption, not a torn write. docs/store-format.md draws the bytes. Pure but for
 * manifest_write(). */
#ifndef ENGINE_INDEX_MANIFEST_H
#define ENGINE_INDEX_MANIFEST_H

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/fs.h"

#define MANIFEST_PREFIX     "manifest_"
#define MANIFEST_TMP        "manifest.tmp"
#define SEGMENT_PREFIX      "segment_"
#define LIVE_PREFIX         "live_"
#define MANIFEST_UUID_BYTES 56
#define FILE_NAME_BYTES     64

struct manifest_segment {
    uint64_t number;
    uint64_t bytes, checksum; /* of the file; XXH3 */
    uint64_t footer;          /* segment_footer(); 0: a manifest of version 1 does not say it */
    uint32_t docs, live_docs, live_roots;
    uint64_t live_generation; /* 0: no deletions, no file */
    uint64_t live_bytes, live_checksum;
};

struct manifest {
    uint64_t generation;
    uint32_t shard;
    char uuid[MANIFEST_UUID_BYTES];
    uint64_t next_number; /* of segments and live files: never used twice */
    int64_t max_seq_no, local_checkpoint, global_checkpoint;
    uint64_t translog_generation; /* every operation above the local checkpoint is in it or behind it */
    uint64_t translog_id;         /* which its generations have; 0: version 1 and 2 do not say it */
    uint64_t mapping_version;
    int64_t max_auto_id_ms;
    struct str user_data;
    struct str op_names; /* op_ids_encode(); empty in version 1. Decoded: borrowed from the bytes */
    struct manifest_segment *segments; /* in the order of the view */
    size_t n_segments;
};

void manifest_encode(const struct manifest *m, struct buf *out);
/* Strings and arrays in `arena`, but for op_names. ERR_CORRUPT. */
enum err manifest_decode(struct manifest *m, struct str bytes, struct arena *arena, struct errmsg *em);
/* Durable but for its name: the caller syncs the folder. */
enum err manifest_write(const struct fs *fs, const char *dir, uint64_t generation, struct str bytes,
                        struct errmsg *em);

void segment_file_name(uint64_t number, char out[FILE_NAME_BYTES]);
void live_file_name(uint64_t number, uint64_t generation, char out[FILE_NAME_BYTES]);
void manifest_file_name(uint64_t generation, char out[FILE_NAME_BYTES]);
/* "<dir>/<name>" in `arena`; NULL: no memory. */
const char *store_path(struct arena *arena, const char *dir, const char *name);

#endif
