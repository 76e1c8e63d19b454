/* ik_dict.h - the dictionary's interface for IK's segmenters (its making is in engine/analysis/ik.h). */
#ifndef ENGINE_ANALYSIS_DICT_IK_DICT_H
#define ENGINE_ANALYSIS_DICT_IK_DICT_H

#include "engine/analysis/dict/lexicon.h"
#include "engine/analysis/ik.h"

#include <stdatomic.h>

enum ik_list { IK_MAIN = 1, IK_QUANTIFIER = 2, IK_STOP = 3 };

struct ik_dictionary {
    struct dat dat;
    uint32_t main, quantifier, stop; /* the state that each list's words start from; 0: it is empty */
    struct image image;
    atomic_uint refs;
};

/* Makes a dictionary of gathered words, or takes the words and gives their image (for the compiler). */
enum err ik_dictionary_of(struct ik_dictionary **out, struct lexicon *words, struct errmsg *em);

#endif
