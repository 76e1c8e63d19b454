/* parts.h - every built-in part, and declarations shared by their factories.
 *
 * The factories build one part from its settings (component.h); registry.c maps type names to them. Nothing
 * here knows of indexes or requests. */
#ifndef ENGINE_ANALYSIS_PARTS_H
#define ENGINE_ANALYSIS_PARTS_H

#include "common/base/map.h"
#include "engine/analysis/component.h"

enum {
    BY_NAME = 1,      /* may be used without a definition */
    AS_TYPE = 2,      /* may be the type of a definition */
    BARE_REFUSED = 4, /* as a type it cannot do without settings */
    BOTH = BY_NAME | AS_TYPE
};

/* X(name, factory, flags, settings when used by name): the only lists of them. */
#define TOKENIZERS(X)                                                            \
    X("standard", standard_tokenizer_new, BOTH, NULL)                            \
    X("ik_smart", ik_tokenizer_new, BOTH, NULL)                                  \
    X("ik_max_word", ik_tokenizer_new, BOTH, NULL)                               \
    X("pinyin", pinyin_tokenizer_new, BOTH, NULL)                                \
    X("pinyin_first_letter", pinyin_tokenizer_new, BOTH, NULL)                   \
    X("keyword", keyword_tokenizer_new, BOTH, NULL)                              \
    X("whitespace", whitespace_tokenizer_new, BOTH, NULL)                        \
    X("letter", letter_tokenizer_new, BOTH, NULL)                                \
    X("lowercase", lowercase_tokenizer_new, BOTH, NULL)                          \
    X("ngram", ngram_tokenizer_new, BOTH, NULL)                                  \
    X("edge_ngram", edge_ngram_tokenizer_new, BOTH, NULL)                        \
    X("nGram", ngram_tokenizer_new, BOTH, NULL)                                  \
    X("edgeNGram", edge_ngram_tokenizer_new, BOTH, NULL)                         \
    X("path_hierarchy", path_hierarchy_tokenizer_new, BOTH, NULL)                \
    X("PathHierarchy", path_hierarchy_tokenizer_new, BOTH, NULL)                 \
    X("pattern", pattern_tokenizer_new, BOTH, NULL)                              \
    X("classic", classic_tokenizer_new, BOTH, NULL)                              \
    X("thai", thai_tokenizer_new, BOTH, NULL)                                    \
    X("simple_pattern", simple_pattern_tokenizer_new, AS_TYPE, NULL)             \
    X("simple_pattern_split", simple_pattern_split_tokenizer_new, AS_TYPE, NULL) \
    X("uax_url_email", uax_url_email_tokenizer_new, BOTH, NULL)                  \
    X("char_group", char_group_tokenizer_new, AS_TYPE, NULL)
#define TOKEN_FILTERS(X)                                                               \
    X("lowercase", lowercase_filter_new, BOTH, NULL)                                   \
    X("pinyin", pinyin_filter_new, BOTH, NULL)                                         \
    X("uppercase", uppercase_filter_new, BOTH, NULL)                                   \
    X("decimal_digit", decimal_digit_filter_new, BOTH, NULL)                           \
    X("reverse", reverse_filter_new, BOTH, NULL)                                       \
    X("asciifolding", asciifolding_filter_new, BOTH, NULL)                             \
    X("cjk_width", cjk_width_filter_new, BOTH, NULL)                                   \
    X("german_normalization", german_normalization_filter_new, BOTH, NULL)             \
    X("arabic_normalization", arabic_normalization_filter_new, BOTH, NULL)             \
    X("persian_normalization", persian_normalization_filter_new, BOTH, NULL)           \
    X("serbian_normalization", serbian_normalization_filter_new, BOTH, NULL)           \
    X("scandinavian_folding", scandinavian_folding_filter_new, BOTH, NULL)             \
    X("scandinavian_normalization", scandinavian_normalization_filter_new, BOTH, NULL) \
    X("trim", trim_filter_new, BOTH, NULL)                                             \
    X("truncate", truncate_filter_new, BOTH, "length=10")                              \
    X("unique", unique_filter_new, BOTH, NULL)                                         \
    X("remove_duplicates", remove_duplicates_filter_new, BOTH, NULL)                   \
    X("apostrophe", apostrophe_filter_new, BOTH, NULL)                                 \
    X("elision", elision_filter_new, BOTH,                                             \
      "articles_case=true;articles=l,m,t,qu,n,s,j,d,c,jusqu,quoiqu,lorsqu,puisqu")     \
    X("classic", classic_filter_new, BOTH, NULL)                                       \
    X("delimited_payload", delimited_payload_filter_new, BOTH, NULL)                   \
    X("type_as_payload", identity_filter_new, BY_NAME, NULL)                           \
    X("ngram", ngram_filter_new, BOTH, "min_gram=1;max_gram=2")                        \
    X("edge_ngram", edge_ngram_filter_new, BOTH, "min_gram=1;max_gram=1")              \
    X("shingle", shingle_filter_new, BOTH, NULL)                                       \
    X("common_grams", common_grams_filter_new, BOTH, "common_words=")                  \
    X("fingerprint", fingerprint_filter_new, BOTH, NULL)                               \
    X("cjk_bigram", cjk_bigram_filter_new, BOTH, NULL)                                 \
    X("stemmer", stemmer_filter_new, BOTH, NULL)                                       \
    X("snowball", snowball_filter_new, BOTH, NULL)                                     \
    X("porter_stem", stemmer_filter_new, BY_NAME | AS_TYPE, "language=porter")         \
    X("kstem", kstem_filter_new, BOTH, NULL)                                           \
    X("dutch_stem", snowball_filter_new, BOTH, "language=dutch")                       \
    X("french_stem", snowball_filter_new, BOTH, "language=french")                     \
    X("russian_stem", snowball_filter_new, BOTH, "language=russian")                   \
    X("keyword_marker", keyword_marker_filter_new, AS_TYPE | BARE_REFUSED, NULL)       \
    X("keyword_repeat", keyword_repeat_filter_new, BY_NAME, NULL)                      \
    X("stemmer_override", stemmer_override_filter_new, AS_TYPE | BARE_REFUSED, NULL)   \
    X("synonym", synonym_filter_new, AS_TYPE | BARE_REFUSED, NULL)                     \
    X("synonym_graph", synonym_graph_filter_new, AS_TYPE | BARE_REFUSED, NULL)         \
    X("multiplexer", multiplexer_filter_new, BOTH, NULL)                               \
    X("word_delimiter", word_delimiter_filter_new, BOTH, NULL)                         \
    X("word_delimiter_graph", word_delimiter_graph_filter_new, BOTH, NULL)             \
    X("flatten_graph", flatten_graph_filter_new, BOTH, NULL)                           \
    X("stop", stop_filter_new, BOTH, NULL)                                             \
    X("keep", keep_filter_new, AS_TYPE | BARE_REFUSED, NULL)                           \
    X("keep_types", keep_types_filter_new, AS_TYPE | BARE_REFUSED, NULL)               \
    X("pattern_replace", pattern_replace_filter_new, AS_TYPE | BARE_REFUSED, NULL)     \
    X("pattern_capture", pattern_capture_filter_new, AS_TYPE | BARE_REFUSED, NULL)     \
    X("length", length_filter_new, BOTH, NULL)                                         \
    X("limit", limit_filter_new, BOTH, NULL)
#define CHAR_FILTERS(X)                                                 \
    X("html_strip", html_strip_char_filter_new, BOTH, NULL)             \
    X("mapping", mapping_char_filter_new, AS_TYPE | BARE_REFUSED, NULL) \
    X("pattern_replace", pattern_replace_char_filter_new, AS_TYPE | BARE_REFUSED, NULL)

#define PART_ENTRY(name, make, flags, preset)    {name, make, flags, preset},
#define PART_DECLARED(name, make, flags, preset) PART_FACTORY(make);
TOKENIZERS(PART_DECLARED)
TOKEN_FILTERS(PART_DECLARED)
CHAR_FILTERS(PART_DECLARED)

/* A set of words (keys of a map to themselves), built once and then only read. */
struct word_set {
    struct map words;
    bool ignore_case; /* words are in lower case; what is looked up is lowered first */
};

bool word_set_has(const struct word_set *set, struct str word);
/* Words of the list settings `key` or, where that is absent, of the file that `key`_path names: one word a
 * line, lines with '#' at the start left out. Names like "_english_" are replaced by their lists when `named`
 * is set. *found tells whether either setting was there. */
enum err word_set_read(struct word_set *set, bool *found, const struct settings *s, const char *key,
                       bool named, const struct analysis_env *env, struct arena *arena, struct errmsg *em);
/* Adds the stop words of a language ("_english_"); false in *known when there is no such list. */
bool word_set_add_named(struct word_set *set, struct arena *arena, struct str name, bool *known) NODISCARD;
/* The words of a language's list, separated by blanks; NULL when there is none. Name without underscores. */
const char *stop_words_of(struct str language);

/* Reads a file below the configuration folder (links are resolved) into lines (comments "#..." and empty lines left
 * out; without the line ends). ERR_ILLEGAL_ARGUMENT when it cannot be read: when it lies elsewhere, is no regular
 * file, is larger than 64 MiB, is not UTF-8. */
enum err config_lines(const char *setting, struct str path, const struct analysis_env *env,
                      struct arena *arena, struct str **out, size_t *n, struct errmsg *em);

/* What went wrong with a line of such a file, without the line: who may name files need not be who may read them.
 * Returns e. */
enum err config_line_error(enum err e, const char *setting, struct errmsg *em);

/* Drops the tokens that keep() refuses; their positions stay as gaps, at the end of the list too. */
void tokens_keep(struct token_list *l, bool (*keep)(const void *cx, const struct token *t), const void *cx);

/* The checks that all n-gram parts share; the second is against the index's max_ngram_diff. */
enum err ngram_sizes(int32_t min, int32_t max, struct errmsg *em);
enum err ngram_width(int32_t min, int32_t max, const struct analysis_env *env, struct errmsg *em);

/* An int setting as Java's Integer.parseInt reads it. */
enum err part_int(const struct settings *s, const char *key, int32_t otherwise, int32_t *out,
                  struct errmsg *em);

static inline bool part_is_ascii(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if ((unsigned char)s.p[i] >= 0x80) {
            return false;
        }
    }
    return true;
}

/* Characters as the Java runtime of the reference knows them (Unicode 13): younger ones are unassigned. */
bool part_is_young(uint32_t c);
bool part_is_letter(uint32_t c);
uint32_t part_lower_char(uint32_t c);
uint32_t part_upper_char(uint32_t c);

/* Lower case, character by character, as Java's Character.toLowerCase. Returns s itself when nothing changes;
 * p == NULL: no memory. */
struct str part_lower(struct arena *arena, struct str s);
/* The order of UTF-16, which is Java's: characters past U+FFFF come before U+E000 to U+FFFF. */
int part_cmp_utf16(struct str a, struct str b);
/* Byte offset at which `units` UTF-16 units have passed, never inside a character (rounded down); s.n when
 * shorter. */
size_t part_units(struct str s, size_t units);

#endif
