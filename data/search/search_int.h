/* search_int.h - declarations shared by the files of searches. */
#ifndef DATA_SEARCH_SEARCH_INT_H
#define DATA_SEARCH_SEARCH_INT_H

#include "data/search/search.h"
#include "data/search/search_groups.h"
#include "engine/search/search.h"

/* A shard's part. Any thread. */
struct shard_searches {
    _Atomic uint64_t query_total, query_ns, fetch_total, fetch_ns, scroll_total, suggest_total, suggest_ns,
        query_current;
    struct search_groups groups;
};

/* The node's part: contexts, and limits as of the last state. */
struct search_context_entry;
struct searches {
    pthread_mutex_t lock; /* of the contexts, and of where scrolls are */
    struct search_context_entry *contexts;
    uint64_t next_context;
    size_t n_contexts;
    _Atomic int64_t max_buckets;
    _Atomic int64_t scrolls_max;
    _Atomic int64_t context_keep_ms; /* of a context between the phases of a search */
    _Atomic size_t request_bytes_max;
};

/* ---- search.c: what runs on the search pool ---- */

/* A task ends with search_finish(), which releases shard and view. */
struct search_run {
    struct shard *sh;
    struct view *view;
    struct shard_rq *rq;
    const struct query *query; /* when it has been built; else NULL */
};
void search_describe(struct search_shard *d, struct shard *sh, struct view *v,
                     const struct settings_part *settings, const struct search_scope *scope);
/* Parses the body of a request from elsewhere. Its error is in rq. */
enum err search_body_read(struct shard_rq *rq, struct search_body *body);
/* The parsed form of a body, for the caller to change; NULL: rq->error says why not. */
struct search_source *search_body_parse(struct shard_rq *rq, const struct search_body *body);
/* The shard and view to read, each with a reference: those of the request's context, or the newest. false: rq's error says why. */
bool search_view(struct data_service *s, struct shard_rq *rq, int64_t keep_alive_ms, struct shard **sh,
                 struct view **v);
void search_submit(struct data_service *s, struct shard_rq *rq, struct shard *sh, struct view *v,
                   void (*task)(void *));
void search_finish(struct shard *sh, struct view *v, struct shard_rq *rq);
/* What a search did, for the shard and the groups that it names. */
void search_count(struct shard *sh, const struct search_source *source, const struct shard_search_group *one);
/* What ends the work that a request asks for: its asker, or the service that closes. Begun on the thread that works. */
struct shard_stop {
    struct stop stop;
    const struct shard_rq *rq;
    struct data_service *s;
};
void shard_stop_begin(struct shard_stop *st, struct data_service *s, const struct shard_rq *rq);
/* true: the work was ended, and what it found is of no use: rq's error says so. */
bool shard_stop_end(struct shard_stop *st, struct shard_rq *rq);

/* Answers at once (can_match.c). */
void search_answer_can_match(struct shard_can_match *rq, struct shard *sh, struct view *v);

/* search_here.c: is the search so little work that handing it to another thread would cost as much? Then its query is in *q. */
bool search_is_small(struct shard_query *rq, struct shard *sh, struct view *v, const struct query **q);

/* dfs.c */
enum err search_gather_dfs(struct shard_dfs *rq, const struct search_shard *d, struct view *v);
struct search_stats search_given_stats(const struct dfs_stats *d);

/* ---- contexts.c ---- */

/* Of a search, or of a scroll: of these a node keeps search.max_open_scroll_context. 0: em says why not. */
uint64_t context_keep(struct data_service *s, struct shard *sh, struct view *v, int64_t keep_alive_ms,
                      bool scroll, struct errmsg *em);
/* The shard and view of a context, each with a reference, or false. */
bool context_find(struct data_service *s, uint64_t id, int64_t keep_alive_ms, struct shard **sh,
                  struct view **v);
/* Frees a context; true if it was there. */
bool context_free(struct data_service *s, uint64_t context);
size_t contexts_of_shard(struct data_service *s, const struct shard *sh);

/* ---- scroll.c ---- */

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
    struct scroll_place *place; /* of the searches' lock; NULL: at the beginning */
};
/* Gives a new context its state (the caller keeps its reference). */
void context_set_scroll(struct data_service *s, uint64_t id, struct scroll_state *st);
/* A reference on the context's state and on where it is. *st NULL: there is none; *place NULL: at the beginning. */
void context_scroll(struct data_service *s, uint64_t id, struct scroll_state **st,
                    struct scroll_place **place);
void scroll_state_unref(struct scroll_state *st);    /* NULL ok */
void scroll_place_unref(struct scroll_place *place); /* NULL ok */
/* The page that was fetched ends with `last`. */
enum err scroll_page_ended(struct data_service *s, struct scroll_state *st, const struct top_doc *last,
                           uint32_t n_sort, struct errmsg *em);
/* A later page takes from its context what it asks for, and where the last page ended. */
enum err scroll_find(struct data_service *s, struct shard_query *rq, struct scroll_state **st,
                     struct scroll_place **place);
/* After a query phase of a scroll: the first page leaves its request, later ones show the first one's totals. *st: the
 * context's, with a reference; NULL on a first page, which makes it. */
void scroll_keep(struct data_service *s, struct shard_query *rq, struct scroll_state **st);

#endif
