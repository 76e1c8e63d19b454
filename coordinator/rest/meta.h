/* meta.h - requests to the master from handlers: made, sent, answered. */
#ifndef COORDINATOR_REST_META_H
#define COORDINATOR_REST_META_H

#include "coordinator/rest/rest.h"

/* A metadata request for r with `n` names (copied). NULL: no memory, and the request was answered. */
struct meta_request *rest_meta(struct rest *r, enum meta_action action, const struct str *names, uint32_t n);
/* Sends it; the answer is {"acknowledged":true} or the error. */
void rest_meta_acknowledge(struct rest *r, struct meta_request *rq);
/* Sends it; `then` runs once it is done, on any thread, owns both and frees the request with rest_meta_free(). */
void rest_meta_then(struct rest *r, struct meta_request *rq, void (*then)(struct rest *r, struct meta_request *rq));
void rest_meta_free(struct meta_request *rq);
/* Waits are part of every metadata request: reads master_timeout and timeout into rq. */
enum err rest_meta_timeouts(struct rest *r, int64_t *timeout_ms);

#endif
