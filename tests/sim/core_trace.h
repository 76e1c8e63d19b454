/* core_trace.h - what happens to the cores of a run's nodes: the last of it in words, and all of it, to be played into fresh cores.
 *
 * The cores are coordination (master/quorum.h), a primary and a copy that follows one (data/replication/group.h, follower.h), the
 * two sides of a recovery (data/recovery/target.h, source.h). They know nothing of this: the linker puts functions of this folder
 * in the place of theirs (--wrap; TRACE_WRAP in the Makefile). One thread. */
#ifndef SIM_CORE_TRACE_H
#define SIM_CORE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TRACE_NODES_MAX 16

struct core_traces_opts {
    void *self;
    unsigned (*node)(void *self); /* where it happens; NULL: all at 0 */
    int64_t (*now_ms)(void *self);
    bool whole; /* everything is kept, for core_traces_replay() */
};
/* From here on; nothing is kept before. */
void core_traces_begin(const struct core_traces_opts *o);
void core_traces_end(void);
/* The last events of a node and what followed, the oldest first; of the one where something happens now. */
void core_traces_print(FILE *to, unsigned node);
void core_traces_print_here(FILE *to);
struct core_traces_sum {
    unsigned cores[5]; /* in the order above */
    uint64_t steps;
};
/* Each course again, with a fresh core. false: something else followed; what[] says where. Nothing is kept from here on. */
bool core_traces_replay(struct core_traces_sum *sum, char *what, size_t n);

#endif
