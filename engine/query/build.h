/* build.h - from requests (dsl.h) to query nodes (query.h), with the mapping. Internal to engine/query.
 *
 * What a field's type makes of a term, a range or a pattern is in field_query.c; what analysed text becomes
 * is in build_text.c; each query's own part stands beside its parser. */
#ifndef ENGINE_QUERY_BUILD_H
#define ENGINE_QUERY_BUILD_H

#include "engine/query/dsl.h"

struct builder {
    const struct query_context *cx;
    struct arena *arena;
    uint32_t depth;
    const struct field *nested; /* of the nested query that is being built; NULL: none */
    const struct query_ops
        *expensive;         /* what search.allow_expensive_queries stands against; NULL: none so far */
    struct errmsg *refusal; /* why something cannot be rewritten; NULL: nobody asks */
    struct str *
        unmapped; /* of a query that a document holds: the first field that is not mapped; NULL: any may be */
    bool raw_error; /* the error comes from the rewrite phase: it is not wrapped as query_shard_exception */
};

/* Builds and applies boost and name. */
enum err build_dsl(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em);

static inline bool dsl_is_none(struct builder *b, const struct dsl *d)
{
    return d->type->none != NULL && d->type->none(b, d);
}

/* Rewriting looks into a leaf whose field has one value for the whole index, or is unmapped: is it none? */
bool leaf_is_none(struct builder *b, const struct dsl *d, struct str field);

/* Refuses a regular expression that is longer, in UTF-16 units, than index.max_regex_length; `query` is what the error
 * calls the query. */
enum err build_regex_length(const struct builder *b, struct str regex, const char *query, struct errmsg *em);

/* ---- nodes ---- */
struct query *qnode_new(struct builder *b, const struct query_ops *ops);
/* MatchNoDocsQuery with its reason; *out NULL only with ERR_NO_MEMORY. */
enum err qnode_none(struct builder *b, struct query **out, struct errmsg *em, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
/* The node of a lenient query that failed: em has the reason. */
enum err qnode_failed(struct builder *b, struct str field, struct query **out, struct errmsg *em);
enum err qnode_all(struct builder *b, struct query **out, struct errmsg *em);
enum err qnode_term(struct builder *b, const struct field *f, struct str term, struct query **out,
                    struct errmsg *em);
/* Wraps as BoostQuery (a node without a boost of its own takes it). */
enum err qnode_boost(struct builder *b, struct query **q, float boost, struct errmsg *em);
enum err qnode_constant(struct builder *b, struct query *child, struct query **out, struct errmsg *em);

/* A bool node under construction. */
struct bool_build {
    struct bool_clause *v;
    size_t n, cap;
    int32_t min_should;
};
enum err bool_add(struct builder *b, struct bool_build *bb, enum bool_occur occur, const struct query *q,
                  struct errmsg *em);
enum err bool_done(struct builder *b, const struct bool_build *bb, struct query **out, struct errmsg *em);
/* Queries.calculateMinShouldMatch; ERR_NUMBER_FORMAT. The arena holds what it writes meanwhile. */
enum err min_should_match(struct arena *arena, int32_t optional, struct str spec, int32_t *out,
                          struct errmsg *em);
/* Sets it on a bool node; other nodes stay. spec.p == NULL: nothing. */
enum err apply_min_should(struct builder *b, struct query **q, struct str spec, struct errmsg *em);

enum err err_query_shard(struct builder *b, struct errmsg *em, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* ---- fields (field_query.c): MappedFieldType's queries ---- */

/* The field that a query reads; NULL when it is unmapped or an object. Aliases are followed. */
const struct field *build_field(const struct builder *b, struct str name);
/* The same where a query does without it: a query that a document holds is not refused for it. */
const struct field *build_field_if(const struct builder *b, struct str name);
/* Refuses a field whose values cannot be read by document: there is no column. */
enum err build_column_check(const struct field *f, struct errmsg *em);
/* term of a value (a scalar; null is the caller's). */
enum err field_term(struct builder *b, const struct field *f, const struct json *v, struct query **out,
                    struct errmsg *em);
enum err field_term_text(struct builder *b, const struct field *f, struct str text, struct query **out,
                         struct errmsg *em);
enum err field_term_nocase(struct builder *b, const struct field *f, const struct json *v, struct query **out,
                           struct errmsg *em);
/* The bytes that a field of terms indexes for a text. */
enum err field_term_bytes(struct builder *b, const struct field *f, struct str text, struct str *out,
                          struct errmsg *em);
/* On a field with one value for the whole index: all documents, or none. */
enum err field_constant(struct builder *b, const struct field *f, bool match, struct query **out,
                        struct errmsg *em);
enum err field_terms(struct builder *b, const struct field *f, const struct json *const *v, uint32_t n,
                     struct query **out, struct errmsg *em);

enum range_relation { RELATION_INTERSECTS, RELATION_CONTAINS, RELATION_WITHIN, RELATION_DISJOINT };
struct range_bounds {
    const struct json *from, *to; /* NULL: open */
    bool from_inclusive, to_inclusive;
    enum range_relation relation;
    const struct zone *zone;          /* NULL: none */
    const struct date_format *format; /* NULL: the field's */
};
/* The bounds of a range over dates, inclusive, in the field's unit. */
enum err field_date_bounds(struct builder *b, const struct field *f, const struct range_bounds *r,
                           int64_t *lo, int64_t *hi, struct errmsg *em);
enum err field_range(struct builder *b, const struct field *f, const struct range_bounds *r,
                     struct query **out, struct errmsg *em);
/* ConstantScore of what exists, for a field or a pattern. */
enum err build_exists(struct builder *b, struct str pattern, struct query **out, struct errmsg *em);
/* Fields that a pattern names, in the order of Java's HashSet. */
void fields_order(const struct field **fields, size_t n);
/* Dates as the field stores them (ms or ns). */
enum err field_date(struct builder *b, const struct field *f, struct str text, bool round_up,
                    const struct zone *zone, const struct date_format *format, int64_t *out,
                    struct errmsg *em);

/* Patterns; `ops` is q_prefix, q_wildcard or q_regexp. */
struct pattern_opts {
    struct str rewrite; /* p == NULL: none */
    bool case_insensitive;
    uint32_t flags, max_states;
};
/* A node of such a query; NULL: no memory. */
struct query *pattern_node(struct builder *b, const struct field *f, const struct query_ops *ops,
                           struct str pattern);
enum err field_pattern(struct builder *b, const struct field *f, const struct query_ops *ops,
                       struct str value, const struct pattern_opts *o, struct query **out, struct errmsg *em);
/* (build_hidden.c) Are words that begin so found by the beginnings that `index_prefixes` indexes? */
bool hidden_prefix_takes(const struct field *f, struct str value);
/* A prefix by them (o->flags and o->max_states are ignored). */
enum err hidden_prefix(struct builder *b, const struct field *f, struct str value,
                       const struct pattern_opts *o, struct query **out, struct errmsg *em);
struct fuzzy_opts {
    struct fuzziness fuzziness;
    int32_t prefix_length, max_expansions;
    bool transpositions;
    struct str rewrite;
};
enum err field_fuzzy(struct builder *b, const struct field *f, struct str term, const struct fuzzy_opts *o,
                     struct query **out, struct errmsg *em);
/* QueryParsers.parseRewriteMethod into the node. ERR_ILLEGAL_ARGUMENT. */
enum err set_rewrite(struct query *q, struct str rewrite, struct errmsg *em);
/* The same where nothing may come of it: p == NULL is fine. */
enum err check_rewrite(struct str rewrite, struct errmsg *em);
/* Mapped fields of a list of names and patterns with their boosts, as QueryParserHelper resolves them. `alone`: it is one pattern,
 * which an error about too many fields names. */
enum err resolve_fields(struct builder *b, const struct field_boosts *in, struct str suffix, bool alone,
                        struct field_boosts *out, struct errmsg *em);
/* index.query.default_field as patterns. */
enum err default_fields(struct builder *b, struct field_boosts *out, bool *all, struct errmsg *em);

/* ---- analysed text (build_text.c): MatchQueryParser ---- */

struct blended_term {
    const struct field *field;
    struct str term;
    float boost;
};
/* Parameters of a q_blended. */
struct blended {
    const struct blended_term *v;
    uint32_t n;
    float tie_breaker;
    struct common_terms *common; /* NULL: no cutoff */
};

enum match_kind { MATCH_BOOLEAN, MATCH_BOOL_PREFIX, MATCH_PHRASE, MATCH_PHRASE_PREFIX };
struct text_opts {
    enum match_kind kind;
    bool and;
    bool lenient;
    bool zero_terms_all;
    bool zero_terms_null; /* query_string: no tokens give no clause: *out is NULL */
    bool synonyms_phrase;
    bool no_position_increments;
    const struct analyzer *analyzer; /* NULL: the field's */
    float cutoff;                    /* cutoff_frequency, of MATCH_BOOLEAN; INFINITY: none */
    int32_t slop;
    bool fuzzy;
    struct fuzzy_opts fuzzy_opts;
    int32_t max_expansions;
};
void text_opts_init(struct text_opts *o);
enum err build_text(struct builder *b, struct str field, struct str text, const struct text_opts *o,
                    struct query **out, struct errmsg *em);
/* MultiMatchQuery.parse over resolved fields. */
struct multi_opts {
    struct text_opts text;
    enum multi_type type;
    struct str min_should;
    float tie_breaker;
    bool has_tie_breaker;
};
enum err build_multi(struct builder *b, const struct field_boosts *fields, struct str text,
                     const struct multi_opts *o, struct query **out, struct errmsg *em);
/* DisjunctionMaxQuery; one query stays itself. */
enum err build_dis_max(struct builder *b, struct query **v, uint32_t n, float tie_breaker, struct query **out,
                       struct errmsg *em);
/* An analyzer by name: ERR_QUERY_SHARD "[match] analyzer [x] not found". */
enum err build_analyzer(struct builder *b, const char *query, struct str name, const struct analyzer **out,
                        struct errmsg *em);

/* Is it a name of the index, or a pattern of one: its own, or an alias? */
bool index_named(const struct query_context *cx, struct str pattern);

#endif
