/* network_int.h - the inside of the simulator's network: network.c (messages) and network_faults.c (what befalls them). */
#ifndef SIM_NETWORK_INT_H
#define SIM_NETWORK_INT_H

#include "tests/sim/network.h"

#define KINDS 256

struct process { /* one life of a place */
    struct network *net;
    unsigned at;
    bool alive, started;
    char address[64], ephemeral_id[64];
    struct transport api;
    struct {
        const struct executor *where;
        void (*handle)(void *arg, struct transport_call *call);
        void *arg;
    } served[KINDS];
    struct {
        const struct executor *on;
        void (*lost)(void *arg, const struct transport_peer *peer);
        void *arg;
    } watch;
    bool *connected; /* by place: with the process there now */
};

/* A payload. The same state on its way to a thousand nodes is kept once. */
struct shared {
    unsigned refs;
    uint64_t hash;
    struct buf bytes;
};

/* A request, from send() to the end of its answer. */
struct flight {
    struct flight *next, **at; /* in the list of those under way; at: what points to it */
    struct process *from, *to;
    struct transport_rq *rq; /* NULL: its sender hears nothing any more */
    struct transport_call call;
    struct shared *payload;
    struct buf answer;
    struct errmsg error;
    struct arena error_memory;
    struct timer *timer; /* of the time-out */
    bool answered;
};

/* What travels one way over one connection, in order. */
struct parcel {
    struct parcel *next;
    struct flight *m;
    bool is_answer;
};

struct link {
    struct parcel *first, **last; /* last: unless there is none */
    int64_t until_ms;             /* no later parcel arrives before */
    bool cut;
};

struct network {
    struct sim_exec *x;
    struct sim_lane *lane;
    const struct timers *timers;
    struct rng *rng;
    int64_t delay_ms_max, now_ms;
    unsigned loss;
    unsigned places;
    struct process **at;
    struct link *links; /* by sender, receiver and class */
    struct flight *under_way;
    struct shared *large; /* the last large payload; NULL: none yet */
    uint64_t messages, bytes;
    void (*sent)(void *self, unsigned from, unsigned to, uint16_t kind, bool is_answer);
    void *sent_self;
    void (*watch)(void *self, unsigned from, uint16_t kind, bool is_answer, struct str payload);
    void *watch_self;
};

static inline struct link *link_of(struct network *n, unsigned from, unsigned to, enum transport_class cls)
{
    return &n->links[((size_t)from * n->places + to) * TRANSPORT_CLASSES + cls];
}

/* The message's sender hears that it failed, unless it has heard of it. */
void message_fail(struct flight *m, enum err e, const char *why);
/* One timer a parcel: whichever fires takes the first. */
void link_deliver(void *link);
void request_arrives(void *message);
void break_connections(struct network *n, unsigned a, unsigned b);

#endif
