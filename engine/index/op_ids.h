/* op_ids.h - the results of named operations, so that a retry gets the first result.
 *
 * Names are remembered in the order of their arrival and go when their time is over, or when the coordinating
 * node says that it has answered them. One thread at a time. */
#ifndef ENGINE_INDEX_OP_IDS_H
#define ENGINE_INDEX_OP_IDS_H

#include "common/base/alloc.h"
#include "engine/index/engine.h"

struct op_seen {
    struct op_id id;
    int64_t at_ms; /* monotonic */
    int64_t seq_no, primary_term, version;
    uint8_t outcome; /* enum engine_outcome */
};

#define OP_SESSIONS_MAX \
    256 /* coordinating nodes' sessions whose answers are tracked; the longest unused gives way */

struct op_session {
    uint64_t session, settled_below;
    uint64_t used; /* tick of the last use */
};

struct op_ids {
    const struct allocator *alloc;
    struct op_seen *ring; /* entries head .. head + n - 1, modulo cap (a power of two) */
    uint64_t head;
    size_t n, cap;
    uint32_t *slots; /* ring index + 1; 2 * cap of them, linear probing */
    struct op_session *sessions;
    size_t n_sessions;
    uint64_t tick;
};

void op_ids_init(struct op_ids *o, const struct allocator *alloc);
void op_ids_fini(struct op_ids *o);
/* NULL: not seen. */
const struct op_seen *op_ids_find(const struct op_ids *o, struct op_id id);
/* Has the session's operation been answered, or was it forgotten because its time was over? What comes under that name now was sent
 * long ago, on a connection that its sender has given up. */
bool op_ids_answered(const struct op_ids *o, struct op_id id);
/* The session's operations below the counter were answered. Best effort: without memory it is not noted. */
void op_ids_settle(struct op_ids *o, uint64_t session, uint64_t below);
/* Forgets what is answered or from before `before_ms`, oldest first; what is that old counts as answered. */
void op_ids_expire(struct op_ids *o, int64_t before_ms);
/* Room for one more. */
enum err op_ids_reserve(struct op_ids *o, struct errmsg *em);
/* Remembers; room must have been reserved. A name seen before gets the new result. */
void op_ids_add(struct op_ids *o, const struct op_seen *seen);
/* Forgets the oldest one. */
void op_ids_pop(struct op_ids *o);
/* Forgets results of operations above seq_no: they were rolled back. */
void op_ids_rollback(struct op_ids *o, int64_t seq_no);
/* The unanswered operations and the known sessions, for a commit. */
void op_ids_encode(const struct op_ids *o, struct buf *out);
/* Remembers what a commit has, as of `now_ms`. ERR_CORRUPT. */
enum err op_ids_decode(struct op_ids *o, struct str bytes, int64_t now_ms, struct errmsg *em);
/* Asserts what always holds: each name is found where it is, and none is there twice. */
void op_ids_invariant(const struct op_ids *o);
size_t op_ids_bytes(const struct op_ids *o);

#endif
