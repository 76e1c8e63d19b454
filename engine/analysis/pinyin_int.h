/* pinyin_int.h - declarations shared by pinyin's token filter and tokenizer: options, reading a text, the terms that come
 * of it. */
#ifndef ENGINE_ANALYSIS_PINYIN_INT_H
#define ENGINE_ANALYSIS_PINYIN_INT_H

#include "engine/analysis/dict/pinyin_dict.h"

struct pinyin_options {
    bool keep_first_letter, keep_separate_first_letter, keep_full_pinyin, keep_joined_full_pinyin;
    bool keep_none_chinese, keep_none_chinese_together, keep_none_chinese_in_first_letter;
    bool keep_none_chinese_in_joined_full_pinyin, none_chinese_pinyin_tokenize;
    bool keep_original, lowercase, trim_whitespace, remove_duplicated_term;
    bool ignore_pinyin_offset, fixed_pinyin_offset, keep_separate_chinese;
    int64_t limit_first_letter_length;
};

/* The plugin's defaults, with what `s` sets. ERR_ILLEGAL_ARGUMENT, ERR_CONFIG_ERROR. */
enum err pinyin_options_read(struct pinyin_options *o, const struct settings *s, struct errmsg *em);

/* A term on its way out. Offsets are UTF-16 units of the source; they may be off as the plugin's are. */
struct pinyin_term {
    struct str text;
    int32_t start, end, position;
    uint32_t hash; /* of what tells duplicates */
};

/* One source at a time; the arrays stay for the next one. */
struct pinyin_work {
    const struct dictionary *dict;
    const struct pinyin_options *options;
    struct arena *arena;
    bool tokenizer; /* the tokenizer numbers positions in other ways than the filter */
    /* the source by units */
    struct str source;
    uint16_t *units;
    uint32_t *at;         /* byte offset of each unit; one more for the end */
    struct str *readings; /* of each unit; empty: none */
    size_t n, units_cap;
    bool blank; /* nothing but white space: nothing is read out of it */
    /* the terms */
    struct pinyin_term *terms;
    size_t n_terms, terms_cap;
    uint32_t *slots; /* hash set of the terms: number + 1 */
    size_t n_slots;
    int32_t last_offset; /* the last unit looked at */
    bool no_memory;
};

void pinyin_work_init(struct pinyin_work *w, const struct dictionary *d, const struct pinyin_options *o,
                      struct arena *arena, bool tokenizer);
/* Takes a source and finds all its terms, in the plugin's order before it sorts. false: no memory. */
bool pinyin_work_run(struct pinyin_work *w, struct str source) NODISCARD;
/* By position, the order within one kept. */
void pinyin_work_sort(struct pinyin_work *w);

/* pinyin_read.c: units and readings of w->source. */
bool pinyin_read(struct pinyin_work *w) NODISCARD;
/* As Java's String.toLowerCase. The result is `s` itself or in the arena; p == NULL: no memory. */
struct str pinyin_lowercase(struct str s, struct arena *arena);

/* pinyin_letters.c: splits Latin letters and digits into syllables and what is none: the fewest parts of a
 * greedy walk from the front and one from the back. Calls fn for each part. `letters` are ASCII. */
bool pinyin_split_letters(const struct dictionary *d, struct str letters, struct arena *arena,
                          bool (*fn)(void *self, struct str part), void *self) NODISCARD;

#endif
