/* node.h - declarations shared by the shards of a node: options, the tables, memory, and the callbacks to the folders above.
 *
 * The tables are changed by the applier's strand alone, under `lock`; anybody may look, under it. */
#ifndef DATA_SHARD_NODE_H
#define DATA_SHARD_NODE_H

#include "common/cluster/state.h"
#include "data/opts.h"
#include "engine/query/filter_cache.h"
#include "proto/remote.h"
#include "proto/shard_api.h"

#include <pthread.h>

struct index_service;
struct shard;

/* Events of a shard, for the folders above; the service connects them (data/service/service.c). On the shard's strand, but
 * for attach() and detach(): then nobody else has the shard. */
struct shard_watch {
    enum err (*attach)(struct shard *sh, struct errmsg *em); /* the rooms make their parts */
    void (*detach)(struct shard *sh);                        /* and free them; NULL parts are ok */
    void (*opening)(struct shard *sh, bool empty);           /* a copy is opened, empty or from this disk */
    void (*opened)(struct shard *sh);                        /* it has been */
    void (*taken)(struct shard *sh);                         /* the shard has an engine from now on */
    void (*recover)(struct shard *sh);   /* the copy that belongs here is on another node */
    void (*persisted)(struct shard *sh); /* the disk has more, or a flush asks what all copies have */
    void (*synced)(struct shard *sh);    /* a sync has ended, with or without success */
    void (*stop)(struct shard *sh);      /* the engine is to go: requests and messages end */
    void (*closing)(struct shard *sh);   /* the engine goes: nothing of it may be held any more */
};

struct data_service {
    struct data_opts o;
    struct arena arena; /* node_id */
    struct str node_id;
    const struct shard_watch *watch;
    /* memory.c */
    struct filter_store *filters; /* NULL: none are kept */
    _Atomic size_t buffer_bytes;  /* of all shards: in no segment yet */
    size_t index_buffer_max;
    /* tables.c */
    pthread_mutex_t lock; /* of the tables, and of `newest` */
    pthread_cond_t all_closed;
    struct shard **shards;
    size_t n_shards, shards_cap;
    struct index_service **indices; /* by uuid */
    size_t n_indices, indices_cap;
    size_t open_shards;           /* not yet closed, also those out of the table */
    struct cluster_state *newest; /* being applied, or applied */
    /* the end of its life */
    _Atomic bool draining, stopping;
    _Atomic int64_t drained_at_ms; /* with `draining`: when the last work has to end */
    bool closed;
    /* The rooms' own parts. */
    struct executor
        admitted; /* data/replication: the write pool, for what was admitted elsewhere: its queue's
                                 limit does not count */
    struct remote_service replicated; /* data/replication: served there */
    struct recoveries *recoveries;
    struct searches *searches;
    struct applier *applier;
};

/* ---- tables.c; any thread, but for what says otherwise ---- */

void tables_init(struct data_service *s);
void tables_fini(struct data_service *s); /* no shard is open */
/* A reference, or NULL with an error: no such shard here. */
struct shard *shard_find(struct data_service *s, const struct shard_ref *which, struct errmsg *em);
/* Applier: borrowed, or NULL. */
struct shard *tables_shard(struct data_service *s, struct str uuid, uint32_t number);
struct index_service *tables_index(struct data_service *s, struct str uuid);
/* A reference, or NULL. */
struct index_service *index_service_find(struct data_service *s, struct str uuid);
/* Applier. The table takes the caller's reference. false: no memory. */
bool tables_add_shard(struct data_service *s, struct shard *sh);
bool tables_add_index(struct data_service *s, struct index_service *ix);
/* Applier: takes one shard of the index, or the index at that place, out of the table: the reference is the caller's. NULL: there
 * is none. remove: the shard's files go when it closes. */
struct shard *tables_take_shard(struct data_service *s, struct str uuid, bool remove);
struct index_service *tables_take_index(struct data_service *s, size_t at);
/* The newest state that was applied, a reference; NULL: none yet. */
struct cluster_state *data_state(struct data_service *s);
void data_set_state(struct data_service *s,
                    struct cluster_state *state); /* takes a reference of its own; NULL ok */
/* A shard is closed for good. */
void tables_shard_closed(struct data_service *s);
void tables_wait_closed(struct data_service *s);

/* Is it so late in the service's life that work ends? `service` is a struct data_service; for struct stop. */
bool data_ends(void *service);

/* ---- memory of all shards together (memory.c) ---- */

enum err data_memory_init(struct data_service *s, struct errmsg *em);
/* How much one shard may buffer, when its engine would take `otherwise`. */
size_t shard_buffer_max(const struct data_service *s, size_t otherwise);

#endif
