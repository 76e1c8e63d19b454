/* state.h - the cluster state: one immutable value that every node holds a version of.
 *
 * A state is reference-counted and never changes once it is sealed; a new one is made from the old through a builder and
 * shares every part that stays the same (index metadata, templates, settings are parts with references of their own). It
 * can be written to bytes part by part, which is what publication sends and disks keep. It knows ids and names, nothing of
 * sockets, files or shards' contents: a mapping is carried as the JSON that the API prints.
 *
 * Thread-safe to read. All strings live in the part that holds them. */
#ifndef CLUSTER_STATE_H
#define CLUSTER_STATE_H

#include "common/base/bytes.h"
#include "common/base/settings.h"

#define SHARDS_MAX           1024 /* number_of_shards of one index, as in Elasticsearch */
#define ROUTING_SHARDS_MAX   1024
#define CLUSTER_NAME_DEFAULT "elasticsearch"

/* What all parts begin with. */
struct state_part {
    _Atomic uint32_t refs;
    struct arena arena; /* holds the part itself */
};

struct alias_meta {
    struct str name;
    struct str filter; /* JSON text; n == 0: none */
    struct str index_routing, search_routing; /* p == NULL: none */
    bool has_is_write, is_write;
    bool has_is_hidden, is_hidden;
};

struct index_meta {
    struct state_part part;
    struct str name, uuid;
    uint64_t version, mapping_version, settings_version, aliases_version;
    bool closed;
    uint32_t n_shards, n_replicas, routing_shards, routing_partition;
    int64_t created_ms;
    struct settings settings; /* all of them, with the prefix "index." */
    struct str mapping;       /* JSON text: the body under "mappings" ({} for none) */
    struct alias_meta *aliases; /* sorted by name */
    uint32_t n_aliases;
    uint64_t *primary_terms; /* per shard */
};

enum template_kind { TEMPLATE_LEGACY, TEMPLATE_COMPOSABLE, TEMPLATE_COMPONENT };

struct template_meta {
    struct state_part part;
    enum template_kind kind;
    struct str name;
    struct str body;      /* JSON text as the API prints it */
    struct str *patterns; /* index patterns; none for components */
    uint32_t n_patterns;
    int64_t order; /* legacy: order; composable: priority */
};

/* A settings value with an arena of its own. */
struct settings_part {
    struct state_part part;
    struct settings settings;
};

struct node_meta {
    struct str id, name, ephemeral_id, host, transport_address, http_address;
    uint32_t roles; /* ROLE_* */
};
enum { ROLE_MASTER = 1, ROLE_DATA = 2 };

struct nodes_part {
    struct state_part part;
    struct node_meta *v;
    uint32_t n;
    struct str local, master; /* ids; master.p == NULL: none */
};

struct cluster_state {
    struct state_part part;
    struct str cluster_name, cluster_uuid, state_uuid;
    uint64_t term, version;
    struct nodes_part *nodes;
    struct settings_part *persistent, *transient;
    struct index_meta **indices; /* sorted by name */
    uint32_t n_indices;
    struct template_meta **templates; /* sorted by kind, then name */
    uint32_t n_templates;
};

struct cluster_state *cluster_state_ref(struct cluster_state *s);
void cluster_state_unref(struct cluster_state *s); /* NULL ok; any thread */

/* Borrowed from the state; NULL when absent. */
const struct index_meta *cluster_index(const struct cluster_state *s, struct str name);
const struct index_meta *cluster_index_by_uuid(const struct cluster_state *s, struct str uuid);
const struct alias_meta *index_alias(const struct index_meta *m, struct str alias);
bool cluster_has_alias(const struct cluster_state *s, struct str alias);
const struct template_meta *cluster_template(const struct cluster_state *s, enum template_kind kind, struct str name);
/* A cluster setting: transient, then persistent, else `otherwise`. */
struct str cluster_setting(const struct cluster_state *s, const char *key, struct str otherwise);

/* ---- making the next state ------------------------------------------------------------------------------------ */

/* A builder starts as a shallow copy of `from` (NULL: an empty state). Parts given to it are taken. seal() hands out the
 * new state with version + 1; the builder is done then, as after drop(). All return false (or NULL) without memory. */
struct state_builder {
    struct cluster_state *next;
    bool failed;
};
bool state_builder_init(struct state_builder *b, const struct cluster_state *from) NODISCARD;
void state_builder_drop(struct state_builder *b);
struct cluster_state *state_builder_seal(struct state_builder *b, struct str state_uuid) NODISCARD;

/* Adds, or replaces the one of the same name. Takes the part. */
bool state_put_index(struct state_builder *b, struct index_meta *m) NODISCARD;
bool state_remove_index(struct state_builder *b, struct str name);
bool state_put_template(struct state_builder *b, struct template_meta *t) NODISCARD;
bool state_remove_template(struct state_builder *b, enum template_kind kind, struct str name);
void state_put_settings(struct state_builder *b, struct settings_part *p, bool persistent);
void state_put_nodes(struct state_builder *b, struct nodes_part *p);
bool state_set_names(struct state_builder *b, struct str cluster_name, struct str cluster_uuid) NODISCARD;

/* Parts begin empty, with their own arena; the caller fills them and gives them away. NULL: no memory. */
struct index_meta *index_meta_new(void);
/* A deep copy to change: mapping, settings, aliases, terms. */
struct index_meta *index_meta_copy(const struct index_meta *m);
struct template_meta *template_meta_new(void);
struct settings_part *settings_part_new(const struct settings *from);
struct nodes_part *nodes_part_new(void);
/* Drops one reference of any part; the last frees it. NULL ok. */
void state_part_unref(struct state_part *p);
struct state_part *state_part_ref(struct state_part *p);

/* ---- bytes ------------------------------------------------------------------------------------------------------ */

/* Whole parts to and from bytes, field by field; versioned by a first byte. Decoders trust nothing: NULL and ERR_CORRUPT on
 * any inconsistency. */
void index_meta_encode(const struct index_meta *m, struct buf *out);
enum err index_meta_decode(struct index_meta **out, struct bytes_in *in, struct errmsg *em);
void cluster_state_encode(const struct cluster_state *s, struct buf *out);
enum err cluster_state_decode(struct cluster_state **out, struct str bytes, struct errmsg *em);

/* ---- routing ----------------------------------------------------------------------------------------------------- */

/* number_of_routing_shards for an index of n primary shards created by 7.x: the largest n × 2^k up to 1024. */
uint32_t routing_shards_default(uint32_t n_shards);
/* The shard of a document: floorMod(murmur3(routing or id), routing_shards) / routing_factor. */
uint32_t shard_of(const struct index_meta *m, struct str id, struct str routing);

#endif
