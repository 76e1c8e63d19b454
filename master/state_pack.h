/* state_pack.h - published states and differences on their way: LZ4 where that makes them shorter. Routing and mappings repeat
 * themselves a lot, and a large cluster's master sends each of them to every node. */
#ifndef MASTER_STATE_PACK_H
#define MASTER_STATE_PACK_H

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/err.h"

/* Appends them, packed: the length of what was packed as a varint (0: not packed), then the bytes. No memory: out->failed, or
 * they go as they are. */
void state_pack(struct str bytes, struct buf *out);
/* *out points into `packed` or `arena`. ERR_CORRUPT, ERR_NO_MEMORY. */
enum err state_unpack(struct str *out, struct str packed, struct arena *arena, struct errmsg *em);

#endif
