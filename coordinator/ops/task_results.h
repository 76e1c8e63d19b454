/* task_results.h - results of operations without a waiting client, kept in the index ".tasks".
 *
 * A result is a document whose id is the task's. The index is made, with the mapping that Elasticsearch gives
 * it, when the first one comes. */
#ifndef COORDINATOR_OPS_TASK_RESULTS_H
#define COORDINATOR_OPS_TASK_RESULTS_H

#include "coordinator/ops/writes.h"

#define TASKS_INDEX ".tasks"

struct task_result {
    struct op_env env; /* what the write runs in; the caller has set co and arena */
    struct str id, source;
    void (*done)(
        struct task_result *t); /* on any thread, also when it could not be stored: *error says why */
    void *user;
    const struct errmsg *error; /* NULL: stored */
    /* own */
    struct later end;
    struct write_set set;
    struct write_entry entry;
    struct errmsg em;
};

/* Stores it. done() comes once, never inside the call. */
void task_result_store(struct task_result *t);

#endif
