/* metadata_int.h - the actions of metadata.h, one family a file. Each changes the builder and sets
 * rq->changed. */
#ifndef MASTER_METADATA_INT_H
#define MASTER_METADATA_INT_H

#include "master/metadata.h"

enum err meta_create_index(const struct metadata_env *env, const struct cluster_state *cur,
                           struct meta_request *rq, struct state_builder *b, struct errmsg *em);
enum err meta_delete_index(const struct cluster_state *cur, struct meta_request *rq, struct state_builder *b,
                           struct errmsg *em);
enum err meta_put_mapping(const struct metadata_env *env, const struct cluster_state *cur,
                          struct meta_request *rq, struct state_builder *b, struct errmsg *em);
enum err meta_update_settings(const struct metadata_env *env, const struct cluster_state *cur,
                              struct meta_request *rq, struct state_builder *b, struct errmsg *em);
enum err meta_open_close(const struct cluster_state *cur, struct meta_request *rq, struct state_builder *b,
                         struct errmsg *em);
enum err meta_cluster_settings(const struct cluster_state *cur, struct meta_request *rq,
                               struct state_builder *b, struct errmsg *em);
enum err meta_aliases(const struct metadata_env *env, const struct cluster_state *cur,
                      struct meta_request *rq, struct state_builder *b, struct errmsg *em);
enum err meta_put_template(const struct metadata_env *env, const struct cluster_state *cur,
                           struct meta_request *rq, struct state_builder *b, struct errmsg *em);
enum err meta_delete_template(const struct cluster_state *cur, struct meta_request *rq,
                              struct state_builder *b, struct errmsg *em);

enum err meta_put_script(const struct cluster_state *cur, struct meta_request *rq, struct state_builder *b,
                         struct errmsg *em);
enum err meta_delete_script(const struct cluster_state *cur, struct meta_request *rq, struct state_builder *b,
                            struct errmsg *em);
enum err meta_put_pipeline(const struct cluster_state *cur, struct meta_request *rq, struct state_builder *b,
                           struct errmsg *em);
enum err meta_delete_pipeline(const struct cluster_state *cur, struct meta_request *rq,
                              struct state_builder *b, struct errmsg *em);

enum err meta_reroute(const struct metadata_env *env, struct meta_request *rq, struct state_builder *b,
                      struct errmsg *em);
enum err meta_explain(const struct metadata_env *env, const struct cluster_state *cur,
                      struct meta_request *rq, struct errmsg *em);
enum err meta_exclude_voters(const struct cluster_state *cur, struct meta_request *rq,
                             struct state_builder *b, struct errmsg *em);
enum err meta_clear_exclusions(const struct cluster_state *cur, struct meta_request *rq,
                               struct state_builder *b, struct errmsg *em);

/* ---- settings ---- */

/* ERR_ILLEGAL_ARGUMENT where a setting is given that no index of this version can have. */
enum err index_refuse_removed(const struct settings *given, struct errmsg *em);
/* Settings as a body gives them, each below "index.". */
enum err index_settings_given(struct settings *out, const struct json *given, struct errmsg *em);
/* Brings n_replicas in line with the settings, index.auto_expand_replicas included. */
enum err index_replicas_follow(struct index_meta *m, const struct cluster_state *cur, struct errmsg *em);
/* Nodes of the state that take shards. */
uint32_t data_nodes(const struct cluster_state *s);
/* ERR_CLUSTER_BLOCK when one of the request's indices refuses changes of its metadata. */
enum err metadata_write_allowed(const struct cluster_state *cur, struct meta_request *rq, struct errmsg *em);

/* ---- cluster.routing.allocation.disk.watermark.* ---- */

/* ERR_ILLEGAL_ARGUMENT: they are not in their order, or not all shares, or all sizes. */
enum err watermarks_check(const struct settings *s, struct errmsg *em);

/* ---- cluster.max_shards_per_node ---- */

/* ERR_VALIDATION when the copies that come with this index, with opening the request's closed indices, or
 * with another number of replicas of the request's indices are more than the data nodes take;
 * ERR_ILLEGAL_ARGUMENT beyond REPLICAS_MAX. Nothing of theirs is made yet. */
enum err shard_limit_create(const struct cluster_state *cur, const struct index_meta *m, struct errmsg *em);
enum err shard_limit_open(const struct cluster_state *cur, const struct meta_request *rq, struct errmsg *em);
enum err shard_limit_replicas(const struct cluster_state *cur, const struct meta_request *rq,
                              int64_t replicas, struct errmsg *em);

/* ---- aliases ---- */

/* What an alias says by itself: its name, its routing. */
enum err alias_check_alone(const struct alias_meta *a, struct errmsg *em);
/* Checks the alias's name, routing and filter; `index`: what it is for, NULL: a template. */
enum err alias_check(const struct metadata_env *env, const struct cluster_state *s,
                     const struct index_meta *index, const struct alias_meta *a, struct errmsg *em);
/* Adds or replaces them, of two with one name by the later one; *changed: how many were not there like that. */
enum err index_put_aliases(struct index_meta *m, const struct alias_meta *add, size_t n, uint32_t *changed,
                           struct errmsg *em);
/* Aliases' rules over several indices: one write index, hidden on all or none. */
enum err aliases_agree(const struct cluster_state *s, struct errmsg *em);

/* ERR_INDEX_NOT_FOUND, the index named. */
enum err no_such_index(struct str name, struct errmsg *em);

#endif
