/* member.h - a member of a cluster: its data role, its cluster service and its coordinator, connected.
 *
 * It owns no thread, no socket and no time: executors, timers, clock, files and the transport are given to it,
 * so that the simulator runs the very members that processes are. */
#ifndef NODE_MEMBER_H
#define NODE_MEMBER_H

#include "coordinator/core/coordinator.h"
#include "data/data.h"
#include "master/cluster.h"
#include "node/cluster_conf.h"

struct member;

struct member_opts { /* all borrowed: they outlive the member */
    const struct fs *fs;
    const struct clock *clock;
    const struct log *log;
    const char *data_dir;
    struct str id, name;
    const struct cluster_conf *conf;
    const struct settings *settings; /* the process's */
    const struct executor *loop;     /* the main loop: coordination, and what follows applied states */
    const struct timers *timers;     /* the loop's */
    const struct executor *writes, *searches, *background; /* pools */
    const struct executor *requests; /* a pool: where requests are read; NULL: on their loops */
    const struct executor
        *listings; /* another: where answers about many indices are made; NULL: on their loops */
    const struct executor *compute;                /* one thread: the master's work */
    const struct executor *disk;                   /* one thread: terms and states */
    const struct transport *transport;             /* not started yet */
    struct rng *rng;                               /* the master's work alone uses it from now on */
    struct rng *loop_rng;                          /* the loop's */
    uint64_t seed;                                 /* of generated ids */
    size_t filter_cache_bytes, index_buffer_bytes; /* as in struct data_opts */
    bool index_buffer_given;                       /* the same */
    /* Dictionaries and the like, with references of the caller's. Any thread. */
    struct analysis_env (*env)(void *self);
    void (*report)(void *self, struct node_report *out);
    /* Of the disk where the shards lie. Any thread. */
    void (*disk_space)(void *self, uint64_t *total_bytes, uint64_t *free_bytes);
    /* Main loop, after each applied state. */
    void (*applied)(void *self, struct cluster_state *state);
    void *self;
};

enum err member_new(struct member **out, const struct member_opts *opts, struct errmsg *em);
/* Reads what is on disk of the cluster; nothing is sent before member_start(), once the transport has started.
 * `local`: this node, with the addresses where others reach it. */
enum err member_join(struct member *m, const struct node_meta *local, struct errmsg *em);
void member_start(struct member *m);
/* Leaves the cluster: what waits for it ends; done(arg) on the loop once nothing is under way. */
void member_stop(struct member *m, void (*done)(void *arg), void *arg);
/* Shards are synced and closed; while the loop and the pools still run. */
void member_close_shards(struct member *m);
/* Once the transport and the loop have stopped. NULL ok. */
void member_free(struct member *m);

struct coordinator *member_coordinator(struct member *m);
struct data_service *member_data(struct member *m);
struct cluster *member_cluster(struct member *m);

#endif
