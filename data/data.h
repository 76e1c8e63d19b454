/* data.h - the data role: the shard copies of this node, kept as the cluster state says, serving shard_api.h.
 *
 * The service holds one `struct index_service` an index (analysis, mapping, settings) and one `struct shard`
 * a copy. States are applied one after the other on a strand; requests run on the pools (architecture,
 * "Threads"): parsing and fsync on the write pool, engine writes on the shard's strand, searches on the
 * search pool, merges and flushes in the background. */
#ifndef DATA_DATA_H
#define DATA_DATA_H

#include "common/cluster/state.h"
#include "data/opts.h"
#include "proto/shard_ops.h"

struct data_service;

enum err data_service_new(struct data_service **out, const struct data_opts *opts, struct errmsg *em);
/* Closes every shard: syncs, frees. No request may be in flight; requests of other nodes find no shard here
 * from now on. */
void data_service_close(struct data_service *s);
/* Once nobody asks any more; closes first when that was not done. NULL ok. */
void data_service_free(struct data_service *s);

/* Makes the copies here agree with a state (a reference is taken), then calls done(arg); what takes longer
 * (opening, recovering) goes on behind, and is told to the master. States apply in the order of the calls. false: no memory, and
 * it is not applied. */
bool data_apply(struct data_service *s, struct cluster_state *state, void (*done)(void *arg),
                void *arg) NODISCARD;

/* Analysis with other dictionaries from now on: in requests that begin after done(arg), on any thread; those
 * under way keep what they have. env's dictionaries are kept as long as they are used. false: no memory, and nothing changes. */
bool data_reload_analysis(struct data_service *s, const struct analysis_env *env, void (*done)(void *arg),
                          void *arg) NODISCARD;

/* The allocation id of the copy on this node's disk, open or not, in `arena`; p == NULL: none, or (damaged)
 * files that do not say which one they are. Any thread. */
enum err data_find_copy(struct data_service *s, struct str uuid, uint32_t shard, struct arena *arena,
                        struct str *allocation_id, bool *damaged, struct errmsg *em);

/* Who serves coordinators; lives as long as the service. */
const struct shard_api *data_api(struct data_service *s);
/* The same as a function: `service` is a struct data_service. */
void data_serve(void *service, struct shard_rq *rq);

/* The analysis registry of an index, or the node's own (uuid empty): for _analyze. A reference is the
 * caller's; NULL: no such index here. Any thread. */
struct analysis *data_analysis(struct data_service *s, struct str uuid);
struct mapping *data_mapping(struct data_service *s, struct str uuid);

/* To be called now and then (100 ms) by a timer of the main loop: refreshes, syncs of asynchronous
 * durability, flushes, merges, and contexts whose time is up. */
void data_tick(struct data_service *s);
/* No new requests come: what waits for a refresh gets it with the next tick. What is at work may be so for `grace_ms` more:
 * then searches end, and documents that are not parsed yet are refused. */
void data_drain(struct data_service *s, int64_t grace_ms);
/* Asserts what always holds of shards that no task works on at the moment: engine, replication, recovery, contexts. While
 * nothing else runs: for the simulator. */
void data_invariant(struct data_service *s);

#endif
