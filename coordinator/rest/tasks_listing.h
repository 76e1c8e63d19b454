/* tasks_listing.h - tasks of one node, found and done to there, as bytes for the node that asked. */
#ifndef COORDINATOR_REST_TASKS_LISTING_H
#define COORDINATOR_REST_TASKS_LISTING_H

#include "coordinator/core/node_calls.h"

struct tasks_question {
    struct str actions;     /* patterns; n == 0: all */
    struct str parent_node; /* of `parent` */
    uint64_t id, parent;    /* 0: any */
    struct str asker;       /* id of the node that asks */
    uint64_t asking;        /* its task; 0: none */
    bool detailed, wait;    /* wait: until those found have ended, timeout_ms at most */
    bool cancel, rethrottle;
    float per_second;
    int64_t timeout_ms;
};

struct listed { /* a task as it was when it was looked at */
    const struct node_meta *node;
    uint64_t id, parent; /* parent 0: none */
    struct str parent_node;
    int64_t start_ms, running_ns;
    struct str json;                                 /* an object, but for its closing brace */
    struct str type, action, description, opaque_id; /* p == NULL: none */
};

enum tasks_refusal { TASKS_DONE, TASKS_NOT_CANCELLABLE, TASKS_NOT_THROTTLED };

struct tasks_found {
    struct listed *v; /* in an arena */
    size_t n;
    bool found;     /* the task asked for is there, whatever was refused */
    bool timed_out; /* some had not ended in time */
    enum tasks_refusal refusal;
};

void tasks_question_encode(const struct tasks_question *q, struct buf *out);
/* Adds to v what the bytes list, each of `node`. ERR_CORRUPT. */
enum err tasks_found_decode(struct tasks_found *f, struct str bytes, const struct node_meta *node,
                            struct arena *arena, struct errmsg *em);
/* The service of MESSAGE_TASKS. */
void tasks_serve(struct node_question *q);

#endif
