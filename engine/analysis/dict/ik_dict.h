/* ik_dict.h - the dictionary's interface for IK's segmenters (its making is in engine/analysis/ik.h). */
#ifndef ENGINE_ANALYSIS_DICT_IK_DICT_H
#define ENGINE_ANALYSIS_DICT_IK_DICT_H

#include "engine/analysis/ik.h"

enum ik_list { IK_MAIN = 1, IK_QUANTIFIER = 2, IK_STOP = 3 };

#endif
