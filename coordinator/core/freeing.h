/* freeing.h - the freeing of many contexts, on any nodes, and their number.
 *
 * Lives in a request's arena. Add, then run once; done() is called on any thread, never inside the call. */
#ifndef COORDINATOR_CORE_FREEING_H
#define COORDINATOR_CORE_FREEING_H

#include "coordinator/core/context_id.h"
#include "coordinator/core/op_env.h"

struct freeing_node {
    struct shard_free rq; /* first: its done() gets it */
    uint64_t *contexts;
    size_t cap;
};

struct freeing {
    struct op_env *r;
    void (*done)(struct freeing *f);
    uint32_t freed; /* answer */
    /* own */
    struct freeing_node *v; /* one a node */
    size_t n, cap;
    bool failed;
    _Atomic uint32_t pending;
    struct later end; /* when there is no node to ask */
};

void freeing_add(struct freeing *f, const struct context_ref *refs, uint32_t n);
/* All contexts of scrolls, on every node. */
void freeing_add_scrolls(struct freeing *f);
/* ERR_NO_MEMORY: nothing is done. */
enum err freeing_run(struct freeing *f, struct errmsg *em);

#endif
