/* hll_bias.h - the bias of HyperLogLog's raw estimate. */
#ifndef ENGINE_AGGS_HLL_BIAS_H
#define ENGINE_AGGS_HLL_BIAS_H

/* What to take away from a raw estimate of at most 5 * 2^p, p from 4 to 18: the mean of what was measured at the six
 * nearest estimates, the nearer the heavier. */
double hll_bias(double raw, int p);

#endif
