/* service_int.h - declarations shared by the files of the service: the states that are applied, and the operations that are served. */
#ifndef DATA_SERVICE_SERVICE_INT_H
#define DATA_SERVICE_SERVICE_INT_H

#include "data/data.h"
#include "data/shard/shard.h"

/* Who applies states: one strand. */
struct applier {
    struct strand *strand;
    bool strand_closed;
    struct cluster_state *state; /* the last one applied; the strand's */
    struct analysis *analysis;   /* the node's own: no index; under the service's lock */
    struct shard_api api;
};

/* apply.c: the shards of the index leave the table, and close once nobody uses them. Applier. */
void service_remove_shards(struct data_service *s, struct str uuid, bool remove);
/* On the shard's strand: its index has another mapping or other settings. */
void service_index_changed(struct shard *sh);

/* refused.c: tells the master that this node's copies of the shards [from, to) have failed. Applier. */
void data_refuse_copies(struct data_service *s, const struct cluster_state *state, const struct index_meta *m,
                        uint32_t from, uint32_t to, const struct errmsg *why);

/* One function an operation (shard_ops.h); serve.c calls them. Each answers once, by shard_rq_answer(). Those of searches and
 * documents are in data/search/search.h. */
void data_write(struct data_service *s, struct shard_write *rq);
void data_act(struct data_service *s, struct shard_act *rq);

#endif
