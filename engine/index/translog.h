/* translog.h - the log of operations of one shard copy: generations of checksummed records.
 *
 * Appending is memory only: records wait in the tail as chunks, a chunk belongs to one generation. A sync job
 * takes all chunks, and a pool thread writes and fsyncs them while new ones collect; it also makes the files
 * of new generations, so that the strand never waits for a disk. One job is out at a time, and it owns the
 * file handle meanwhile. Records are durable in the order of appending: a generation is synced before the
 * next one is written.
 *
 * It knows nothing of commits: who calls trim says what may go. Threading: strand, but translog_job_run(). */
#ifndef ENGINE_INDEX_TRANSLOG_H
#define ENGINE_INDEX_TRANSLOG_H

#include "common/base/arena.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "engine/index/translog_record.h"

#define TLOG_PREFIX "translog_"
#define TLOG_TMP    "translog.tmp"

struct tlog_gen { /* one generation, oldest first in translog.gens */
    struct tlog_header header;
    struct tlog_summary sum; /* of what was appended; sum.end counts bytes still in memory */
    uint64_t written;        /* bytes of the file known good */
};

struct tlog_chunk {
    struct tlog_chunk *next;
    uint64_t generation;
    uint64_t at; /* offset of its first byte */
    struct buf bytes;
    int64_t *seqs; /* of its operations */
    size_t n_seqs, seqs_cap;
    bool create;               /* the file must be made first */
    bool finish;               /* the generation ends with it */
    bool follows;              /* a generation that has a place to say so */
    bool marked;               /* of a generation that has marks: */
    unsigned mark_slot;        /* where the next one goes */
    struct tlog_synced mark;   /* what is true once it is on disk */
    uint64_t location;         /* behind its last record */
    int64_t global_checkpoint; /* the newest in it; SEQ_UNASSIGNED: none */
};

struct tlog_job {
    struct tlog_chunk *chunks;
    const struct fs *fs;
    const char *dir;
    struct fs_file *file; /* open generation; owned while the job is out */
    enum err result;
    struct errmsg em; /* in em_arena */
    struct arena em_arena;
};

struct tlog_opts {
    const struct fs *fs;
    const struct clock *clock;
    const struct allocator *alloc;
    const char *dir; /* borrowed */
    const char *uuid;
    uint32_t shard;
    uint64_t id;    /* of the log, not 0: in the header of every generation */
    bool id_is_new; /* no commit says it: what the files there say comes first */
};

struct translog {
    struct tlog_opts o;
    struct tlog_gen *gens;
    size_t n_gens, gens_cap;
    struct tlog_chunk *first, *last; /* last: the current generation's */
    struct tlog_job *out;            /* the job that is out */
    struct tlog_chunk *spare;   /* kept for the next seal, so that sealing a small tail does not allocate */
    struct fs_file *file;       /* of the newest generation that has a file; NULL while a job is out */
    size_t tail_bytes;          /* waiting and being written */
    uint64_t location, durable; /* bytes of records appended, durable, since it was opened */
    int64_t global_noted;       /* newest in the records */
    int64_t global_durable;
};

/* Makes the first generation's file, durably but for its name. `max_seq_before` as in the header. */
enum err translog_create(struct translog *t, const struct tlog_opts *o, uint64_t generation,
                         int64_t max_seq_before, int64_t global_checkpoint, struct errmsg *em);
/* The id of a log that begins in a copy whose commits have this user data: the copy's name is in it. */
uint64_t translog_id_of(struct str user_data);
/* Reads what the folder has, which must include generation `need` (whose header is known to be durable) and
 * all behind it, all of them of this log; leaves a torn tail out; opens the last generation for appending, its operations durable on
 * disk but for the file's name: the caller syncs the folder. */
enum err translog_open(struct translog *t, const struct tlog_opts *o, uint64_t need, struct errmsg *em);
void translog_fini(struct translog *t);

/* Appends an operation; memory only. ERR_NO_MEMORY leaves it unchanged. */
enum err translog_append(struct translog *t, const struct engine_op *op, struct errmsg *em);
/* Takes the last append back; nothing may have been sealed since. */
struct tlog_mark {
    size_t bytes;
    struct tlog_summary sum;
    uint64_t location;
};
struct tlog_mark translog_mark(const struct translog *t);
void translog_unappend(struct translog *t, struct tlog_mark m);
/* Notes a global checkpoint. */
enum err translog_note_global(struct translog *t, int64_t global_checkpoint, struct errmsg *em);
/* Ends the generation; what follows goes to a new one. trim_above TLOG_NO_TRIM but for a rollback. */
enum err translog_roll(struct translog *t, int64_t trim_above, struct errmsg *em);

/* Something waits that no job has. */
bool translog_waits(const struct translog *t);
/* The job of all that waits; NULL in *out when nothing does or one is out. */
enum err translog_seal(struct translog *t, struct tlog_job **out, struct errmsg *em);
void translog_job_run(struct tlog_job *j);
/* Takes the outcome over and frees j; `persisted` is called for every operation that is durable now. */
enum err translog_job_finish(struct translog *t, struct tlog_job *j,
                             void (*persisted)(void *self, int64_t seq), void *self, struct errmsg *em);

/* Asserts what always holds: of generations, of what waits to be written, of what is durable. */
void translog_invariant(const struct translog *t);

static inline struct tlog_gen *translog_current(const struct translog *t)
{
    return &t->gens[t->n_gens - 1];
}

/* Sequence numbers above it are void in that generation. */
int64_t translog_trim_of(const struct translog *t, uint64_t generation);
/* The lowest generation that holds an operation above `seq` (not void), or the current one. */
uint64_t translog_generation_above(const struct translog *t, int64_t seq);
/* Every operation from this one on is here. */
int64_t translog_history_from(const struct translog *t);
/* Removes generations below `generation` (never the current one). Failures to remove are left to the next
 * open. */
void translog_trim(struct translog *t, uint64_t generation);
/* Operations and bytes of the generations from `generation` on. */
void translog_size(const struct translog *t, uint64_t generation, uint64_t *ops, uint64_t *bytes);

/* Reads generations' operations in the order of the log: files as of now, then the records in memory. */
struct tlog_part {
    uint64_t generation;
    uint64_t at, end; /* offsets to read */
    int64_t trim;
    struct fs_map map; /* file part: bytes [0, end) */
    char *bytes;       /* memory part: bytes [start, end), NULL for a file part */
    uint64_t start;
};
struct tlog_reader {
    const struct fs *fs;
    const struct allocator *alloc;
    struct tlog_part *parts;
    size_t n_parts, part;
    uint64_t total; /* operations, an upper bound */
};
/* From generation `from` on. Independent of the translog from here on. */
enum err tlog_reader_open(struct tlog_reader *r, const struct translog *t, uint64_t from, struct errmsg *em);
/* The next operation that is not void. */
enum err tlog_reader_next(struct tlog_reader *r, struct engine_op *op, bool *more, struct errmsg *em);
void tlog_reader_close(struct tlog_reader *r);

/* The number in a file's name <prefix><decimal>; false: another name. */
bool file_number(struct str name, const char *prefix, uint64_t *out);

#endif
