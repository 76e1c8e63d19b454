/* cluster_state.h - parts of a cluster state as _cluster/state prints them. Any thread. */
#ifndef COORDINATOR_REST_CLUSTER_STATE_H
#define COORDINATOR_REST_CLUSTER_STATE_H

#include "coordinator/rest/rest.h"

/* The parts that a list of metrics names, as a set; p == NULL: all of them. */
unsigned state_parts(struct str metrics);
/* An object with these parts of r's state, of all indices; flat: settings as one object of whole names. */
enum err state_write_all(struct rest *r, unsigned parts, bool flat, struct jsonw *w);
/* A shard's number as the key of a member. */
void state_shard_key(struct jsonw *w, uint32_t shard);
/* The members "routing_table" (by index and shard) and "routing_nodes" (by node) with the targets' copies. */
void state_write_routing(struct rest *r, struct jsonw *w, const struct index_target *t, uint32_t n);
void state_write_routing_nodes(struct rest *r, struct jsonw *w, const struct index_target *t, uint32_t n);

#endif
