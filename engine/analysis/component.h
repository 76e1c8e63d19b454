/* component.h - the three kinds of parts that an analyzer is built from.
 *
 * A part is immutable once built, shared by any number of threads, and lives in the arena of the registry that built
 * it (analysis.h). Its struct embeds one of these as its first member. Scratch memory comes from the list's arena. */
#ifndef ENGINE_ANALYSIS_COMPONENT_H
#define ENGINE_ANALYSIS_COMPONENT_H

#include "common/base/settings.h"
#include "engine/analysis/token.h"

/* Text on its way through character filters, with the way back: `map[i]` says that bytes from map[i].at on lie
 * map[i].delta bytes further on in the original. Empty map: identical. */
struct offset_step {
    uint32_t at;
    int32_t delta;
};

struct filtered_text {
    struct str text;
    struct offset_step *map; /* ascending by at */
    size_t n, cap;
};

struct char_filter {
    /* Replaces in->text by the filtered text (in the arena), composing the offset map. */
    enum err (*apply)(const struct char_filter *self, struct filtered_text *in, struct arena *arena, struct errmsg *em);
};

struct tokenizer {
    /* Appends the tokens of `text` to `out`, with offsets into `text`; sets out->end_pos_inc. */
    enum err (*run)(const struct tokenizer *self, struct str text, struct token_list *out, struct errmsg *em);
};

struct token_filter {
    /* Rewrites the list: in place, or by giving it a new array. */
    enum err (*apply)(const struct token_filter *self, struct token_list *l, struct errmsg *em);
};

/* What parts may depend on besides their settings. */
struct ik_dictionary;
struct pinyin_dictionary;
struct analysis_env {
    const char *path_conf;                   /* for *_path settings; may be NULL */
    const struct ik_dictionary *ik;          /* borrowed for the life of what is built */
    const struct pinyin_dictionary *pinyin;
};

/* Builds one part of the type that the factory serves. `name` is the part's name in the settings (or that of its
 * type), `s` its own settings ("type" included). Memory from `arena`. ERR_ILLEGAL_ARGUMENT for what its settings get wrong. */
typedef enum err (*tokenizer_factory)(const struct tokenizer **out, struct str name, const struct settings *s,
                                      const struct analysis_env *env, struct arena *arena, struct errmsg *em);
typedef enum err (*token_filter_factory)(const struct token_filter **out, struct str name, const struct settings *s,
                                         const struct analysis_env *env, struct arena *arena, struct errmsg *em);
typedef enum err (*char_filter_factory)(const struct char_filter **out, struct str name, const struct settings *s,
                                        const struct analysis_env *env, struct arena *arena, struct errmsg *em);

#endif
