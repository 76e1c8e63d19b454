/* tasks_rq.h - requests about tasks, as lists and tables share them. */
#ifndef COORDINATOR_REST_TASKS_RQ_H
#define COORDINATOR_REST_TASKS_RQ_H

#include "coordinator/rest/rest.h"
#include "coordinator/rest/tasks_listing.h"

enum tasks_group { BY_NODES, BY_PARENTS, BY_NONE };

struct tasks_rq {
    struct rest *r;
    struct str nodes;           /* a filter; n == 0: all */
    struct str node;            /* p != NULL: the task asked for is of that id's node */
    struct tasks_question what; /* to each node */
    struct tasks_found found;   /* of all of them */
    size_t cap;
    struct node_calls *calls;
    enum tasks_group group;
    /* the tasks of listing itself */
    struct task list, list_node;
    void (*then)(struct tasks_rq *q);
};

/* NULL: no memory, and the request was answered. */
struct tasks_rq *tasks_rq_new(struct rest *r);
enum err tasks_read_filters(struct tasks_rq *q);
enum err tasks_read_wait(struct tasks_rq *q, int64_t *timeout_ms);
/* The listing is a task, too. */
void tasks_begin_listing(struct tasks_rq *q);
/* Asks the nodes; then(q), once, has what they found. */
void tasks_ask(struct tasks_rq *q, void (*then)(struct tasks_rq *q));

#endif
