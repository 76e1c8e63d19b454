/* merge_policy.h - the choice of segments to merge: tiers, as Lucene's TieredMergePolicy does it (M.
 * McCandless, 2011, "Visualizing Lucene's segment merges"). Pure: numbers in, a choice out. */
#ifndef ENGINE_INDEX_MERGE_POLICY_H
#define ENGINE_INDEX_MERGE_POLICY_H

#include "engine/index/engine.h"

struct merge_candidate {
    uint64_t bytes; /* of the segment */
    uint32_t docs, deleted;
    bool busy; /* in another merge */
};

/* Sets pick[i] of the segments to merge now; returns how many (0: nothing is worth it). */
size_t merge_policy_natural(const struct merge_candidate *c, size_t n, const struct engine_merge_settings *s,
                            struct arena *arena, bool *pick);
/* Down to max_segments; one segment with deletions is rewritten when max_segments is 1. */
size_t merge_policy_forced(const struct merge_candidate *c, size_t n, uint32_t max_segments, bool *pick);
size_t merge_policy_expunge(const struct merge_candidate *c, size_t n, const struct engine_merge_settings *s,
                            bool *pick);

#endif
