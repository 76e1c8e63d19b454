/* run.h - one seeded run: a cluster, its clients, what befalls it, and what must be true throughout and at the end. */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include <stdbool.h>
#include <stdint.h>

struct run_opts {
    uint64_t seed;
    unsigned nodes;
    int64_t fault_ms; /* simulated time with faults */
    bool trace;
};

struct run_result {
    bool ok;
    char what[512];         /* when not */
    uint64_t steps, digest; /* the same for the same seed */
    uint64_t writes, acknowledged, messages;
    int64_t green_ms; /* from the end of faults until every node sees a green cluster */
};

void run_once(const struct run_opts *o, struct run_result *r);

#endif
