/* fold_table.h - the table behind the asciifolding filter. Pure. */
#ifndef ENGINE_ANALYSIS_FOLD_TABLE_H
#define ENGINE_ANALYSIS_FOLD_TABLE_H

#include "common/base/str.h"

/* The ASCII text that stands for c (>= 0x80), or NULL when c stays. */
const char *ascii_fold(uint32_t c);

#endif
