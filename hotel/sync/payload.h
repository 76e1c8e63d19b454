/* payload.h - the hotel that a message names. Pure; any thread.
 *
 * Three forms: the id in digits; a JSON number; a java.lang.Long as Java serialises it (what Spring sends
 * unless told otherwise): AC ED 00 05, an object of class java.lang.Long, the value in the last eight bytes,
 * the highest first. */
#ifndef HOTEL_SYNC_PAYLOAD_H
#define HOTEL_SYNC_PAYLOAD_H

#include "common/base/err.h"

/* ERR_ILLEGAL_ARGUMENT: it means nothing; the reason says why. */
enum err payload_id(struct str content_type, struct str body, int64_t *out, struct errmsg *em);

#endif
