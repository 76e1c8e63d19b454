/* json_bytes.h - a parsed value as bytes, with its places: an error found in it at another node names the same
 * line of the client's text. */
#ifndef PROTO_JSON_BYTES_H
#define PROTO_JSON_BYTES_H

#include "common/base/bytes.h"
#include "common/base/json.h"

/* `text` is what the value was parsed from; n == 0: it has no places. */
void json_value_encode(const struct json *v, struct str text, struct buf *out);
/* Sets in->bad when it cannot be read (also without memory). *text and what *v points to are in `arena`. */
void json_value_decode(struct json *v, struct str *text, struct bytes_in *in, struct arena *arena);

#endif
