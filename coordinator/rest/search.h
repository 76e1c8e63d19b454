/* search.h - the parameters that all search requests have in common. Errors are in r->em. */
#ifndef COORDINATOR_REST_SEARCH_H
#define COORDINATOR_REST_SEARCH_H

#include "coordinator/ops/search.h"
#include "coordinator/rest/rest.h"

/* Counts the documents that the request's query (body or q) matches in the path's indices; then(), once, or r is answered with
 * the error. */
void rest_count(struct rest *r, void (*then)(struct rest *r, int64_t n));
/* Is `preference` one that a search or a get may have? */
enum err rest_check_preference(struct rest *r, struct str preference);

/* What a URL says of a search: put over `body` (an object in r's arena; *changed: something was), and into
 * *o. by_query: the parameters of _update_by_query and its kin, which give `size` another meaning. The error
 * is in r->em. */
/* ERR_ILLEGAL_ARGUMENT of a search type that is none. */
enum err rest_no_search_type(struct str type, struct errmsg *em);
/* The tree of a changed body as the search's, with its text. */
enum err rest_search_body(struct rest *r, const struct json *tree, struct search_opts *o);
enum err rest_search_params(struct rest *r, struct search_opts *o, struct json *body, bool by_query,
                            bool *changed);

/* The query of requests that consist of nothing else (_explain, _validate ...): the body's only member, or
 * `q` and its companions in the URL. Its syntax is checked. *query == NULL: neither is there. The error is in
 * r->em. */
enum err rest_query(struct rest *r, const struct json **query);

#endif
