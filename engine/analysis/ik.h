/* ik.h - segmentation of Chinese as the IK plugin does it: the tokenizers ik_smart and ik_max_word, and their
 * words. */
#ifndef ENGINE_ANALYSIS_IK_H
#define ENGINE_ANALYSIS_IK_H

#include "engine/analysis/component.h"
#include "engine/analysis/dict/dictionary.h"

/* Of <path_conf>/analysis-ik: main.dic (must be there), quantifier.dic, stopword.dic, and the files that
 * ext_dict and ext_stopwords of IKAnalyzer.cfg.xml name. */
extern const struct dictionary_kind dictionary_ik;

/* Tokenizers of type "ik_smart" and "ik_max_word". Options: enable_lowercase (true);
 * use_smart and enable_remote_dict are accepted and change nothing. After run(), out->end_offset is the end
 * of the last token, as in the plugin. ERR_ILLEGAL_STATE when env has no IK dictionary. */
PART_FACTORY(ik_tokenizer_new);

#endif
