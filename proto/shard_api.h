/* shard_api.h - requests from a coordinating node to one shard copy, and their answers.
 *
 * A request is a struct that its caller owns, with an arena of its own. Its operation (shard_ops.h) says which struct
 * that is. The server puts the answer into the same struct, allocates in its arena, and answers exactly once, on any
 * thread. On the data node data/ serves it; for a shard elsewhere the transport does, which carries the same structs
 * as bytes. A failed request has `err_is(&error)`.
 *
 * done() is called once for each answer, on any thread, and never inside the call that asked: an answer
 * is put off until the task that gave it has returned (common/base/later.h). On another thread it may come before the call has
 * returned: the caller does not touch a request that it has handed over. */
#ifndef PROTO_SHARD_API_H
#define PROTO_SHARD_API_H

#include "common/base/err.h"
#include "common/base/json.h"
#include "common/base/later.h"
#include "engine/collect/scope.h"
#include "engine/fetch/term_vectors.h"

struct search_source;
struct query_result;
struct top_doc;

struct shard_ref {
    struct str index, uuid; /* the caller's, for the life of the request */
    uint32_t shard;
};

struct shard_op;

struct shard_rq { /* what every request begins with */
    const struct shard_op *op;
    struct shard_ref shard;
    struct str node;     /* id of the node that served it, or has to (it has the context); p == NULL: any */
    uint64_t context;    /* a search's, open on that node; 0: none. Of an answer: the one that was opened */
    struct arena arena;  /* the answer's memory; freed by the caller */
    struct errmsg error; /* empty: fine; in the arena */
    void (*done)(struct shard_rq *rq);
    void *user;
    struct shard_rq *next; /* the server's queues */
    bool served;           /* from the call until done(): it is the server's, and nobody else may touch it */
    struct later end; /* the answer, from when it is given until done(); run == NULL: it is not given yet */
    /* Asked now and then while it is served, on any thread: is the answer of no use any more? NULL: it is. */
    bool (*cancelled)(void *self);
    void *cancel_self;
    /* The task that asks: parent_node is the id of the node that has it (p == NULL: this one), parent its number
     * there (0: none), opaque_id what its client calls it (p == NULL: nothing). The asker's until done(). */
    struct str parent_node, opaque_id;
    uint64_t parent;
};
static inline bool shard_rq_cancelled(const struct shard_rq *rq)
{
    return rq->cancelled != NULL && rq->cancelled(rq->cancel_self);
}
/* Sets up what every request begins with; the rest is the caller's. done() gets the request back, with its answer. */
void shard_rq_init(struct shard_rq *rq, const struct shard_op *op, void (*done)(struct shard_rq *),
                   void *user);
void shard_rq_fini(struct shard_rq *rq);
/* The server's, of every request: it is the server's from here to done(), which follows shard_rq_answer(). Either asserts that it was
 * not handed over twice. */
void shard_rq_take(struct shard_rq *rq);
void shard_rq_answer(struct shard_rq *rq);
/* Both, of a request that nobody serves: its error says why. */
void shard_rq_refuse(struct shard_rq *rq);

/* ---- writes -------------------------------------------------------------------------------------------- */

enum write_kind { WRITE_INDEX, WRITE_DELETE, WRITE_UPDATE };
enum write_outcome { WRITE_CREATED, WRITE_UPDATED, WRITE_DELETED, WRITE_NOT_FOUND, WRITE_NOOP };
enum refresh_policy {
    REFRESH_NONE,
    REFRESH_NOW,
    REFRESH_WAIT,
    REFRESH_CHANGED /* now, where something was written: of a single update */
};

struct write_item {
    enum write_kind kind;
    struct str id, routing; /* routing.p == NULL: none */
    struct str type;        /* as the request names it; n == 0: `_doc` */
    struct str source;      /* the document; WRITE_UPDATE: the body (doc, script, upsert ...) */
    bool create;            /* op_type create */
    int64_t auto_id_ms;     /* -1: the client chose the id */
    uint64_t op_counter;    /* names the item within shard_write.op_session, whenever it is sent */
    int64_t version;        /* VERSION_ANY (engine.h) or the expected or external one */
    int version_type;       /* enum version_type of engine.h */
    int64_t if_seq_no, if_primary_term; /* SEQ_UNASSIGNED: no condition */
    int32_t retry_on_conflict;
    bool doc_as_upsert; /* WRITE_UPDATE: unless the body says otherwise */
    bool reroutes;      /* WRITE_UPDATE: a document that is there gets this routing, else it keeps its own */
    bool want_get;      /* WRITE_UPDATE: answer with the new source (filtered by get_filter) */
    const struct json *get_filter; /* as "_source" in a body; NULL: whole */
    /* the answer */
    enum write_outcome outcome;
    int64_t seq_no, primary_term, result_version;
    struct str get;       /* JSON of the "get" object; n == 0: none */
    struct errmsg *error; /* NULL: fine; in the request's arena */
};

/* The name of its type, as answers have it. */
static inline struct str write_item_type(const struct write_item *it)
{
    return it->type.n > 0 ? it->type : STR("_doc");
}

/* How it fails as a whole. ERR_NO_SHARD, ERR_NOT_PRIMARY, ERR_REJECTED: nothing was written; another copy may be
 * the primary now. Any other error (ERR_STALE_TERM: another primary has taken over meanwhile; ERR_TIMEOUT: not all
 * copies have it in time; ERR_IO: the copy's disk failed it; ERR_NODE_DISCONNECTED ...): whether items without an error of their own were written is
 * unknown; sent again with the same names and `retry`, they get the first result or are written now. */
struct shard_write {
    struct shard_rq rq;
    struct write_item *items;
    uint32_t n;
    enum refresh_policy refresh;
    int64_t timeout_ms;
    /* The coordinating node's session (random, drawn at its start; 0: items have no names) and the counter
     * below which all of the session's operations are answered to their clients: they need not be remembered. */
    uint64_t op_session, settled_below;
    bool retry;               /* it may have been sent before */
    struct errmsg inactive;   /* whatever would be written is refused with it; empty: nothing is */
    bool forced_refresh;      /* answer */
    uint64_t mapping_version; /* answer: of the index there */
    uint32_t copies_ok,
        copies_failed; /* answer: the primary and others that have it; those that failed meanwhile */
    void *set;         /* the caller's: what the request belongs to */
};

/* ---- reads --------------------------------------------------------------------------------------------- */

struct shard_get {
    struct shard_rq rq;
    struct str id;
    bool realtime, refresh;
    bool here; /* it may be read on the calling thread, where that is little work */
    bool want_source;
    const struct str *stored_fields; /* names; 0 of them: none */
    uint32_t n_stored_fields;
    /* the answer */
    bool found;
    int64_t version, seq_no, primary_term;
    struct str source, routing; /* p == NULL: none */
    struct str fields;          /* JSON object of stored fields; n == 0: none */
    const struct str *ignored;  /* names of fields that were not indexed as they came */
    uint32_t n_ignored;
};

/* Statistics of the terms that a query scores by: one shard's, or the sum over all (dfs_query_then_fetch). */
struct dfs_term {
    struct str field, term;
    int64_t doc_freq, total_freq;
};
struct dfs_field {
    struct str field;
    int64_t max_doc, doc_count, sum_df, sum_ttf;
};
struct dfs_stats {
    struct dfs_term *terms;
    struct dfs_field *fields;
    uint32_t n_terms, n_fields;
};

/* What is searched for. */
struct search_body {
    struct str text;                    /* the search body's */
    const struct json *tree;            /* what it means, when that is not what it reads as; else NULL */
    const struct search_source *source; /* its parsed form, when at hand; else parsed from these */
    bool adapted;                       /* beside what the text says: the two below */
    int32_t track_total;                /* as struct search_source has them */
    int64_t timeout_ms;
};

/* The query phase; with `fetch` also the fetch phase of the first from + size hits, when the shard is the
 * only one. The context (a pinned view) stays for a later fetch unless `fetch`, until shard_free or its
 * keep-alive.
 * Also the next page of a scroll (shard_op_scroll): its context knows body and scope, and where the last page ended; `body` is
 * an answer then. */
struct shard_query {
    struct shard_rq rq;
    struct search_body body;
    struct search_scope scope;
    int64_t keep_alive_ms; /* > 0: the context stays that long after each use */
    bool fetch;
    bool keep;                   /* keep the context when done */
    const struct dfs_stats *dfs; /* score by these; NULL: by the shard's own */
    bool here;                   /* it may run on the calling thread, where that is little work */
    /* the answer */
    struct query_result *result;
    struct str *hits; /* with `fetch`: JSON of each of result->docs[from ...] */
    uint32_t n_hits;
};

/* May the shard have documents that match? An error: rewriting the query fails there. */
struct shard_can_match {
    struct shard_rq rq;
    struct search_body body;
    struct search_scope scope;
    bool matches; /* answer */
};

/* What the shard knows of the query's terms. */
struct shard_dfs {
    struct shard_rq rq;
    struct search_body body;
    struct search_scope scope;
    struct dfs_stats stats; /* answer */
};

struct shard_fetch {
    struct shard_rq rq;
    struct search_body body;
    struct search_scope scope; /* of it: n_shards, now_ms */
    bool keep;
    const struct top_doc *docs;
    uint32_t n_sort;         /* sort values of each that has any */
    uint32_t n, n_suggested; /* the first ones are shown with suggestions, not on the page */
    struct str *hits;        /* answer: JSON of each */
};

/* One query looked into: how it scores a document (as searches see it), or only what it reads as on that
 * shard. */
struct shard_explain {
    struct shard_rq rq;
    const struct json *query; /* NULL: match_all */
    struct str text;          /* where query's places are */
    struct str id;            /* p == NULL: only `printed` is asked for */
    const struct str *alias_filters;
    uint32_t n_alias_filters;
    bool want_source;
    bool rewritten; /* `printed` as the query runs */
    int64_t now_ms;
    /* the answer */
    bool found, matched;
    struct str explanation; /* JSON; n == 0: none */
    struct str printed;     /* Lucene's toString of the query */
    int64_t seq_no, primary_term;
    struct str source;
};

/* The terms of a document, which the shard has, or which comes with the request. */
struct shard_term_vectors {
    struct shard_rq rq;
    struct str id;      /* p == NULL: `doc` is asked about */
    struct str doc;     /* a source */
    struct str routing; /* of `doc`; p == NULL: none */
    bool realtime;      /* `id` as it is now; else as searches see it */
    int64_t version;    /* the one that it must have; VERSION_ANY (engine.h): any */
    struct term_vectors_options options;
    /* the answer */
    bool found;
    int64_t found_version;
    struct str vectors; /* JSON of the object of all fields; n == 0: none */
};

/* ---- the rest ------------------------------------------------------------------------------------------ */

enum shard_action {
    SHARD_REFRESH,
    SHARD_FLUSH,
    SHARD_FORCE_MERGE,
    SHARD_STATS,
    SHARD_SEGMENTS,
    SHARD_CLEAR_CACHE,
    SHARD_RECOVERY
};

/* How a copy came to be, or comes to be: one entry of _recovery. */
enum recovery_stage {
    RECOVERY_INIT,
    RECOVERY_INDEX,
    RECOVERY_VERIFY_INDEX,
    RECOVERY_TRANSLOG,
    RECOVERY_FINALIZE,
    RECOVERY_DONE
};
struct shard_recovery {
    enum recovery_stage stage;
    uint8_t source;                      /* enum recovery_source of common/cluster/state.h */
    bool primary;                        /* the copy is, or is on its way to be */
    bool relocation;                     /* it takes the place of a copy elsewhere */
    struct str source_node, target_node; /* ids; p == NULL: none */
    int64_t start_ms, stop_ms;           /* wall clock; stop_ms 0: it goes on */
    int64_t total_ms, index_ms, translog_ms, verify_ms;
    uint32_t files_total, files_reused, files_recovered;
    uint64_t bytes_total, bytes_reused, bytes_recovered;
    int64_t source_throttle_ms, target_throttle_ms;
    uint64_t ops_recovered, ops_total, ops_total_on_start;
};
struct shard_act {
    struct shard_rq rq;
    enum shard_action action;
    bool force, wait_if_ongoing, only_expunge_deletes, flush_after;
    int32_t max_segments;
    const struct shard_stats *stats;       /* answer of SHARD_STATS, in the arena */
    struct str segments;                   /* answer of SHARD_SEGMENTS: JSON object of the shard's segments */
    const struct shard_recovery *recovery; /* answer of SHARD_RECOVERY, in the arena */
};

/* What searches that name a group in their `stats` have done. */
struct shard_search_group {
    struct str name;
    uint64_t query_total, query_ns, fetch_total, fetch_ns, suggest_total, suggest_ns;
};
static inline void shard_search_group_add(struct shard_search_group *to,
                                          const struct shard_search_group *more)
{
    to->query_total += more->query_total;
    to->query_ns += more->query_ns;
    to->fetch_total += more->fetch_total;
    to->fetch_ns += more->fetch_ns;
    to->suggest_total += more->suggest_total;
    to->suggest_ns += more->suggest_ns;
}

struct shard_field_bytes { /* what a field takes */
    struct str name;
    uint64_t bytes;
};

struct shard_stats {
    uint64_t docs, docs_deleted, store_bytes;
    uint64_t index_total, index_ns, index_failed, delete_total, delete_ns, noop_updates;
    uint64_t get_total, get_ns, get_missing;
    uint64_t query_total, query_ns, fetch_total, fetch_ns, scroll_total, suggest_total, suggest_ns,
        query_current, contexts;
    uint64_t refresh_total, refresh_ns, flush_total, flush_ns, merge_total, merge_docs, merge_bytes, merge_ns;
    uint64_t translog_ops, translog_bytes, translog_uncommitted_ops, translog_uncommitted_bytes;
    uint64_t segments, segment_memory_bytes, buffer_bytes, version_map_bytes;
    uint64_t filter_bytes, filter_hits, filter_misses, filter_evictions, filter_count;
    uint64_t completion_bytes;
    int64_t max_seq_no, local_checkpoint, global_checkpoint;
    struct str commit_id;
    const struct shard_search_group *groups;
    const struct shard_field_bytes *completions; /* of the fields that some segment has */
    uint32_t n_groups, n_completions;
};

/* Frees contexts, all on one node. */
struct shard_free {
    struct shard_rq rq;
    const uint64_t *contexts;
    uint32_t n;
    bool all_scrolls; /* instead: whatever scrolls have there */
    uint32_t freed;   /* answer: how many were there */
};

/* Who serves requests to shards. */
struct shard_api {
    void *self;
    void (*serve)(void *self, struct shard_rq *rq);
};

#endif
