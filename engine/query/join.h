/* join.h - documents of one relation joined to those of another, within a shard, by the parent's id: has_child and has_parent, and what
 * aggregations and inner hits share with them.
 *
 * The id stands in the relation's hidden field (engine/mapping/join.h), in the parent and in its children. A join runs over one side,
 * keeps the ids that it meets, and finds the other side by them. Everything lives in the request's arena; one thread. Internal to the
 * engine. */
#ifndef ENGINE_QUERY_JOIN_H
#define ENGINE_QUERY_JOIN_H

#include "common/base/map.h"
#include "engine/mapping/join.h"
#include "engine/query/weight.h"

/* ---- ids ---- */

struct join_id {
    struct str id;
    float score;     /* of the documents met, put together by the query's score mode */
    uint32_t count;  /* of them */
    uint32_t number; /* in the order in which ids were met */
};

struct join_ids {
    struct map by_id; /* values are struct join_id */
    struct arena *arena;
};
void join_ids_init(struct join_ids *ids, struct arena *arena);
struct join_id *join_ids_at(const struct join_ids *ids, uint32_t number);

/* The relation's hidden field in one segment. Terms are looked up once each. */
struct join_column {
    struct ord_column ords;
    const struct seg_field *field;
    struct join_ids *ids;
    struct join_id **by_ord; /* NULL: not looked up yet; &join_no_id: no id of the set */
    struct buf term;
};
/* The buffer goes with the arena of the ids. ERR_NO_MEMORY. */
enum err join_column_init(struct join_column *c, struct join_ids *ids, const struct leaf *leaf,
                          const struct field *hidden, struct errmsg *em);
void join_column_fini(struct join_column *c);
/* The document's id among those of the set; NULL: it has none, or another one. */
struct join_id *join_column_find(struct join_column *c, doc_id doc);
/* The same, added where it is new. *out NULL: the document has none. ERR_NO_MEMORY. */
enum err join_column_add(struct join_column *c, doc_id doc, struct join_id **out, struct errmsg *em);

/* Which documents of a segment are of some relations. */
struct join_names {
    struct ord_column ords; /* of the join field */
    uint64_t *v;            /* bits by ordinal */
    bool any;
};
enum err join_names_init(struct join_names *n, const struct leaf *leaf, const struct field *join,
                         const struct str *names, uint32_t n_names, struct arena *arena, struct errmsg *em);
bool join_names_has(const struct join_names *n, doc_id doc);

/* Calls `take` for the live documents of a segment that belong to an id: the parent itself, or its children of those relations. */
typedef void (*join_take)(void *self, doc_id doc, const struct join_id *id);
struct join_search {
    const struct leaf *leaf;
    const struct join_names *names; /* NULL: of any relation */
    const struct field *hidden;
    bool to_parent;
};
void join_search_id(const struct join_search *s, const struct join_id *id, join_take take, void *self);

/* ---- the queries ---- */

enum join_mode { JOIN_NONE, JOIN_MIN, JOIN_MAX, JOIN_SUM, JOIN_AVG };

/* What q_join has behind `own`. */
struct join_query {
    const char *name;                     /* "has_child" or "has_parent" */
    const struct field *join;             /* the field of that type */
    const struct join_relation *relation; /* between both sides */
    struct str type; /* the relation that the request names: that of the documents that are run over */
    bool to_parent;  /* has_child: children are run over, their parents are found */
    enum join_mode mode;
    uint32_t min, max;                        /* how many must match */
    const struct query *child;                /* as it was requested */
    const struct query *from;                 /* the same and a filter for `type` */
    const struct query *to;                   /* the filter for the documents that are found */
    const struct inner_hits_spec *inner_hits; /* NULL: none */
    bool rewritten;
};

static inline const struct join_query *join_of(const struct query *q)
{
    return q->own;
}

/* (nested.c) "avg", "none" ...: ERR_ILLEGAL_ARGUMENT for what is no mode. */
enum err child_score_mode(struct str s, enum score_mode *mode, bool *none, struct errmsg *em);

#endif
