/* routing_required.h - does a mapping want a routing with every document? */
#ifndef COORDINATOR_CORE_ROUTING_REQUIRED_H
#define COORDINATOR_CORE_ROUTING_REQUIRED_H

#include "common/base/str.h"

/* `mapping` is an index's mapping as the cluster's state has it: a JSON object as it was printed, without white space.
 * Looks at its own "_routing" alone, whatever stands in "_meta" or is the name of a field. */
bool routing_required(struct str mapping);

#endif
