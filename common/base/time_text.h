/* time_text.h - the text of a duration, in Elasticsearch's form. Pure. */
#ifndef BASE_TIME_TEXT_H
#define BASE_TIME_TEXT_H

#include "common/base/buf.h"

/* TimeValue.toString(): the largest unit, one digit behind the point, cut off and left out when zero: "1.7s",
 * "250.5ms", "0s". */
void time_put_ns(struct buf *b, int64_t ns);

#endif
