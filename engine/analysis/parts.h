/* parts.h - every built-in part, and declarations shared by their factories.
 *
 * The factories build one part from its settings (component.h); registry.c maps type names to them. Nothing
 * here knows of indexes or requests. */
#ifndef ENGINE_ANALYSIS_PARTS_H
#define ENGINE_ANALYSIS_PARTS_H

#include "common/base/map.h"
#include "engine/analysis/component.h"

#define PART_FACTORY(name, kind)                                                                    \
    enum err name(const struct kind **out, UNUSED struct str part, UNUSED const struct settings *s, \
                  UNUSED const struct analysis_env *env, UNUSED struct arena *arena,                \
                  UNUSED struct errmsg *em)
#define TOKENIZER_FACTORY(name)    PART_FACTORY(name, tokenizer)
#define TOKEN_FILTER_FACTORY(name) PART_FACTORY(name, token_filter)
#define CHAR_FILTER_FACTORY(name)  PART_FACTORY(name, char_filter)

TOKENIZER_FACTORY(standard_tokenizer_new);
TOKENIZER_FACTORY(uax_url_email_tokenizer_new);
TOKENIZER_FACTORY(classic_tokenizer_new);
TOKENIZER_FACTORY(keyword_tokenizer_new);
TOKENIZER_FACTORY(whitespace_tokenizer_new);
TOKENIZER_FACTORY(letter_tokenizer_new);
TOKENIZER_FACTORY(lowercase_tokenizer_new);
TOKENIZER_FACTORY(char_group_tokenizer_new);
TOKENIZER_FACTORY(ngram_tokenizer_new);
TOKENIZER_FACTORY(edge_ngram_tokenizer_new);
TOKENIZER_FACTORY(pattern_tokenizer_new);
TOKENIZER_FACTORY(simple_pattern_tokenizer_new);
TOKENIZER_FACTORY(simple_pattern_split_tokenizer_new);
TOKENIZER_FACTORY(path_hierarchy_tokenizer_new);
TOKENIZER_FACTORY(thai_tokenizer_new);

TOKEN_FILTER_FACTORY(lowercase_filter_new);
TOKEN_FILTER_FACTORY(uppercase_filter_new);
TOKEN_FILTER_FACTORY(asciifolding_filter_new);
TOKEN_FILTER_FACTORY(decimal_digit_filter_new);
TOKEN_FILTER_FACTORY(cjk_width_filter_new);
TOKEN_FILTER_FACTORY(stop_filter_new);
TOKEN_FILTER_FACTORY(keep_filter_new);
TOKEN_FILTER_FACTORY(keep_types_filter_new);
TOKEN_FILTER_FACTORY(length_filter_new);
TOKEN_FILTER_FACTORY(limit_filter_new);
TOKEN_FILTER_FACTORY(truncate_filter_new);
TOKEN_FILTER_FACTORY(trim_filter_new);
TOKEN_FILTER_FACTORY(unique_filter_new);
TOKEN_FILTER_FACTORY(reverse_filter_new);
TOKEN_FILTER_FACTORY(apostrophe_filter_new);
TOKEN_FILTER_FACTORY(elision_filter_new);
TOKEN_FILTER_FACTORY(classic_filter_new);
TOKEN_FILTER_FACTORY(remove_duplicates_filter_new);
TOKEN_FILTER_FACTORY(identity_filter_new);
TOKEN_FILTER_FACTORY(ngram_filter_new);
TOKEN_FILTER_FACTORY(edge_ngram_filter_new);
TOKEN_FILTER_FACTORY(shingle_filter_new);
TOKEN_FILTER_FACTORY(common_grams_filter_new);
TOKEN_FILTER_FACTORY(fingerprint_filter_new);
TOKEN_FILTER_FACTORY(cjk_bigram_filter_new);
TOKEN_FILTER_FACTORY(keyword_marker_filter_new);
TOKEN_FILTER_FACTORY(keyword_repeat_filter_new);
TOKEN_FILTER_FACTORY(stemmer_filter_new);
TOKEN_FILTER_FACTORY(snowball_filter_new);
TOKEN_FILTER_FACTORY(kstem_filter_new);
TOKEN_FILTER_FACTORY(stemmer_override_filter_new);
TOKEN_FILTER_FACTORY(german_normalization_filter_new);
TOKEN_FILTER_FACTORY(arabic_normalization_filter_new);
TOKEN_FILTER_FACTORY(scandinavian_folding_filter_new);
TOKEN_FILTER_FACTORY(scandinavian_normalization_filter_new);
TOKEN_FILTER_FACTORY(persian_normalization_filter_new);
TOKEN_FILTER_FACTORY(serbian_normalization_filter_new);
TOKEN_FILTER_FACTORY(delimited_payload_filter_new);
TOKEN_FILTER_FACTORY(synonym_filter_new);
TOKEN_FILTER_FACTORY(synonym_graph_filter_new);
TOKEN_FILTER_FACTORY(flatten_graph_filter_new);
TOKEN_FILTER_FACTORY(multiplexer_filter_new);
TOKEN_FILTER_FACTORY(pattern_replace_filter_new);
TOKEN_FILTER_FACTORY(pattern_capture_filter_new);
TOKEN_FILTER_FACTORY(word_delimiter_filter_new);
TOKEN_FILTER_FACTORY(word_delimiter_graph_filter_new);

CHAR_FILTER_FACTORY(html_strip_char_filter_new);
CHAR_FILTER_FACTORY(mapping_char_filter_new);
CHAR_FILTER_FACTORY(pattern_replace_char_filter_new);

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
