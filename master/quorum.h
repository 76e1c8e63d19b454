/* quorum.h - one node's part in electing a master and in agreeing on states: a pure core.
 *
 * quorum_step() takes what happened and the time, and leaves effects in a queue that the driver empties with
 * quorum_effect(). No clock, socket, thread or disk here. Safety is safety.h's; this decides who
 * asks whom, and when.
 *
 * Durability: an effect with a `ticket` must wait until EVENT_DURABLE has come for it: it tells
 * others of a term or a state that a PERSIST before it makes durable. Effects without one go out at once,
 * heartbeats above all.
 *
 * Modes: a candidate looks for peers and a master; a follower has one; a leader is one. docs/cluster.md has
 * the whole. */
#ifndef MASTER_QUORUM_H
#define MASTER_QUORUM_H

#include "common/base/rand.h"
#include "master/safety.h"
#include "proto/message.h"

struct quorum;

enum quorum_mode { QUORUM_CANDIDATE, QUORUM_FOLLOWER, QUORUM_LEADER };

struct quorum_settings {          /* milliseconds; Elasticsearch's names beside them */
    int64_t election_initial_ms;  /* cluster.election.initial_timeout */
    int64_t election_backoff_ms;  /* cluster.election.back_off_time */
    int64_t election_max_ms;      /* cluster.election.max_timeout */
    int64_t election_duration_ms; /* cluster.election.duration */
    int64_t check_interval_ms;    /* cluster.fault_detection.*.interval */
    int64_t check_timeout_ms;     /* cluster.fault_detection.*.timeout */
    uint32_t check_retries;       /* cluster.fault_detection.*.retry_count */
    int64_t publish_timeout_ms;   /* cluster.publish.timeout */
    int64_t lag_timeout_ms;       /* cluster.follower_lag.timeout */
    int64_t find_interval_ms;     /* discovery.find_peers_interval */
    int64_t request_timeout_ms;   /* discovery.request_peers_timeout */
    int64_t join_timeout_ms;      /* cluster.join.timeout */
};
/* As the node's settings say (NULL: their defaults). */
void quorum_settings_init(struct quorum_settings *out, const struct settings *s);

struct quorum_opts {
    struct node_meta local;            /* copied */
    struct str cluster_name;           /* copied */
    uint64_t term;                     /* from disk */
    struct cluster_state *accepted;    /* from disk, or an empty state; a reference is taken */
    const struct str *initial_masters; /* cluster.initial_master_nodes: names or addresses; copied */
    uint32_t n_initial_masters;
    struct rng *rng; /* borrowed */
    struct quorum_settings settings;
};

enum quorum_effect_kind {
    EFFECT_PERSIST,     /* term, and state unless NULL: durable, then EVENT_DURABLE */
    EFFECT_SEND,        /* message to peer; its answer comes as EVENT_ANSWER or EVENT_FAILED */
    EFFECT_PUBLISH,     /* state to peer, as a difference to `base` (NULL: whole) */
    EFFECT_REPLY,       /* message as the answer to `call` */
    EFFECT_REFUSE,      /* error as the answer to `call` */
    EFFECT_APPLY,       /* state is committed: make it this node's, then EVENT_APPLIED */
    EFFECT_MODE,        /* mode, term, peer (the master, when a follower) have changed */
    EFFECT_JOINED,      /* a leader: this node wants into the state: quorum_next_nodes() with it */
    EFFECT_LEFT,        /* a leader: this node is gone; text says why */
    EFFECT_RECONFIGURE, /* a leader: `config` should be voted by */
    EFFECT_PUBLISHED,   /* the state of EVENT_PUBLISH is committed and applied here, or (error) failed */
    EFFECT_ACKED,       /* every node of that state has applied it (ok), or their time is up */
    EFFECT_CONNECT,
    EFFECT_FORGET
};

/* What nodes say to each other, in QUORUM_MESSAGES and their answers; which fields count, quorum_bytes.c shows. */
struct quorum_message {
    enum message_kind kind;
    bool answer;
    struct node_meta from;
    struct str cluster_name, cluster_uuid; /* handshake, join */
    uint64_t term, accepted_term, version;
    bool ok, has_vote;
    struct node_meta master;       /* id.p == NULL: none */
    const struct node_meta *nodes; /* peers that are known */
    uint32_t n_nodes;
    struct str state, base_uuid; /* publish: bytes; base_uuid.n > 0: a difference to that state */
};

struct quorum_effect {
    enum quorum_effect_kind kind;
    uint64_t ticket;    /* 0: at once */
    uint64_t id;        /* of requests */
    int64_t timeout_ms; /* of requests */
    struct transport_peer peer;
    struct node_meta node;
    struct quorum_message message;
    struct cluster_state *state, *base; /* references, the driver's now */
    uint64_t term, version;
    enum quorum_mode mode;
    bool ok;
    void *call;
    struct errmsg error;
    struct str text;
    struct str_set config;
    struct arena arena; /* holds what the rest points to; quorum_effect_fini() */
};
void quorum_effect_fini(struct quorum_effect *e);

enum err quorum_new(struct quorum **out, const struct quorum_opts *opts, struct errmsg *em);
void quorum_free(struct quorum *q); /* NULL ok; forgets requests that wait for their answer */
/* Requests that wait for a version to be applied are refused, by effects: for a node that stops. */
void quorum_refuse_waiting(struct quorum *q, const struct errmsg *em);

/* The next effect, to be performed in order; false: none. */
bool quorum_effect(struct quorum *q, struct quorum_effect *out);
/* When it wants the next EVENT_TICK; INT64_MAX: never. */
int64_t quorum_wake_ms(const struct quorum *q);

/* ---- steps ---- */

/* All that can happen to the core. A row of these, with the options and the random numbers, is a node's whole course. */
enum quorum_event_kind {
    EVENT_START,   /* `seeds`: addresses to look at (discovery.seed_hosts, resolved) */
    EVENT_TICK,    /* quorum_wake_ms() has come */
    EVENT_REQUEST, /* `message` of another node; answered by an effect with `call` */
    EVENT_ANSWER,  /* `message`, to the request `id` */
    EVENT_FAILED,  /* the request `id`: `error` */
    EVENT_LOST,    /* the control connection to the process `ephemeral_id` went */
    EVENT_DURABLE, /* the effect with `number` as its ticket, and all before it */
    EVENT_APPLIED, /* the state whose version is `number` */
    EVENT_PUBLISH, /* the leader's next `state`, made from quorum_accepted(): one at a time, answered by
                               EFFECT_PUBLISHED, or at once: ERR_FAILED_TO_COMMIT, ERR_NOT_MASTER */
    EVENT_NOT_RECONFIGURED, /* what EFFECT_RECONFIGURE asked for was not published: it may be asked for again */
    EVENT_HAND_OVER /* the leader is about to go: another one is asked to take its place. ERR_NOT_MASTER:
                               there is none, or this one does not lead */
};

struct quorum_event {
    enum quorum_event_kind kind;
    int64_t now; /* monotonic milliseconds */
    uint64_t id, number;
    const struct quorum_message *message;
    void *call;
    const struct errmsg *error;
    struct str ephemeral_id;
    struct cluster_state *state; /* a reference is taken */
    const struct str *seeds;
    uint32_t n_seeds;
};

/* One step. ERR_OK, but for what the two events say that may be refused. */
enum err quorum_step(struct quorum *q, const struct quorum_event *e, struct errmsg *em);
/* The next state that only changes who is there and who votes: from quorum_accepted(), with this node as
 * master, the nodes that joined and without those known to be gone. What a new leader publishes first is made
 * of it, and joins and leaves. */
enum err quorum_next_nodes(struct quorum *q, const struct cluster_state *from, struct state_builder *b,
                           struct errmsg *em);

/* ---- views ---- */
enum quorum_mode quorum_mode(const struct quorum *q);
/* For people: whom a node without a master looks for, what came of it, and which votes it needs. */
void discovery_describe(const struct quorum *q, struct buf *out);
uint64_t quorum_term(const struct quorum *q);
struct cluster_state *quorum_accepted(const struct quorum *q); /* borrowed */
bool quorum_publishing(const struct quorum *q);
void quorum_invariant(const struct quorum *q);

#endif
