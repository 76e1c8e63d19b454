/* field_class.h - a type of fields is a row.
 *
 * A row says what its type is to this folder and to those above: how its definition is read, what the value of a document
 * becomes, what its values are to whoever searches, sorts, counts or prints them. Each row stands in a file of its family
 * (field_text.c, field_number.c ...), and FIELD_CLASSES is the only list. Folders above have tables by the kinds that a row names,
 * never by types. A row is looked at once a request, a segment or a field of a document, never once a document that is searched.
 *
 * What is NULL or false in a row is left out there. */
#ifndef ENGINE_MAPPING_FIELD_CLASS_H
#define ENGINE_MAPPING_FIELD_CLASS_H

#include "common/base/coerce.h"
#include "engine/mapping/mapping.h"

/* Metadata fields stand in the order of their numbers. */
#define FIELD_CLASSES(X) \
    X(object)            \
    X(nested)            \
    X(alias)             \
    X(text)              \
    X(keyword)           \
    X(constant_keyword)  \
    X(wildcard)          \
    X(long)              \
    X(integer)           \
    X(short)             \
    X(byte)              \
    X(double)            \
    X(float)             \
    X(half_float)        \
    X(scaled_float)      \
    X(boolean)           \
    X(date)              \
    X(date_nanos)        \
    X(ip)                \
    X(geo_point)         \
    X(binary)            \
    X(completion)        \
    X(flattened)         \
    X(join)              \
    X(percolator)        \
    X(token_count)       \
    X(integer_range)     \
    X(long_range)        \
    X(float_range)       \
    X(double_range)      \
    X(date_range)        \
    X(ip_range)          \
    X(rank_feature)      \
    X(rank_features)     \
    X(dense_vector)      \
    X(meta_id)           \
    X(meta_routing)      \
    X(meta_index)        \
    X(meta_source)       \
    X(meta_field_names)  \
    X(meta_ignored)      \
    X(meta_seq_no)       \
    X(meta_version)      \
    X(meta_type)         \
    X(meta_nested_path)  \
    X(meta_doc_count)    \
    X(meta_feature)

/* The kind of values for aggregations, sorting, scripts and answers. */
enum value_kind {
    VALUE_NONE, /* they cannot be read by document */
    VALUE_NUMBER,
    VALUE_DATE,
    VALUE_BOOLEAN,
    VALUE_TEXT,
    VALUE_ADDRESS,
    VALUE_POINT,
    VALUE_RANGE
};

/* The form of a number in its column, which holds sortable int64. */
enum num_form {
    FORM_WHOLE, /* itself; dates and booleans too */
    FORM_DOUBLE,
    FORM_FLOAT,
    FORM_SCALED /* the whole number that scaling_factor makes of it */
};

/* Which queries for a value there are. */
enum field_queries {
    QUERIES_NONE,
    QUERIES_TERMS,
    QUERIES_IDS,
    QUERIES_CONSTANT, /* one value for the whole index */
    QUERIES_NUMBERS,
    QUERIES_DATES,
    QUERIES_ADDRESSES,
    QUERIES_RANGES,
    FIELD_QUERIES_COUNT
};

/* The use of a searched text in queries (match, query_string, multi_match). */
enum field_text {
    FIELD_TEXT_EXACT,   /* a value as any other */
    FIELD_TEXT_FULL,    /* it is analysed, phrases too */
    FIELD_TEXT_KEYWORD, /* it is normalised */
    FIELD_TEXT_NONE     /* patterns of names pass the field over */
};

/* How it is known that a document has a value. */
enum field_exists {
    EXISTS_FORMS, /* by its column, its norms or its name among _field_names */
    EXISTS_TERMS, /* by any term */
    EXISTS_ALL,   /* each document has one */
    EXISTS_CONSTANT,
    EXISTS_NONE,    /* unknown */
    EXISTS_NEVER,   /* nothing of it is searchable */
    EXISTS_FEATURE, /* by the term that has its name, in the field of all features (feature.h) */
    EXISTS_REFUSED  /* in words of its own */
};

struct arena;
struct builder;
struct doc_parser;
struct node;
struct param;
struct value_format;

struct field_class {
    const char *name;  /* "text", "long" ...; metadata fields: their own */
    const char *shown; /* what messages call it; NULL: its name */
    bool is_object;    /* it has properties, and no values */
    bool is_nested;    /* an object whose values are documents of their own */
    bool is_alias;
    bool is_metadata; /* every mapping has it; it is not among `properties` */
    bool is_internal; /* metadata that requests do not know */

    /* ---- its definition; inside mapping only ---- */
    const struct param *
        params; /* up to a NULL name, in the order in which they are printed; NULL: objects, aliases, metadata */
    enum index_options usual_options;
    const char *usual_analyzer;                      /* NULL: "default" */
    void (*init)(struct builder *b, struct node *n); /* before parameters are read; NULL: nothing to do */
    enum err (*build)(struct builder *b,
                      struct node *n); /* checks and resolves the whole; NULL: nothing to do */
    enum err (*link)(struct builder *b, struct node *n); /* its path is known now; NULL: nothing to do */
    bool hides_fields;                      /* the fields below it are its own: no definition shows them */
    bool is_indexed, has_column, is_stored; /* metadata fields; of others, parameters say so */

    /* ---- the value of a document; inside mapping only ---- */
    /* NULL: objects, aliases, and metadata fields that documents cannot have. */
    enum err (*value)(struct doc_parser *p, const struct field *f, const struct json *v);
    bool alone;         /* it is no multi-field, and takes no parameters */
    bool takes_array;   /* as one value */
    bool takes_whole;   /* `value` reads multi-fields and broken texts too, and words errors its own way */
    bool skips_objects; /* an object where nothing is kept ends the document */

    /* ---- its values ---- */
    enum value_kind kind;
    enum num_type num;  /* VALUE_NUMBER */
    enum num_form form; /* of numbers in columns */
    bool is_numeric;    /* one of Elasticsearch's number types, a count of tokens included: _seq_no is not */
    bool is_nanos;      /* VALUE_DATE: nanoseconds; else milliseconds */
    const struct field_class *ends; /* VALUE_RANGE: what its ends are; NULL for all others */
    bool needs_fielddata; /* values are read by document where `fielddata` says so, out of postings */
    bool is_binary;       /* its texts are bytes, shown in base64 */
    bool is_vector;       /* VALUE_NONE: numbers that scripts alone read (vector.h) */
    bool is_string;       /* text or keyword: what is typed for people to read */
    bool is_analysed;     /* text: its terms are words that have places */
    bool is_derived;      /* made from the values of the source, which are others: read from the column */
    bool collapses;       /* hits may be grouped by it */
    /* The format of `fields`, where one is asked for; NULL: none is taken. */
    enum err (*show_format)(struct value_format *out, struct str format, struct arena *arena,
                            struct errmsg *em);
    /* Refuses to show its values in `fields`; NULL: it does not. */
    enum err (*refuse_fetch)(const struct field *f, struct errmsg *em);
    /* Writes a value of the source as `fields` shows it, or nothing where the field would not index it; NULL: as it is. */
    void (*show)(const struct value_format *f, const struct json *v, struct arena *arena, struct jsonw *w);
    /* VALUE_NONE: refuses to give values by document, in words of its own; NULL: the usual ones. */
    enum err (*refuse_values)(const struct field *f, struct errmsg *em);
    /* The value that all documents of an index have; p == NULL: none yet. NULL: values differ. */
    struct str (*constant)(const struct field *f, struct str index_name);

    /* ---- queries ---- */
    enum field_queries queries;
    enum field_text text;
    enum field_exists exists;
    enum field_analysis analysis; /* what _analyze does with a text for the field */
    bool takes_patterns;          /* prefix, wildcard, regexp, fuzzy */
    bool constant_scores; /* QUERIES_TERMS: whatever matches scores the boost; patterns are never expensive */
    bool refuses_ranges;  /* QUERIES_TERMS: range queries are refused */
    /* Refuses a pattern ("prefix", "wildcard" ...) in words of its own; NULL: all are taken. */
    enum err (*refuse_pattern)(const struct field *f, const char *kind, struct errmsg *em);
    /* Refuses ranges of terms that lack a bound; NULL: these are taken. */
    enum err (*refuse_open_range)(const struct field *f, struct errmsg *em);
    /* The term that is indexed for a text; NULL: the text. */
    enum err (*term)(const struct field *f, struct str text, struct arena *arena, struct str *out,
                     struct errmsg *em);
    /* Refuses a search for values in words of its own, which hold for a field without an index too; NULL: the usual ones. */
    enum err (*refuse_search)(const struct field *f, struct errmsg *em);
    enum err (*refuse_exists)(const struct field *f, struct errmsg *em); /* EXISTS_REFUSED */
};

#define FIELD_CLASS_ROW(name) extern const struct field_class field_class_##name;
FIELD_CLASSES(FIELD_CLASS_ROW)
#undef FIELD_CLASS_ROW
/* What a join field has beside it for each relation with children; no definition names it. */
extern const struct field_class field_class_join_parent;

#define FIELD_CLASS_ONE(name) +1
enum { FIELD_CLASS_COUNT = 0 FIELD_CLASSES(FIELD_CLASS_ONE) };
#undef FIELD_CLASS_ONE

/* The i-th of the list. */
const struct field_class *field_class_at(size_t i);
/* By its name, any of the list; NULL: none. */
const struct field_class *field_class_named(struct str name);

/* What messages call the field's type. */
static inline const char *field_shown_type(const struct field *f)
{
    return f->class->shown != NULL ? f->class->shown : f->class->name;
}

static inline bool field_is_whole(const struct field *f)
{
    return f->class->kind == VALUE_NUMBER && num_type_is_whole(f->class->num);
}

/* Its numbers have decimal parts, whatever its column holds. */
static inline bool field_is_fraction(const struct field *f)
{
    return f->class->kind == VALUE_NUMBER && !num_type_is_whole(f->class->num);
}

/* Numbers by document: dates and booleans too. */
static inline bool field_class_has_numbers(const struct field_class *c)
{
    return c->kind == VALUE_NUMBER || c->kind == VALUE_DATE || c->kind == VALUE_BOOLEAN;
}

/* Numbers, dates or booleans that documents give. */
static inline bool field_takes_numbers(const struct field *f)
{
    return field_class_has_numbers(f->class) && !f->class->is_derived && !f->class->is_metadata;
}

/* Texts by document that sort, without fielddata. */
static inline bool field_class_has_texts(const struct field_class *c)
{
    return (c->kind == VALUE_TEXT || c->kind == VALUE_ADDRESS) && !c->needs_fielddata && !c->is_binary;
}

/* Its values can be read by document. */
static inline bool field_has_column(const struct field *f)
{
    return f->class->needs_fielddata ? f->fielddata : f->doc_values || f->class->is_metadata;
}

static inline bool field_is_id(const struct field *f)
{
    return f->class->queries == QUERIES_IDS;
}

static inline bool field_is_date(const struct field *f)
{
    return f->class->kind == VALUE_DATE;
}

static inline bool field_is_point(const struct field *f)
{
    return f->class->kind == VALUE_POINT;
}

#endif
