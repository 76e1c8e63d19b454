/* held_query.h - queries that documents hold (fields of the type percolator), read while a document is indexed and again while it is
 * searched. Internal to the engine.
 *
 * A query that is indexed is checked as far as its mapping allows, and gives the terms without which no document matches it
 * (engine/mapping/document.h: struct held_query). They only choose candidates: each candidate is run against the documents in question. */
#ifndef ENGINE_QUERY_HELD_QUERY_H
#define ENGINE_QUERY_HELD_QUERY_H

#include "engine/mapping/document.h"
#include "engine/query/query.h"

/* For source_to_parse.queries; whoever parses documents has one on its stack. */
struct held_query_reader {
    struct query_reader base; /* first */
    struct query_context cx;  /* of the index; mapping, arena and text are left out */
    bool
        accepted; /* the document was accepted before: what is refused now is kept unread, and fails where it is searched */
};
/* Borrows the names and settings (NULL: the defaults). */
void held_query_reader_init(struct held_query_reader *r, struct str index_name, struct str index_uuid,
                            const struct settings *settings, int64_t now_ms, bool accepted);

/* Builds a query that a document holds, of a tree that `text` has. As query_build(), in cx->arena. */
enum err held_query_build(const struct query **out, const struct query_context *cx, const struct json *query,
                          struct str text, struct errmsg *em);
/* The terms that a document needs one of. ERR_NO_MEMORY. */
enum err held_query_terms(const struct query *q, struct arena *arena, struct held_query *out,
                          struct errmsg *em);
/* "field\0term"; p == NULL: no memory. */
struct str held_query_term(struct str field, struct str term, struct arena *arena);
/* What a field that is not mapped counts as where index.percolator.map_unmapped_fields_as_text says so; NULL: it is refused, or
 * there is no room. */
const struct field *held_query_text(const struct query_context *cx, struct str name, struct arena *arena);

#endif
