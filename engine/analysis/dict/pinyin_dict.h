/* pinyin_dict.h - the dictionary's interface for pinyin's parts (its making is in engine/analysis/pinyin.h). */
#ifndef ENGINE_ANALYSIS_DICT_PINYIN_DICT_H
#define ENGINE_ANALYSIS_DICT_PINYIN_DICT_H

#include "engine/analysis/pinyin.h"

enum pinyin_list { PINYIN_CHARACTER = 1, PINYIN_PHRASE = 2, PINYIN_SYLLABLE = 3 };

/* Characters outside this range have no reading of their own, whatever the table says, as in the plugin. */
#define PINYIN_FIRST 0x4E00
#define PINYIN_LAST  0x9FA5

/* A phrase and its readings ("chong2 qing4"), one a character. false: they do not match and nothing was
 * added. */
enum err pinyin_add_phrase(struct lexicon *words, struct str phrase, struct str readings, bool *added,
                           struct errmsg *em);

/* The reading of one character, toneless; empty: none. Borrowed from the dictionary. */
struct str pinyin_of_character(const struct dictionary *d, uint16_t unit);
/* The longest phrase at the start of units[0 .. n): its length, 0 for none; *readings: one a unit, separated
 * by blanks. */
size_t pinyin_match_phrase(const struct dictionary *d, const uint16_t *units, size_t n, struct str *readings);
/* Is this (lower-case Latin letters) a syllable? */
bool pinyin_is_syllable(const struct dictionary *d, struct str letters);

#endif
