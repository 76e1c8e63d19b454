/* service.h - the master's work on one node: metadata requests one after the other, each state on disk before
 * it applies.
 *
 * Requests queue from any thread; they run on an executor, one at a time. A new state is encoded and written
 * durably (state file, fsync, rename), then handed to `apply`, and answered once that is done: who got an
 * answer reads its own change. */
#ifndef MASTER_SERVICE_H
#define MASTER_SERVICE_H

#include "common/base/executor.h"
#include "common/base/fs.h"
#include "common/base/log.h"
#include "master/metadata.h"

struct master_service;

struct master_opts { /* all borrowed */
    const struct fs *fs;
    const char *dir; /* the state lives in <dir>/_state/ */
    const struct executor *executor;
    const struct log *log;
    struct metadata_env env;
    struct str cluster_name;
    struct nodes_part *nodes; /* taken: this node, as its own master */
    /* Makes shards agree with the state, then calls done(arg). */
    void (*apply)(void *self, struct cluster_state *state, void (*done)(void *arg), void *arg);
    void *apply_self;
};

/* Reads the state of the last run, or begins a new cluster. */
enum err master_service_new(struct master_service **out, const struct master_opts *opts, struct errmsg *em);
void master_service_free(struct master_service *m); /* no request may be under way; NULL ok */
/* The applied state; a reference for the caller. Any thread. */
struct cluster_state *master_state(struct master_service *m);
/* Queues a request; any thread. rq->done() comes later, on any thread. */
void master_submit(struct master_service *m, struct meta_request *rq);
/* Applies the state that was read at start-up; done(arg) once its shards are open. */
void master_recover(struct master_service *m, void (*done)(void *arg), void *arg);

#endif
