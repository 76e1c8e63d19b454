/* query_string.h - declarations shared by query_string and simple_query_string: options, and queries of one clause over
 * their fields. Internal to engine/query. */
#ifndef ENGINE_QUERY_QUERY_STRING_H
#define ENGINE_QUERY_QUERY_STRING_H

#include "engine/query/build.h"

struct string_query {
    struct dsl dsl;
    struct str query;
    struct field_boosts fields;
    struct str default_field; /* p == NULL: none */
    struct str analyzer, quote_analyzer, minimum_should_match, quote_field_suffix, rewrite, fuzzy_rewrite,
        time_zone;
    bool and, lenient, lenient_given, analyze_wildcard, synonyms_phrase, transpositions,
        allow_leading_wildcard, escape;
    bool position_increments;
    struct fuzziness fuzziness;
    int32_t prefix_length, max_expansions, phrase_slop, max_states;
    uint32_t flags;
    enum multi_type type;
    float tie_breaker;
    bool has_tie_breaker;
};

/* A parse under way. */
struct string_run {
    struct builder *b;
    const struct string_query *q;
    struct field_boosts fields; /* resolved */
    struct str field;           /* query_string: the default field; p == NULL: `fields` */
    bool any_field;             /* the default field is "*" */
    bool lenient;
    bool simple; /* simple_query_string */
    const struct analyzer *analyzer, *quote_analyzer;
    const struct zone *zone;
    struct errmsg *em;
};

enum err string_run_init(struct string_run *r, struct builder *b, const struct string_query *q,
                         const char *query, struct errmsg *em);
/* Fields that a clause's own field names (STR_NULL: the run's). */
enum err string_fields(struct string_run *r, struct str field, bool quoted, struct field_boosts *out);
/* Analysed text over the fields; *out is NULL when nothing is left of it. */
enum err string_text(struct string_run *r, const struct field_boosts *fields, struct str text,
                     enum multi_type type, bool quoted, int32_t slop, struct query **out);
/* One query a field (each may be a refusal, forgiven when lenient), as a dis_max. `make` gets the field, NULL
 * if unmapped. */
typedef enum err (*string_field_fn)(struct string_run *r, const struct field *f, struct str name,
                                    const void *arg, struct query **out);
enum err string_each(struct string_run *r, const struct field_boosts *fields, float tie_breaker,
                     string_field_fn make, const void *arg, struct query **out);
/* The form of a text by the field's search analyzer's normalisation. */
enum err string_normalise(struct string_run *r, const struct field *f, struct str text, struct str *out);
/* The prefix that an analysed beginning of a word is, by the run's analyzer or the field's; *out is NULL when
 * nothing is left of it. */
enum err string_prefix(struct string_run *r, const struct field *f, struct str text, struct query **out);
float string_tie_breaker(const struct string_run *r);

#endif
