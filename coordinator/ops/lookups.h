/* lookups.h - terms that a query takes from other documents, and documents that percolate queries name, put in their place before
 * a request goes to any shard.
 *
 * {"terms": {"user": {"index": ..., "id": ..., "path": ...}}} becomes {"terms": {"user": [...]}}: the
 * documents are read in real time, each once for each mention. Knows nothing of what else is in the request.
 * done() is called exactly once, on any thread, never inside lookups_run(). */
#ifndef COORDINATOR_OPS_LOOKUPS_H
#define COORDINATOR_OPS_LOOKUPS_H

#include "coordinator/ops/get.h"

struct lookup;

struct lookups {
    struct op_env *r;
    struct arena *arena;     /* of the results; used by one thread at a time */
    const struct json *tree; /* the request; NULL: none. Afterwards the new one, its places those of `text` */
    struct str text;         /* afterwards the new tree's text */
    struct errmsg error;     /* a document could not be looked up */
    void (*done)(struct lookups *l);
    void *user;
    /* own */
    struct lookup *first;
    _Atomic uint32_t pending;
    struct later end; /* when there is nothing to read */
};

/* Does the request mention other documents? Without any, there is nothing to run. */
bool lookups_needed(const struct json *tree);
void lookups_run(struct lookups *l);

#endif
