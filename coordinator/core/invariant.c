/* What always holds of a node's coordinator, between two events. */
#include "coordinator/core/tasks.h"
#include "coordinator/rest/rest.h"

void coordinator_invariant(struct coordinator *c)
{
    op_names_invariant(&c->op_names);
    tasks_invariant(c->tasks);
    delays_invariant(c->delays);
    state_waits_invariant(&c->state_waits);
}
