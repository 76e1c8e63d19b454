/* stem.h - stemmers that Snowball's library does not have. Pure.
 *
 * Each works in place on a word of UTF-16 units (Lucene's lengths count those) and returns its new length,
 * which is never more than the old one. */
#ifndef ENGINE_ANALYSIS_STEM_H
#define ENGINE_ANALYSIS_STEM_H

#include "common/base/defs.h"

typedef size_t (*stem_fn)(uint16_t *s, size_t n);

size_t stem_porter(uint16_t *s, size_t n);         /* Porter 1980, with its author's later departures */
size_t stem_english_plural(uint16_t *s, size_t n); /* Harman's S-stemmer */
size_t stem_inflection(uint16_t *s, size_t n);     /* kstem, without its dictionary */
size_t stem_german_light(uint16_t *s, size_t n);   /* the light stemmers are J. Savoy's */
size_t stem_german_minimal(uint16_t *s, size_t n);
size_t stem_french_light(uint16_t *s, size_t n);
size_t stem_french_minimal(uint16_t *s, size_t n);
size_t stem_spanish_light(uint16_t *s, size_t n);
size_t stem_portuguese_light(uint16_t *s, size_t n);
size_t stem_italian_light(uint16_t *s, size_t n);

#endif
