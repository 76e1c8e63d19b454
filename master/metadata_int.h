/* metadata_int.h - the actions of metadata.h, one family a file. Each changes the builder and sets rq->changed. */
#ifndef MASTER_METADATA_INT_H
#define MASTER_METADATA_INT_H

#include "master/metadata.h"

enum err meta_create_index(const struct metadata_env *env, const struct cluster_state *cur, struct meta_request *rq,
                           struct state_builder *b, struct errmsg *em);
enum err meta_delete_index(const struct cluster_state *cur, struct meta_request *rq, struct state_builder *b, struct errmsg *em);
enum err meta_put_mapping(const struct metadata_env *env, const struct cluster_state *cur, struct meta_request *rq,
                          struct state_builder *b, struct errmsg *em);

/* The index's settings without "index.", in `arena`. */
bool index_settings_view(const struct index_meta *m, struct arena *arena, struct settings *out) NODISCARD;
/* ERR_INDEX_NOT_FOUND, the index named. */
enum err no_such_index(struct str name, struct errmsg *em);

#endif
