/* nodes.h - the nodes of a state by what they are: their roles, and the filters that name some of them.
 *
 * Pure functions of a state; any thread. */
#ifndef CLUSTER_NODES_H
#define CLUSTER_NODES_H

#include "common/cluster/state.h"

/* Sorted by name, as they print. */
enum node_role {
    NODE_DATA,
    NODE_DATA_COLD,
    NODE_DATA_CONTENT,
    NODE_DATA_FROZEN,
    NODE_DATA_HOT,
    NODE_DATA_WARM,
    NODE_INGEST,
    NODE_MASTER,
    NODE_ML,
    NODE_REMOTE,
    NODE_TRANSFORM,
    NODE_VOTING_ONLY,
    NODE_ROLES_N
};
#define NODE_DATA_ROLES 0x3FU /* the bits of those that hold data */

/* Sets of roles are 1 << enum node_role. What the cluster goes by is ROLE_*; the rest travels above those. */
uint32_t node_roles_pack(unsigned set); /* for node_meta.roles */
unsigned node_roles(const struct node_meta *n);
const char *node_role_name(enum node_role r);
/* "dimr"; "-": none. */
struct str node_role_letters(unsigned set, char out[16]);

/* "{name}{id}{ephemeral id}{host}{address}{dimr}", as Elasticsearch's messages call a node. */
#define NODE_TEXT_BYTES 400
const char *node_text(const struct node_meta *n, char out[NODE_TEXT_BYTES]);

/* Which nodes a list of ids, names, addresses, patterns, "_all", "_local", "_master", roles ("data:true") and
 * attributes ("rack:r1") means: chosen[i] of the i-th node of the state. An empty list: all. Later parts may
 * take out what earlier ones brought. Returns how many. `local`: the id of the node that is asked. */
uint32_t nodes_choose(const struct cluster_state *s, struct str list, struct str local, bool *chosen);
/* The one node that such a text means. ERR_ILLEGAL_ARGUMENT: none, or several. */
enum err nodes_choose_one(const struct cluster_state *s, struct str text, struct str local,
                          const struct node_meta **out, struct errmsg *em);

#endif
