/* registry.h - parts by name: those that the index declares, then the built-in ones. Inside
 * analysis only.
 *
 * A builder says where new parts live; what the registry holds already is shared. */
#ifndef ENGINE_ANALYSIS_REGISTRY_H
#define ENGINE_ANALYSIS_REGISTRY_H

#include "engine/analysis/analysis.h"
#include "engine/analysis/parts.h"

#include <pthread.h>
#include <stdatomic.h>

enum part_kind { PART_TOKENIZER, PART_TOKEN_FILTER, PART_CHAR_FILTER };

struct analysis {
    atomic_uint refs;
    struct arena arena;
    struct analysis_env env;
    struct settings settings; /* the index's */
    /* What the settings declare, by name. */
    struct map parts[3]; /* by part_kind */
    struct map analyzers, normalizers;
    const struct analyzer *default_index, *default_search;
    /* Built-in analyzers are made when first asked for: an index seldom uses more than two of the forty. */
    pthread_mutex_t lock;
    struct map builtin;
    struct part_cleanup *cleanups;
};

/* How a part that nobody declared is used by its name alone. In settings and without an index it comes as it
 * is pre-built; in an _analyze request to an index it is its type without settings, as in Elasticsearch. */
enum bare_use { BARE_IN_SETTINGS, BARE_WITHOUT_INDEX, BARE_IN_INDEX };

struct part_builder {
    const struct analysis *a;
    struct arena *arena;            /* where new parts go */
    const struct analysis_env *env; /* with the list of cleanups that goes with the arena */
    enum bare_use bare;
};

/* Runs and forgets the cleanups. */
void cleanups_run(struct part_cleanup **list);

/* What `type` of a definition says, a list in brackets; p NULL: nothing. */
struct str part_type(const struct settings *s, struct arena *arena);
const char *part_kind_name(enum part_kind kind); /* "tokenizer", "filter", "char_filter" */

/* Parts and analyzers by name: a map holds what may be written, and they may not, so it holds where they are. */
bool parts_put(struct map *m, struct str name, const void *part) NODISCARD;
const void *parts_get(const struct map *m, struct str name); /* NULL: none */

/* Builds a part of `type` from settings. *known is false, with ERR_OK, when there is no such type. */
enum err part_new(const void **out, enum part_kind kind, struct str type, struct str name,
                  const struct settings *s, const struct part_builder *b, bool *known, struct errmsg *em);
/* The refusal of a name that no part has; returns ERR_ILLEGAL_ARGUMENT. */
enum err part_not_found(enum part_kind kind, struct str name, const struct part_builder *b,
                        struct errmsg *em);
/* The part with this name: declared, or one of the service's own with its default settings. *out NULL with
 * ERR_OK: there is none. */
enum err part_by_name(const void **out, enum part_kind kind, struct str name, const struct part_builder *b,
                      struct errmsg *em);

/* An analyzer under construction: parts are appended, filters bound to what stands before them. */
struct chain {
    const struct part_builder *b;
    struct analyzer an;
    struct str *char_filter_names, *filter_names;
    size_t char_filters_cap, filters_cap, char_filter_names_cap, filter_names_cap;
};

void chain_init(struct chain *c, const struct part_builder *b, struct str name);
enum err chain_add_char_filter(struct chain *c, const struct char_filter *f, struct str name,
                               struct errmsg *em);
enum err chain_add_filter(struct chain *c, const struct token_filter *f, struct str name, struct errmsg *em);
/* By the names of the service's own parts; settings like "stopwords=_french_;ignore_case=true" may be NULL.
 */
enum err chain_add_builtin(struct chain *c, enum part_kind kind, const char *name, const char *settings,
                           struct errmsg *em);
/* The finished analyzer, in the builder's arena. */
enum err chain_end(struct chain *c, const struct analyzer **out, struct errmsg *em);

/* Parses "key=value;key=value". false: no memory. */
bool settings_of_text(struct settings *s, const char *text, struct arena *arena) NODISCARD;

/* Builds the analyzer of a built-in type ("english", "standard" ...) with settings. *known as above. */
enum err builtin_analyzer_new(const struct analyzer **out, struct str type, struct str name,
                              const struct settings *s, const struct part_builder *b, bool *known,
                              struct errmsg *em);

/* Runs the parts of an analyzer; `stages` >= 0 runs only that many of the token filters. */
enum err analyzer_run_stages(const struct analyzer *an, struct str text, size_t stages,
                             struct token_list *out, struct errmsg *em);
/* The text behind the first n character filters. */
enum err analyzer_filter_text(const struct analyzer *an, struct str text, size_t n, struct arena *arena,
                              struct filtered_text *out, struct errmsg *em);

#endif
