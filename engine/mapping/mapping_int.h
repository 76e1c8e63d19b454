/* mapping_int.h - the structs of a mapping, and its builder. Inside mapping only.
 *
 * A body is parsed into a tree of nodes; a node is a field and what only building needs. Merging puts two
 * trees together: that of the old mapping, parsed anew from what it prints (as Elasticsearch does when it
 * publishes one), and that of the request. Finishing gives paths and numbers, links, checks the limits, and
 * prints; from then on nothing changes. */
#ifndef ENGINE_MAPPING_MAPPING_INT_H
#define ENGINE_MAPPING_MAPPING_INT_H

#include "common/base/settings.h"
#include "engine/mapping/field_class.h"

#include <stdatomic.h>

#define PARAMS_MAX 20 /* of one field type */

enum param_kind {
    PARAM_BOOL,          /* bool at offset */
    PARAM_EXPLICIT_BOOL, /* the same, printed whenever it was given */
    PARAM_INT,           /* int32_t at offset */
    PARAM_BOOST,
    PARAM_INDEX_OPTIONS, /* of text: dflt is the highest level allowed */
    PARAM_TERM_VECTOR,
    PARAM_SIMILARITY,
    PARAM_ANALYZER,
    PARAM_SEARCH_ANALYZER,
    PARAM_QUOTE_ANALYZER,
    PARAM_NORMALIZER,
    PARAM_FREQ_FILTER,
    PARAM_PREFIXES,
    PARAM_FORMAT,
    PARAM_LOCALE,
    PARAM_META,
    PARAM_CONTEXTS,
    PARAM_RELATIONS,
    PARAM_SCALING,
    PARAM_CONST,
    PARAM_NULL_TEXT,
    PARAM_NULL_NUMBER,
    PARAM_NULL_BOOL,
    PARAM_NULL_POINT
};

enum param_flag {
    PARAM_UPDATEABLE = 1,
    PARAM_NULL_OK = 2,
    PARAM_ALWAYS = 4,   /* printed even when it has its default */
    PARAM_TO_FALSE = 8, /* may change from true to false */
    PARAM_ONCE = 16     /* may be given when it was not */
};

struct param {
    const char *name;
    enum param_kind kind;
    uint8_t flags;
    uint16_t offset; /* in struct field, for kinds that have one place */
    int32_t dflt;
    const char *old_name; /* under which it may be given too; NULL: none */
};

struct node {
    struct field f;                     /* first: what is handed out as a field is its node */
    const struct json *set[PARAMS_MAX]; /* by place in the table; NULL: has its default */
    struct node **kids;                 /* properties of an object, multi-fields of others */
    size_t n_kids, kids_cap;
    size_t at; /* its place among its parent's */
    struct map kids_by_name;
    struct str alias_path;
    struct json def;
    bool enabled_given; /* objects: not by default */
    struct node
        *twin; /* the next property of the same name ("a.b" beside "a"), until node_build() joins them */
};

struct dynamic_template {
    struct str name;
    struct str match, path_match, unmatch, path_unmatch; /* p == NULL: not given */
    struct str type;                                     /* match_mapping_type; p == NULL: any */
    bool regex;
    const struct json *mapping;
};

/* What stands at the root beside the object's own attributes. */
struct root_def {
    bool has_date_formats, has_templates;
    const struct date_format **date_formats;
    uint32_t n_date_formats;
    int8_t date_detection, numeric_detection; /* -1: not given */
    struct dynamic_template *templates;
    uint32_t n_templates;
    const struct json *meta;
    bool source_given, routing_given, field_names_given;
    bool source_enabled, routing_required;
    int8_t field_names; /* -1: not given */
    const struct str *includes, *excludes;
    uint32_t n_includes, n_excludes;
};

struct mapping {
    atomic_uint refs;
    const struct allocator *alloc;
    struct arena arena;
    struct analysis *analysis; /* referenced */
    struct settings settings;
    struct str type; /* the name of the one type; n == 0: `_doc` */
    struct mapping_limits limits;
    bool absent;                   /* the index has no mapping at all: nobody finds a field by its name */
    bool published;                /* its fields are within limits that held when the master took it */
    bool ignore_malformed, coerce; /* defaults of the index */
    struct node *root;
    struct root_def def;
    struct json source;    /* as printed */
    struct field **fields; /* by number */
    uint32_t n_fields;
    struct map by_path;          /* full path -> struct field *, aliases unresolved */
    const struct field **sorted; /* leaf fields, no metadata, by path */
    uint32_t n_sorted;
    /* (object, name) -> field: what parsing documents looks up. Open addressing, a power of two of slots. */
    const struct field **children;
    uint32_t children_mask;
    bool has_nested;
    const struct field *join; /* NULL: none */
    const struct date_format *const
        *date_formats; /* what strings are tried against; the default ones when none are given */
    uint32_t n_date_formats;
};

/* What parsing a definition needs to know. */
struct builder {
    struct arena *arena;
    struct analysis *analysis;
    const struct settings *settings;
    struct str type; /* as errors name it */
    bool ignore_malformed, coerce;
    struct str date_format; /* of detected dates: the default of `format`; p == NULL: none */
    bool from_template;     /* unknown parameters are passed over */
    struct errmsg *em;
};

/* mapping_new_typed() with an allocator. */
enum err mapping_new_with(struct mapping **out, const struct json *body, struct analysis *analysis,
                          const struct settings *settings, struct str type, const struct allocator *alloc,
                          struct errmsg *em);

/* ---- nodes (mapping_parse.c) ---- */

struct node *node_new(struct builder *b, struct str name, const struct field_class *class) NODISCARD;
struct node *node_kid(const struct node *n, struct str name);
bool node_put_kid(struct builder *b, struct node *n, struct node *kid) NODISCARD; /* adds or replaces */
/* A field of a type with parameters from its definition ("type" included). */
enum err node_parse_field(struct builder *b, struct str name, const struct field_class *class,
                          const struct json *def, struct node **out);
/* A property of any type; `shown` names it in errors. */
enum err node_parse_typed(struct builder *b, struct str name, struct str type, const struct json *def,
                          struct str shown, struct node **out);
/* {"properties":{..}} and the attributes of objects. */
enum err node_parse_properties(struct builder *b, struct node *object, const struct json *properties);
enum err node_parse_object_attribute(struct builder *b, struct node *n, struct str key, const struct json *v,
                                     bool *known);
/* Checks and resolves what needs the whole definition: analyzers, formats, properties of one name. Recursive. */
enum err node_build(struct builder *b, struct node *n);
/* Paths and links of n and what is below it, given its parent's. */
enum err node_link(struct builder *b, struct node *n, const struct field *parent);
/* "true" and "false", as text too. */
enum err parse_node_bool(struct builder *b, const struct json *v, bool *out);
/* The same, failing as "Could not convert [name] to boolean". */
enum err parse_named_bool(struct builder *b, const char *name, const struct json *v, bool *out);
struct json *json_new(struct builder *b, struct json v) NODISCARD;

/* ---- parameters (field_params.c) ---- */

void params_init(struct builder *b, struct node *n);
enum err param_parse(struct builder *b, struct node *n, size_t i, const struct json *v);
enum err params_build(struct builder *b, struct node *n);
/* Index of a parameter of a type that has parameters, or SIZE_MAX. */
size_t param_find(const struct field_class *class, struct str name);
/* (hidden_fields.c) Gives a text field, whose path is known, the fields behind it that index_prefixes and index_phrases ask for. */
enum err text_hidden_fields(struct builder *b, struct node *n);
/* (similarity.c) *known is false, with BM25's defaults, for an undeclared name. */
enum err similarity_of(struct builder *b, struct str name, struct similarity *out, bool *known);
/* Those that the index declares. */
enum err similarities_check(struct builder *b);
/* (locale.c) *out is how Java shows the locale: language and country as it spells them, "" for that of no language.
 * ERR_ILLEGAL_ARGUMENT: more than three parts, or a code that is none. */
enum err locale_parse(struct builder *b, struct str s, struct str *out);
/* Whether names of months, days and halves of the day are English there. */
bool locale_is_english(struct str locale);
/* (field_join.c) Relations as a message shows them; whether they may change so, with the reasons why not; the one field of the type
 * that an index may have: ERR_ILLEGAL_ARGUMENT when there are more, aliases counted. */
struct str relations_text(const struct node *n, struct arena *arena);
bool relations_may_become(struct builder *b, const struct node *into, const struct node *from,
                          struct buf *why);
enum err mapping_find_join(struct builder *b, struct mapping *m);
/* (completion_contexts.c) */
enum err contexts_parse(struct builder *b, struct node *n, size_t i, const struct json *v);
enum err contexts_validate(const struct mapping *m, const struct field *f, struct errmsg *em);

/* ---- the root (mapping_root.c) ---- */

void root_def_init(struct root_def *d);
enum err root_parse(struct builder *b, struct node *root, struct root_def *d, const struct json *body);
/* old with what d gives. */
enum err root_merge(struct builder *b, struct root_def *old, const struct root_def *d, bool is_first);

/* ---- merging (mapping_merge.c) ---- */

/* What b->arena's new tree becomes: *into with the kids of `from`. */
enum err node_merge_object(struct builder *b, struct node *into, struct node *from);
/* *out: `from` with the multi-fields of `into`. */
enum err node_merge(struct builder *b, struct node *into, struct node *from, struct node **out);

/* ---- what holds between fields (mapping_check.c) ---- */

enum err mapping_validate(struct builder *b, struct mapping *m); /* aliases are resolved here */
enum err mapping_check_limits(struct builder *b, struct mapping *m);

/* ---- printing (mapping_print.c) ---- */

/* A node's definition as printed, children included. */
enum err node_print(struct builder *b, struct node *n, struct json *out);
enum err mapping_print(struct builder *b, struct mapping *m);

/* ---- what documents need ---- */

/* The property `name` of an object, or NULL; aliases are not followed. */
const struct field *mapping_child(const struct mapping *m, const struct field *object, struct str name);
struct builder mapping_builder(const struct mapping *m, struct arena *arena, struct errmsg *em);
/* The template for a new field, or NULL; ERR_ILLEGAL_ARGUMENT when a regular expression of one takes too long. type: "string", "long", "double", "boolean", "date", "object",
 * "binary". */
enum err mapping_template(const struct dynamic_template **out, const struct mapping *m, struct str path,
                          struct str name, const char *type, struct errmsg *em);
/* Its mapping with {name} and {dynamic_type} replaced and "type" set; NULL: no memory. */
const struct json *template_mapping(const struct dynamic_template *t, struct str name, const char *type,
                                    struct arena *arena);

static inline enum err no_memory(struct builder *b)
{
    return err_no_memory(b->em);
}

#endif
