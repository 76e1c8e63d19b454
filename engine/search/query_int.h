/* query_int.h - one run of the query phase, and its steps. Internal to engine/search. */
#ifndef ENGINE_SEARCH_QUERY_INT_H
#define ENGINE_SEARCH_QUERY_INT_H

#include "engine/collect/top_docs.h"
#include "engine/search/search.h"

struct query_run {
    const struct search_shard *shard;
    const struct search_source *source;
    struct search_context cx;
    struct arena *arena;
    struct errmsg *em;

    const struct query *query;
    const struct weight *weight, *post_filter;
    enum score_need need;
    struct sort_plan *sort;
    struct top_docs *top;
    struct doc_collector *aggs;

    int64_t hits;       /* counted so far */
    int64_t known_hits; /* the total, known without counting; -1 */
    int64_t threshold;  /* counting may stop being exact above it */
    int64_t collected;  /* for terminate_after */
    float best;
    bool done, terminated, timed_out, skipping, first_key_refused;
    bool paged; /* page_left holds */
    int64_t deadline_ns;
    uint32_t polls;
    struct scorer *scorer;
    const struct leaf *leaf;
    uint32_t page_start; /* first document of a scroll's page in index order; 0: no such page */
    int64_t page_left;   /* documents that it still wants; INT64_MAX: no limit */
    struct scorer *post; /* post_filter's in the segment; NULL: it matches nothing there, or there is none */
};

/* Refuses what the index or the request's own parts forbid, and makes query, weights and sort keys (query_prepare.c). */
enum err query_prepare(struct query_run *r);
enum err query_prepare_sort(struct query_run *r);
/* Visits the matching documents, segment by segment, until all are seen or the rest does not count (query_collect.c). */
enum err query_collect(struct query_run *r);
/* Scores the first `window` of the best documents anew, and puts them in order (query_rescore.c). */
enum err query_rescore(struct query_run *r, const struct rescore_spec *s, struct top_doc *docs, uint32_t n);

#endif
