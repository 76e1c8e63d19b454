/* state_int.h - declarations shared by the files of the cluster state. */
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

#define PART_VERSION        1
#define INDEX_VERSION_TYPED 2 /* of an index with a type of its own name, which the layout before it lacks */
#define PIPELINES_TAG       2 /* in the place of a version, which tells them from scripts */

/* state_bytes.c: what parts consist of. Decoders set in->bad, and allocate in `a`, or in the part. */
void state_opt_out(struct buf *b, struct str s);
struct str state_str_in(struct bytes_in *in, struct arena *a);
struct str state_opt_in(struct bytes_in *in, struct arena *a);
void state_set_out(struct buf *b, const struct str_set *s);
struct str_set state_set_in(struct bytes_in *in, struct arena *a);
void state_settings_out(struct buf *b, const struct settings *s);
void state_settings_in(struct bytes_in *in, struct settings *s);
void state_aliases_out(const struct index_meta *m, struct buf *out);
void state_aliases_in(struct bytes_in *in, struct index_meta *m);
void state_node_out(const struct node_meta *n, struct buf *out);
void state_node_in(struct bytes_in *in, struct node_meta *t, struct arena *a);

/* state_bytes.c: the parts beside index metadata. Decoders set in->bad. */
void state_nodes_encode(const struct nodes_part *p, struct buf *out);
struct nodes_part *state_nodes_decode(struct bytes_in *in);
void state_template_encode(const struct template_meta *t, struct buf *out);
struct template_meta *state_template_decode(struct bytes_in *in);
void state_scripts_encode(const struct scripts_part *p, struct buf *out);
struct scripts_part *state_scripts_decode(struct bytes_in *in);
void state_pipelines_encode(const struct pipelines_part *p, struct buf *out);
struct pipelines_part *state_pipelines_decode(struct bytes_in *in);
/* What ends a state and a difference: scripts, pipelines, both or none. Sets in->bad. */
void state_stored_decode(struct bytes_in *in, struct state_builder *b);
void state_settings_encode(const struct settings_part *p, struct buf *out);
struct settings_part *state_settings_decode(struct bytes_in *in);

/* state_bytes_routing.c */
bool state_shard_eq(const struct shard_routing *a, const struct shard_routing *b);
void state_shard_out(const struct shard_routing *s, struct buf *out);
void state_shard_in(struct bytes_in *in, struct shard_routing *s, struct arena *a);
void state_routing_encode(const struct index_routing *r, struct buf *out);
struct index_routing *state_routing_decode(struct bytes_in *in);
void state_coordination_encode(const struct coordination_part *p, struct buf *out);
struct coordination_part *state_coordination_decode(struct bytes_in *in);

/* state_changes.c: what turns one part into another of the same name. A change is written (and anything at all) only when
 * PART_CHANGED is said. Readers make a new part from the one that the writer had; NULL and in->bad: not readable, or no memory. */
enum part_change { PART_SAME, PART_GONE, PART_WHOLE, PART_CHANGED };
enum part_change state_nodes_changes(const struct nodes_part *from, const struct nodes_part *to,
                                     struct buf *out);
struct nodes_part *state_nodes_change(struct bytes_in *in, const struct nodes_part *from);
enum part_change state_index_changes(const struct index_meta *from, const struct index_meta *to,
                                     struct buf *out);
struct index_meta *state_index_change(struct bytes_in *in, const struct index_meta *from);
enum part_change state_routing_changes(const struct index_routing *from, const struct index_routing *to,
                                       struct buf *out);
struct index_routing *state_routing_change(struct bytes_in *in, const struct index_routing *from);

#endif
