/* network.h - the simulator's transport: connections between simulated processes, which it delays, cuts and breaks.
 *
 * What it keeps of a real network: requests of one connection arrive in order, connections overtake each other; a request
 * whose target dies fails at its sender; a cut link delivers nothing until it heals, and then late, or its connections
 * break. Nothing is ever delivered twice, as the real transport sends nothing twice. */
#ifndef SIM_NETWORK_H
#define SIM_NETWORK_H

#include "common/base/rand.h"
#include "proto/message.h"
#include "tests/seams/sim_exec.h"

struct network;

struct network *network_new(struct sim_exec *x, struct rng *rng, unsigned places, int64_t delay_ms_max);
/* The transport of the process that now runs at place `at`; one of before is gone with all it had under way. Lives as long
 * as the network. */
const struct transport *network_open(struct network *n, unsigned at, struct str address,
                                     struct str ephemeral_id);
/* The process at that place takes requests. */
void network_start(struct network *n, unsigned at);
/* It dies: requests to it fail at their senders, who hear of lost connections. */
void network_kill(struct network *n, unsigned at);
/* One direction. Healing delivers what waits, or breaks the connection. */
void network_cut(struct network *n, unsigned from, unsigned to, bool cut);
void network_heal(struct network *n);
/* The part of a link's messages that vanish with their connection, in a thousand. */
void network_set_loss(struct network *n, unsigned per_thousand);
/* Tells of every message that sets out: kind, places, answer or not. NULL: nobody. */
void network_trace(struct network *n,
                   void (*sent)(void *self, unsigned from, unsigned to, uint16_t kind, bool is_answer),
                   void *self);
/* The same, with what they say. */
void network_watch(struct network *n,
                   void (*watch)(void *self, unsigned from, uint16_t kind, bool is_answer,
                                 struct str payload),
                   void *self);
uint64_t network_messages(const struct network *n); /* requests and answers */
uint64_t network_bytes(const struct network *n);    /* of their payloads */

#endif
