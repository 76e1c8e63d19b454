/* mapping.h - the mapping: an index's fields and their parameters.
 *
 * A mapping is an immutable, reference-counted value. Adding fields (by request or by documents) makes a new
 * one from the old; what an old one knew, the new one knows too, with the same field numbers. A mapping holds
 * a reference on the analysis registry that its analyzers live in. It knows nothing of segments or queries.
 * Thread-safe: it never changes. */
#ifndef ENGINE_MAPPING_MAPPING_H
#define ENGINE_MAPPING_MAPPING_H

#include "common/base/date.h"
#include "common/base/map.h"
#include "engine/analysis/analysis.h"

struct field_class;   /* field_class.h */
struct join_relation; /* join.h */

enum index_options { INDEX_DOCS, INDEX_FREQS, INDEX_POSITIONS, INDEX_OFFSETS };
enum similarity_kind { SIM_BM25, SIM_BOOLEAN };
enum dynamic_mode { DYNAMIC_INHERIT, DYNAMIC_TRUE, DYNAMIC_FALSE, DYNAMIC_STRICT };

struct similarity {
    enum similarity_kind kind;
    float k1, b;            /* BM25: 1.2, 0.75 by default */
    bool discount_overlaps; /* tokens with pos_inc 0 do not count into the length; true by default */
};

enum context_kind { CONTEXT_CATEGORY, CONTEXT_GEO };
struct completion_context {
    struct str name;
    enum context_kind kind;
    struct str path;    /* another field's value; empty: given with the input */
    uint32_t precision; /* geo: geohash length */
};

#define FIELD_NO_NUMBER UINT32_MAX

struct field {
    struct str path; /* "name.raw" */
    struct str name; /* "raw" */
    const struct field_class *class;
    /* dense over the mapping, kept when fields are added; the root object has FIELD_NO_NUMBER */
    uint32_t number;
    bool enabled; /* objects */
    bool index, doc_values, store, norms, coerce, ignore_malformed, ignore_z, eager_ordinals, fielddata;
    bool split_on_whitespace;
    int32_t dims;                               /* dense_vector */
    bool positive_score_impact;                 /* rank_feature */
    bool index_phrases;                         /* text */
    int32_t prefix_min_chars, prefix_max_chars; /* index_prefixes of text, in UTF-16 units; 0: none */
    /* Text: what its beginnings and its pairs of words are indexed as. They are no fields of the mapping, and are found here
     * alone; NULL: none. */
    const struct field *prefix_field, *phrase_field;
    /* A type whose values have keys: the hidden field of all keys with their values; NULL: none. */
    const struct field *keyed;
    /* A type whose values are queries: the hidden field of the terms that they need; NULL: none. */
    const struct field *needed;
    /* The field of one key: what each of its terms begins with, in the index alone; n == 0: it is none. */
    struct str key_prefix;
    bool is_hidden; /* it is one of these */
    bool is_multi_field;
    enum index_options options;
    const struct analyzer *analyzer, *search_analyzer, *search_quote_analyzer;
    const struct analyzer *normalizer; /* keyword; NULL: none */
    struct similarity similarity;
    float boost;
    int32_t position_increment_gap;
    int32_t depth_limit;                   /* flattened */
    const struct join_relation *relations; /* join: those that have children */
    uint32_t n_relations;
    uint32_t ignore_above;                                  /* UTF-16 units; UINT32_MAX: no limit */
    const struct json *null_value;                          /* NULL: none */
    double scaling_factor;                                  /* scaled_float */
    const struct date_format *format;                       /* dates and date ranges */
    struct str const_value;                                 /* constant_keyword; p == NULL while unset */
    bool preserve_separators, preserve_position_increments; /* completion */
    uint32_t max_input_length;
    const struct completion_context *contexts;
    uint32_t n_contexts;
    const struct str *copy_to; /* full paths */
    uint32_t n_copy_to;
    const struct field *const *multi_fields;
    uint32_t n_multi_fields;
    const struct field *const *children; /* objects; in the order of their names */
    uint32_t n_children;
    const struct field
        *parent; /* enclosing object; the root object for top-level fields, NULL for the root */
    const struct field *nested;              /* innermost enclosing nested object (itself for one), or NULL */
    const struct field *alias_of;            /* aliases */
    enum dynamic_mode dynamic;               /* objects */
    bool include_in_parent, include_in_root; /* nested: its values are indexed with those documents too */
    bool enable_position_increments;         /* token_count */
    const struct json *def;                  /* parameters as the mapping prints them, without children */
};

/* The error where values are asked for document by document, and the field needs `fielddata` for that. */
enum err field_without_values(struct str name, struct errmsg *em);
/* The same of a field whose values nobody can read by document (VALUE_NONE). */
enum err field_refuses_values(const struct field *f, struct errmsg *em);

struct mapping;

struct mapping_limits {
    int64_t total_fields, depth, nested_fields, nested_objects, field_name_length; /* index.mapping.*.limit */
};

/* Parses the body of a mapping ({"properties":...,"dynamic":...}; NULL or empty object: no fields).
 * `settings` are the index's, NULL: the defaults. Keeps a reference on `analysis`. ERR_MAPPER_PARSING,
 * ERR_ILLEGAL_ARGUMENT as Elasticsearch gives them. */
/* `type`: the name of the one type (n == 0: `_doc`), which is copied. */
enum err mapping_new_typed(struct mapping **out, const struct json *body, struct analysis *analysis,
                           const struct settings *settings, struct str type, struct errmsg *em);
static inline enum err mapping_new(struct mapping **out, const struct json *body, struct analysis *analysis,
                                   const struct settings *settings, struct errmsg *em)
{
    return mapping_new_typed(out, body, analysis, settings, STR(""), em);
}
/* The old one with the body's fields added; refuses changes that Elasticsearch refuses
 * (ERR_ILLEGAL_ARGUMENT). */
enum err mapping_merge(struct mapping **out, const struct mapping *old, const struct json *body,
                       struct errmsg *em);
/* The mapping that the master has published, after `old` (NULL: the first here). The limits of fields were
 * checked there, and do not count again: they may have been lowered since. Without a body (and then without an old one) the index
 * has no mapping: not even metadata fields are found in it, and its first document asks for an empty one. */
enum err mapping_published(struct mapping **out, const struct mapping *old, const struct json *body,
                           struct analysis *analysis, const struct settings *settings, struct str type,
                           struct errmsg *em);
/* The name of the one type, `_doc` for none of its own. */
struct str mapping_type(const struct mapping *m);
struct mapping *mapping_ref(struct mapping *m);
void mapping_unref(struct mapping *m); /* NULL ok */

/* By full path; aliases are followed unless `raw`; metadata fields included, unless the index has no mapping at all. NULL when unmapped. */
const struct field *mapping_field(const struct mapping *m, struct str path);
/* The same, and "f.key" where f is of a type whose values have keys: the field of that key, made in the arena (NULL also where that has no
 * room). */
const struct field *mapping_field_in(const struct mapping *m, struct str path, struct arena *arena);
/* The hidden field of all keys that such a path names one of, and that key; NULL: it names none. */
const struct field *mapping_keyed(const struct mapping *m, struct str path, struct str *key);
const struct field *mapping_field_raw(const struct mapping *m, struct str path);
const struct field *mapping_root(const struct mapping *m);
/* Every field, multi-fields and metadata fields included, by number. */
uint32_t mapping_field_count(const struct mapping *m);
const struct field *mapping_field_at(const struct mapping *m, uint32_t number);
/* Leaf fields whose path matches a simple pattern ("name*", "*"), in the order of their paths; metadata
 * fields only by exact name. Aliases are given as themselves: alias_of is what they stand for. false: no
 * memory. */
bool mapping_match(const struct mapping *m, struct str pattern, struct arena *arena,
                   const struct field ***out, size_t *n);
/* Whether the index has no mapping at all (mapping_published() without a body). */
bool mapping_is_absent(const struct mapping *m);
bool mapping_has_nested(const struct mapping *m);
/* The field of type join; NULL: there is none. */
const struct field *mapping_join(const struct mapping *m);
struct analysis *mapping_analysis(const struct mapping *m);
bool mapping_routing_required(const struct mapping *m);
bool mapping_source_enabled(const struct mapping *m);
/* _source.includes and excludes of the mapping; counts may be 0. */
void mapping_source_filter(const struct mapping *m, const struct str **includes, uint32_t *n_includes,
                           const struct str **excludes, uint32_t *n_excludes);
/* The mapping as the API prints it: {"properties":{...}} (an empty object for none). */
void mapping_write(const struct mapping *m, struct jsonw *w);

/* Sortable numbers: every numeric field type, dates and booleans are columns of int64 whose order is the
 * values' order. Whole numbers, dates (ms or ns) and booleans (0, 1) are themselves; double and float (and
 * half_float, as the float it rounds to) are their bits made sortable; scaled_float is the scaled whole
 * number. */
int64_t num_from_double(double v);
double num_to_double(int64_t sortable);
int64_t num_from_float(float v);
float num_to_float(int64_t sortable);
/* The value of a column of field f as a double (dates in ms as they are; scaled_float divided). */
double field_num_to_double(const struct field *f, int64_t sortable);
/* The sortable number of a value of a scaled_float, rounded to its scale. */
int64_t field_scaled(const struct field *f, double v);
/* Writes a column value as the field prints it in _source-less forms: 1, 1.5, true, (dates: per format). */
void field_write_num(const struct field *f, int64_t sortable, struct jsonw *w);

#endif
