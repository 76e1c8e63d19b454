/* op_names.h - names of the operations that this node sends to shards: a session and a counter.
 *
 * A name is sent again with every repetition, so that an operation is applied once however often it arrives.
 * Shards may forget those below op_names_settled(): their requests have been answered. Any thread. */
#ifndef COORDINATOR_CORE_OP_NAMES_H
#define COORDINATOR_CORE_OP_NAMES_H

#include "common/base/defs.h"

#include <pthread.h>

struct op_span { /* the caller's, from begin to end */
    uint64_t first;
    struct op_span *prev, *next;
};

struct op_names {
    pthread_mutex_t lock;
    uint64_t session; /* random, never 0 */
    uint64_t next;
    struct op_span *oldest, *newest;
};

void op_names_init(struct op_names *o, uint64_t session);
void op_names_fini(struct op_names *o);
/* The names span->first ... first + n - 1 are the caller's. */
void op_names_begin(struct op_names *o, struct op_span *span, uint64_t n);
/* Their operations will not be sent again. */
void op_names_end(struct op_names *o, struct op_span *span);
/* All names below it have ended. */
uint64_t op_names_settled(struct op_names *o);
/* Asserts what always holds: names are given in their order, none twice. */
void op_names_invariant(struct op_names *o);

#endif
