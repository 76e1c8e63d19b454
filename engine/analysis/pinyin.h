/* pinyin.h - Chinese as pinyin: the plugin's token filter, tokenizer and analyzer, and the table of readings.
 *
 * The dictionary has the first reading of each character, phrases whose readings differ from that, and the
 * syllables by which Latin letters are split. */
#ifndef ENGINE_ANALYSIS_PINYIN_H
#define ENGINE_ANALYSIS_PINYIN_H

#include "engine/analysis/component.h"
#include "engine/analysis/dict/dictionary.h"

/* Of <path_conf>/analysis-pinyin: pinyin.txt (must be there), polyphone.txt, pinyin_alphabet.dict. */
extern const struct dictionary_kind dictionary_pinyin;

/* Token filter of type "pinyin" and tokenizer of type "pinyin" or "pinyin_first_letter" (which takes no
 * options), with all the options of the plugin. The analyzer "pinyin" is the tokenizer alone.
 * ERR_ILLEGAL_STATE when env has no pinyin dictionary, ERR_CONFIG_ERROR when the options leave nothing to
 * emit. */
PART_FACTORY(pinyin_filter_new);
PART_FACTORY(pinyin_tokenizer_new);

#endif
