/* kahan.h - sums that keep what rounding takes away. */
#ifndef BASE_KAHAN_H
#define BASE_KAHAN_H

#include <math.h>

/* Adds x to a sum and its error; both begin with zero. What is not finite stays. */
static inline void kahan_add(double *sum, double *error, double x)
{
    if (!isfinite(x)) {
        *sum = x + *sum;
        *error = 0;
    } else if (isfinite(*sum)) {
        double corrected = x - *error, updated = *sum + corrected;
        *error = (updated - *sum) - corrected;
        *sum = updated;
    }
}

#endif
