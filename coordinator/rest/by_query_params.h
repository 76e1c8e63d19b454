/* by_query_params.h - the parameters that _update_by_query, _delete_by_query and _reindex have in common. */
#ifndef COORDINATOR_REST_BY_QUERY_PARAMS_H
#define COORDINATOR_REST_BY_QUERY_PARAMS_H

#include "coordinator/ops/by_query.h"
#include "coordinator/rest/rest.h"

/* A request being read: everything that the operation keeps is in `arena`. Errors are in r->em. */
struct by_query_rq {
    struct rest *r;
    struct by_query *op;
    struct by_query_spec *s;
    struct arena *arena;
    struct search_source source; /* of s->search */
    const struct json *remote;   /* what _reindex asks for of another cluster; NULL: nothing */
    enum err (*refuse_remote)(struct by_query_rq *q);
    bool wait;
};

/* Parameters: slices, requests_per_second, timeout, wait_for_active_shards, refresh, max_docs,
 * wait_for_completion. */
enum err by_query_common(struct by_query_rq *q);
/* As Elasticsearch's setters check it; `identical`: a second, different value is refused. */
enum err by_query_max_docs(struct by_query_spec *s, int32_t n, bool identical, struct errmsg *em);
enum err by_query_conflicts(struct by_query_spec *s, struct str v, struct errmsg *em);
/* requests_per_second: INFINITY when there is no limit. */
enum err by_query_rate(struct rest *r, float *out);
/* The body's first value, whatever follows it; *out NULL when there is none. */
enum err by_query_body(struct by_query_rq *q, const struct json **out);
/* The members of `body` but those named in `without` (ends with NULL), as the search of the operation: in the
 * order and the text in which Elasticsearch hands them on, from which errors have their places. */
enum err by_query_search(struct by_query_rq *q, const struct json *body, const char *const *without);
/* The tree in s->search.tree as it will be sent, parsed into q->source. */
enum err by_query_reparse(struct by_query_rq *q, const struct json *tree);
/* The stored script of that id as the operation's. ERR_RESOURCE_NOT_FOUND: there is none. */
enum err by_query_stored(struct by_query_rq *q, struct str id);
/* The error in r->em (ERR_OK: none) answers the request; else it runs. */
void by_query_go(struct by_query_rq *q, enum err e);

#endif
