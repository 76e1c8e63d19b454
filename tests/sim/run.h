/* run.h - one seeded run: a cluster, its clients, what befalls it, and what must be true throughout and at the end. */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include <stdbool.h>
#include <stdint.h>

struct run_opts {
    uint64_t seed;
    unsigned nodes;   /* 0: as the seed says */
    int64_t fault_ms; /* simulated time with faults */
    bool trace;
    bool damage; /* disks damage files, whatever the seed says */
    bool replay; /* at the end each core's course is played again, into a fresh one */
};

/* What a seed decides of its run, beside the faults that all have. */
struct run_shape {
    unsigned nodes;  /* at the beginning */
    bool drift;      /* clocks of different rates and offsets; the time of day jumps */
    bool slow;       /* syncs take time, at times long */
    bool members;    /* nodes come for the first time, leave for good, come back; votes are taken away */
    bool damage;     /* disks damage what they were given, fail, and are full */
    bool everywhere; /* and do so to every copy; else to no more than the index can spare */
};
#define RUN_SHAPES 16
struct run_shape run_shape(const struct run_opts *o);
unsigned run_shape_number(const struct run_shape *s); /* < RUN_SHAPES */
/* "drift, slow disks" */
void run_shape_name(unsigned number, char out[64]);

struct run_result {
    bool ok;
    char what[512];         /* when not */
    uint64_t steps, digest; /* the same for the same seed */
    uint64_t writes, acknowledged, messages;
    int64_t green_ms;      /* from the end of faults until every node sees a green cluster */
    uint64_t replayed;     /* steps of cores */
    unsigned damages, red; /* what was damaged; shards of which no good copy was left */
};

void run_once(const struct run_opts *o, struct run_result *r);

#endif
