/* progress.h - the progress of a long command: a bar that is drawn over and over on a terminal, a line now and
 * then else. */
#ifndef HOTEL_CLI_PROGRESS_H
#define HOTEL_CLI_PROGRESS_H

#include "common/base/clock.h"
#include "common/base/defs.h"

struct progress {
    const char *what; /* "hotels" */
    uint64_t total;
    bool terminal;
    const struct clock *clock;
    int64_t started_ms, shown_ms;
};

/* Writes to standard error. */
void progress_start(struct progress *p, const char *what, uint64_t total);
void progress_show(struct progress *p, uint64_t done);
/* The last state, and the end of the bar's line. Returns the ms that it took. */
int64_t progress_end(struct progress *p, uint64_t done);

#endif
