/* state_int.h - what the files of the cluster state share. */
#ifndef CLUSTER_STATE_INT_H
#define CLUSTER_STATE_INT_H

#include "common/cluster/state.h"

/* Allocates a part of `size` zeroed bytes inside its own arena. NULL: no memory. */
void *state_part_new(size_t size);

/* A copy, or STR_NULL of STR_NULL; *ok becomes false without memory. */
static inline struct str state_keep(struct arena *a, struct str s, bool *ok)
{
    if (s.p == NULL) {
        return s;
    }
    struct str copy = arena_str(a, s);
    *ok &= copy.p != NULL;
    return copy;
}

/* state_bytes.c, for diffs: the parts beside index metadata. Decoders set in->bad. */
void state_nodes_encode(const struct nodes_part *p, struct buf *out);
struct nodes_part *state_nodes_decode(struct bytes_in *in);
void state_template_encode(const struct template_meta *t, struct buf *out);
struct template_meta *state_template_decode(struct bytes_in *in);
void state_settings_encode(const struct settings_part *p, struct buf *out);
struct settings_part *state_settings_decode(struct bytes_in *in);
void state_routing_encode(const struct index_routing *r, struct buf *out);
struct index_routing *state_routing_decode(struct bytes_in *in);
void state_coordination_encode(const struct coordination_part *p, struct buf *out);
struct coordination_part *state_coordination_decode(struct bytes_in *in);

#endif
