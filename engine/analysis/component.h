/* component.h - the three kinds of parts that an analyzer is built from.
 *
 * A part is immutable once built, shared by any number of threads, and lives in the arena of the registry
 * that built it (analysis.h). Its struct embeds one of these as its first member. Scratch memory comes from
 * the list's arena. */
#ifndef ENGINE_ANALYSIS_COMPONENT_H
#define ENGINE_ANALYSIS_COMPONENT_H

#include "common/base/settings.h"
#include "engine/analysis/token.h"

/* Text on its way through character filters, with the way back: `map[i]` says that bytes from map[i].at up to
 * map[i+1].at lie map[i].delta bytes further on in the original. Empty map: identical. */
#define ANALYZED_BYTES_MAX (UINT32_MAX / 4) /* of a text on its way: offsets and their differences fit */

struct offset_step {
    uint32_t at;
    int32_t delta;
};

struct filtered_text {
    struct str text;
    struct offset_step *map; /* ascending by at */
    size_t n, cap;
};

/* Parts whose settings cannot be used are built nevertheless: the error is said by an analyzer that has them. Their
 * `unusable` tells it, and they have nothing else. */
struct char_filter {
    /* Replaces in->text by the filtered text (in the arena), composing the offset map. */
    enum err (*apply)(const struct char_filter *self, struct filtered_text *in, struct arena *arena,
                      struct errmsg *em);
    bool normalizes; /* may be part of a normalizer */
    const struct errmsg *unusable;
};

struct tokenizer {
    /* Appends the tokens of `text` to `out`, with offsets into `text`; sets out->end_pos_inc. */
    enum err (*run)(const struct tokenizer *self, struct str text, struct token_list *out, struct errmsg *em);
    bool hides_frequency; /* _analyze does not explain the frequency of its tokens */
    bool ends_at_token;   /* it reads the text token by token, no further */
    const struct errmsg *unusable;
};

struct part_chain;

/* The substitute of a filter while the rules of a synonym filter behind it are parsed. */
enum synonym_use { SYNONYM_USE_SELF, SYNONYM_USE_NOTHING, SYNONYM_USE_REFUSED, SYNONYM_USE_OTHER };

struct token_filter {
    /* Rewrites the list: in place, or by giving it a new array. */
    enum err (*apply)(const struct token_filter *self, struct token_list *l, struct errmsg *em);
    /* What applies to a single term (normalizers, wildcard terms): often the filter itself; NULL: nothing. */
    const struct token_filter *normal;
    /* For filters that depend on what stands before them in an analyzer: gives the filter that is used there
     * (NULL: the filter is used as it is). The part that it is called on has no apply(). */
    enum err (*bind)(const struct token_filter *self, const struct part_chain *before, struct arena *arena,
                     const struct token_filter **out, struct errmsg *em);
    enum synonym_use synonym_use;
    const struct token_filter *synonym_other; /* SYNONYM_USE_OTHER */
    bool shows_keyword;                       /* _analyze explains the keyword attribute from here on */
    bool search_only;                         /* must not be part of an analyzer that indexes */
    bool no_unigrams;                         /* gives shingles alone */
    uint32_t shingle_words;                   /* of shingles at most, of a filter with a definition; else 0 */
    const struct errmsg *unusable;
};

/* Where a filter is bound: what runs before it, and the filters that it may name. */
struct part_chain {
    struct str analyzer; /* its name */
    const struct char_filter **char_filters;
    size_t n_char_filters;
    const struct tokenizer *tokenizer;
    const struct token_filter **filters;
    const struct str *filter_names; /* NULL: the filters are parts of a filter, without names */
    size_t n_filters;
    /* The filter with this name (not yet bound), or NULL with *e set when building it failed. */
    const struct token_filter *(*find_filter)(void *self, struct str name, enum err *e, struct errmsg *em);
    void *self;
};

/* Work that is left when the parts built into an arena go: for what they hold outside of it (compiled
 * patterns). */
struct part_cleanup {
    void (*run)(void *arg);
    void *arg;
    struct part_cleanup *next;
};

/* The dependencies of parts besides their settings. */
struct dictionary;
struct analysis_env {
    const char *path_conf;          /* for *_path settings; may be NULL */
    struct dictionary *ik, *pinyin; /* borrowed for the life of what is built */
    struct part_cleanup **cleanups; /* set by the registry: factories put theirs in front */
    const struct settings *index;   /* all of the index's settings, without "index."; set by the registry */
};

/* Builds one part of the type that the factory serves (a struct tokenizer, token_filter or char_filter). `part` is the part's name in the settings (or that of
 * its type), `s` its own settings ("type" included). Memory from `arena`. ERR_ILLEGAL_ARGUMENT for what its
 * settings get wrong, ERR_PART_UNUSABLE for what is said only once the part is used. */
#define PART_FACTORY(name)                                                                   \
    enum err name(const void **out, UNUSED struct str part, UNUSED const struct settings *s, \
                  UNUSED const struct analysis_env *env, UNUSED struct arena *arena,         \
                  UNUSED struct errmsg *em)
typedef PART_FACTORY((*part_factory));

#endif
