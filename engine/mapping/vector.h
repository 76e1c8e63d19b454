/* vector.h - the value of a field of type dense_vector, as a document keeps it: its numbers, and their magnitude behind them. */
#ifndef ENGINE_MAPPING_VECTOR_H
#define ENGINE_MAPPING_VECTOR_H

#include "common/base/str.h"

#define VECTOR_DIMS_MAX 2048

/* `values` has room for dims. false: the bytes are no vector of that many. */
bool vector_read(struct str bytes, uint32_t dims, float *values, float *magnitude) NODISCARD;

#endif
