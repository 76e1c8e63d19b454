/* checkpoint.h - the set of seen sequence numbers: everything up to a checkpoint, and some above it.
 *
 * A bit a number above the checkpoint; in-order arrival keeps none. Knows numbers only. One thread at a time.
 */
#ifndef ENGINE_INDEX_CHECKPOINT_H
#define ENGINE_INDEX_CHECKPOINT_H

#include "common/base/alloc.h"
#include "common/base/err.h"

/* Sequence numbers this far above the checkpoint are refused: a peer that sends them is broken, and the bits
 * of the gap take memory (8 MiB at most). */
#define SEQ_GAP_MAX ((int64_t)64 * 1024 * 1024)

struct seq_tracker {
    const struct allocator *alloc;
    int64_t checkpoint; /* every number up to it is marked */
    int64_t max;        /* the highest marked one; >= checkpoint */
    uint64_t *words;    /* bit i: base + i is marked */
    size_t n_words;
    int64_t base;   /* a multiple of 64 */
    uint64_t above; /* marked numbers above the checkpoint */
};

/* Allocates nothing yet. */
void seq_tracker_init(struct seq_tracker *t, const struct allocator *alloc, int64_t checkpoint);
void seq_tracker_fini(struct seq_tracker *t);
/* Makes sure that seq_tracker_mark(seq) has room. ERR_ILLEGAL_ARGUMENT beyond SEQ_GAP_MAX. */
enum err seq_tracker_reserve(struct seq_tracker *t, int64_t seq, struct errmsg *em);
/* Marks; again is fine. Room must have been reserved, unless seq is the checkpoint's successor and nothing is
 * above. */
void seq_tracker_mark(struct seq_tracker *t, int64_t seq);
bool seq_tracker_has(const struct seq_tracker *t, int64_t seq);
/* The first number >= from that is not marked. */
int64_t seq_tracker_gap(const struct seq_tracker *t, int64_t from);

#endif
