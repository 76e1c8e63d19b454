/* agg_corpora.h - random documents in shards and segments of several sizes: the i-th of `corpora` for the i-th run of a test. */
#ifndef TESTS_AGG_CORPORA_H
#define TESTS_AGG_CORPORA_H

#include "tests/unit/engine/aggs/agg_rig.h"

#include <stdlib.h>

struct corpus { /* shards, documents, documents a segment */
    uint32_t shards, n, segment;
};
static const struct corpus corpora[] = {{1, 200, 0},  {1, 200, 23}, {3, 300, 0},
                                        {4, 250, 17}, {2, 3, 0},    {1, 0, 0}};

static inline struct agg_rig *begin(int i)
{
    struct agg_rig *r = malloc(sizeof(*r));
    ar_init(r, 1000 + (uint64_t)i, corpora[i].shards, corpora[i].n, corpora[i].segment);
    return r;
}

static inline void end(struct agg_rig *r)
{
    ar_fini(r);
    free(r);
}

#endif
