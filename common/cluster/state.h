/* state.h - the cluster state: one immutable value that every node holds a version of.
 *
 * A state is reference-counted and never changes once it is sealed; a new one is made from the old through a
 * builder and shares every part that stays the same (index metadata, templates, settings are parts with
 * references of their own). It can be written to bytes part by part, which is what publication sends and
 * disks keep. It knows ids and names, nothing of sockets, files or shards' contents: a mapping is carried as
 * the JSON that the API prints.
 *
 * Thread-safe to read. All strings live in the part that holds them. */
#ifndef CLUSTER_STATE_H
#define CLUSTER_STATE_H

#include "common/base/bytes.h"
#include "common/base/settings.h"
#include "common/settings/setting_read.h"

#define SHARDS_MAX         1024 /* number_of_shards of one index, as in Elasticsearch */
#define REPLICAS_MAX       1024 /* number_of_replicas of one index, whatever the cluster's nodes take */
#define ROUTING_SHARDS_MAX 1024

/* What all parts begin with. */
struct state_part {
    _Atomic uint32_t refs;
    struct arena arena; /* holds the part itself */
};

/* Distinct strings, sorted. */
struct str_set {
    struct str *v;
    uint32_t n;
};
bool str_set_has(const struct str_set *s, struct str x);
bool str_set_eq(const struct str_set *a, const struct str_set *b);

struct alias_meta {
    struct str name;
    struct str filter;                        /* JSON text; n == 0: none */
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
    struct settings settings;   /* all of them, with the prefix "index." */
    struct str mapping;         /* JSON text: the body under "mappings"; n == 0: none was ever given */
    struct str type;            /* the name that 7.x gives the one type of the mapping; n == 0: `_doc` */
    struct alias_meta *aliases; /* sorted by name */
    uint32_t n_aliases;
    uint64_t *primary_terms; /* per shard */
    struct str_set *in_sync; /* per shard: allocation ids of the copies that have every acknowledged write */
};

/* The mapping as it is shown: {} for none. */
struct str index_mapping_text(const struct index_meta *m);
/* The name of its one type. */
struct str index_type(const struct index_meta *m);
/* Does a request that names this type mean the index's one? `_doc` (or nothing) means whatever it is, and any type one that is still to come. */
bool index_has_type(const struct index_meta *m, struct str type);

/* ---- where copies are ---------------------------------------------------------------------------------- */

enum copy_state { COPY_UNASSIGNED, COPY_INITIALIZING, COPY_STARTED, COPY_RELOCATING };
/* Why a copy has no node, in Elasticsearch's order (UnassignedInfo.Reason); copy_reason_name() spells it. */
enum copy_reason {
    REASON_INDEX_CREATED,
    REASON_CLUSTER_RECOVERED,
    REASON_INDEX_REOPENED,
    REASON_REPLICA_ADDED,
    REASON_ALLOCATION_FAILED,
    REASON_NODE_LEFT,
    REASON_REROUTE_CANCELLED,
    REASON_REINITIALIZED,
    REASON_REALLOCATED_REPLICA,
    REASON_PRIMARY_FAILED,
    REASON_FORCED_EMPTY_PRIMARY,
    REASON_MANUAL_ALLOCATION,
    REASON_N
};
enum recovery_source { RECOVER_EMPTY_STORE, RECOVER_EXISTING_STORE, RECOVER_PEER };

/* The result of the last attempt to place a primary; not kept for replicas. */
enum copy_attempt {
    ATTEMPT_NONE,
    ATTEMPT_DECIDERS_NO,
    ATTEMPT_NO_VALID_COPY,
    ATTEMPT_THROTTLED,
    ATTEMPT_FETCHING,
    ATTEMPT_N
};

struct copy_trouble { /* kept until the copy has started; `reason` says whether the rest is valid */
    enum copy_reason reason;
    int64_t at_ms;   /* wall clock: since when it has no node */
    uint32_t failed; /* attempts to allocate it in a row */
    bool delayed;    /* a replica whose node left: waits for it to come back */
    enum copy_attempt attempt;
    struct str details;   /* p == NULL: none */
    struct str last_node; /* where it was; p == NULL: unknown */
};

struct shard_copy {
    enum copy_state state;
    bool primary;
    struct str node;             /* id; p == NULL: COPY_UNASSIGNED */
    struct str allocation_id;    /* p == NULL: COPY_UNASSIGNED */
    struct str target_node;      /* COPY_RELOCATING: where it goes; else p == NULL */
    struct str target_id;        /* the allocation id that it has there */
    enum recovery_source source; /* COPY_UNASSIGNED, COPY_INITIALIZING: where its data comes from */
    struct copy_trouble trouble; /* COPY_UNASSIGNED, COPY_INITIALIZING */
};

struct shard_routing { /* the primary first, always there; then as many replicas as the index has */
    struct shard_copy *copies;
    uint32_t n;
};

struct index_routing {
    struct state_part part;
    struct str name, uuid; /* of the index */
    struct shard_routing *shards;
    uint32_t n;
};

/* ---- who decides --------------------------------------------------------------------------------------- */

struct coordination_part { /* Elasticsearch's CoordinationMetadata: what elections are counted by */
    struct state_part part;
    uint64_t term;                  /* of the last accepted state's master */
    struct str_set committed;       /* node ids of the last committed voting configuration */
    struct str_set accepted;        /* of the last accepted one */
#define EXCLUSION_ABSENT "_absent_" /* the id of a name, or the name of an id, that no node had */
    struct voting_exclusion {
        struct str node_id, node_name;
    } * exclusions;
    uint32_t n_exclusions;
    bool uuid_committed; /* the cluster's uuid cannot become another one any more */
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

/* A script that the cluster stores. */
struct script_meta {
    struct str id, lang, source;
    struct str content_type; /* of a template, as its options say; p == NULL: none is given */
};

/* All of them, sorted by id; one part, as they are few and change seldom. */
struct scripts_part {
    struct state_part part;
    struct script_meta *v;
    uint32_t n;
};

/* An ingest pipeline: its definition is JSON text as the API prints it. */
struct pipeline_meta {
    struct str id, body;
};

/* All of them, sorted by id; one part. */
struct pipelines_part {
    struct state_part part;
    struct pipeline_meta *v;
    uint32_t n;
};

/* A settings value with an arena of its own. */
struct settings_part {
    struct state_part part;
    struct settings settings;
};

struct node_meta {
    struct str id, name, ephemeral_id, host, transport_address,
        http_address;  /* http_address.p == NULL: none */
    uint32_t roles;    /* ROLE_* */
    struct node_attr { /* node.attr.*, sorted by name */
        struct str name, value;
    } * attrs;
    uint32_t n_attrs;
};
enum { ROLE_MASTER = 1, ROLE_DATA = 2 }; /* all that there are: nodes.h */

struct nodes_part {
    struct state_part part;
    struct node_meta *v; /* sorted by id */
    uint32_t n;
    struct str master; /* id; p == NULL: none */
};

struct cluster_state {
    struct state_part part;
    struct str cluster_name, cluster_uuid, state_uuid;
    uint64_t term, version;
    struct nodes_part *nodes;
    struct settings_part *persistent, *transient;
    const struct settings
        *own; /* what the node that has this state was started with; never written; NULL: nothing */
    struct coordination_part *coordination;
    struct index_meta **indices; /* sorted by name */
    uint32_t n_indices;
    struct index_routing **routing; /* sorted by name; of every index, closed ones too */
    uint32_t n_routing;
    struct template_meta **templates; /* sorted by kind, then name */
    uint32_t n_templates;
    struct scripts_part *scripts;     /* NULL: none was ever stored */
    struct pipelines_part *pipelines; /* the same */
};

struct cluster_state *cluster_state_ref(struct cluster_state *s);
void cluster_state_unref(struct cluster_state *s); /* NULL ok; any thread */

/* Borrowed from the state; NULL when absent. */
const struct index_meta *cluster_index(const struct cluster_state *s, struct str name);
const struct index_meta *cluster_index_by_uuid(const struct cluster_state *s, struct str uuid);
const struct alias_meta *index_alias(const struct index_meta *m, struct str alias);
/* Does a list of names and patterns ("a", "b*", "-c") name this alias? An exclusion takes away what stands before it; an empty list names all. */
bool alias_is_named(const struct str *names, uint32_t n, struct str alias);
bool cluster_has_alias(const struct cluster_state *s, struct str alias);
const struct template_meta *cluster_template(const struct cluster_state *s, enum template_kind kind,
                                             struct str name);
const struct script_meta *cluster_script(const struct cluster_state *s, struct str id);
const struct pipeline_meta *cluster_pipeline(const struct cluster_state *s, struct str id);
const struct index_routing *cluster_routing(const struct cluster_state *s, struct str index_name);
/* Its nodes; a part with none where no state was applied yet. */
const struct nodes_part *cluster_nodes(const struct cluster_state *s);
const struct node_meta *cluster_node(const struct cluster_state *s, struct str id);
const struct node_meta *cluster_master(const struct cluster_state *s); /* NULL: none is known */
const char *copy_reason_name(enum copy_reason r);                      /* "INDEX_CREATED" */
const char *copy_attempt_name(enum copy_attempt a);                    /* "no_attempt" */
const char *copy_state_name(enum copy_state s);                        /* "STARTED" */
/* Started, or started and on its way elsewhere: it can be searched. */
static inline bool copy_active(const struct shard_copy *c)
{
    return c->state == COPY_STARTED || c->state == COPY_RELOCATING;
}
/* The cluster's settings for setting_read.h: transient before persistent, and these before the node's own; of `s` NULL: none. Valid as
 * long as the state and `persistent`, where the second of them lie. */
struct settings cluster_settings(const struct cluster_state *s, struct settings *persistent);
struct str cluster_setting(const struct cluster_state *s, enum setting_id id);
bool cluster_setting_bool(const struct cluster_state *s, enum setting_id id);
int64_t cluster_setting_i64(const struct cluster_state *s, enum setting_id id);
double cluster_setting_double(const struct cluster_state *s, enum setting_id id);
int64_t cluster_setting_ms(const struct cluster_state *s, enum setting_id id);
/* One of a family, by its name; NULL: it is not set. */
const struct setting *cluster_setting_named(const struct cluster_state *s, struct str name);

/* ---- making the next state ----------------------------------------------------------------------------- */

/* A builder starts as a shallow copy of `from` (NULL: an empty state). Parts given to it are taken. seal()
 * hands out the new state with version + 1; the builder is done then, as after fini(). All return false (or
 * NULL) without memory. */
struct state_builder {
    struct cluster_state *next;
    bool failed;
};
bool state_builder_init(struct state_builder *b, const struct cluster_state *from) NODISCARD;
void state_builder_fini(struct state_builder *b);
struct cluster_state *state_builder_seal(struct state_builder *b, struct str state_uuid) NODISCARD;

/* Adds, or replaces the one of the same name. Takes the part. */
bool state_put_index(struct state_builder *b, struct index_meta *m) NODISCARD;
bool state_remove_index(struct state_builder *b, struct str name);
bool state_put_template(struct state_builder *b, struct template_meta *t) NODISCARD;
bool state_remove_template(struct state_builder *b, enum template_kind kind, struct str name);
void state_put_settings(struct state_builder *b, struct settings_part *p, bool persistent);
void state_put_nodes(struct state_builder *b, struct nodes_part *p);
bool state_put_routing(struct state_builder *b, struct index_routing *r) NODISCARD;
bool state_remove_routing(struct state_builder *b, struct str index_name);
void state_put_coordination(struct state_builder *b, struct coordination_part *p);
void state_put_scripts(struct state_builder *b, struct scripts_part *p);
void state_put_pipelines(struct state_builder *b, struct pipelines_part *p);
bool state_set_names(struct state_builder *b, struct str cluster_name, struct str cluster_uuid) NODISCARD;

/* Parts begin empty, with their own arena; the caller fills them and gives them away. NULL: no memory. */
struct index_meta *index_meta_new(void);
/* A deep copy to change: mapping, settings, aliases, terms. */
struct index_meta *index_meta_copy(const struct index_meta *m);
struct template_meta *template_meta_new(void);
struct settings_part *settings_part_new(const struct settings *from);
struct nodes_part *nodes_part_new(void);
/* A deep copy to change, with room for `more` further nodes. */
struct nodes_part *nodes_part_copy(const struct nodes_part *p, uint32_t more);
/* Adds, or replaces the one of that id, where nodes_part_copy() left room; strings are copied. false: no
 * memory. */
bool nodes_part_put(struct nodes_part *p, const struct node_meta *n) NODISCARD;
bool nodes_part_remove(struct nodes_part *p, struct str id);
/* A deep copy into an arena. false: no memory. */
bool node_meta_copy(struct node_meta *to, const struct node_meta *from, struct arena *a) NODISCARD;
/* n shards, each with an unassigned primary and `replicas` unassigned replicas. */
struct index_routing *index_routing_new(struct str name, struct str uuid, uint32_t n, uint32_t replicas);
/* A deep copy to change; every shard gets room for `more` further copies. */
struct index_routing *index_routing_copy(const struct index_routing *r, uint32_t more);
struct coordination_part *coordination_part_new(void);
struct coordination_part *coordination_part_copy(const struct coordination_part *p);
/* The same scripts (NULL: none) with one more, which replaces the one of its id; and without one. Strings are copied. NULL: no memory. */
struct scripts_part *scripts_part_with(const struct scripts_part *from, const struct script_meta *m);
struct scripts_part *scripts_part_without(const struct scripts_part *from, struct str id);
/* The same of pipelines. */
struct pipelines_part *pipelines_part_with(const struct pipelines_part *from, const struct pipeline_meta *m);
struct pipelines_part *pipelines_part_without(const struct pipelines_part *from, struct str id);
/* The same set in an arena, as it is, and with x added or taken out. v == NULL and n > 0: no memory. */
struct str_set str_set_copy(const struct str_set *s, struct arena *a);
struct str_set str_set_with(const struct str_set *s, struct str x, struct arena *a);
struct str_set str_set_without(const struct str_set *s, struct str x, struct arena *a);
/* Drops one reference of any part; the last frees it. NULL ok. */
void state_part_unref(struct state_part *p);
struct state_part *state_part_ref(struct state_part *p);

/* ---- bytes --------------------------------------------------------------------------------------------- */

/* Whole parts to and from bytes, field by field; versioned by a first byte. Decoders trust nothing: NULL and
 * ERR_CORRUPT on any inconsistency. */
void index_meta_encode(const struct index_meta *m, struct buf *out);
enum err index_meta_decode(struct index_meta **out, struct bytes_in *in, struct errmsg *em);
void cluster_state_encode(const struct cluster_state *s, struct buf *out);
enum err cluster_state_decode(struct cluster_state **out, struct str bytes, struct errmsg *em);
/* What turns `from` into `to` (state_diff.c): of nodes, index metadata and routing what changed in them, of the rest whole parts
 * that are not shared by both. */
void cluster_state_diff(const struct cluster_state *from, const struct cluster_state *to, struct buf *out);
/* ERR_ILLEGAL_STATE: the diff is of another state than `from` (by state_uuid); ERR_CORRUPT: not a diff. */
enum err cluster_state_patch(struct cluster_state **out, const struct cluster_state *from, struct str diff,
                             struct errmsg *em);

/* ---- routing ------------------------------------------------------------------------------------------- */

/* number_of_routing_shards for an index of n primary shards created by 7.x: the largest n × 2^k up to
 * 1024. */
uint32_t routing_shards_default(uint32_t n_shards);
/* The shard of a document: floorMod(murmur3(routing or id), routing_shards) / routing_factor. */
uint32_t shard_of(const struct index_meta *m, struct str id, struct str routing);

#endif
