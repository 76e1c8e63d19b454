/* clock_real.h - the machine's clocks. Any thread. */
#ifndef SYS_CLOCK_REAL_H
#define SYS_CLOCK_REAL_H

#include "common/base/clock.h"

const struct clock *clock_real(void);

#endif
