/* node.h - one node: its roles, loops, pools and services, connected. */
#ifndef NODE_NODE_H
#define NODE_NODE_H

#include "common/base/log.h"
#include "common/base/settings.h"
#include "common/cluster/state.h"
#include "common/sys/log_fd.h"

/* The one setting that only decides where others are: no row has it. */
#define NODE_PATH_CONF "path.conf"

struct node;

struct node_opts {
    const struct settings *settings; /* borrowed: all of the process's, Elasticsearch's names */
    struct log *log;                 /* borrowed; its levels follow the cluster's settings */
    struct log_fd *log_file;         /* borrowed: SIGHUP opens it again; may be NULL */
    const char *share_dir;           /* where the compiled dictionaries are; may be NULL */
};

/* Levels as logger.* of the node's settings say, and of a state's (NULL: none), which count more.
 * ERR_ILLEGAL_ARGUMENT for what is no level. */
enum err node_log_levels(struct log *log, const struct settings *own, const struct cluster_state *state,
                         struct errmsg *em);

/* Starts everything: data folder locked, last state read, port bound, shards opened, requests taken. ERR_IO,
 * ERR_ILLEGAL_ARGUMENT ... with what stood in the way. */
enum err node_open(struct node **out, const struct node_opts *opts, struct errmsg *em);
/* Runs the main loop in the calling thread until a SIGTERM or SIGINT, or node_stop(). */
void node_run(struct node *n);
void node_stop(struct node *n); /* any thread */
/* Requests in flight are answered, shards synced and closed. NULL ok. */
void node_close(struct node *n);

#endif
