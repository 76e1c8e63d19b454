/* shard.h - a place for one copy of a shard on this node: its life, its engine, and what keeps that in order.
 *
 * From the first state that puts a copy here until the index is gone. The copy in it comes and goes with the routing. What
 * changes is the strand's, but for what says otherwise. The rooms above read `role`, `life` and the engine; only the files of
 * data/shard write them. Replication, recovery and searches have parts of their own, of which this room knows nothing. */
#ifndef DATA_SHARD_SHARD_H
#define DATA_SHARD_SHARD_H

#include "common/base/stop.h"
#include "common/sys/strand.h"
#include "data/shard/index.h"
#include "data/shard/node.h"
#include "engine/index/engine.h"
#include "engine/query/filter_cache.h"

#define SHARD_QUEUE_MAX     4096 /* tasks that may wait on one shard's strand */
#define ALLOCATION_ID_BYTES 64   /* node ids, too */

/* Who waits for the strand: for a location on disk, in searches, for the other copies. Embedded first. */
struct shard_waiter {
    struct shard_waiter *next;
    uint64_t location;
    int64_t deadline_ms;                                              /* monotonic; 0: none */
    void (*wake)(struct shard_waiter *w, const struct errmsg *error); /* strand; error NULL: it has come */
};

/* What the last state says of a copy here. */
struct shard_role {
    struct arena arena;       /* allocation_id */
    struct str allocation_id; /* the copy that should be in this place; p == NULL: none */
    _Atomic int64_t term;     /* primary term */
    bool primary, initializing;
    enum recovery_source source; /* where its data comes from while initializing */
    bool forced_empty;           /* an empty primary over whatever is there: somebody accepted the loss */
    bool
        stale; /* a primary that was not in sync, and was made one by force: its history is another from here on */
    char moving_to[ALLOCATION_ID_BYTES]; /* the copy that takes its place */
};

/* The copy that is in it. */
struct shard_life {
    bool of_role;         /* the engine is that copy's */
    bool failing;         /* the engine is to go, its jobs are still out */
    bool opening;         /* being opened, or recovering from another copy */
    bool event_out;       /* the master is being told of it */
    bool broken;          /* that it failed: nothing is tried before the master knows */
    bool remove_data;     /* once nothing is open: the copies elsewhere are all there */
    bool leaving;         /* the tables do not have it any more: nothing may wait here */
    int64_t vouched_term; /* of the primary that gave it its data */
    char why[ERR_REASON_BYTES];
};

/* What the engine needs done, and who waits for it. */
struct shard_upkeep {
    struct engine_merge *merge; /* the one that is out */
    bool sync_out, flush_out, merge_out;
    bool flush_wanted, flush_forced, flush_synced; /* a flush is to begin, once what waits is synced */
    struct engine_flush *sealed; /* it has begun, and runs once its operations are durable */
    struct shard_waiter *sync_waiters, *refresh_waiters;
    struct shard_act *flush_waiters, *merge_waiters;
    int64_t last_refresh_ms, last_write_ms, merge_again_ms;
    int64_t files_seen_ms, doubted_ms; /* when its files were looked at, and their blocks doubted */
    uint64_t looked_at;                /* as engine_invariant_since() has it */
    /* any thread */
    _Atomic int64_t last_search_ms;
    _Atomic bool refresh_owed; /* nobody searches: the next search refreshes first */
    _Atomic bool spill_queued;
    _Atomic bool damage_queued;  /* a look at its segments, damage.c */
    _Atomic uint64_t doubted;    /* a file of a commit that is damaged, for the look: its segment + 1 */
    _Atomic size_t buffer_bytes; /* its part of the service's */
};

struct replication;    /* data/replication/replication_int.h */
struct recovery;       /* data/recovery/recovery_int.h */
struct shard_searches; /* data/search/search_int.h */

struct shard {
    _Atomic uint32_t refs; /* the table's, requests', jobs': the last one closes it */
    struct data_service *service;
    struct index_service *index; /* a reference */
    uint32_t number;
    struct strand *strand;
    struct arena arena; /* dir */
    struct str dir;
    bool remove_files;              /* when it closes */
    pthread_mutex_t view_lock;      /* changes of the next two, for readers off the strand */
    struct engine *engine;          /* NULL: no copy is open */
    bool hidden;                    /* its recovery has not given it everything yet: nobody reads it */
    struct mapping *replay_mapping; /* of the document that is being replayed */
    struct filter_cache *filters;   /* NULL: none are kept */
    struct shard_role role;
    struct shard_life life;
    struct shard_upkeep upkeep;
    /* The rooms' own parts. */
    struct replication *replication;
    struct recovery *recovery;
    struct shard_searches *searches;
    _Atomic bool tick_queued;      /* data/service */
    _Atomic uint64_t noop_updates; /* the same */
};

/* ---- shard.c ---- */

static inline int64_t shard_now_ms(const struct shard *sh)
{
    return clock_mono_ms(sh->service->o.clock);
}

/* A place without a copy yet. */
enum err shard_new(struct shard **out, struct data_service *s, struct index_service *ix, uint32_t number,
                   struct errmsg *em);
struct shard *shard_ref(struct shard *sh);
void shard_unref(struct shard *sh);
/* Runs on the shard's strand, with a reference of its own. false: refused. */
bool shard_post(struct shard *sh, void (*run)(void *arg), void *arg);
/* The same for what has been admitted already and must come back to the strand: past the queue's limit. false: nothing runs any
 * more. */
bool shard_post_back(struct shard *sh, void (*run)(void *arg), void *arg);
/* Strand: is there an engine (and may it take writes)? Else em says why not. */
bool shard_readable(struct shard *sh, struct errmsg *em);
bool shard_writable(struct shard *sh, struct errmsg *em);
/* The same without words. */
static inline bool shard_is_open(const struct shard *sh)
{
    return sh->engine != NULL && !sh->life.failing;
}
/* A copy that recovers from another one is hidden from reads until it has everything. Strand. */
void shard_hide(struct shard *sh, bool hidden);
/* What searches see, a reference; NULL: nothing. Any thread. */
struct view *shard_view(struct shard *sh);
/* Any thread: somebody searches. */
void shard_searched(struct shard *sh);
/* Strand: the table does not have it any more. */
void shard_leave(struct shard *sh);

/* ---- life.c; strand ---- */

/* What a newly applied state says of this copy: primary or not, term, the other copies. */
void shard_take_role(struct shard *sh, struct cluster_state *state);
/* Brings the place nearer to what the last state wants. Called whenever something has changed. */
void shard_step(struct shard *sh);
/* After any operation that may have failed the engine; closes an engine that has failed. sh->engine may be NULL afterwards. */
void shard_check(struct shard *sh);
/* The copy failed for that reason; the master is told, and decides what comes next. */
void shard_fail(struct shard *sh, const struct errmsg *why);
/* Tells the master that the copy has started. */
void shard_tell_started(struct shard *sh);
/* Closes the engine. false: its jobs are out, ask again. */
bool shard_close_engine(struct shard *sh);

/* ---- open.c ---- */

struct held_query_reader; /* engine/query/held_query.h */
/* For the documents that are parsed with the settings, which it borrows. `accepted`: the documents were, before. */
void shard_query_reader(struct held_query_reader *out, const struct shard *sh,
                        const struct settings_part *settings, bool accepted);
void shard_engine_settings(const struct data_service *d, const struct settings *s,
                           struct engine_settings *out);
/* Opens an engine in the place's folder. Any thread, while nothing is open there. */
enum err shard_engine_open(struct shard *sh, enum engine_open_mode mode, struct str user_data,
                           struct engine **out, struct errmsg *em);
/* The mapping of the last document that was parsed for the engine: nothing points into it any more. */
void shard_unref_replay_mapping(struct shard *sh);
/* Strand: the engine is this place's from now on; what is missing of mapping and settings reaches it. vouched_term: of the
 * primary that gave it its data; 0: it was here. */
void shard_take_engine(struct shard *sh, struct engine *engine, int64_t vouched_term);
/* Strand: a recovery from another copy begins or has ended: nothing else is opened meanwhile. */
void shard_set_opening(struct shard *sh, bool opening);
/* Strand: opens the copy that the role names, from this disk or empty. */
void shard_open(struct shard *sh, enum engine_open_mode mode);
/* Tells every shard of the index, on its strand; then `then` runs there. Applier only. */
void shards_follow(struct data_service *s, struct index_service *ix, const struct index_change *c,
                   void (*then)(struct shard *sh));

/* ---- damage.c ---- */

/* Any thread: somebody read what is not what was written; the strand looks, and fails the copy. */
void shard_report_damage(struct shard *sh);
/* The same of a file of a commit, given to another copy: its segment's number, or SHARD_FILE_OTHER. */
#define SHARD_FILE_OTHER (UINT64_MAX - 1)
void shard_report_file(struct shard *sh, uint64_t segment);
/* Strand: the log, or a file that memory has as well, is damaged, and the copy in memory is whole: it is written anew. */
void shard_doubt_disk(struct shard *sh, const struct errmsg *why);
/* Strand: the copy on disk is read whole before it is opened again. */
void shard_mark_damaged(struct shard *sh, const struct errmsg *why);
bool damage_marked(const struct fs *fs, const char *dir); /* a copy's folder */
void shard_remove_marks(const struct shard *sh);

/* ---- memory.c; strand ---- */

/* After writes: past the node's budget the largest buffer becomes a segment. */
void shard_buffer_changed(struct shard *sh);
void shard_buffer_gone(struct shard *sh);
/* After a merge: filters of segments that are gone go too. */
void shard_keep_filters(struct shard *sh);

/* ---- sync.c; strand ---- */

/* Completes writers whose operations the engine has made durable or searchable. */
void shard_serve_waiters(struct shard *sh);
/* The shard is leaving: nobody refreshes it any more, and who waits for that has what was promised on disk. */
void shard_wake_unrefreshed(struct shard *sh);
void shard_start_sync(struct shard *sh);
/* Woken when the operation there is on disk, or searchable: a step on the strand, perhaps at once; nothing comes after the call. */
void shard_wait_durable(struct shard *sh, struct shard_waiter *w);
void shard_wait_refreshed(struct shard *sh, struct shard_waiter *w);
void shard_fail_waiters(struct shard *sh, const struct errmsg *em);

/* ---- flush.c; strand ---- */

/* The next step of a flush that is wanted, if it can be made now. */
void shard_flush_step(struct shard *sh);
void shard_want_flush(struct shard *sh, bool force);
/* A flush that waits for its operations to be durable will not get them any more. */
void shard_give_up_flush(struct shard *sh);
/* Answers the action when a flush is done. */
void shard_flush_for(struct shard *sh, struct shard_act *a);
void shard_fail_flushes(struct shard *sh, const struct errmsg *em);

/* ---- merge.c; strand ---- */

/* A copy that closes does not wait for a long merge. */
void shard_cancel_merge(struct shard *sh);
/* false: nothing worth merging. */
bool shard_start_merge(struct shard *sh);
void shard_merge_for(struct shard *sh, struct shard_act *a);
void shard_fail_merges(struct shard *sh, const struct errmsg *em);

/* ---- maintain.c; strand ---- */

/* Shows what was written, and notes that it did. */
enum err shard_refresh(struct shard *sh, bool *changed, struct errmsg *em);
void shard_wrote(struct shard *sh);
/* Looks for work after a refresh, a flush or a tick. */
void shard_maintain(struct shard *sh);
/* Now and then: its files; refresh, sync, flush that are due. */
void shard_look_at_files(struct shard *sh);
void shard_look_after(struct shard *sh);

/* Asserts what always holds of a shard that no task works on. */
void shard_invariant(struct shard *sh);

#endif
