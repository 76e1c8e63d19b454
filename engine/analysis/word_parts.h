/* word_parts.h - cutting a word where letters, digits, case and punctuation change: what both word_delimiter
 * filters are made of. */
#ifndef ENGINE_ANALYSIS_WORD_PARTS_H
#define ENGINE_ANALYSIS_WORD_PARTS_H

#include "common/base/map.h"
#include "engine/analysis/parts.h"

enum part_type {
    PART_LOWER = 1,
    PART_UPPER = 2,
    PART_ALPHA = 3,
    PART_DIGIT = 4,
    PART_ALNUM = 7,
    PART_DELIMITER = 8
};

struct part_rule {
    uint32_t c;
    uint8_t type;
    size_t line;
};

struct word_parts_options {
    bool word_parts, number_parts;           /* generate */
    bool join_words, join_numbers, join_all; /* catenate */
    bool case_change, numerics, possessive;  /* where to cut, what to drop */
    bool preserve, ignore_keywords, adjust_offsets;
    struct word_set protected_words;
    struct part_rule *rules; /* the type table, by character */
    size_t n_rules;
};

/* Reads them; word_delimiter leaves ignore_keywords and adjust_offsets aside. */
enum err word_parts_options_read(struct word_parts_options *o, const struct settings *s,
                                 const struct analysis_env *env, struct arena *arena, struct errmsg *em);

/* A word under the knife: one entry for each character. */
struct word_parts {
    const struct word_parts_options *o;
    uint8_t *types;
    uint32_t *at;     /* byte of each character, and of the end */
    uint32_t *place;  /* the same in the text that the word was cut from (word_parts_place()) */
    uint8_t *letters; /* ' and s where they are, for possessives */
    size_t n;
    size_t first, last; /* without delimiters at the ends */
    bool final_possessive, skip_possessive, done;
    size_t from, to; /* the present part, in characters */
};

/* false: no memory. Moves to the first part. */
bool word_parts_open(struct word_parts *w, const struct word_parts_options *o, struct str text,
                     struct arena *arena) NODISCARD;
/* Finds w->place, by UTF-16 units: characters that lie behind the end of `source`, what the word was cut from, are at
 * source.n + 1. *exact: the word has as many units. false: no memory. */
bool word_parts_place(struct word_parts *w, struct str source, struct str text, struct arena *arena,
                      bool *exact) NODISCARD;
void word_parts_next(struct word_parts *w);
/* PART_ALPHA, PART_DIGIT ... of the present part. */
uint8_t word_parts_type(const struct word_parts *w);
/* The word is one part, with nothing but delimiters around it. */
bool word_parts_is_single(const struct word_parts *w);
bool word_parts_joins(const struct word_parts_options *o, uint8_t type);
bool word_parts_generates(const struct word_parts_options *o, uint8_t type);

#endif
