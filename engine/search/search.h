/* search.h - searching one shard: the query phase and the fetch phase.
 *
 * Both are functions of a point-in-time view and a request; they need no lock and no cluster. The query phase finds the
 * best documents, counts, aggregates and suggests; its result has a byte form (query_result_encode), so that it may come
 * from another process; reduce.h merges results of many shards. The fetch phase turns chosen documents into hits, each a
 * finished JSON object. */
#ifndef ENGINE_SEARCH_SEARCH_H
#define ENGINE_SEARCH_SEARCH_H

#include "common/base/bytes.h"
#include "engine/collect/search_context.h"
#include "engine/collect/top_doc.h"
#include "engine/fetch/fetch_phase.h"

enum total_relation { TOTAL_EQ, TOTAL_GTE, TOTAL_NONE /* not tracked */ };

struct query_result {
    uint32_t slot;
    struct top_doc *docs; /* best first; at most from + size */
    uint32_t n;
    uint32_t n_sort; /* values in every docs[i].sort */
    int64_t total;
    enum total_relation relation;
    float max_score; /* NaN: none */
    bool timed_out, terminated_early;
    bool
        first_key_refused; /* of a failed phase: it was the first sort key, which several shards are asked about beforehand */
    bool limited;       /* it would have stopped at a page's end; says whether it did */
    struct str aggs;    /* byte form of the partial aggregations; n == 0: none */
    struct str suggest; /* likewise */
    struct str profile; /* JSON text; n == 0: none */
};

/* Parses `body` (NULL: nothing to do) over what *s holds. `text` is the body's text. Everything borrows from both or lives
 * in `arena`. */
enum err search_source_parse(struct search_source *s, const struct json *body, struct str text,
                             struct arena *arena, struct errmsg *em);

/* Could the query of a request be one that a shard rewrites to match_none, and nothing else in it needs every shard? */
bool search_may_match_none(const struct search_source *s);
/* Need the shard be searched? No, when its mapping, the bounds of its dates, and its name say that nothing can match. Errors
 * are those of rewriting the query. */
enum err search_can_match(bool *matches, const struct search_shard *shard, const struct search_source *source,
                          struct arena *arena, struct errmsg *em);

/* The checks of the query phase that refuse a request before any document is read. */
enum err search_query_check(const struct search_shard *shard, const struct search_source *source,
                            struct arena *arena, struct errmsg *em);

/* The query phase. The result lives in `arena`. Field-dependent errors of the request are ERR_QUERY_SHARD and the like. */
enum err search_query_phase(struct query_result *out, const struct search_shard *shard,
                            const struct search_source *source, struct arena *arena, struct errmsg *em);

void query_result_encode(const struct query_result *r, struct buf *out);
enum err query_result_decode(struct query_result *r, struct str bytes, struct arena *arena,
                             struct errmsg *em);

#endif
