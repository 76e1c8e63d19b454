/* bench.h - what the small benchmarks share: the thread's CPU clock, and one comparable line for each figure. */
#ifndef BENCH_MICRO_BENCH_H
#define BENCH_MICRO_BENCH_H

#include <stdio.h>
#include <time.h>

/* Seconds of this thread's CPU time. */
static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline void line(const char *what, double value, const char *unit)
{
    printf("%-28s %12.2f %s\n", what, value, unit);
}

#endif
