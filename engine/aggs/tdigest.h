/* tdigest.h - quantiles of a stream in little memory: Dunning's t-digest in its tree form.
 *
 * Centroids are kept in the order of their means; a value joins the nearest centroid that has room, else
 * becomes one of its own. With fewer than about two values a unit of compression every value stays itself and
 * quantiles are exact interpolations, which equal Elasticsearch's. One thread. */
#ifndef ENGINE_AGGS_TDIGEST_H
#define ENGINE_AGGS_TDIGEST_H

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"

struct tdigest {
    struct arena *arena;
    double compression, min, max;
    int64_t count;
    double *mean;
    int64_t *weight;
    size_t n, cap_mean, cap_weight;
    uint64_t seed;
    bool failed; /* no memory: sticky */
};

struct tdigest *tdigest_new(struct arena *arena, double compression); /* NULL: no memory */
void tdigest_add(struct tdigest *t, double x, int64_t weight);
/* Adds all of the others; the outcome does not depend on their order. */
void tdigest_merge(struct tdigest *t, struct tdigest *const *others, uint32_t n);
double tdigest_quantile(const struct tdigest *t, double q); /* NaN when empty */
double tdigest_cdf(const struct tdigest *t, double x);
void tdigest_encode(const struct tdigest *t, struct buf *out);
/* NULL: no memory; in->bad: nonsense */
struct tdigest *tdigest_decode(struct bytes_in *in, struct arena *arena);

#endif
