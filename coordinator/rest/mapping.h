/* mapping.h - parts of answers that requests about indices and about mappings share. */
#ifndef COORDINATOR_REST_MAPPING_H
#define COORDINATOR_REST_MAPPING_H

#include "coordinator/rest/rest.h"

/* ERR_NOT_X_CONTENT: what is no object is taken for compressed bytes that it cannot be. */
enum err rest_not_content(struct rest *r);
/* A mapping, below its one type where the request asks for types. */
void rest_write_mapping(struct jsonw *w, const struct index_meta *m, bool typed);
/* The targets that the path names, under the defaults of reads, once every other parameter has been read.
 * false: answered. */
bool rest_metadata_targets(struct rest *r, const struct index_target **t, uint32_t *n);

#endif
