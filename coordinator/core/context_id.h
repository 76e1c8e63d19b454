/* context_id.h - ids of scrolls and points in time: which contexts of which shards stand behind one.
 *
 * URL-safe text that clients hold and give back; whatever they give back is hostile. A scroll's id is not a
 * point in time's. Pure functions. */
#ifndef COORDINATOR_CORE_CONTEXT_ID_H
#define COORDINATOR_CORE_CONTEXT_ID_H

#include "proto/shard_api.h"

enum context_id_kind { CONTEXT_ID_SCROLL = 0x5C, CONTEXT_ID_PIT = 0x97 };

struct context_ref {
    struct shard_ref shard;
    struct str node; /* id of the one that has it */
    uint64_t context;
    const struct str *filters; /* of aliases: JSON texts, any of which must match; 0 of them: no filter */
    uint32_t n_filters;
};

/* The id of contexts, in `arena`. p == NULL: no memory. */
struct str context_id_write(enum context_id_kind kind, const struct context_ref *refs, uint32_t n,
                            struct arena *arena);
/* The contexts of an id, copied into `arena`. false: it is none of this kind, or there is no memory. *n is 0
 * then. */
bool context_id_read(enum context_id_kind kind, struct str id, struct arena *arena, struct context_ref **refs,
                     uint32_t *n) NODISCARD;
/* The contexts and nodes (copied into `arena`, without shards) of a scroll's id as Elasticsearch writes it. false: it is none, or
 * there is no memory. *n is 0 then. */
bool context_id_read_elasticsearch(struct str id, struct arena *arena, struct context_ref **refs,
                                   uint32_t *n) NODISCARD;

#endif
