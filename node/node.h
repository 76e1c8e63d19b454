/* node.h - one node: its roles, loops, pools and services, wired. */
#ifndef NODE_NODE_H
#define NODE_NODE_H

#include "common/base/log.h"
#include "common/base/settings.h"

struct node;

struct node_opts {
    const struct settings *settings; /* borrowed: all of the process's, Elasticsearch's names */
    const struct log *log;           /* borrowed */
    const char *share_dir;           /* where the compiled dictionaries are; may be NULL */
};

/* Starts everything: data folder locked, last state read, port bound, shards opened, requests taken. ERR_IO,
 * ERR_ILLEGAL_ARGUMENT ... with what stood in the way. */
enum err node_open(struct node **out, const struct node_opts *opts, struct errmsg *em);
/* Runs the main loop in the calling thread until a SIGTERM or SIGINT, or node_stop(). */
void node_run(struct node *n);
void node_stop(struct node *n); /* any thread */
/* Requests in flight are answered, shards synced and closed. NULL ok. */
void node_close(struct node *n);
unsigned node_http_port(const struct node *n);

#endif
