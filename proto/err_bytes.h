/* err_bytes.h - errors as bytes, so that a refusal reads the same at every node. */
#ifndef PROTO_ERR_BYTES_H
#define PROTO_ERR_BYTES_H

#include "common/base/bytes.h"
#include "common/base/err.h"

/* Everything that an answer to a client shows of it. Also of an empty one. */
void errmsg_encode(const struct errmsg *em, struct buf *out);
/* Sets in->bad on anything that errmsg_encode() does not write; *em is empty then. */
void errmsg_decode(struct errmsg *em, struct bytes_in *in);

#endif
