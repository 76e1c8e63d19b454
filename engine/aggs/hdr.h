/* hdr.h - a histogram of high dynamic range: counts of values that differ by less than some number of digits.
 *
 * As HdrHistogram's DoubleHistogram: each power of two is cut into equal steps, and answers are the highest
 * value that falls into the same step. Steps are kept sparse and do not depend on the range of the values, so
 * that merging is addition. Negative values are refused. */
#ifndef ENGINE_AGGS_HDR_H
#define ENGINE_AGGS_HDR_H

#include "common/base/arena.h"
#include "common/base/bytes.h"

struct hdr_step {
    int64_t key; /* grows with the value */
    int64_t count;
};

struct hdr {
    struct arena *arena;
    int digits;
    int half_bits; /* a power of two has 2^half_bits steps */
    double lowest; /* of the values above 0 */
    int64_t total;
    struct hdr_step *v; /* ascending */
    size_t n, cap;
    bool failed, negative;
};

struct hdr *hdr_new(struct arena *arena, int digits);
void hdr_add(struct hdr *h, double x);
void hdr_merge(struct hdr *h, const struct hdr *other);
double hdr_percentile(const struct hdr *h, double percentile); /* 0 ... 100; NaN when empty */
double hdr_rank(const struct hdr *h, double x);                /* percent at or below x */
void hdr_encode(const struct hdr *h, struct buf *out);
struct hdr *hdr_decode(struct bytes_in *in, struct arena *arena);

#endif
