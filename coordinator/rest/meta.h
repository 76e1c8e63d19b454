/* meta.h - requests to the master from handlers: made, sent, answered. */
#ifndef COORDINATOR_REST_META_H
#define COORDINATOR_REST_META_H

#include "coordinator/core/active.h"
#include "coordinator/rest/rest.h"

/* A metadata request for r with `n` names (copied). NULL: no memory, and the request was answered. */
struct meta_request *rest_meta(struct rest *r, enum meta_action action, const struct str *names, uint32_t n);
/* Sends it; the answer is {"acknowledged":true} or the error. */
void rest_meta_acknowledge(struct rest *r, struct meta_request *rq);
/* Sends it; `then` runs once it is done, on any thread, owns both and frees the request with
 * rest_meta_free(). */
void rest_meta_then(struct rest *r, struct meta_request *rq,
                    void (*then)(struct rest *r, struct meta_request *rq));
void rest_meta_free(struct meta_request *rq);
/* What follows a request that has brought shards: its error is answered; else `then` runs once as many copies
 * as wait_for_active_shards says are there, or r->ack_ms are over. wait->names are rq's, wait->user is
 * rq. */
void rest_meta_wait_active(struct rest *r, struct meta_request *rq,
                           void (*then)(struct active_wait *wait, bool active));
/* Waits are part of every metadata request: reads master_timeout, how long a master is looked for and asked, and timeout,
 * into r->ack_ms: how long what follows may take. */
enum err rest_meta_timeouts(struct rest *r, int64_t *master_ms);
/* A request about the concrete indices that the path's {index} names under `o` (whose parameters are read,
 * with the timeouts). NULL: answered. rest_ready() has been asked: read every other parameter before. */
struct meta_request *rest_meta_indices(struct rest *r, enum meta_action action, struct expand_options *o);

/* ERR_CLUSTER_BLOCK when one of the targets hides its metadata (index.blocks.metadata). */
enum err rest_metadata_readable(struct rest *r, const struct index_target *t, uint32_t n);

/* An index's settings as an object: settings matching one of `names` (n == 0: all). */
enum err index_settings_write(struct rest *r, const struct index_meta *m, const struct str *names, uint32_t n,
                              bool flat, struct jsonw *w);
/* The defaults of the settings it does not have. */
enum err index_defaults_write(struct rest *r, const struct index_meta *m, const struct str *names, uint32_t n,
                              bool flat, struct jsonw *w);

#endif
