/* node_int.h - a node, as its files share it: node.c (from its start to its end), dictionary_watch.c. */
#ifndef NODE_NODE_INT_H
#define NODE_NODE_INT_H

#include "common/sys/http_server.h"
#include "common/sys/loop.h"
#include "common/sys/pool.h"
#include "coordinator/rest/service.h"
#include "node/announce.h"
#include "node/dictionaries.h"
#include "node/member.h"
#include "node/node.h"
#include "node/self.h"
#include "proto/transport_nng.h"

#include <pthread.h>

#define HTTP_LOOPS_MAX 16

struct node {
    struct node_opts o;
    struct arena arena;
    const struct fs *fs;
    const struct clock *clock;
    struct str data_dir, name, id;
    void *data_lock;
    struct rng rng;      /* of the start, then of the master's work */
    struct rng loop_rng; /* the main loop's */
    char ephemeral_id[23];
    struct cluster_conf conf;
    struct dictionaries dicts;
    struct loop *main_loop;
    bool main_running;
    struct loop *http_loops[HTTP_LOOPS_MAX];
    unsigned n_http_loops, http_running;
    uint64_t memory_bytes; /* that the machine or the cgroup gives */
    struct loop_ticker *ticker, *watch;
    const void *levels_of[2]; /* the settings that the log's levels were last read from */
    bool complained;          /* of the files as they are */
    bool reloading;           /* the files are being looked at, or read */
    struct pool *write_pool, *search_pool, *background_pool, *master_pool, *state_pool, *request_pool,
        *listing_pool;
    struct transport_nng *transport;
    struct rest_service *rest;
    struct member *member;
    struct http_server *http;
    struct self me;
    struct announcer announcer;
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool settled, told_to_stop, http_stopped, quiet, cluster_stopped;
};

/* Where serai.yml and dictionaries may be; NULL: nowhere. */
const char *node_conf_dir(const struct node *n);
/* What analysis works with; `self` is the node. */
struct analysis_env node_analysis_env(void *self);
/* Called again and again, on the main loop: looks at the dictionaries' files on a pool, and measures the processor. */
void node_watch_dictionaries(void *arg);

#endif
