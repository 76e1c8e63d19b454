#include "engine/analysis/registry.h"

#include "engine/analysis/ik.h"
#include "engine/analysis/pinyin.h"

enum {
    BY_NAME = 1,      /* may be used without a definition */
    AS_TYPE = 2,      /* may be the type of a definition */
    BARE_REFUSED = 4, /* as a type it cannot do without settings */
    BOTH = BY_NAME | AS_TYPE
};

struct tokenizer_entry {
    const char *name;
    tokenizer_factory make;
    int flags;
    const char *preset; /* its settings when used by name */
};

struct token_filter_entry {
    const char *name;
    token_filter_factory make;
    int flags;
    const char *preset;
};

struct char_filter_entry {
    const char *name;
    char_filter_factory make;
    int flags;
    const char *preset;
};

static const struct tokenizer_entry tokenizers[] = {
    {"standard", standard_tokenizer_new, BOTH, NULL},
    {"ik_smart", ik_tokenizer_new, BOTH, NULL},
    {"ik_max_word", ik_tokenizer_new, BOTH, NULL},
    {"pinyin", pinyin_tokenizer_new, BOTH, NULL},
    {"pinyin_first_letter", pinyin_tokenizer_new, BOTH, NULL},
    {"keyword", keyword_tokenizer_new, BOTH, NULL},
    {"whitespace", whitespace_tokenizer_new, BOTH, NULL},
    {"letter", letter_tokenizer_new, BOTH, NULL},
    {"lowercase", lowercase_tokenizer_new, BOTH, NULL},
    {"ngram", ngram_tokenizer_new, BOTH, NULL},
    {"edge_ngram", edge_ngram_tokenizer_new, BOTH, NULL},
    {"nGram", ngram_tokenizer_new, BOTH, NULL},
    {"edgeNGram", edge_ngram_tokenizer_new, BOTH, NULL},
    {"path_hierarchy", path_hierarchy_tokenizer_new, BOTH, NULL},
    {"PathHierarchy", path_hierarchy_tokenizer_new, BOTH, NULL},
    {"pattern", pattern_tokenizer_new, BOTH, NULL},
    {"classic", classic_tokenizer_new, BOTH, NULL},
    {"thai", thai_tokenizer_new, BOTH, NULL},
    {"simple_pattern", simple_pattern_tokenizer_new, AS_TYPE, NULL},
    {"simple_pattern_split", simple_pattern_split_tokenizer_new, AS_TYPE, NULL},
    {"uax_url_email", uax_url_email_tokenizer_new, BOTH, NULL},
    {"char_group", char_group_tokenizer_new, AS_TYPE, NULL},
};

static const struct token_filter_entry token_filters[] = {
    {"lowercase", lowercase_filter_new, BOTH, NULL},
    {"pinyin", pinyin_filter_new, BOTH, NULL},
    {"uppercase", uppercase_filter_new, BOTH, NULL},
    {"decimal_digit", decimal_digit_filter_new, BOTH, NULL},
    {"reverse", reverse_filter_new, BOTH, NULL},
    {"asciifolding", asciifolding_filter_new, BOTH, NULL},
    {"cjk_width", cjk_width_filter_new, BOTH, NULL},
    {"german_normalization", german_normalization_filter_new, BOTH, NULL},
    {"arabic_normalization", arabic_normalization_filter_new, BOTH, NULL},
    {"persian_normalization", persian_normalization_filter_new, BOTH, NULL},
    {"serbian_normalization", serbian_normalization_filter_new, BOTH, NULL},
    {"scandinavian_folding", scandinavian_folding_filter_new, BOTH, NULL},
    {"scandinavian_normalization", scandinavian_normalization_filter_new, BOTH, NULL},
    {"trim", trim_filter_new, BOTH, NULL},
    {"truncate", truncate_filter_new, BOTH, "length=10"},
    {"unique", unique_filter_new, BOTH, NULL},
    {"remove_duplicates", remove_duplicates_filter_new, BOTH, NULL},
    {"apostrophe", apostrophe_filter_new, BOTH, NULL},
    {"elision", elision_filter_new, BOTH,
     "articles_case=true;articles=l,m,t,qu,n,s,j,d,c,jusqu,quoiqu,lorsqu,puisqu"},
    {"classic", classic_filter_new, BOTH, NULL},
    {"delimited_payload", delimited_payload_filter_new, BOTH, NULL},
    {"type_as_payload", identity_filter_new, BOTH, NULL},
    {"ngram", ngram_filter_new, BOTH, "min_gram=1;max_gram=2"},
    {"edge_ngram", edge_ngram_filter_new, BOTH, "min_gram=1;max_gram=1"},
    {"shingle", shingle_filter_new, BOTH, NULL},
    {"common_grams", common_grams_filter_new, BOTH, "common_words="},
    {"fingerprint", fingerprint_filter_new, BOTH, NULL},
    {"cjk_bigram", cjk_bigram_filter_new, BOTH, NULL},
    {"stemmer", stemmer_filter_new, BOTH, NULL},
    {"snowball", snowball_filter_new, BOTH, NULL},
    {"porter_stem", stemmer_filter_new, BY_NAME | AS_TYPE, "language=porter"},
    {"kstem", kstem_filter_new, BOTH, NULL},
    {"dutch_stem", snowball_filter_new, BOTH, "language=dutch"},
    {"french_stem", snowball_filter_new, BOTH, "language=french"},
    {"russian_stem", snowball_filter_new, BOTH, "language=russian"},
    {"keyword_marker", keyword_marker_filter_new, AS_TYPE | BARE_REFUSED, NULL},
    {"keyword_repeat", keyword_repeat_filter_new, BOTH, NULL},
    {"stemmer_override", stemmer_override_filter_new, AS_TYPE | BARE_REFUSED, NULL},
    {"synonym", synonym_filter_new, AS_TYPE | BARE_REFUSED, NULL},
    {"synonym_graph", synonym_graph_filter_new, AS_TYPE | BARE_REFUSED, NULL},
    {"multiplexer", multiplexer_filter_new, BOTH, NULL},
    {"word_delimiter", word_delimiter_filter_new, BOTH, NULL},
    {"word_delimiter_graph", word_delimiter_graph_filter_new, BOTH, NULL},
    {"flatten_graph", flatten_graph_filter_new, BOTH, NULL},
    {"stop", stop_filter_new, BOTH, NULL},
    {"keep", keep_filter_new, AS_TYPE | BARE_REFUSED, NULL},
    {"keep_types", keep_types_filter_new, AS_TYPE | BARE_REFUSED, NULL},
    {"pattern_replace", pattern_replace_filter_new, AS_TYPE | BARE_REFUSED, NULL},
    {"pattern_capture", pattern_capture_filter_new, AS_TYPE | BARE_REFUSED, NULL},
    {"length", length_filter_new, BOTH, NULL},
    {"limit", limit_filter_new, BOTH, NULL},
};

static const struct char_filter_entry char_filters[] = {
    {"html_strip", html_strip_char_filter_new, BOTH, NULL},
    {"mapping", mapping_char_filter_new, AS_TYPE | BARE_REFUSED, NULL},
    {"pattern_replace", pattern_replace_char_filter_new, AS_TYPE | BARE_REFUSED, NULL},
};

struct str part_type(const struct settings *s, struct arena *arena)
{
    const struct setting *t = settings_find(s, STR("type"));
    if (t == NULL || t->is_null) {
        return STR_NULL;
    }
    struct buf b;
    buf_init(&b, NULL, ERR_REASON_MAX);
    settings_put_text(t, &b);
    struct str text = arena_str(arena, buf_view(&b));
    buf_fini(&b);
    return text;
}

const char *part_kind_name(enum part_kind kind)
{
    return kind == PART_TOKENIZER ? "tokenizer" : kind == PART_TOKEN_FILTER ? "filter" : "char_filter";
}

void cleanups_run(struct part_cleanup **list)
{
    for (struct part_cleanup *c = *list; c != NULL; c = c->next) {
        c->run(c->arg);
    }
    *list = NULL;
}

bool settings_of_text(struct settings *s, const char *text, struct arena *arena)
{
    settings_init(s, arena);
    struct str rest = str_of(text);
    while (rest.p != NULL) {
        struct str value, key = str_cut(str_cut(rest, ';', &rest), '=', &value);
        if (key.n > 0 && !settings_put(s, key, value)) {
            return false;
        }
    }
    return true;
}

/* What the three tables have in common. */
struct found {
    int flags;
    const char *preset;
    size_t at;
};

static bool registry_find(enum part_kind kind, struct str name, struct found *f)
{
    size_t n = kind == PART_TOKENIZER      ? ARRAY_LEN(tokenizers)
               : kind == PART_TOKEN_FILTER ? ARRAY_LEN(token_filters)
                                           : ARRAY_LEN(char_filters);
    for (size_t i = 0; i < n; i++) {
        const char *here = kind == PART_TOKENIZER      ? tokenizers[i].name
                           : kind == PART_TOKEN_FILTER ? token_filters[i].name
                                                       : char_filters[i].name;
        if (!str_is(name, here)) {
            continue;
        }
        f->at = i;
        f->flags = kind == PART_TOKENIZER      ? tokenizers[i].flags
                   : kind == PART_TOKEN_FILTER ? token_filters[i].flags
                                               : char_filters[i].flags;
        f->preset = kind == PART_TOKENIZER      ? tokenizers[i].preset
                    : kind == PART_TOKEN_FILTER ? token_filters[i].preset
                                                : char_filters[i].preset;
        return true;
    }
    return false;
}

static bool names_language(const struct found *f)
{
    return f->preset != NULL && str_starts(str_of(f->preset), STR("language="));
}

/* What stands for a part that cannot be used. */
static const void *unusable(enum part_kind kind, size_t at, struct arena *arena, const struct errmsg *em)
{
    const struct errmsg *why = err_keep(arena, em);
    struct tokenizer *t = kind == PART_TOKENIZER ? ARENA_NEW(arena, struct tokenizer) : NULL;
    struct token_filter *f = kind == PART_TOKEN_FILTER ? ARENA_NEW(arena, struct token_filter) : NULL;
    struct char_filter *c = kind == PART_CHAR_FILTER ? ARENA_NEW(arena, struct char_filter) : NULL;
    if (t != NULL) {
        t->unusable = why;
    }
    if (f != NULL) {
        f->unusable = why;
        f->normal = token_filters[at].make == lowercase_filter_new ? f : NULL;
    }
    if (c != NULL) {
        c->unusable = why;
    }
    return t != NULL ? (const void *)t : f != NULL ? (const void *)f : (const void *)c;
}

static enum err make(const void **out, enum part_kind kind, size_t at, struct str name,
                     const struct settings *s, const struct part_builder *b, struct errmsg *em)
{
    const struct analysis_env *env = b->env;
    enum err e;
    if (kind == PART_TOKENIZER) {
        const struct tokenizer *t = NULL;
        e = tokenizers[at].make(&t, name, s, env, b->arena, em);
        *out = t;
    } else if (kind == PART_TOKEN_FILTER) {
        const struct token_filter *t = NULL;
        e = token_filters[at].make(&t, name, s, env, b->arena, em);
        *out = t;
    } else {
        const struct char_filter *t = NULL;
        e = char_filters[at].make(&t, name, s, env, b->arena, em);
        *out = t;
    }
    if (e == ERR_PART_UNUSABLE && em != NULL) {
        *out = unusable(kind, at, b->arena, em);
        e = *out != NULL ? ERR_OK : err_no_memory(em);
    }
    return e;
}

enum err part_not_found(enum part_kind kind, struct str name, const struct part_builder *b, struct errmsg *em)
{
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "failed to find %s%s under [%.*s]",
                   b->bare == BARE_WITHOUT_INDEX ? "global " : "", part_kind_name(kind), STR_ARG(name));
}

static bool is_one_of(struct str name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (str_is(name, names[i])) {
            return true;
        }
    }
    return false;
}

static enum err filter_not_built(struct str name, struct errmsg *em)
{
    static const char *const names[] = {"arabic_stem",
                                        "bengali_normalization",
                                        "brazilian_stem",
                                        "condition",
                                        "czech_stem",
                                        "dictionary_decompounder",
                                        "german_stem",
                                        "hindi_normalization",
                                        "hunspell",
                                        "hyphenation_decompounder",
                                        "indic_normalization",
                                        "min_hash",
                                        "predicate_token_filter",
                                        "sorani_normalization"};
    return is_one_of(name, names, ARRAY_LEN(names))
               ? err_set(em, ERR_ILLEGAL_ARGUMENT, "the token filter [%.*s] is not supported", STR_ARG(name))
               : ERR_OK;
}

enum err analyzer_not_built(struct str name, struct errmsg *em)
{
    static const char *const names[] = {"arabic",     "armenian", "basque",     "bengali",  "brazilian",
                                        "bulgarian",  "catalan",  "czech",      "estonian", "galician",
                                        "greek",      "hindi",    "indonesian", "irish",    "latvian",
                                        "lithuanian", "persian",  "sorani",     "thai",     "turkish"};
    return is_one_of(name, names, ARRAY_LEN(names))
               ? err_set(em, ERR_ILLEGAL_ARGUMENT, "the analyzer [%.*s] is not supported", STR_ARG(name))
               : ERR_OK;
}

/* Names that Elasticsearch had once and now refuses. */
static enum err removed_part(enum part_kind kind, struct str name, struct errmsg *em)
{
    const char *what = kind == PART_TOKENIZER      ? "tokenizer"
                       : kind == PART_TOKEN_FILTER ? "token filter"
                                                   : "char filter";
    bool grams = kind != PART_CHAR_FILTER && (str_is(name, "nGram") || str_is(name, "edgeNGram"));
    if (kind == PART_TOKEN_FILTER && grams) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "The [%.*s] %s name was deprecated in 6.4 and cannot be used in new indices. Please "
                       "change the filter name to "
                       "[%s] instead.",
                       STR_ARG(name), what, name.p[0] == 'n' ? "ngram" : "edge_ngram");
    }
    if (kind == PART_TOKEN_FILTER && str_is(name, "standard")) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "The [standard] token filter has been removed.");
    }
    if (kind == PART_TOKEN_FILTER && str_is(name, "delimited_payload_filter")) {
        return err_set(
            em, ERR_ILLEGAL_ARGUMENT,
            "[delimited_payload_filter] is not supported for new indices, use [delimited_payload] instead");
    }
    return kind == PART_TOKEN_FILTER ? filter_not_built(name, em) : ERR_OK;
}

enum err part_new(const void **out, enum part_kind kind, struct str type, struct str name,
                  const struct settings *s, const struct part_builder *b, bool *known, struct errmsg *em)
{
    struct found f;
    *out = NULL;
    enum err e = removed_part(kind, type, em);
    *known = e != ERR_OK || (registry_find(kind, type, &f) && (f.flags & AS_TYPE) != 0);
    if (e != ERR_OK || !*known) {
        return e;
    }
    struct settings preset;
    bool fixed = names_language(&f); /* a stemmer of one language, whatever the settings say */
    if (fixed && !settings_of_text(&preset, f.preset, b->arena)) {
        return err_no_memory(em);
    }
    return make(out, kind, f.at, name, fixed ? &preset : s, b, em);
}

bool parts_put(struct map *m, struct str name, const void *part)
{
    const void **at = ARENA_NEW(m->arena, const void *);
    if (at == NULL) {
        return false;
    }
    *at = part;
    return map_put(m, name, at);
}

const void *parts_get(const struct map *m, struct str name)
{
    const void *const *at = map_get(m, name);
    return at != NULL ? *at : NULL;
}

enum err part_by_name(const void **out, enum part_kind kind, struct str name, const struct part_builder *b,
                      struct errmsg *em)
{
    *out = parts_get(&b->a->parts[kind], name);
    if (*out != NULL) {
        return ERR_OK;
    }
    enum err e = removed_part(kind, name, em);
    struct found f;
    if (e != ERR_OK || !registry_find(kind, name, &f)) {
        return e;
    }
    if ((f.flags & BY_NAME) == 0 && (f.flags & BARE_REFUSED) != 0 && b->bare == BARE_IN_SETTINGS) {
        return ERR_OK;
    }
    if ((f.flags & BY_NAME) == 0 && (f.flags & BARE_REFUSED) != 0 && b->bare == BARE_WITHOUT_INDEX) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Analysis settings required - can't instantiate analysis factory");
    }
    bool as_type = (f.flags & BY_NAME) == 0
                   || (b->bare == BARE_IN_INDEX && (f.flags & AS_TYPE) != 0 && !names_language(&f));
    struct settings preset;
    if (!settings_of_text(&preset, as_type ? NULL : f.preset, b->arena)) {
        return err_no_memory(em);
    }
    return make(out, kind, f.at, name, &preset, b, em);
}
