/* shard.h - what the files of data/ share. See data.h for threads. */
#ifndef DATA_SHARD_SHARD_H
#define DATA_SHARD_SHARD_H

#include "common/base/stop.h"
#include "common/sys/strand.h"
#include "data/data.h"
#include "data/replication/tracker.h"
#include "data/search/search_groups.h"
#include "engine/index/engine.h"
#include "engine/query/filter_cache.h"
#include "engine/search/search.h"
#include "proto/recovery_bytes.h"

#include <pthread.h>

#define SHARD_QUEUE_MAX 4096 /* tasks that may wait on one shard's strand */

/* Slow logs' thresholds of an index. */
enum slow_part { SLOW_QUERY, SLOW_FETCH, SLOW_INDEX, SLOW_PARTS };
#define SLOW_LEVELS 4 /* trace, debug, info, warn */
struct slowlog {
    _Atomic bool on[SLOW_PARTS];
    _Atomic int64_t from_ns[SLOW_PARTS][SLOW_LEVELS]; /* -1: none */
    _Atomic int64_t source_chars;
};

/* One index here. Immutable parts are replaced, not changed; `lock` guards the pointers. */
struct index_service {
    _Atomic uint32_t refs;
    pthread_mutex_t lock;
    struct arena arena; /* name, uuid */
    struct str name, uuid;
    struct analysis *analysis;
    struct mapping *mapping;
    struct settings_part *settings; /* names without "index." */
    _Atomic uint64_t mapping_version;
    struct slowlog slow;
    uint64_t version, settings_version, aliases_version; /* of the metadata applied */
    _Atomic int64_t refresh_ms;                          /* -1: never by itself */
    _Atomic int64_t idle_after_ms;                       /* index.search.idle.after */
    _Atomic bool refresh_explicit; /* index.refresh_interval is set: being idle changes nothing */
    _Atomic bool analyzes_long;    /* search_analyzes_long() */
    _Atomic bool async; /* index.translog.durability: writes are answered before they are on disk */
    bool closed;
};

struct shard_counters {
    _Atomic uint64_t query_total, query_ns, fetch_total, fetch_ns, scroll_total, suggest_total, suggest_ns,
        query_current, noop_updates;
};

/* Who waits for the strand: for a location on disk, in searches, for the other copies. Embedded first. */
struct shard_waiter {
    struct shard_waiter *next;
    uint64_t location;
    int64_t deadline_ms;                                              /* monotonic; 0: none */
    void (*wake)(struct shard_waiter *w, const struct errmsg *error); /* strand; error NULL: it has come */
};

/* A primary's account of the other copies, beside its tracker (primary.c). */
struct copy_link;
struct fanout;
struct primary_side {
    struct copy_link *links;
    struct fanout *waiting;      /* of requests that wait for copies */
    struct shard_waiter *parked; /* requests that may not begin yet */
    bool active;                 /* all copies in sync have what this one has of earlier terms */
    bool deposed;                /* the master knows another primary: the state that says so is on its way */
    uint32_t requests;           /* under way */
    int64_t lease_from,
        lease_ms; /* what copies that left may still ask for, and since when; SEQ_UNASSIGNED: nothing */
    void (*drained)(void *arg);
    void *drained_arg;
};

/* What a copy knows of its primary (replica.c). */
struct replica_run;
struct replica_side {
    struct replica_run *waiting; /* messages that wait for a mapping or for room */
    uint64_t term;        /* of the newest primary that was heard of, once its history is this copy's */
    uint64_t resync_term; /* of the one that is re-sending its history */
    int64_t *own_terms;   /* of the operations from own_from on, when that began; 0: none */
    int64_t own_from;
    size_t n_own;
    int64_t retain_from;
    bool diverged;          /* from that one's history */
    bool closed;            /* the place is on its way out: nothing may wait */
    char allocation_id[64]; /* of the copy that this is about */
};

struct recovery_session; /* recovery/source.c */
struct recovery_target;  /* recovery/target.c */
struct parked_start;     /* recovery/source.c */
struct recoveries;       /* recovery_int.h */

#define ALLOCATION_ID_BYTES 64 /* node ids, too */

/* What a primary that moves away knew of the copies, for the one that takes its place. */
struct shard_handoff {
    struct arena arena;
    struct recovery_copy *v; /* NULL: nothing was handed over */
    size_t n;
    int64_t global_checkpoint;
};

/* A place for one copy of a shard on this node: from the first state that puts a copy here until the index is
 * gone. The copy in it comes and goes with the routing. */
struct shard {
    _Atomic uint32_t users; /* the table's reference, requests, jobs: the last one closes it */
    struct data_service *service;
    struct index_service *index; /* a reference */
    uint32_t number;
    struct strand *strand;
    pthread_mutex_t view_lock;      /* changes of the next three, for readers off the strand */
    struct engine *engine;          /* NULL: no copy is open */
    bool hidden;                    /* its recovery has not given it everything yet: nobody reads it */
    struct mapping *replay_mapping; /* of the document that is being replayed */
    _Atomic int64_t term;           /* primary term, as of the last state */
    struct str dir;
    struct arena arena; /* dir */
    bool remove_files;  /* when it closes */
    struct shard_counters counters;
    struct search_groups groups;
    struct filter_cache *filters; /* NULL: none are kept */
    _Atomic size_t buffer_bytes;  /* its part of the service's */
    _Atomic bool spill_queued;
    _Atomic int64_t last_search_ms;
    _Atomic bool refresh_owed; /* nobody searches: the next search refreshes first */
    _Atomic bool tick_queued;
    _Atomic bool damage_queued; /* a look at its segments, damage.c */
    _Atomic uint64_t
        doubted; /* a file of a commit that is damaged, for the look: its segment's number + 1, DOUBTED_OTHER */
    /* strand only */
    struct engine_merge *merge; /* the one that is out */
    bool sync_out, flush_out, merge_out;
    bool flush_wanted, flush_forced, flush_synced; /* a flush is to begin, once what waits is synced */
    struct engine_flush *sealed; /* it has begun, and runs once its operations are durable */
    /* What the last state says of a copy here. */
    struct arena role_arena;  /* allocation_id */
    struct str allocation_id; /* the copy that should be in this place; p == NULL: none */
    bool primary, initializing;
    enum recovery_source source; /* where its data comes from while initializing */
    bool forced_empty;           /* an empty primary over whatever is there: somebody accepted the loss */
    bool
        stale; /* a primary that was not in sync, and was made one by force: its history is another from here on */
    /* The copy that is in it. */
    bool of_role;     /* the engine is that copy's */
    bool failing;     /* the engine is to go, its jobs are still out */
    bool opening;     /* being opened, or recovering from another copy */
    bool told_out;    /* the master is being told of it */
    bool broken;      /* that it failed: nothing is tried before the master knows */
    bool remove_data; /* once nothing is open: the copies elsewhere are all there */
    char why[ERR_REASON_BYTES];
    struct shard_waiter *sync_waiters, *refresh_waiters;
    struct shard_act *flush_waiters, *merge_waiters;
    int64_t last_refresh_ms, last_write_ms, lease_renewed_ms, merge_again_ms;
    int64_t files_seen_ms, doubted_ms; /* when its files were looked at, and their blocks doubted */
    struct tracker tracker;            /* of a primary, when `tracking` */
    bool tracking;                     /* it leads */
    struct primary_side lead;
    struct replica_side replica;
    bool handing_over; /* its place is being taken by another copy: new writes wait for the next state */
    struct recovery_session *sessions; /* copies that recover from this one */
    struct parked_start *parked;       /* those that will */
    struct recovery_target *recovery;  /* NULL: this copy does not recover from another one */
    int64_t recovered_term;            /* of the primary that it came from */
    struct shard_handoff handoff;      /* of the primary whose place it takes */
    char moving_to[ALLOCATION_ID_BYTES],
        handed_to[ALLOCATION_ID_BYTES]; /* the copy that takes its place, as the last
                                                                            role says; that was promised it */
    bool leaving;                       /* the tables do not have it any more */
    struct shard_recovery figures;      /* how it came to be */
    char figures_source[ALLOCATION_ID_BYTES];
    uint64_t looked_at; /* as engine_invariant_since() has it */
};

struct search_context_entry;

struct data_service {
    struct data_opts o;
    struct arena arena;
    struct str node_id;
    struct shard_api api;
    struct analysis *analysis; /* the node's own: no index */
    struct strand *applier;
    struct cluster_state *state;  /* the last one applied; the applier's */
    struct filter_store *filters; /* NULL: none are kept */
    _Atomic size_t buffer_bytes;  /* of all shards: in no segment yet */
    size_t index_buffer_max;
    pthread_mutex_t lock; /* the tables */
    pthread_cond_t all_closed;
    struct shard **shards;
    size_t n_shards, shards_cap;
    struct index_service **indices; /* by uuid */
    size_t n_indices, indices_cap;
    size_t open_shards; /* not yet closed, also those out of the table */
    _Atomic bool draining, stopping;
    _Atomic int64_t drained_at_ms; /* with `draining`: when the last work has to end */
    bool closed;
    bool applier_closed;
    struct search_context_entry *contexts;
    uint64_t next_context;
    size_t n_contexts;
    struct executor
        admitted; /* the write pool, for what was admitted elsewhere: its queue's limit does not count */
    struct recoveries *recoveries;
    struct cluster_state *newest; /* being applied, or applied; `lock` guards the pointer */
    _Atomic int64_t max_buckets;  /* limits of searches, as of the last state */
    _Atomic int64_t scrolls_max;
    _Atomic int64_t context_keep_ms; /* of a context between the phases of a search */
    _Atomic size_t request_bytes_max;
};

/* ---- the tables (service.c) ---- */

/* A user's reference, or NULL with rq's error set (no such shard here). */
struct shard *shard_acquire(struct data_service *s, struct shard_rq *rq);
void shard_use(struct shard *sh);
void shard_release(struct shard *sh);
/* Runs on the shard's strand with a reference of its own. false: refused. */
bool shard_post(struct shard *sh, void (*run)(void *arg), void *arg);
/* The same for what has been admitted already and must come back to the strand: past the queue's limit. */
void shard_post_back(struct shard *sh, void (*run)(void *arg), void *arg);

/* ---- one shard (shard.c) ---- */

/* A place without a copy yet. */
enum err shard_new(struct shard **out, struct data_service *s, struct index_service *ix, uint32_t number,
                   struct errmsg *em);
void shard_engine_settings(const struct data_service *d, const struct settings *s,
                           struct engine_settings *out);
/* Strand: after whatever may have failed the engine; lets go of one that has. sh->engine may be NULL afterwards. */
void shard_check(struct shard *sh);
/* Strand: the copy failed for that reason; the master is told, and decides what comes next. */
void shard_fail(struct shard *sh, const struct errmsg *why);
/* damage.c. Any thread: somebody read what is not what was written; the strand looks, and fails the copy. */
void shard_report_damage(struct shard *sh);
#define DOUBTED_OTHER UINT64_MAX
/* Strand: the log, or a file that memory has as well, is damaged, and the copy in memory is whole: it is written anew. */
void shard_doubt_disk(struct shard *sh, const struct errmsg *why);
/* Strand: the copy on disk is read whole before it is opened again. */
void shard_mark_damaged(struct shard *sh, const struct errmsg *why);
bool damage_marked(const struct fs *fs, const char *dir); /* a copy's folder */
void shard_remove_marks(const struct shard *sh);
/* Opens an engine in the place's folder. Any thread, while nothing is open there. */
enum err shard_engine_open(struct shard *sh, enum engine_open_mode mode, struct str user_data,
                           struct engine **out, struct errmsg *em);
/* Strand: the engine is this place's from now on; what is missing of mapping and settings reaches it. */
void shard_take_engine(struct shard *sh, struct engine *engine);
/* Strand: tells the master that the copy has started. */
void shard_tell_started(struct shard *sh);
/* Strand: brings the place nearer to what the last state wants. Called whenever something has changed. */
void shard_step(struct shard *sh);
/* Strand: closes the engine. false: its jobs are out, ask again. */
bool shard_let_go(struct shard *sh);
/* Strand: is there an engine (and may it take writes)? Else em says why not. */
bool shard_readable(struct shard *sh, struct errmsg *em);
bool shard_writable(struct shard *sh, struct errmsg *em);
/* Strand: what a newly applied state says of this copy: primary or not, term, the other copies. */
void shard_take_role(struct shard *sh, struct cluster_state *state);
/* A copy that recovers from another one is hidden from reads until it has everything. Strand. */
void shard_hide(struct shard *sh, bool hidden);
/* What searches see, a reference; NULL: nothing. Any thread. */
struct view *shard_view(struct shard *sh);

struct index_service *index_service_ref(struct index_service *ix);
void index_service_unref(struct index_service *ix);
struct mapping *index_mapping(struct index_service *ix, uint64_t *version); /* a reference */
struct settings_part *index_settings(struct index_service *ix);             /* a reference */

/* Tells every shard of the index, on its strand, of a new mapping or new settings. Applier only. */
void shards_follow(struct data_service *s, struct index_service *ix, bool mapping, bool settings,
                   bool reopened);

/* reload.c: the service keeps the dictionaries of its environment. */
void data_own_env(struct data_service *s);
void data_drop_env(struct data_service *s);

/* slowlog.c; any thread. */
void slowlog_read(struct slowlog *l, const struct settings *s);
void slowlog_search(struct shard *sh, enum slow_part part, int64_t took_ns, const struct shard_query *rq,
                    struct str body, uint32_t n_shards);
void slowlog_index(struct shard *sh, int64_t took_ns, const struct write_item *it, struct str source);

/* ---- memory of all shards together (memory.c) ---- */

enum err data_memory_init(struct data_service *s, struct errmsg *em);
/* How much one shard may buffer, when its engine would take `otherwise`. */
size_t shard_buffer_max(const struct data_service *s, size_t otherwise);
/* Strand only, after writes: past the node's budget the largest buffer becomes a segment. */
void shard_buffer_changed(struct shard *sh);
void shard_buffer_gone(struct shard *sh);
/* Strand only, after a merge: filters of segments that are gone go too. */
void shard_keep_filters(struct shard *sh);

/* ---- calls ---- */

/* One function an operation (shard_ops.h); serve.c calls them. Each answers once, by shard_rq_answer(). */
void data_write(struct data_service *s, struct shard_write *rq);
void data_get(struct data_service *s, struct shard_get *rq);
void data_can_match(struct data_service *s, struct shard_can_match *rq);
void data_dfs(struct data_service *s, struct shard_dfs *rq);
void data_query(struct data_service *s, struct shard_query *rq);
void data_scroll(struct data_service *s, struct shard_query *rq);
void data_fetch(struct data_service *s, struct shard_fetch *rq);
void data_act(struct data_service *s, struct shard_act *rq);
void data_explain(struct data_service *s, struct shard_explain *rq);
void data_free(struct data_service *s, struct shard_free *rq);
/* Lets go of a context; true if it was there. */
bool context_free(struct data_service *s, uint64_t context);

/* refused.c: tells the master that this node's copies of the shards [from, to) have failed. The applier's strand. */
void data_refuse_copies(struct data_service *s, const struct cluster_state *state, const struct index_meta *m,
                        uint32_t from, uint32_t to, const struct errmsg *why);

/* search.c: what runs on the search pool. A task ends with search_finish(), which lets go of shard and
 * view. */
struct search_run {
    struct shard *sh;
    struct view *view;
    struct shard_rq *rq;
    const struct query *query; /* when it has been built; else NULL */
};
void shard_describe(struct search_shard *d, struct shard *sh, struct view *v,
                    const struct settings_part *settings, const struct search_scope *scope);
/* Parses the body of a request from elsewhere. Its error is in rq. */
enum err search_body_read(struct shard_rq *rq, struct search_body *body);
/* Answers can_match at once (can_match.c). */
void shard_can_match(struct shard_can_match *rq, struct shard *sh, struct view *v);
void search_submit(struct data_service *s, struct shard_rq *rq, struct shard *sh, struct view *v,
                   void (*task)(void *));
void search_finish(struct shard *sh, struct view *v, struct shard_rq *rq);
/* What ends the work that a request asks for: its asker, or the service that closes. Begun on the thread that works. */
struct shard_stop {
    struct stop stop;
    const struct shard_rq *rq;
    struct data_service *s;
};
/* Is it so late in the service's life that work ends? For struct stop. */
bool data_ends(void *service);
void shard_stop_begin(struct shard_stop *st, struct data_service *s, const struct shard_rq *rq);
/* true: the work was ended, and what it found is of no use: rq's error says so. */
bool shard_stop_end(struct shard_stop *st, struct shard_rq *rq);

/* search_here.c: is the search so little work that handing it to another thread would cost as much? Then its query is in *q. */
bool search_is_small(struct shard_query *rq, struct shard *sh, struct view *v, const struct query **q);
/* Does an index of these settings have parts of analysis of its own that may make much of a short text? Such a search is not. */
bool search_analyzes_long(const struct settings *s);

/* sync.c: completes writers whose operations the engine has made durable or searchable. Strand only. */
void shard_serve_waiters(struct shard *sh);
/* The shard is closed: nobody refreshes it any more, and who waits for that has what was promised on disk. */
void shard_wake_unrefreshed(struct shard *sh);
void shard_start_sync(struct shard *sh);
/* Woken when the operation there is on disk, or searchable; strand only. */
void shard_wait_durable(struct shard *sh, struct shard_waiter *w);
void shard_wait_refreshed(struct shard *sh, struct shard_waiter *w);
void shard_fail_waiters(struct shard *sh, const struct errmsg *em);

/* maintain.c, strand only: looks for work after a refresh, a flush or a tick. */
void shard_maintain(struct shard *sh);
/* The next step of a flush that is wanted, if it can be made now. */
void shard_flush_step(struct shard *sh);
void shard_want_flush(struct shard *sh, bool force);
/* Any thread: a copy that closes does not wait for a long merge. */
void shard_cancel_merge(struct shard *sh);
void shard_fail_merges(struct shard *sh, const struct errmsg *em);
void shard_fail_acts(struct shard *sh, const struct errmsg *em); /* those that wait */

/* contexts.c */

/* Where the pages of a scroll got to. Counted; never changes. */
struct scroll_place {
    _Atomic unsigned refs;
    struct arena arena;  /* sort values */
    struct top_doc last; /* the last one that was fetched */
};

/* What a scroll's context remembers of the first page's request. Counted: whoever makes a page keeps it, also when the
 * context is freed meanwhile. Only `place` changes: pages that are made at the same time all begin behind the same one. */
struct scroll_state {
    _Atomic unsigned refs;
    struct arena arena; /* body, filters */
    struct str body;
    struct search_scope scope; /* slot and n_shards are each page's own */
    int64_t total;
    enum total_relation relation;
    float max_score;
    struct scroll_place *place; /* of the service's lock; NULL: at the beginning */
};
/* Gives a new context its state (the caller keeps its reference). */
void context_set_scroll(struct data_service *s, uint64_t id, struct scroll_state *st);
/* A reference on the context's state and on where it is. *st NULL: there is none; *place NULL: at the beginning. */
void context_scroll(struct data_service *s, uint64_t id, struct scroll_state **st,
                    struct scroll_place **place);
void scroll_state_unref(struct scroll_state *st);    /* NULL ok */
void scroll_place_unref(struct scroll_place *place); /* NULL ok */

/* scroll.c: the page that was fetched ends with `last`. */
enum err scroll_page_ended(struct data_service *s, struct scroll_state *st, const struct top_doc *last,
                           uint32_t n_sort, struct errmsg *em);
/* After a query phase of a scroll: the first page leaves its request, later ones show the first one's totals. *st: the
 * context's, with a reference; NULL on a first page, which makes it. */
void scroll_keep(struct data_service *s, struct shard_query *rq, struct scroll_state **st);

/* Of a search, or of a scroll: of these a node keeps search.max_open_scroll_context. */
uint64_t context_keep(struct data_service *s, struct shard *sh, struct view *v, int64_t keep_alive_ms,
                      bool scroll, struct errmsg *em);
/* The shard and view of a context, each with a reference, or false. */
bool context_use(struct data_service *s, uint64_t id, int64_t keep_alive_ms, struct shard **sh,
                 struct view **v);
void contexts_expire(struct data_service *s, bool all);
size_t contexts_of_shard(struct data_service *s, const struct shard *sh);
void contexts_invariant(const struct data_service *s); /* under the lock, or while nothing else runs */

/* update.c: turns an update into an index operation (or a delete, or nothing) given the current document. */
enum update_result { UPDATE_INDEX, UPDATE_DELETE, UPDATE_NOOP, UPDATE_MISSING };
struct update_plan {
    enum update_result result;
    struct str source; /* UPDATE_INDEX: the new one; UPDATE_NOOP: the current one */
};
struct update_input {
    const struct write_item *item;
    const struct engine_doc *current; /* found == false: absent */
    struct str index_name;
    int64_t now_ms;
};
/* {"_seq_no","_primary_term","found":true,"_source":...}: the "get" of an update's answer, its source
 * filtered as asked. */
enum err source_get_object(const struct write_item *item, struct str source, struct arena *arena,
                           struct jsonw *w, struct errmsg *em);
enum err update_plan_make(struct update_plan *out, const struct update_input *in, struct arena *arena,
                          struct errmsg *em);

#endif
