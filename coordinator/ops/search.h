/* search.h - one search over many shards: scattered, gathered, fetched, printed.
 *
 * The body is parsed once on the coordinating node; shards get its text (and, when they are local, its parsed
 * form). With one shard both phases run there in one go. Failures of shards are part of the answer as long as
 * one shard answered. */
#ifndef COORDINATOR_OPS_SEARCH_H
#define COORDINATOR_OPS_SEARCH_H

#include "coordinator/core/resolve.h"
#include "coordinator/core/tasks.h"
#include "coordinator/ops/lookups.h"
#include "engine/search/reduce.h"

struct search_call;
struct context_ref;
struct freeing;

struct search_opts {
    struct str index;        /* expression */
    struct str body;         /* JSON text; n == 0: none */
    const struct json *tree; /* its tree; NULL: none */
    bool tree_apart;         /* the tree is not what the text reads as */
    struct expand_options indices;
    struct str routing, preference;
    bool typed_keys, total_as_int, dfs, allow_partial;
    int64_t scroll_ms;             /* > 0: keep contexts for a scroll */
    int64_t open_ms;               /* > 0: keep them for a point in time, of which the answer has the id */
    int64_t pre_filter_shard_size; /* 0: not given */
    int32_t batched_reduce;        /* so many shards' results are counted as reduced at a time */
    bool request_cache_given;
    bool ask_only; /* which shards may match, and no more: `matchers` has it, and there are no results */
    bool here;     /* nothing else waits for the calling thread: it may search, if that is little work */
};

#define BATCHED_REDUCE 512 /* batched_reduce_size, where it is not given */

/* Runs a search; `done` gets it on any thread, never inside search_run(): the answer is in *c until search_free(). Parse and index
 * errors end it before any shard is asked, with c->error. */
struct search_call {
    struct op_env *r; /* clock, state and shards come from here; nothing is answered through it */
    struct search_opts o;
    struct search_source source;
    void (*done)(struct search_call *c);
    void *user;
    struct errmsg error;  /* the whole failed; in the arena */
    uint64_t parent_task; /* 0: none */
    /* own */
    struct later end;
    struct task task;
    struct arena arena;
    struct shard_query *queries;
    uint32_t n_shards;
    _Atomic uint32_t pending;
    struct shard_dfs *probes;
    struct shard_can_match *matchers;
    uint32_t n_matchers;
    uint32_t n_skipped; /* shards where nothing can match: not among the n_shards queries */
    bool unmatched;     /* that phase failed on every shard */
    const struct dfs_stats *dfs;
    struct query_result *results;
    struct reduced reduced;
    struct shard_fetch *fetches;
    struct str *hits;                /* JSON of reduced.docs[i] */
    struct suggest_reduced *suggest; /* NULL: none */
    const struct str *suggest_hits;  /* JSON of the documents that suggestions show */
    uint32_t n_ok, n_failed;
    int64_t start_ns, now_ms;
    const struct index_target *targets;
    uint32_t n_targets;
    const char *bare_phase; /* the error is a phase's, of no shard in particular; NULL: no */
    bool next_page;
    struct lookups lookups;
    struct str scroll_id;          /* of the answer; n == 0: none */
    struct str pit_id;             /* likewise */
    const struct context_ref *pit; /* the contexts of the request's point in time; NULL: it has none */
    uint32_t n_pit;
    bool fetch_failed;              /* some shard failed in the fetch phase */
    bool repeated;                  /* it was asked a second time, as a node went between the phases */
    struct expansion *expansion;    /* of a collapse's groups; NULL: none */
    struct search_call *unexpanded; /* the first group whose search failed */
};

/* Do the shards' contexts outlive the search? */
static inline bool search_keeps(const struct search_call *c)
{
    return c->o.scroll_ms > 0 || c->o.open_ms > 0 || c->source.pit_id.p != NULL;
}
/* How long, from now on; 0: as long as before. */
static inline int64_t search_keep_ms(const struct search_call *c)
{
    return c->o.scroll_ms > 0 ? c->o.scroll_ms
           : c->o.open_ms > 0 ? c->o.open_ms
                              : MAX_OF(c->source.pit_keep_alive_ms, (int64_t)0);
}

/* Is the time to keep contexts above search.max_keep_alive? Then every shard's query has failed with it. */
bool search_kept_too_long(struct search_call *c);

struct search_call *search_new(struct op_env *r); /* NULL: no memory */
/* Did so many shards fail that the search as a whole did? All, or one where no partial results are wanted. */
static inline bool search_all_failed(const struct search_call *c)
{
    return c->n_failed > 0 && (c->n_failed == c->n_shards + c->n_skipped || !c->o.allow_partial);
}
/* The next page of a scroll: `id` as the client sent it; scroll_ms <= 0 ends the scroll with this page. */
void search_run_scroll(struct search_call *c, struct str id);
/* The contexts of a scroll id are to be freed. ERR_ILLEGAL_ARGUMENT: it is none. */
enum err scroll_free(struct freeing *f, struct str id, struct errmsg *em);
/* The contexts are freed, and the result is not reported. */
void scroll_forget(struct op_env *r, struct str id);
void search_run(struct search_call *c);
/* What rest_total_hits_as_int makes of a request: hits are counted to the last one, or it is refused for what it says itself. */
enum err search_total_as_int(struct search_source *s, struct errmsg *em);
void search_free(struct search_call *c);
/* The same of a point in time. */
enum err pit_free(struct freeing *f, struct str id, struct errmsg *em);
/* The member "_shards". */
void search_write_shards(struct search_call *c, struct jsonw *w);
/* After ask_only: may a shard of this index match? */
bool search_index_matches(const struct search_call *c, struct str index);
/* What the shards failed with, when all did; NULL: not all. After ask_only. */
const struct errmsg *search_failed_with(const struct search_call *c);
/* The response as an object (or {"error":...,"status":...}), with its HTTP status in *status. */
void search_write(struct search_call *c, struct jsonw *w, int *status);

/* Is the shard of this target asked, by the routing of the aliases that named it and by the request's (n == 0: it has
 * none)? */
bool search_goes_to(const struct index_target *t, uint32_t shard, struct str routing);

#endif
