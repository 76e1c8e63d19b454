/* percolate.h - the query percolate: which queries that documents hold match the documents that the request brings along. Internal to
 * the engine.
 *
 * The documents of the request are parsed and indexed in memory when the query is built, each with the mapping of the index and
 * with what dynamic mapping would add. They live as long as the arena that the query is built in. */
#ifndef ENGINE_QUERY_PERCOLATE_H
#define ENGINE_QUERY_PERCOLATE_H

#include "engine/query/query_ops.h"

struct percolate {
    const struct field *field; /* of the queries */
    struct str name;           /* that tells it from others in the request; the field's when none is given */
    const struct str *docs;    /* as they are written; their places are their slots */
    uint32_t n_docs;
    struct view view; /* of them, in memory: one leaf, whose roots are the documents */
    struct leaf leaf;
    const struct query *candidates; /* which of the index's queries may match them */
    struct query_context cx;        /* to build these */
};

/* The parameters of a q_percolate. */
static inline const struct percolate *percolate_of(const struct query *q)
{
    return (const struct percolate *)q->own;
}

/* The query that a document of the index holds, in `arena`; *out NULL: it holds none. */
enum err percolate_query(const struct query **out, const struct percolate *p, const struct leaf *leaf,
                         doc_id doc, struct arena *arena, struct errmsg *em);
/* What it is run with, over p->view. */
struct weight_context percolate_context(const struct percolate *p, struct arena *arena);
/* All q_percolate in q that may select: not those that exclude. ERR_NO_MEMORY. */
enum err percolates_in(const struct query *q, struct arena *arena, const struct query ***out, uint32_t *n,
                       struct errmsg *em);

/* (percolate_docs.c) Indexes p->docs, and finds p->candidates; field, cx and docs are set. Errors are those of parsing a document. */
struct builder;
enum err percolate_index(struct builder *b, struct percolate *p, struct errmsg *em);

#endif
