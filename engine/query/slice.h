/* slice.h - parts of a scroll: which of `max` slices a document belongs to, as Elasticsearch divides them.
 *
 * Slices are dealt to shards where there are enough of either; within a shard documents are told apart by a
 * hash of their _id, or of the values of a numeric field. Pure but for reading a segment. */
#ifndef ENGINE_QUERY_SLICE_H
#define ENGINE_QUERY_SLICE_H

#include "engine/index/segment.h"

/* Parameters of a q_slice: by its field, or by _id where that is NULL. */
struct slice {
    int32_t id, max;
};

enum slice_scope { SLICE_ALL, SLICE_NOTHING, SLICE_SOME };
/* The part of a slice in the `shard`-th of `shards`: with SLICE_SOME, *within is the slice inside that
 * shard. */
enum slice_scope slice_of_shard(struct slice s, uint32_t shard, uint32_t shards, struct slice *within);

bool slice_has_id(struct slice s, struct str id);
bool slice_has_number(struct slice s, int64_t v);
/* Sets the bits of the slice's documents, of n. `field` NULL: by _id; f NULL: the segment has no values of the field. false: no
 * memory. */
bool slice_bits(struct slice s, const struct field *field, const struct seg_field *f, uint32_t n,
                uint64_t *bits);

#endif
