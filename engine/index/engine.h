/* engine.h - the storage engine of one shard copy: what was acknowledged is still there.
 *
 * It owns: the index buffer, the segments with their live bitmaps, the version map, the translog, the
 * manifests (commits), sequence-number bookkeeping, refresh, flush, merges and recovery from its own disk. It
 * refuses to know: networks, clusters, who is primary (an operation says what it is), REST, threads.
 * docs/store-format.md draws the files.
 *
 * Threading. "Strand" functions are called by one thread at a time (the shard's strand); everything is one
 * unless marked: [any]  from any thread, at any time while the engine is open. [job]  from any thread, once,
 * on a job that a strand function handed out; the strand goes on meanwhile. Slow work is cut in three: the
 * strand plans (`_begin`, `_plan`), a pool thread runs (`_run`, no access to the engine but what the job
 * holds), the strand takes the outcome (`_finish`, `_commit`), which also frees the job. Every begun job must
 * be finished before engine_close().
 *
 * Failure. An operation that returns an error left nothing behind. An I/O error in the translog or in a flush
 * fails the engine: every later write is refused with that error (engine_failure()); searches go on over the
 * last view; reopening recovers all that was durable. */
#ifndef ENGINE_INDEX_ENGINE_H
#define ENGINE_INDEX_ENGINE_H

#include "common/base/clock.h"
#include "engine/index/view.h"
#include "engine/mapping/document.h"

struct engine;

#define SEQ_NONE            ((int64_t)-1) /* before the first sequence number, 0 */
#define SEQ_UNASSIGNED      ((int64_t)-2)
#define VERSION_NOT_FOUND   ((int64_t)-1)
#define VERSION_ANY         ((int64_t)-3)
#define VERSION_MUST_BE_NEW ((int64_t)-4) /* op_type create */

enum version_type { VERSION_INTERNAL, VERSION_EXTERNAL, VERSION_EXTERNAL_GTE };
enum engine_durability { DURABLE_REQUEST, DURABLE_ASYNC };

/* Who an operation comes from. */
enum engine_origin {
    ORIGIN_PRIMARY, /* this copy is the primary: conditions are checked, sequence number and version assigned
                     */
    ORIGIN_REPLICA, /* they are given; an operation older than what is there for the id changes nothing */
    ORIGIN_RECOVERY /* as ORIGIN_REPLICA: replayed from another copy or re-sent by a new primary */
};
enum engine_op_kind { OP_INDEX = 1, OP_DELETE = 2, OP_NOOP = 3 };

enum engine_outcome { OUTCOME_CREATED, OUTCOME_UPDATED, OUTCOME_DELETED, OUTCOME_NOT_FOUND, OUTCOME_NOOP };

/* Names an operation across retries: the coordinating node's session (random, 0: none) and a counter that it
 * increases. An operation with a name seen in the last `op_ids_ms` is not applied again but gets the first
 * result; one whose name is older, or has been answered since (settled_below of a later one), is late: ERR_UNAVAILABLE_SHARDS. */
struct op_id {
    uint64_t session, counter;
};

struct engine_op {
    enum engine_op_kind kind;
    enum engine_origin origin;
    struct str id;        /* OP_INDEX, OP_DELETE: 1..512 bytes */
    int64_t seq_no;       /* SEQ_UNASSIGNED for the primary */
    int64_t primary_term; /* > 0 */
    int64_t version; /* primary: expected, VERSION_ANY, VERSION_MUST_BE_NEW or the external one; else given */
    enum version_type version_type;
    int64_t if_seq_no; /* SEQ_UNASSIGNED: no condition; primary only */
    int64_t if_primary_term;
    int64_t auto_id_ms; /* when the id was generated (wall clock); -1: the client chose it */
    bool retry;         /* may have been sent before */
    struct op_id op_id;
    uint64_t settled_below;       /* the session's operations below this counter were answered: forget them */
    enum engine_outcome outcome;  /* given (not the primary), with an op_id: what the primary answered */
    uint64_t mapping_version;     /* the mapping it was parsed with; kept with it */
    struct str routing;           /* p == NULL: none */
    struct str source;            /* OP_INDEX: as received; logged, and parsed again by recovery */
    struct str reason;            /* OP_NOOP */
    const struct parsed_doc *doc; /* borrowed; NULL: opts.parse makes it of source when it is needed */
};
/* All fields that mean "nothing": conditions off, client's id, VERSION_ANY. */
#define ENGINE_OP_INIT                                                                                  \
    {                                                                                                   \
        .seq_no = SEQ_UNASSIGNED, .version = VERSION_ANY, .if_seq_no = SEQ_UNASSIGNED, .auto_id_ms = -1 \
    }

struct engine_result {
    enum engine_outcome outcome;
    int64_t seq_no, primary_term, version;
    uint64_t location; /* durable when engine_durable() >= it; searchable when engine_refreshed() >= it */
    bool repeated; /* nothing was done now: a retry of an operation already done, or already processed here */
    bool stale;    /* replica: logged, but older than what is there for the id */
};

/* Makes a document of an operation's source again, for recovery from the translog; strings in `arena`. The
 * default in the node is document_parse() with the shard's newest mapping. */
typedef enum err engine_parse_fn(void *self, const struct engine_op *op, struct arena *arena,
                                 struct parsed_doc *out, struct errmsg *em);

enum engine_open_mode {
    ENGINE_CREATE,        /* a new, empty copy; ERR_CORRUPT when the folder holds operations */
    ENGINE_CREATE_OVER,   /* the same, and whatever is in the folder goes: for who accepted that */
    ENGINE_EXISTING,      /* ERR_CORRUPT when there is no copy */
    ENGINE_OPEN_OR_CREATE /* single node, tests */
};

struct engine_merge_settings { /* index.merge.policy.* */
    double segments_per_tier;
    uint32_t max_merge_at_once;
    uint64_t max_merged_bytes;
    uint64_t floor_bytes;
    double deletes_pct_allowed;
    double expunge_deletes_pct; /* only_expunge_deletes looks at segments above it */
};

struct engine_settings {
    size_t buffer_bytes_max;         /* 32 MiB: past it the buffer becomes a segment, not yet searchable */
    size_t memory_segment_bytes_max; /* 1 MiB: smaller ones stay in memory until a flush */
    int64_t gc_deletes_ms;           /* index.gc_deletes */
    int64_t op_ids_ms;               /* 60 s */
    size_t op_ids_max; /* 1,048,576 remembered names; past it the primary answers ERR_REJECTED */
    enum engine_durability durability; /* index.translog.durability */
    int64_t sync_interval_ms;          /* index.translog.sync_interval, DURABLE_ASYNC */
    size_t translog_tail_bytes_max;    /* 64 MiB not yet handed to the disk; past it ERR_REJECTED */
    uint64_t
        flush_threshold_bytes; /* index.translog.flush_threshold_size: of translog that no commit covers */
    /* index.translog.generation_threshold_size: what opening again writes at most, also on a disk that is almost full */
    uint64_t generation_bytes;
    uint64_t retention_bytes; /* 512 MiB of translog kept for retention leases at most */
    int64_t retention_ms;     /* 12 h */
    bool
        soft_deletes; /* index.soft_deletes.enabled; false: deletes leave no tombstones, and merges drop all dead documents */
    /* index.soft_deletes.retention.operations: so many up to the global checkpoint whose dead documents stay in merges */
    int64_t retention_operations;
    struct engine_merge_settings merge;
};
/* What the settings of the index say (NULL: their defaults), and the numbers above. */
void engine_settings_init(struct engine_settings *out, const struct settings *s);

/* ENGINE_VERIFY_SUMS: every block's checksum; ENGINE_VERIFY_STRUCTURE: and structure.h. */
enum engine_verify { ENGINE_VERIFY_NOTHING, ENGINE_VERIFY_SUMS, ENGINE_VERIFY_STRUCTURE };

struct engine_opts {
    const struct fs *fs;           /* borrowed: outlives the engine and its views, jobs, histories */
    const struct clock *clock;     /* the same */
    const struct allocator *alloc; /* the same; NULL: default */
    const char *dir;               /* copied; this copy's own folder; made when absent */
    const char *index_uuid;        /* copied; at most 63 bytes; files of another index are refused */
    uint32_t shard;
    enum engine_open_mode mode;
    enum engine_verify verify; /* what of every segment is checked while it is opened */
    struct mapping *mapping;   /* a reference is taken; may be NULL until engine_set_mapping() */
    uint64_t mapping_version;
    engine_parse_fn *parse; /* called inside engine_open() and engine_rollback() */
    void *parse_self;
    struct str user_data; /* ENGINE_CREATE...: kept in every commit until engine_set_user_data() */
    struct engine_settings settings;
};

/* ---- life
 * ---------------------------------------------------------------------------------------------------- */

/* Creates or recovers: newest valid manifest, what it does not know removed, translog above it replayed, all
 * of it durable and searchable. On failure *out is NULL and nothing is held. ERR_CORRUPT: this copy must be
 * healed from another. */
enum err engine_open(struct engine **out, const struct engine_opts *opts, struct errmsg *em);
/* Syncs pending operations, if it can, and frees the engine. Views may outlive it. NULL ok. */
void engine_close(struct engine *e);
/* Has anybody come upon damage in a segment that it has? Then that fails the engine. Strand; what failed it, if anything. */
enum err engine_damage(struct engine *e);
/* Looks whether its segments' files are there, as long as they were; `doubt`: and has their blocks checked anew when they are read
 * next. engine_damage() tells. Strand. */
void engine_look(const struct engine *e, bool doubt);
/* ERR_OK, or what failed the engine, copied into em. */
enum err engine_failure(const struct engine *e, struct errmsg *em);
/* Settings that may change while it is open (all of them). */
void engine_set_settings(struct engine *e, const struct engine_settings *s);
/* Takes a reference; searches see it at once (with the documents of the last refresh). */
enum err engine_set_mapping(struct engine *e, struct mapping *m, uint64_t version, struct errmsg *em);
/* Opaque bytes of the shard's (history uuid ...), kept in every commit from the next on; copied. */
enum err engine_set_user_data(struct engine *e, struct str data, struct errmsg *em);
struct str engine_user_data(const struct engine *e); /* borrowed until set */

/* ---- operations
 * ---------------------------------------------------------------------------------------------- */

/* Applies one operation in memory and to the translog's tail; it is durable once engine_durable() has reached
 * out->location. ERR_CONFLICT (worded as Elasticsearch's) when a condition does not hold; ERR_REJECTED when
 * bounded memory is full: sync or refresh, then try again; ERR_ILLEGAL_ARGUMENT for an immense term. After
 * any error the copy is as it was before. */
enum err engine_apply(struct engine *e, const struct engine_op *op, struct engine_result *out,
                      struct errmsg *em);
/* Was a primary's operation with this name applied before? Then out has its result, `repeated`. */
bool engine_done_before(struct engine *e, const struct engine_op *op, struct engine_result *out);
/* Newest state of an id, without its source: what a conditional update or a routing decision needs. found ==
 * false leaves the rest unset. */
struct engine_version {
    bool found;
    int64_t seq_no, primary_term, version;
};
enum err engine_version(struct engine *e, struct str id, struct engine_version *out, struct errmsg *em);

struct engine_doc {
    bool found;
    int64_t seq_no, primary_term, version;
    struct str source;   /* p == NULL: not stored */
    struct str routing;  /* p == NULL: none */
    struct str *ignored; /* names of fields that were not indexed; of documents in segments */
    uint32_t n_ignored;
    bool stores_more; /* of a document with a routing and ignored fields: it has stored fields of its own */
    bool large;       /* engine_get_upto(): it is there, and its source was not read */
    uint32_t leaf;    /* engine_view_get(): where it is */
    doc_id doc;
};
/* Newest version, unrefreshed ones included; strings copied into `arena`. */
enum err engine_get(struct engine *e, struct str id, bool want_source, struct arena *arena,
                    struct engine_doc *out, struct errmsg *em);
/* The same, but a source that takes more than `bytes_max` to be read is left alone. */
enum err engine_get_upto(struct engine *e, struct str id, bool want_source, size_t bytes_max,
                         struct arena *arena, struct engine_doc *out, struct errmsg *em);
/* segment_stored_max() of all segments. */
size_t engine_stored_max(const struct engine *e);
/* [any] What a view has. */
enum err engine_view_get(const struct view *v, struct str id, bool want_source, struct arena *arena,
                         struct engine_doc *out, struct errmsg *em);

/* ---- sequence numbers
 * ---------------------------------------------------------------------------------------- */

int64_t engine_max_seq_no(const struct engine *e);
int64_t engine_processed_checkpoint(const struct engine *e); /* everything up to it was applied */
int64_t engine_persisted_checkpoint(const struct engine *e); /* and is on disk: this is what a copy reports */
int64_t engine_global_checkpoint(const struct engine *e);
int64_t engine_persisted_global_checkpoint(const struct engine *e);
/* Never goes back; kept on disk with the next sync. Above the processed checkpoint it is cut to it. */
void engine_set_global_checkpoint(struct engine *e, int64_t seq_no);
bool engine_has_processed(const struct engine *e, int64_t seq_no);
/* Gives every missing sequence number up to engine_max_seq_no() a no-op of that term (a new primary does
 * this). */
enum err engine_fill_gaps(struct engine *e, int64_t term, uint64_t *filled, struct errmsg *em);
/* Forgets every operation above `seq_no`, durably: back to the newest commit at or below it, then the
 * translog replayed to it. No job may be out but merges (their outcome is dropped). ERR_ILLEGAL_STATE,
 * nothing changed, when no kept commit is old enough. Any other error fails the engine. */
enum err engine_rollback(struct engine *e, int64_t seq_no, struct errmsg *em);
/* The retention lease: operations from this one on stay in the translog as far as retention settings allow, and dead
 * documents from it or from the safe commit on stay in merged segments. INT64_MAX: no lease, nothing stays. */
void engine_set_retention(struct engine *e, int64_t from_seq_no);
/* While another copy is being given operations: those from this one on stay in the translog, whatever the limits.
 * INT64_MAX: no more. */
void engine_hold_history(struct engine *e, int64_t from_seq_no);

/* ---- history: operations for other copies
 * ---------------------------------------------------------------------- */

/* The lowest n such that every operation n, n + 1, ... is still in the translog, and can be read as far as is known. */
int64_t engine_history_from(const struct engine *e);
/* The log, or a file of the commit that memory has as well, was found to be not what was written; all of it is in memory and in
 * the segments. The next commit (one is due then) needs nothing of it, and no operation up to now is given as history. Strand. */
void engine_doubt_disk(struct engine *e);
bool engine_has_segment(const struct engine *e, uint64_t number); /* it is searched now */
struct engine_history;
/* Every operation in [from, to] that the translog has, as of now, in the order of the log (not of sequence
 * numbers). ERR_ILLEGAL_STATE when from < engine_history_from(). The history is independent of the engine
 * from here on. */
enum err engine_history_open(struct engine_history **out, struct engine *e, int64_t from, int64_t to,
                             struct errmsg *em);
/* [job] *more == false: the end. The operation (ORIGIN_RECOVERY) is borrowed until the next call. */
enum err engine_history_next(struct engine_history *h, struct engine_op *op, bool *more, struct errmsg *em);
uint64_t engine_history_total(const struct engine_history *h); /* an upper bound of the operations */
void engine_history_close(struct engine_history *h);           /* [any] NULL ok */

/* ---- sync: group commit
 * ---------------------------------------------------------------------------------------- */

/* Location of the newest operation; up to which they are durable, searchable. */
uint64_t engine_location(const struct engine *e);
uint64_t engine_durable(const struct engine *e);
uint64_t engine_refreshed(const struct engine *e);
/* Something waits for a sync, and durability says that it should come now. */
bool engine_sync_due(const struct engine *e);

struct engine_sync;
/* Seals what waits (operations, a new global checkpoint). NULL in *out: nothing waits, or a sync is out
 * already; call again when that one has finished. */
enum err engine_sync_begin(struct engine *e, struct engine_sync **out, struct errmsg *em);
void engine_sync_run(struct engine_sync *s); /* [job] writes and fsyncs */
/* ERR_OK: engine_durable() and the checkpoints have moved. Else the engine has failed. Frees s. */
enum err engine_sync_finish(struct engine *e, struct engine_sync *s, struct errmsg *em);
/* All three at once. ERR_ILLEGAL_STATE while a sync is out. */
enum err engine_sync(struct engine *e, struct errmsg *em);

/* ---- refresh
 * --------------------------------------------------------------------------------------------------- */

/* [any] The newest view; the caller owns a reference. */
struct view *engine_view_ref(struct engine *e);
/* Makes every operation so far searchable. *changed (may be NULL): there is a new view. Cheap when nothing
 * changed. */
enum err engine_refresh(struct engine *e, bool *changed, struct errmsg *em);
bool engine_refresh_needed(const struct engine *e);
/* Bytes of memory that a refresh or spill would give back, for a node-wide budget. */
size_t engine_buffer_bytes(const struct engine *e);
/* Makes a segment of the buffer without making it searchable. */
enum err engine_spill(struct engine *e, struct errmsg *em);
/* The document as it is now, in a segment: *out is a view of all segments, the caller's reference, and `doc` is found in it at its
 * leaf; what died since the last refresh lives in it. Searches see no more than before. *out == NULL: there is no such document (doc->found is false). */
enum err engine_get_view(struct engine *e, struct str id, bool want_source, struct arena *arena,
                         struct view **out, struct engine_doc *doc, struct errmsg *em);

/* ---- flush
 * ----------------------------------------------------------------------------------------------------- */

bool engine_flush_needed(const struct engine *e); /* the threshold is reached */
struct engine_flush;
/* Seals a commit of everything so far; searches see no more than before. NULL in *out: nothing to commit and not `force`; or
 * one is out. */
enum err engine_flush_begin(struct engine *e, bool force, struct engine_flush **out, struct errmsg *em);
/* The translog must be durable up to here before engine_flush_run(). */
uint64_t engine_flush_location(const struct engine_flush *f);
void engine_flush_run(struct engine_flush *f); /* [job] writes, fsyncs, commits the manifest */
/* Takes the commit over, drops older ones, trims the translog. An I/O error fails the engine. Frees f. */
enum err engine_flush_finish(struct engine *e, struct engine_flush *f, struct errmsg *em);
/* Sync and flush at once. ERR_ILLEGAL_STATE while one of them is out. */
enum err engine_flush(struct engine *e, bool force, struct errmsg *em);
/* Drops commits and translog that the persisted global checkpoint has made superfluous; flush does it too. */
void engine_trim(struct engine *e);

/* The files of a commit, for copying to another node; they stay until released. */
struct engine_file {
    struct str name;
    uint64_t bytes, checksum; /* XXH3 of the whole */
};
struct engine_commit {
    uint64_t generation;
    int64_t max_seq_no, local_checkpoint;
    struct str manifest; /* its bytes, for engine_install() */
    const struct engine_file *files;
    size_t n_files;
    uint64_t doc_count; /* live ones, nested included */
};
/* The newest commit; `safe`: the newest whose max_seq_no is at or below the persisted global checkpoint
 * (NULL: none). */
const struct engine_commit *engine_commit_ref(struct engine *e, bool safe);
void engine_commit_unref(struct engine *e, const struct engine_commit *c);
#define ENGINE_RECEIVED_PREFIX "recovery."
/* Makes a folder into the copy that `manifest` describes, its translog empty: files found under
 * ENGINE_RECEIVED_PREFIX <name> take the place of <name>, the rest must be in place already, all of them
 * synced. After a crash in between, engine_open() finds no copy and the files can be used again. opts->mode
 * is not looked at; opts->user_data, when there is any, takes the place of the manifest's. `global_checkpoint`
 * is as the source knows it: what lies at or below it in the manifest need not be rolled back ever. */
enum err engine_install(const struct engine_opts *opts, struct str manifest, int64_t global_checkpoint,
                        struct errmsg *em);
/* The files that a folder already has of those a manifest names, verified by checksum, and durable: have[i] for the i-th
 * file. What was received and is wrong is removed. */
enum err engine_files_present(const struct fs *fs, const char *dir, struct str manifest, struct arena *arena,
                              bool **have, const struct engine_file **files, size_t *n, struct errmsg *em);

/* ---- merges
 * ---------------------------------------------------------------------------------------------------- */

struct engine_merge;
struct engine_merge_wish {
    uint32_t max_segments; /* 0: as the policy likes; else force-merge down to so many */
    bool only_expunge_deletes;
};
/* The next merge worth making, of segments that no other merge holds; NULL in *out: none. wish NULL: the
 * policy's. */
enum err engine_merge_plan(struct engine *e, const struct engine_merge_wish *wish, struct engine_merge **out,
                           struct errmsg *em);
void engine_merge_cancel(struct engine_merge *m); /* [any] */
void engine_merge_run(struct engine_merge *m);    /* [job] */
/* Puts the outcome in the place of its sources, with what was deleted meanwhile; searchable at the next
 * refresh. A failed or cancelled merge changes nothing and does not fail the engine. Frees m. */
enum err engine_merge_commit(struct engine *e, struct engine_merge *m, struct errmsg *em);
/* Searches see the segments that merges made, where that shows them no document that they do not see yet; else they see them at the
 * next refresh. */
enum err engine_show_merged(struct engine *e, struct errmsg *em);

/* ---- statistics
 * ------------------------------------------------------------------------------------------------ */

struct engine_stats {
    uint64_t docs, docs_deleted; /* of the last refresh, flush or merge; nested ones too */
    uint64_t roots;              /* that searches see */
    uint64_t store_bytes;
    uint64_t index_total, index_ns, delete_total, delete_ns, noop_total, index_failed;
    uint64_t get_total, get_ns, get_missing;
    uint64_t refresh_total, refresh_ns, flush_total, flush_ns;
    uint64_t merge_total, merge_docs, merge_bytes, merge_ns, merges_running;
    uint64_t translog_ops, translog_bytes, translog_uncommitted_ops, translog_uncommitted_bytes;
    uint64_t segments;
    size_t buffer_bytes, version_map_bytes, op_ids_bytes, memory_segment_bytes, live_bytes;
    uint64_t tombstones, op_ids;
    uint64_t recovered_ops; /* replayed from the translog when it was opened */
    int64_t max_auto_id_ms; /* newest generated id that may have been sent twice */
};
void engine_stats(const struct engine *e, struct engine_stats *out);

struct engine_segment_info { /* a line of _cat/segments */
    char name[24];           /* _0, _a ... */
    uint64_t number;         /* as Lucene counts, from 0: its file's less one */
    uint64_t docs,
        docs_deleted; /* as searches see them; of a segment that they do not see yet: as they are */
    uint64_t bytes;
    size_t memory_bytes;
    bool committed, search, in_memory, merging;
};
enum err engine_segments(const struct engine *e, struct arena *arena, struct engine_segment_info **out,
                         size_t *n, struct errmsg *em);

/* What must always hold; asserts. Debug builds and tests call it after every step. */
void engine_invariant(const struct engine *e);
/* The same, for who asks after every step, of which few are the engine's: every document is looked at when something has changed since
 * the answer was `seen` (0 at first), else only what costs little. The answer of now. */
uint64_t engine_invariant_since(const struct engine *e, uint64_t seen);

#endif
