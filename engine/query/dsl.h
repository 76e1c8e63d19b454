/* dsl.h - the query language as it is written: JSON checked and turned into typed requests, without a
 * mapping.
 *
 * Parsing moves over the body token by token as Elasticsearch's readers do (json_pull.h), because what is
 * refused, and at which place, depends on it. Building (build.h) then asks mapping and analyzers and makes
 * query nodes. Each query has a struct of its own that begins with `struct dsl`. Everything lives in the
 * parser's arena. Internal to engine/query. */
#ifndef ENGINE_QUERY_DSL_H
#define ENGINE_QUERY_DSL_H

#include "common/base/json_pull.h"
#include "engine/query/query.h"

struct dsl;
struct builder;

struct dsl_type {
    const char *name;
    /* The cursor stands on the START_OBJECT of the query's body and is left on its END_OBJECT. */
    enum err (*parse)(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em);
    enum err (*build)(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em);
    /* Elasticsearch's rewrite phase makes match_none of it before anything is built: then nothing around it
     * that needs it is built either. NULL: never. */
    bool (*none)(struct builder *b, const struct dsl *d);
    /* Is it plain to see that building it takes no longer than its text is long? `body` is an object, in `depth` others.
     * NULL: it may take longer. */
    bool (*plain)(const struct json *body, unsigned depth);
    bool is_span; /* queries of spans take it as a clause */
    /* The field of one that span_multi takes. NULL: it takes none of these. */
    struct str (*pattern_field)(const struct dsl *d);
};

/* By its name, NULL when there is none. */
const struct dsl_type *dsl_type_find(struct str name);
/* (dsl_plain.c) It always is; no words are expanded; all queries below the keys, which hold one or a list of them, are. */
bool dsl_plain(const struct json *body, unsigned depth);
bool dsl_plain_words(const struct json *body, unsigned depth);
bool dsl_plain_clauses(const struct json *body, const char *const *keys, size_t n_keys, unsigned depth);

struct dsl {
    const struct dsl_type *type;
    float boost;
    struct str name;
};

/* (dsl_pattern.c) Is it a prefix query? Then its value and rewrite; rewrite->p == NULL: none. */
bool dsl_is_prefix(const struct dsl *d, struct str *value, struct str *rewrite);

#define DSL_DEPTH_MAX 990 /* nested containers: recursion is bounded by it */

/* The query at the cursor, which stands before it or on its START_OBJECT. */
enum err dsl_parse_query(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em);

/* ---- parameters ---- */

enum param_kind {
    PARAM_TEXT,     /* struct str */
    PARAM_NULLABLE, /* struct str, p == NULL for null */
    PARAM_FLOAT,
    PARAM_BOOST, /* float, not negative */
    PARAM_DOUBLE,
    PARAM_INT, /* int32_t */
    PARAM_BOOL,
    PARAM_OPERATOR,     /* bool: and */
    PARAM_FUZZINESS,    /* struct fuzziness */
    PARAM_ZERO_TERMS,   /* bool: all */
    PARAM_REGEXP_FLAGS, /* as PARAM_NULLABLE, and they are flags */
    PARAM_VALUE,        /* const struct json *: any scalar, dsl_scalar(); NULL for null */
    PARAM_VERBATIM,     /* the same, numbers as they are written */
    PARAM_TOKEN,        /* the same, or the sign of any other token: dsl_token() */
    PARAM_IGNORED
};

struct param {
    const char *name;
    enum param_kind kind;
    size_t at; /* offsetof in the request's struct */
};

#define DSL_COMMON_PARAMS(type)                        \
    {"boost", PARAM_BOOST, offsetof(type, dsl.boost)}, \
    {                                                  \
        "_name", PARAM_TEXT, offsetof(type, dsl.name)  \
    }

/* Reads the current value into *base when the table knows its name; *known tells. */
enum err dsl_param(struct json_pull *p, struct str name, const struct param *params, size_t n, void *base,
                   bool *known, struct errmsg *em);
/* The same; ERR_PARSING, which names the query, for a name that the table does not know. */
enum err dsl_param_of(struct json_pull *p, const char *query, struct str name, const struct param *params,
                      size_t n, void *base, struct errmsg *em);
/* objectText(): a scalar, NULL for null; containers fail as text() does. The text of a number is what Java prints of it: 1.50 is
 * "1.5". */
enum err dsl_scalar(const struct json_pull *p, const struct json **out, struct errmsg *em);
/* objectBytes(): as dsl_scalar, but a bracket stands for its own character. Not for a field's name. */
enum err dsl_token(const struct json_pull *p, const struct json **out, struct errmsg *em);

/* Queries of the form {"field": {parameters}} or {"field": value}. `value` receives the short form. */
struct field_form {
    const char *query;
    const struct param *params;
    size_t n_params;
    size_t value_at;     /* const struct json * in the struct; the short form's value */
    bool strict_values;  /* inner tokens that are no scalars are "unknown token" */
    bool short_is_text;  /* the short form is read as text: numbers as they are written */
    bool refuses_arrays; /* START_ARRAY: "does not support array of values" */
    bool unexpected;     /* says "unexpected token", not "unknown token"; in an array, nothing has a name */
};
enum err dsl_parse_field_form(struct json_pull *p, const struct field_form *form, void *base,
                              struct str *field, struct errmsg *em);

/* ---- ObjectParser: queries whose bodies Elasticsearch reads by a declared table ---- */

enum { OBJ_STRING = 1, OBJ_NUMBER = 2, OBJ_BOOLEAN = 4, OBJ_NULL = 8, OBJ_OBJECT = 16, OBJ_ARRAY = 32 };
struct object_field {
    const char *name;
    unsigned tokens;      /* OBJ_*: which are taken */
    enum param_kind kind; /* scalars ... */
    size_t at;
    /* ... or a function of its own; `base` is the struct. */
    enum err (*read)(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em);
};
/* The cursor stands on START_OBJECT; ends on END_OBJECT. */
enum err dsl_parse_object(struct json_pull *p, struct arena *arena, const char *name,
                          const struct object_field *fields, size_t n, void *base, struct errmsg *em);

/* ---- parts that several queries share ---- */

struct fuzziness {
    bool given;
    bool automatic;
    int32_t low, high; /* AUTO:low,high */
    struct str text;   /* otherwise */
};
enum err fuzziness_parse(struct json_pull *p, struct fuzziness *out, struct errmsg *em);
/* The edits allowed for a term. ERR_NUMBER_FORMAT. */
enum err fuzziness_distance(const struct fuzziness *f, struct str term, uint32_t *out, struct errmsg *em);

struct field_boost {
    struct str pattern;
    float boost;
};
struct field_boosts {
    struct field_boost *v;
    size_t n, cap;
};
/* "fields" of the queries over several fields: the cursor stands on its array or single value. */
enum err field_boosts_parse(struct json_pull *p, struct arena *arena, const char *query,
                            struct field_boosts *out, struct errmsg *em);
/* Looked at once all is read, as a later boost replaces an earlier one. ERR_ILLEGAL_ARGUMENT: one is negative. */
enum err field_boosts_check(const struct field_boosts *b, struct errmsg *em);

/* Values of "terms", each a scalar. */
struct dsl_values {
    const struct json **v;
    size_t n, cap;
};
/* The cursor stands on the START_ARRAY. */
enum err dsl_values_parse(struct json_pull *p, struct arena *arena, struct dsl_values *out,
                          struct errmsg *em);

/* Script.parse: a text or an object; the tree is kept. */
enum err script_form_parse(struct json_pull *p, const struct json **out, struct errmsg *em);

enum multi_type { MULTI_BEST, MULTI_MOST, MULTI_CROSS, MULTI_PHRASE, MULTI_PHRASE_PREFIX, MULTI_BOOL_PREFIX };
enum err multi_type_parse(struct str text, enum multi_type *out, struct errmsg *em);

/* A growing list of requests. */
struct dsl_list {
    struct dsl **v;
    size_t n, cap;
};
bool dsl_list_add(struct dsl_list *l, struct arena *arena, struct dsl *d) NODISCARD;

/* Allocates a request of `type`, whose struct of this size begins with a struct dsl, and leaves it in *out, too. NULL: no memory. */
void *dsl_new(struct dsl **out, struct arena *arena, const struct dsl_type *type, size_t size);
enum err dsl_negative_boost(struct errmsg *em);
/* "Required [a, b]" with the names of what is missing, or ERR_OK. */
enum err dsl_required(const char *const *names, const bool *missing, size_t n, struct errmsg *em);
enum err dsl_unsupported(const struct json_pull *p, const char *query, struct str name, struct errmsg *em);
enum err dsl_unknown_token(const struct json_pull *p, const char *query, struct str name, struct errmsg *em);
/* "query doesn't support multiple fields, found [a] and [b]" when field is set already. */
enum err dsl_one_field(const struct json_pull *p, const char *query, struct str field, struct str other,
                       struct errmsg *em);

/* The only list of them, in the order of what a wrong name may have meant. */
#define DSL_TYPES(X)       \
    X(match)               \
    X(match_phrase)        \
    X(match_phrase_prefix) \
    X(match_bool_prefix)   \
    X(match_all)           \
    X(match_none)          \
    X(multi_match)         \
    X(query_string)        \
    X(simple_query_string) \
    X(term)                \
    X(terms)               \
    X(terms_set)           \
    X(range)               \
    X(exists)              \
    X(prefix)              \
    X(wildcard)            \
    X(regexp)              \
    X(fuzzy)               \
    X(ids)                 \
    X(bool)                \
    X(boosting)            \
    X(constant_score)      \
    X(dis_max)             \
    X(function_score)      \
    X(script_score)        \
    X(script)              \
    X(geo_bounding_box)    \
    X(geo_distance)        \
    X(geo_polygon)         \
    X(nested)              \
    X(has_child)           \
    X(has_parent)          \
    X(parent_id)           \
    X(distance_feature)    \
    X(rank_feature)        \
    X(wrapper)             \
    X(more_like_this)      \
    X(type)                \
    X(span_term)           \
    X(span_near)           \
    X(span_or)             \
    X(span_not)            \
    X(span_first)          \
    X(span_containing)     \
    X(span_within)         \
    X(span_multi)          \
    X(field_masking_span)  \
    X(span_gap)            \
    X(common)              \
    X(intervals)           \
    X(percolate)
#define DSL_TYPE_ROW(name) extern const struct dsl_type dsl_##name;
DSL_TYPES(DSL_TYPE_ROW)
#undef DSL_TYPE_ROW

/* Known to Elasticsearch, not offered here: refused by name, so that the client does not look for a typing error. */
#define DSL_NOT_OFFERED "geo_shape", "shape"

#endif
