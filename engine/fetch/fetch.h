/* fetch.h - declarations shared by the parts of the fetch phase: one hit that is being printed.
 *
 * A hit is a root document, or a nested one: of inner hits, of top hits below a nested aggregation. A nested hit shows the
 * root's _id, its own place (`_nested`), its own doc values and stored values, and a source in which the path to it holds
 * nothing but itself. */
#ifndef ENGINE_FETCH_FETCH_H
#define ENGINE_FETCH_FETCH_H

#include "engine/collect/search_context.h"
#include "engine/collect/top_doc.h"
#include "engine/fetch/fetch_phase.h"
#include "engine/highlight/highlight.h"

struct inner_hits;
struct shown_field;
struct shown_column;

struct fetch {
    const struct search_shard *shard;
    const struct search_source *source;
    struct search_context cx;
    struct arena *arena;
    struct errmsg *em;
    const struct query *query;        /* the search's, when a part needs it */
    const struct weight *weight;      /* for explain and matched queries */
    bool has_names;                   /* the query has _name parts */
    const struct weight *post_filter; /* it has _name parts; NULL: none */
    const struct weight **rescorers;  /* for explain: one a rescoring */
    struct highlighter *highlighter;
    struct stored_reader stored;
    const struct leaf *leaf;
    bool need_source;
    unsigned want;                /* STORED_* */
    bool query_given;             /* the query is one of another query's: hits are inner hits */
    bool query_is_nested;         /* ... and about nested documents: so are the hits */
    struct shown_column *columns; /* what docvalue_fields names, by the mapping */
    uint32_t n_columns;
    const struct shown_field *shown; /* what `fields` names, by the mapping */
    uint32_t n_shown;
    struct inner_hits *inner; /* of the query's nested parts */
    uint32_t n_inner;
    const struct query **percolates; /* the percolate queries in the query; 0: none, or nobody asks */
    uint32_t n_percolates;
};

/* Where a nested document stands: the offset-th of the objects at `field`, and so on below it. */
struct nested_place {
    struct str field; /* relative to the place around */
    uint32_t offset;
    const struct nested_place *inside; /* NULL: this is the document */
};

struct fetch_hit {
    const struct top_doc *top;
    const struct leaf *leaf;
    doc_id doc; /* in the leaf */
    struct stored_doc stored;
    const struct json *source; /* parsed when first asked for: fetch_source_tree() */
    bool source_tried;
    struct arena *arena;              /* of this root hit alone: empty again afterwards */
    const struct nested_place *place; /* NULL: a root document */
    struct fetch_hit *root;           /* of a nested document */
    const struct json
        *own_source; /* a nested document's, without the path to it; after fetch_source_tree() */
};

/* The parsed source; NULL when there is none. */
const struct json *fetch_source_tree(struct fetch *f, struct fetch_hit *h);

/* ---- fetch_phase.c: what sub-fetches share ---- */

/* Readies f for hits: shard, source, arena and em are set, and the query when it is not the source's own. */
enum err fetch_prepare(struct fetch *f);
void fetch_fini(struct fetch *f);
/* Reads what the hit's document has stored, of h->leaf. */
enum err fetch_read(struct fetch *f, struct fetch_hit *h);
enum err fetch_write_hit(struct fetch *f, struct fetch_hit *h, struct jsonw *w);

/* ---- field_limits.c ---- */

/* ERR_ILLEGAL_ARGUMENT: more of them than index.max_docvalue_fields_search, index.max_script_fields. */
enum err docvalue_fields_limit(const struct search_context *cx, const struct search_source *s,
                               struct errmsg *em);
enum err script_fields_limit(const struct search_context *cx, const struct search_source *s,
                             struct errmsg *em);

/* ---- fetch_fields.c, fetch_source_fields.c ---- */

/* "fields": stored_fields, docvalue_fields, fields and script_fields. Writes the member only when something is in it. */
enum err fetch_fields(struct fetch *f, struct fetch_hit *h, struct jsonw *w);
/* Refusals that need no document (text fields without fielddata, formats that do not fit). */
enum err fetch_fields_check(struct fetch *f);
/* What `fields` names: f->shown. */
enum err fetch_source_fields_prepare(struct fetch *f);
/* Their values, as members of the open object. */
enum err fetch_source_fields(struct fetch *f, struct fetch_hit *h, struct jsonw *w);

/* ---- fetch_nested.c ---- */

/* The nested object that a document that is no root is of; NULL: none. */
const struct field *nested_path_of(const struct mapping *m, const struct leaf *leaf, doc_id doc);
/* The first document of the block that ends in the root behind (or at) `doc`; the root's number. */
doc_id nested_block_start(const struct leaf *leaf, doc_id doc);
doc_id nested_root(const struct leaf *leaf, doc_id doc);
/* The place of a document of `path`; NULL: no memory. */
const struct nested_place *nested_place_of(const struct leaf *leaf, doc_id doc, const struct field *path,
                                           struct arena *arena);
void nested_place_write(const struct nested_place *p, struct jsonw *w);
/* The root's source with the path to the place holding nothing else; *own is what stands there. NULL: it is not there. */
const struct json *nested_source(const struct json *root, const struct nested_place *p, struct arena *arena,
                                 const struct json **own);
/* "_source" of a nested hit. */
enum err nested_source_write(struct fetch *f, struct fetch_hit *h, struct jsonw *w);

/* ---- inner_hits.c ---- */

/* What the query phase refuses: a name twice, windows too large, sort keys that do not fit. */
enum err inner_hits_check(const struct search_context *cx, const struct query *query,
                          const struct query *post_filter, struct errmsg *em);
/* Inner hits of the two queries (either may be NULL), each with a fetch of its own: f->inner. */
enum err inner_hits_prepare(struct fetch *f, const struct query *query, const struct query *post_filter);
void inner_hits_fini(struct fetch *f);
bool inner_hits_need_source(const struct fetch *f);
/* The member "inner_hits". */
enum err inner_hits_write(struct fetch *f, struct fetch_hit *h, struct jsonw *w);

/* ---- what is highlighted (highlight_source.c): the source, with stored texts that it lacks; NULL: nothing ---- */
enum err fetch_highlight_source(struct fetch *f, struct fetch_hit *h, const struct json **out);

/* ---- documents that the request brings along (percolated.c) ---- */

/* Which percolate queries the query has: f->percolates. */
enum err percolated_prepare(struct fetch *f);
/* The places of the documents that the hit's query matches, as members of "fields". */
enum err percolated_slots(struct fetch *f, struct fetch_hit *h, struct jsonw *w);
/* The member "highlight": of the hit, and of those documents. */
enum err percolated_highlight(struct fetch *f, struct fetch_hit *h, struct jsonw *w);

/* ---- explanations of rescored hits (explain_rescore.c) ---- */
/* Makes f->rescorers when the search rescores. */
enum err explain_rescores_prepare(struct fetch *f);
/* The hit's explanation: the first pass's, and what each rescoring made of it. */
enum err explain_rescores(struct fetch *f, const struct fetch_hit *h, struct jsonw *w);

#endif
