/* char_kind.h - kinds of characters by the names that the n-gram tokenizers' token_chars use. Pure. */
#ifndef ENGINE_ANALYSIS_CHAR_KIND_H
#define ENGINE_ANALYSIS_CHAR_KIND_H

#include "common/base/str.h"

#define CHAR_KIND_SPACE 0x40000000U /* white space is no general category */

/* The general categories (ICU's U_GC_*_MASK) of a name; 0 when unknown. */
uint32_t char_kind_mask(struct str name);
/* All names, for the error message. */
const char *char_kind_names(void);
bool char_kind_has(uint32_t mask, uint32_t c);

#endif
