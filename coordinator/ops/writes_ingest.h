/* writes_ingest.h - the pipelines that documents pass before they are routed.
 *
 * Which ones they are is known from the request, from the index that a document goes to, and from templates where that is not there yet.
 * They run on a pool of requests, never on a loop. */
#ifndef COORDINATOR_OPS_WRITES_INGEST_H
#define COORDINATOR_OPS_WRITES_INGEST_H

#include "coordinator/ops/writes.h"

/* Finds the pipelines of all entries. true: some are to run, by writes_ingest(). */
bool writes_ingest_plan(struct write_set *w);
/* Runs them on a pool; then `then` is called there. Entries that fail have their errors, those that are dropped say so. */
void writes_ingest(struct write_set *w, void (*then)(void *w));
/* A document's text as a tree: an object. ERR_PARSE "Failed to parse content to map", ERR_NOT_X_CONTENT. */
enum err ingest_source_parse(struct json *out, struct str text, struct arena *arena, struct errmsg *em);
/* Now, to the millisecond's parts that the clock knows. */
struct instant ingest_now(const struct clock *clock);

#endif
