/* The limit of shard copies in the cluster: cluster.max_shards_per_node for each data node. */
#include "master/metadata_int.h"

#include "common/base/num.h"

static int64_t copies(const struct index_meta *m, int64_t replicas)
{
    return (int64_t)m->n_shards * (replicas + 1);
}

static int64_t open_copies(const struct cluster_state *s)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < s->n_indices; i++) {
        const struct index_meta *m = s->indices[i];
        n += m->closed ? 0 : copies(m, m->n_replicas);
    }
    return n;
}

static enum err shards_fit(const struct cluster_state *cur, int64_t adds, struct errmsg *em)
{
    int64_t a_node = cluster_setting_i64(cur, SET_CLUSTER_MAX_SHARDS_PER_NODE), nodes = data_nodes(cur);
    int64_t there = open_copies(cur), most = a_node * nodes;
    if (nodes == 0 || adds <= 0 || there + adds <= most) {
        return ERR_OK;
    }
    return err_set(em, ERR_VALIDATION,
                   "Validation Failed: 1: this action would add [%lld] total shards, but this cluster "
                   "currently has [%lld]/[%lld] maximum shards open;",
                   (long long)adds, (long long)there, (long long)most);
}

/* However many the cluster takes: each costs the master work with every change. */
static enum err replicas_fit(int64_t replicas, struct errmsg *em)
{
    return replicas <= REPLICAS_MAX ? ERR_OK
                                    : err_set(em, ERR_ILLEGAL_ARGUMENT,
                                              "Failed to parse value [%lld] for setting "
                                              "[index.number_of_replicas] must be <= %d",
                                              (long long)replicas, REPLICAS_MAX);
}

enum err shard_limit_create(const struct cluster_state *cur, const struct index_meta *m, struct errmsg *em)
{
    enum err e = shards_fit(cur, copies(m, m->n_replicas), em);
    return e == ERR_OK ? replicas_fit(m->n_replicas, em) : e;
}

enum err shard_limit_open(const struct cluster_state *cur, const struct meta_request *rq, struct errmsg *em)
{
    int64_t adds = 0;
    for (uint32_t i = 0; i < rq->n_names; i++) {
        const struct index_meta *m = cluster_index(cur, rq->names[i]);
        adds += m != NULL && m->closed ? copies(m, m->n_replicas) : 0;
    }
    return shards_fit(cur, adds, em);
}

enum err shard_limit_replicas(const struct cluster_state *cur, const struct meta_request *rq,
                              int64_t replicas, struct errmsg *em)
{
    int64_t adds = 0;
    for (uint32_t i = 0; i < rq->n_names; i++) {
        const struct index_meta *m = cluster_index(cur, rq->names[i]);
        adds += m != NULL ? copies(m, replicas) - copies(m, m->n_replicas) : 0;
    }
    enum err e = shards_fit(cur, adds, em);
    return e == ERR_OK ? replicas_fit(replicas, em) : e;
}
