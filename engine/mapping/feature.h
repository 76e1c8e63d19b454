/* feature.h - features: positive numbers that are kept as frequencies of terms, as Lucene's FeatureField keeps them.
 *
 * The frequency is the number's upper 17 bits, its sign left out: 9 significant bits are left of it. */
#ifndef ENGINE_MAPPING_FEATURE_H
#define ENGINE_MAPPING_FEATURE_H

#include "common/base/defs.h"

/* Where the values of all fields of type rank_feature are: the term is the path. Those of rank_features are in a field of their own,
 * by their names. */
#define FEATURE_FIELD "_feature"

/* Of a positive normal number. */
uint32_t feature_freq(float value);
/* The number that a frequency, or a mean of several, stands for. */
float feature_value(float freq);

#endif
