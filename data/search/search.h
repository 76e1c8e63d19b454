/* search.h - searches of a node's shards, and reads of single documents: on the search pool over point-in-time views, or at once
 * where that is little work.
 *
 * Knows of a shard what searches see of it, and nothing of who leads it or where its copies are. */
#ifndef DATA_SEARCH_SEARCH_H
#define DATA_SEARCH_SEARCH_H

#include "data/shard/shard.h"
#include "proto/shard_ops.h"

/* ---- the node's part ---- */

enum err searches_init(struct data_service *s, struct errmsg *em);
void searches_fini(struct data_service *s); /* no context is left; NULL part ok */
/* Limits as the state has them. */
void searches_take_settings(struct data_service *s, const struct cluster_state *state);
/* Any thread: contexts whose time is up, or all. */
void contexts_expire(struct data_service *s, bool whatever);
void contexts_invariant(const struct data_service *s); /* under the lock, or while nothing else runs */

/* ---- a shard's part ---- */

enum err shard_searches_new(struct shard *sh, struct errmsg *em);
void shard_searches_free(struct shard *sh); /* NULL part ok */
/* How much was searched. false: no memory. */
bool shard_searches_tell(struct shard *sh, struct shard_stats *t, struct arena *arena);

/* ---- operations (shard_ops.h); each answers once, by shard_rq_answer() ---- */

void data_get(struct data_service *s, struct shard_get *rq);
void data_can_match(struct data_service *s, struct shard_can_match *rq);
void data_dfs(struct data_service *s, struct shard_dfs *rq);
void data_query(struct data_service *s, struct shard_query *rq);
void data_scroll(struct data_service *s, struct shard_query *rq);
void data_fetch(struct data_service *s, struct shard_fetch *rq);
void data_explain(struct data_service *s, struct shard_explain *rq);
void data_term_vectors(struct data_service *s, struct shard_term_vectors *rq);
void data_free(struct data_service *s, struct shard_free *rq);

#endif
