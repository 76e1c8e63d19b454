/* script_use.h - scripts inside queries: compiled forms, and running one over a segment's documents.
 * Internal to engine/query. */
#ifndef ENGINE_QUERY_SCRIPT_USE_H
#define ENGINE_QUERY_SCRIPT_USE_H

#include "engine/query/scorer.h"
#include "engine/script/script.h"

/* The script of a request's form (a text, or an object with source, lang, params). It lives as long as the
 * context's arena, or as whoever compiles says. */
enum err script_of_form(const struct query_context *cx, const struct json *form, enum script_context context,
                        struct script **out, struct errmsg *em);

/* The field that doc['name'] means, and whether there is one: what has no values by document is refused. */
bool script_has_field(const struct mapping *mapping, struct str name);
enum err script_field(const struct mapping *mapping, struct str name, struct arena *arena,
                      const struct field **out, struct errmsg *em);

/* Does a document's name stand for this field's value: _index, _type, _id? */
static inline bool script_field_is_name(const struct field *f)
{
    return f->class->is_metadata && f->class->kind == VALUE_TEXT;
}
/* That one value, in `arena`. `stored` reads the leaf's segment; a nested document has the id of its own one. ERR_CORRUPT. */
enum err script_name_value(const struct field *f, struct str index_name, const struct leaf *leaf, doc_id doc,
                           struct stored_reader *stored, struct arena *arena, struct script_doc *out,
                           struct errmsg *em);

/* A document's value of a field of vectors; seg is the segment's, NULL: it has none. ERR_CORRUPT. */
enum err script_vector_value(const struct field *f, const struct seg_field *seg, doc_id doc,
                             struct arena *arena, struct script_doc *out, struct errmsg *em);

/* One script bound to one segment, run for one thread. */
struct script_docs;
struct script_docs_opts {
    struct script *script;
    const struct json *params; /* NULL: none */
    const struct mapping *mapping;
    struct str index_name; /* for doc['_index'] */
    const struct leaf *leaf;
    struct arena *arena;
    int64_t now_ms;
    int32_t random_salt; /* random_salt() where scores are computed */
};
/* What makes random scores of each index and shard others; a number in [0, 1) from a hash. */
int32_t random_salt(const struct query_context *cx);
double random_number(uint32_t hash);
enum err script_docs_new(struct script_docs **out, const struct script_docs_opts *o, struct errmsg *em);
/* The script's number for a document whose score so far is `score`; *is_null as script_number() has it. */
enum err script_docs_number(struct script_docs *s, doc_id doc, float score, double *out, bool *is_null,
                            struct errmsg *em);
enum err script_docs_bool(struct script_docs *s, doc_id doc, bool *out, struct errmsg *em);
/* Its text, borrowed until the next document; its value, whatever it is, in `arena`. */
enum err script_docs_text(struct script_docs *s, doc_id doc, float score, struct str *out, struct errmsg *em);
enum err script_docs_value(struct script_docs *s, doc_id doc, struct arena *arena, struct json *out,
                           struct errmsg *em);
/* The `params` of a request's form; NULL: none. */
const struct json *script_form_params(const struct json *form);

#endif
