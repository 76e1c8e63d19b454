/* fetch.h - what the parts of the fetch phase share: one hit on its way to JSON. */
#ifndef ENGINE_SEARCH_FETCH_H
#define ENGINE_SEARCH_FETCH_H

#include "engine/highlight/highlight.h"
#include "engine/search/search.h"

struct fetch {
    const struct search_shard *shard;
    const struct search_source *source;
    struct search_context cx;
    struct arena *arena;
    struct errmsg *em;
    const struct query *query;     /* the search's, when a part needs it */
    const struct weight *weight;   /* for explain and matched queries */
    bool has_names;                /* the query has _name parts */
    struct highlighter *highlighter;
    struct stored_reader stored;
    const struct leaf *leaf;
    bool need_source;
    unsigned want; /* STORED_* */
};

struct fetch_hit {
    const struct top_doc *top;
    const struct leaf *leaf;
    doc_id doc; /* in the leaf */
    struct stored_doc stored;
    const struct json *source; /* parsed when first asked for: fetch_source_tree() */
    bool source_tried;
    struct arena *arena;       /* of this hit alone: empty again afterwards */
};

/* The parsed source; NULL when there is none. */
const struct json *fetch_source_tree(struct fetch *f, struct fetch_hit *h);

/* "fields": stored_fields, docvalue_fields, fields and script_fields. Writes the member only when something is in it. */
enum err fetch_fields(struct fetch *f, struct fetch_hit *h, struct jsonw *w);
/* Refusals that need no document (text fields without fielddata, formats that do not fit). */
enum err fetch_fields_check(struct fetch *f);

#endif
