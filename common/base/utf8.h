/* utf8.h - code points in and out of UTF-8. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "common/base/buf.h"

#define UTF8_REPLACEMENT 0xFFFDU

/* The code point at *at, which moves behind it. Malformed bytes give UTF8_REPLACEMENT, one byte at a time.
 * *at < s.n. */
uint32_t utf8_next(struct str s, size_t *at);
/* The code point that ends before *at (> 0), which moves to its start. */
uint32_t utf8_prev(struct str s, size_t *at);
/* Writes 1-4 bytes, returns how many. Surrogates and values past U+10FFFF are written as UTF8_REPLACEMENT. */
size_t utf8_put(char *to, uint32_t c);
void buf_utf8(struct buf *b, uint32_t c);
bool utf8_valid(struct str s);
/* Offset of the first character that is malformed (torn, overlong, a surrogate, past U+10FFFF), SIZE_MAX where
 * there is none. *wrong is the offset of the byte that makes it so; s.n where the text ends within it. */
size_t utf8_bad(struct str s, size_t *wrong);
/* Writes s with U+FFFD in place of what is malformed, as many as Java's decoder gives, and returns how many
 * bytes: at most 3 * s.n. */
size_t utf8_mend(char *to, struct str s);
/* Number of code points (malformed bytes count one each). */
size_t utf8_length(struct str s);
/* Number of UTF-16 code units that the text has: the unit of Elasticsearch's offsets. */
size_t utf16_length(struct str s);
/* Byte offset of UTF-16 offset `units` (clamped to the end). */
size_t utf16_to_byte(struct str s, size_t units);

#endif
