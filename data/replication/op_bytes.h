/* op_bytes.h - operations of an engine as bytes, as one copy of a shard gives them to another.
 *
 * What the primary applied, with all that it decided: sequence number, term, version, outcome. Strings of a
 * decoded operation are borrowed from the bytes; `origin` is the receiver's to say. */
#ifndef DATA_REPLICATION_OP_BYTES_H
#define DATA_REPLICATION_OP_BYTES_H

#include "common/base/bytes.h"
#include "engine/index/engine.h"

#define OP_BYTES_MIN  8               /* what an operation takes at least: for get_count() */
#define OP_SEQ_NO_MAX (INT64_MAX - 1) /* what comes next, and differences to those below 0, are numbers too */

void op_encode(const struct engine_op *op, struct buf *out);
/* Sets in->bad on anything that op_encode() does not write. */
void op_decode(struct engine_op *op, struct bytes_in *in);

#endif
