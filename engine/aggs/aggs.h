/* aggs.h - aggregations: parsed once, collected per shard, reduced anywhere.
 *
 * A spec is the checked request (types, names, parameters; no mapping). A collector gathers one shard's
 * partial result; its byte form travels; reduce() merges any number of them, runs the pipeline aggregations,
 * and prints the answer. */
#ifndef ENGINE_AGGS_AGGS_H
#define ENGINE_AGGS_AGGS_H

#include "engine/collect/search_context.h"

struct agg_spec;

/* What aggs_parse() found wrong with pipelines, ERR_ACTION_VALIDATION: asked when the whole body was read, as any
 * other error in it comes first. */
enum err aggs_check(const struct agg_spec *spec, struct errmsg *em);
/* Takes apart `aggs`. Errors are those of the coordinating node (parsing_exception,
 * x_content_parse_exception, action_request_validation_exception ...). The spec lives in `arena` and borrows
 * from `aggs`. */
enum err aggs_parse(const struct agg_spec **out, const struct json *aggs, struct str text,
                    struct arena *arena, struct errmsg *em);
bool aggs_need_scores(const struct agg_spec *spec);
/* Does one of them, at the top, show what no document that matches has? */
bool aggs_visit_all(const struct agg_spec *spec);

/* Binds a spec to a shard's view. *out collects (search.h); finish with aggs_result. */
enum err aggs_collector_new(struct doc_collector **out, const struct agg_spec *spec,
                            const struct search_context *cx,
                            const struct weight *query /* of the search, for global and top_hits */,
                            struct errmsg *em);
/* The partial result in its byte form; to be called once, after the last segment. */
enum err aggs_result(struct doc_collector *c, struct buf *out, struct errmsg *em);
void aggs_collector_free(struct doc_collector *c); /* NULL ok */

#define AGG_BUCKETS_MAX 65535 /* the default of search.max_buckets */

struct aggs_reduce_opts {
    bool typed_keys;     /* names are prefixed with their types */
    int64_t max_buckets; /* search.max_buckets: of the whole answer */
};

/* Merges n partial results (byte forms) and writes the members of "aggregations" as an object's value:
 * {"name":{...},...}. Pure. ERR_TOO_MANY_BUCKETS. */
enum err aggs_reduce(const struct agg_spec *spec, const struct str *partials, uint32_t n,
                     const struct aggs_reduce_opts *opts, struct arena *arena, struct jsonw *w,
                     struct errmsg *em);

#endif
