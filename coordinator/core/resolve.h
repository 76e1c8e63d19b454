/* resolve.h - the resolution of index expressions: lists, wildcards, exclusions, aliases, date math. Pure functions of a cluster state. */
#ifndef COORDINATOR_CORE_RESOLVE_H
#define COORDINATOR_CORE_RESOLVE_H

#include "common/cluster/blocks.h"

enum expand { EXPAND_OPEN = 1, EXPAND_CLOSED = 2, EXPAND_HIDDEN = 4 };
struct expand_options {
    bool ignore_unavailable, allow_no_indices;
    unsigned expand;
    bool forbid_closed; /* a closed index named outright is refused */
    bool no_aliases;    /* aliases do not count (delete index) */
    unsigned unblocked; /* 1 << enum block_level: what no block may forbid, or ERR_CLUSTER_BLOCK */
};
#define EXPAND_OPTIONS_SEARCH ((struct expand_options){false, true, EXPAND_OPEN, true, false, 0})
#define EXPAND_OPTIONS_ADMIN \
    ((struct expand_options){false, true, EXPAND_OPEN | EXPAND_CLOSED, false, false, 0})
/* Of reads of settings and mappings: closed indices where they are named. */
#define EXPAND_OPTIONS_READ ((struct expand_options){false, true, EXPAND_OPEN, false, false, 0})
#define EXPAND_OPTIONS_STATS \
    ((struct expand_options){false, true, EXPAND_OPEN, true, false, 1U << BLOCK_METADATA_READ})
/* Adds what "open,hidden" and the like say to *expand. */
enum err expand_parse(struct str text, unsigned *expand, struct errmsg *em);

struct index_target {
    const struct index_meta *meta;
    const struct str *filters; /* alias filters, any of which must match; 0: none */
    uint32_t n_filters;
    struct str search_routing; /* of the aliases, joined by commas; p == NULL: none */
    bool unrouted; /* it is named by something without routing, too: that of the aliases is none */
};
/* What an expression ("a,b*,-c", "_all", empty: all) names, sorted by name, in the arena. ERR_INDEX_NOT_FOUND and the like. */
enum err resolve_indices(const struct cluster_state *s, struct str expression, const struct expand_options *o,
                         int64_t now_ms, struct arena *arena, const struct index_target **out, uint32_t *n,
                         struct errmsg *em);
/* "<logs-{now/d}>" as the name that it means; any other name is itself. */
enum err resolve_date_math(struct str name, int64_t now_ms, struct arena *arena, struct str *out,
                           struct errmsg *em);
/* As resolve_indices, for a name that stands for one index: lists and patterns name none, an alias of several is refused. */
enum err resolve_single(const struct cluster_state *s, struct str name, const struct expand_options *o,
                        int64_t now_ms, struct arena *arena, const struct index_target **out,
                        struct errmsg *em);
/* ERR_INDEX_NOT_FOUND of a name that should stand for one index, as Elasticsearch words it. */
enum err index_expression_missing(struct str name, struct errmsg *em);
/* The one index that a document goes to: an index, or an alias with a write index. *auto_create: there is none, but it may be
 * created. The alias's routing, when it has one, in *routing (p == NULL otherwise). */
enum err resolve_write(const struct cluster_state *s, struct str name, int64_t now_ms, struct arena *arena,
                       const struct index_meta **out, const struct alias_meta **alias, struct str *concrete,
                       struct errmsg *em);

#endif
