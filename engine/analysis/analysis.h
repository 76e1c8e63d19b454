/* analysis.h - analyzers by name, for one index or for none.
 *
 * A registry holds every analyzer, normalizer, tokenizer, token filter and character filter that an index
 * knows: those that come with the service and those that its settings declare. It is immutable once built and
 * reference-counted, because mappings point into it. Searching a dictionary that was replaced goes on: a
 * registry keeps the one that it was built with. */
#ifndef ENGINE_ANALYSIS_ANALYSIS_H
#define ENGINE_ANALYSIS_ANALYSIS_H

#include "engine/analysis/component.h"

struct analysis; /* the registry */

struct analyzer {
    struct str name;
    const struct char_filter **char_filters;
    size_t n_char_filters;
    const struct tokenizer *tokenizer;
    const struct token_filter **filters;
    size_t n_filters;
    int32_t position_increment_gap; /* between the values of an array; 100 */
    bool is_normalizer;
    const struct analyzer *on_whitespace; /* a normalizer's filters behind the whitespace tokenizer */
    bool keeps_terms;                     /* analyzer_normalize() changes nothing */
    /* What _analyze shows: the names of the parts, for analyzers put together by name. */
    bool is_custom;
    struct str tokenizer_name;
    const struct str *char_filter_names; /* one for each */
    const struct str *filter_names;
    bool search_only; /* holds updateable synonyms: a field must not be indexed with it */
};

/* Builds the registry from an index's settings ("index.analysis.analyzer.x.type" ...),
 * which may be empty. env is copied, with a reference on each dictionary; what else it points to is borrowed. Errors as index creation gives them. */
enum err analysis_new(struct analysis **out, const struct settings *index_settings,
                      const struct analysis_env *env, struct errmsg *em);
/* The environment with a reference on each dictionary that it has. */
struct analysis_env analysis_env_ref(const struct analysis_env *env);
void analysis_env_unref(const struct analysis_env *env);
struct analysis *analysis_ref(struct analysis *a);
void analysis_unref(struct analysis *a); /* NULL ok; thread-safe */

/* Borrowed from the registry, where it may be made first; NULL when it knows no such name. */
const struct analyzer *analysis_analyzer(struct analysis *a, struct str name);
const struct analyzer *analysis_normalizer(const struct analysis *a, struct str name);
/* ERR_ILLEGAL_ARGUMENT, saying so, for an analyzer of Lucene's that is not built; else ERR_OK. */
enum err analyzer_not_built(struct str name, struct errmsg *em);
/* "default" as the settings declare it, else standard. "default_search" likewise, else the default one. */
const struct analyzer *analysis_default(const struct analysis *a);
const struct analyzer *analysis_default_search(const struct analysis *a);

/* Runs the whole pipeline over one value. Tokens go into `out` (initialised by the caller, emptied first). */
enum err analyzer_run(const struct analyzer *an, struct str text, struct token_list *out, struct errmsg *em);
/* The normalised form of a keyword, or of a term in a wildcard or prefix query (only the filters that work on
 * single characters apply, as Lucene's Analyzer.normalize does). The result lives in `arena` or is `text`
 * itself. */
enum err analyzer_normalize(const struct analyzer *an, struct str text, struct arena *arena, struct str *out,
                            struct errmsg *em);

/* The analysis of a field, for _analyze. */
enum field_analysis {
    FIELD_NO_TEXT,
    FIELD_UNMAPPED,
    FIELD_ANALYZED,   /* by the analyzer or normalizer found */
    FIELD_WHOLE,      /* a keyword without a normalizer */
    FIELD_NO_ANALYZER /* of texts, but never analysed */
};

/* The _analyze endpoint: `body` is the request, `field_analyzer` finds the analyzer of a field (NULL: no
 * fields). Writes the whole response object. Supports text, analyzer, tokenizer, filter, char_filter,
 * normalizer, field, explain, attributes. */
struct analyze_context {
    struct analysis *analysis; /* the index's, or the node's global one */
    bool has_index;
    struct str index_name;
    int64_t max_token_count; /* index.analyze.max_token_count */
    enum field_analysis (*field_analyzer)(void *self, struct str field, const struct analyzer **out);
    void *self;
};
/* What is wrong with the body as such, before an index is looked for: has_index says whether one is named. */
enum err analyze_check(const struct analyze_context *cx, const struct json *body, struct arena *arena,
                       struct errmsg *em);
enum err analyze_request(const struct analyze_context *cx, const struct json *body, struct arena *arena,
                         struct jsonw *w, struct errmsg *em);

#endif
