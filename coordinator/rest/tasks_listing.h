/* tasks_listing.h - tasks of one node, listed or cancelled there for the node that asked. */
#ifndef COORDINATOR_REST_TASKS_LISTING_H
#define COORDINATOR_REST_TASKS_LISTING_H

#include "coordinator/core/node_calls.h"

/* The service of MESSAGE_TASKS. */
void tasks_serve(struct node_question *q);

#endif
