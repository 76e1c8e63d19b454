/* json_int.h - declarations shared by the parser (json.c) and the values (json_value.c). */
#ifndef BASE_JSON_INT_H
#define BASE_JSON_INT_H

#include "common/base/bits.h"
#include "common/base/json.h"

/* For how many members there is room where there are n: a power of two, by which json_put() knows when it is full. It may be
 * asked to put into any object, however that came about. */
static inline size_t members_room(size_t n)
{
    return n <= 1 ? n : (size_t)1 << bits_width(n - 1);
}

/* yajl decodes half a pair of surrogates to other characters, and to what is no UTF-8. A text that has an escape of one is decoded
 * here: half a pair is U+FFFD, as it is to whom encodes it. `raw` begins with the opening quote; false: no memory. */
bool json_has_surrogate(struct str raw);
bool json_decode_escapes(struct arena *arena, struct str raw, struct str *out);

#endif
