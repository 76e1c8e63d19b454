#include "common/sys/clock_real.h"

#include <time.h>

static int64_t read_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t real_mono_ns(UNUSED void *self)
{
    return read_ns(CLOCK_MONOTONIC);
}

static int64_t real_wall_ms(UNUSED void *self)
{
    return read_ns(CLOCK_REALTIME) / 1000000;
}

const struct clock *clock_real(void)
{
    static const struct clock real = {.mono_ns = real_mono_ns, .wall_ms = real_wall_ms};
    return &real;
}
