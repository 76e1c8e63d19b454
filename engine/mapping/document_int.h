/* document_int.h - a document on its way through the mapping. Inside mapping only. */
#ifndef ENGINE_MAPPING_DOCUMENT_INT_H
#define ENGINE_MAPPING_DOCUMENT_INT_H

#include "engine/mapping/document.h"
#include "engine/mapping/mapping_int.h"

struct part_build { /* a Lucene document that is being filled */
    struct doc_value *v;
    size_t n, cap;
    const struct field *nested; /* NULL: the root */
    struct part_build *parent;
    struct map taken; /* names that can have one value alone, and have it; without an arena: none yet */
};

/* A field that the mapping does not have yet. */
struct added_field {
    struct str path;
    const struct json *def; /* as in a mapping, without properties */
};

struct doc_parser {
    const struct mapping *m;
    const struct source_to_parse *in;
    struct arena *arena;
    struct errmsg *em;
    struct str text;             /* what offsets of the tree count in */
    const struct errmsg *broken; /* why the text breaks off; NULL: it does not */
    struct part_build *part;
    struct doc_part *parts; /* finished nested ones */
    size_t n_parts, parts_cap;
    struct token_list tokens; /* scratch */
    struct str *ignored;
    size_t n_ignored, ignored_cap;
    struct added_field *added;
    size_t n_added, added_cap;
    bool added_sorted; /* they were held against each other in the order of their paths */
    int64_t n_nested;
    bool in_copy;
    bool in_array;                  /* the value is an element, which has no name */
    const struct json *mistaken;    /* the part of the value that was refused; NULL: all of it */
    bool geohashes;                 /* multi-fields of a point are being read */
    const struct field *join_twice; /* a part of a join field that has a second value; NULL: none */
    bool has_contexts;              /* a completion with contexts came by: they are completed at the end */
};

/* ---- walking (document_walk.c) ---- */

/* All members of an object's value. */
enum err doc_parse_members(struct doc_parser *p, const struct field *object, const struct json *v);
/* A field's value (no array but for types that take one), then its multi-fields and copies. */
enum err doc_parse_field(struct doc_parser *p, const struct field *f, const struct json *v);
enum err doc_parse_value(struct doc_parser *p, const struct field *object, struct str *names, size_t n,
                         const struct json *v, bool in_array);
enum err doc_parse_object_or_field(struct doc_parser *p, const struct field *f, const struct json *v,
                                   bool in_array);
/* A new value of the current part; NULL: no memory. */
struct doc_value *doc_add(struct doc_parser *p, const struct field *f, enum doc_value_kind kind) NODISCARD;
bool doc_ignore(struct doc_parser *p, const struct field *f) NODISCARD;
/* Reports what made the text break off. */
enum err doc_broken(struct doc_parser *p);
/* XContentParser.textOrNull(): *out.p == NULL for null; ERR_ILLEGAL_STATE for containers. */
enum err doc_text(struct doc_parser *p, const struct json *v, struct str *out);

/* ---- values (document_values.c, document_completion.c); those of other types are in the files of their rows ---- */

/* A number, where the field keeps it in any form. */
enum err doc_add_num(struct doc_parser *p, const struct field *f, int64_t num);
/* A malformed value of a field that ignores them. */
enum err doc_ignore_value(struct doc_parser *p, const struct field *f);
/* A value of what can have one alone, by its whole name: *again: the part has one. */
enum err doc_take_name(struct doc_parser *p, struct str name, bool *again);
/* The value was refused with e: passed over where the field ignores such values. */
enum err doc_malformed(struct doc_parser *p, const struct field *f, const struct json *v, enum err e);
/* Text to store instead of a value that indexing rounds; b: NULL, or the second number of two. */
bool doc_keep_text(struct doc_parser *p, struct doc_value *v, double a, const double *b) NODISCARD;
/* A value of a completion field, multi-fields included. */
enum err doc_completion_value(struct doc_parser *p, const struct field *f, const struct json *v);
/* Adds the contexts that come from other fields of a part; ERR_ILLEGAL_ARGUMENT where there are none at all.
 */
enum err doc_completion_contexts(struct doc_parser *p, struct doc_value *values, size_t n);
/* {"city":["a"],"place":{..}} -> pairs. */
enum err doc_parse_contexts(struct doc_parser *p, const struct field *f, const struct json *v,
                            const struct str **pairs, uint32_t *n);

/* ---- what is not mapped (dynamic.c) ---- */

/* ERR_STRICT_DYNAMIC: an object takes no field of this name. */
enum err doc_strict(struct doc_parser *p, const struct field *object, struct str name);
enum dynamic_mode doc_dynamic(const struct doc_parser *p, const struct field *object);
/* The object in which names[n - 1] goes, made where missing. *stopped: a part of the way may not be made. */
enum err doc_dynamic_parent(struct doc_parser *p, const struct field *object, struct str *names, size_t n,
                            const struct field **parent, bool *stopped);
enum err doc_dynamic_object(struct doc_parser *p, const struct field *object, struct str name,
                            const struct field **out);
enum err doc_dynamic_scalar(struct doc_parser *p, const struct field *object, struct str name,
                            const struct json *v);
/* The field that a template for objects makes of an array, or NULL. */
enum err doc_dynamic_array(struct doc_parser *p, const struct field *object, struct str name,
                           const struct field **out);
bool doc_added(struct doc_parser *p, struct str path, const struct json *def) NODISCARD;
/* The body of a put-mapping request for all that was added; ERR_ILLEGAL_ARGUMENT when they contradict one
 * another. */
enum err doc_mapping_update(struct doc_parser *p, const struct json **out);

#endif
