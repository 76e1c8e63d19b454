/* master_view.h - a question to the master before the state is read.
 *
 * The state here then has all that any node acknowledged before, and the master's pending tasks are known. */
#ifndef COORDINATOR_REST_MASTER_VIEW_H
#define COORDINATOR_REST_MASTER_VIEW_H

#include "coordinator/rest/rest.h"
#include "master/pending.h"

struct master_view { /* lives until the request is answered */
    struct rest *r;
    const struct pending_rq *pending;
    void (*then)(struct master_view *v);
    void *user;
};

/* then() runs with r->state renewed, never inside the call. `local`: nobody is asked, nothing waits. No
 * master in time: r is answered with the error. */
void rest_ask_master(struct rest *r, bool local, int64_t timeout_ms, void (*then)(struct master_view *v),
                     void *user);
/* Only what waits there: also while a state is on its way that may not arrive. `local`: only if this node is the master; on
 * others nothing waits. */
void rest_ask_queue(struct rest *r, bool local, int64_t timeout_ms, void (*then)(struct master_view *v));
/* Calls go(r) with the state that the master has, for tables and the like; with this node's own state without a master, or if
 * `local` is asked for. */
void rest_with_master_state(struct rest *r, void (*go)(struct rest *r));
/* The longest that a task waits; 0: none does. */
int64_t master_view_longest_ms(const struct master_view *v);

#endif
