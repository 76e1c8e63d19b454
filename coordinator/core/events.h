/* events.h - events of the cluster, as this node sees them: derived from the differences between one applied state and the next,
 * and kept for the console, the newest EVENTS_KEPT of them.
 *
 * It knows states and times, and sends no requests: changes that a node does not see in a state make no events. Events are
 * numbered from 1. One thread adds, any reads. */
#ifndef COORDINATOR_CORE_EVENTS_H
#define COORDINATOR_CORE_EVENTS_H

#include "common/base/jsonw.h"
#include "common/cluster/state.h"

#define EVENTS_KEPT 512
/* A state may change thousands of shards: of one state, at most so many events of copies are told, and how many more there were. */
#define EVENTS_OF_COPIES_MAX 48

struct event_log;

struct event_moment {
    int64_t wall_ms, mono_ms;
    int64_t
        took_us; /* from the state's arrival (at its master: the begin of its publication) until it was applied; < 0: unknown */
};

/* NULL: no memory. */
struct event_log *event_log_new(void);
void event_log_free(struct event_log *l); /* NULL ok */
/* `from`: NULL for the first state, of which only the master and the nodes are events. An event without memory is lost. */
void event_log_add(struct event_log *l, const struct cluster_state *from, const struct cluster_state *to,
                   const struct event_moment *at);
/* The newest event's number; 0: there is none. */
uint64_t event_log_last(struct event_log *l);
/* The members "last" and "events" of an open object: those above `since`. All, when `since` is of another process's log: above the last. */
void event_log_write(struct event_log *l, uint64_t since, struct jsonw *w);

#endif
