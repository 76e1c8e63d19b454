/* node_figures.h - a node's figures, for tables and sums over nodes. */
#ifndef COORDINATOR_REST_NODE_FIGURES_H
#define COORDINATOR_REST_NODE_FIGURES_H

#include "coordinator/core/node_calls.h"
#include "coordinator/rest/stats.h"

struct node_figures {
    int64_t pid, started_ms;
    struct node_report report;
    struct process_stats process;
    struct machine_stats machine;
    struct shard_stats shards; /* the sum of its copies */
};

void node_figures_encode(const struct node_figures *f, struct buf *out);
/* Texts live in `arena`. ERR_CORRUPT. */
enum err node_figures_decode(struct node_figures *f, struct str bytes, struct arena *arena,
                             struct errmsg *em);

/* Asks the nodes that the list names (p == NULL: all) for their figures; with_shards: with the sums of their
 * copies. timeout_ms 0: the usual one. Answers r itself without memory. done() reads calls->v, and node_figures_of(). */
void node_figures_ask(struct rest *r, struct str nodes, bool with_shards, int64_t timeout_ms,
                      void (*done)(struct node_calls *c), void *user);
/* What the i-th node said; NULL: nothing that can be read. */
const struct node_figures *node_figures_of(const struct node_calls *c, uint32_t i);
/* The service's part of MESSAGE_NODE_STATS (nodes_stats.c). */
void node_figures_serve(struct node_question *q, bool with_shards);

#endif
