/* safety.h - the promises of elections and publications: the part of coordination that must never be wrong.
 *
 * The state machine of Elasticsearch's CoordinationState, whose model (ZenWithTerms) is published: terms, the
 * last accepted state, votes of joins, votes of a publication. Every function either refuses
 * (ERR_ILLEGAL_STATE, nothing changed) or takes the step. Steps that are promises to others (a vote, an
 * acceptance) change `term` or `accepted`: the caller makes both durable before it lets the answer out. Who
 * stands for election, and when, is no matter of safety. Not thread-safe. */
#ifndef MASTER_SAFETY_H
#define MASTER_SAFETY_H

#include "common/cluster/state.h"

/* Distinct node ids; owns its memory. Zeroed: empty. */
struct id_set {
    char (*v)[32];
    uint32_t n, cap;
};
bool id_set_add(struct id_set *s, struct str id); /* false: no memory, or an id of over 31 bytes */
bool id_set_has(const struct id_set *s, struct str id);
void id_set_clear(struct id_set *s);
void id_set_fini(struct id_set *s);

struct vote {                                       /* a join: voter votes for target as master of the term */
    struct str voter, target;                       /* node ids */
    uint64_t term, accepted_term, accepted_version; /* the last two: of the voter's last accepted state */
};

struct safety {
    /* durable */
    uint64_t term;
    struct cluster_state *accepted; /* a reference; its coordination part is never NULL */
    /* of this process */
    struct str node_id;     /* borrowed */
    bool voted_since_start; /* joins count only for terms that began in this process */
    bool won;
    struct id_set joins, publish_votes;
    uint64_t published_version;      /* the last one that this master sent out */
    struct str_set published_config; /* lives in `arena` */
    struct arena arena;
};

/* `accepted` (a reference is taken) and `term` as they were read from disk. */
void safety_init(struct safety *s, struct str node_id, uint64_t term, struct cluster_state *accepted);
void safety_fini(struct safety *s);

uint64_t safety_accepted_term(const struct safety *s);
/* Does a set of nodes hold a majority of both of the accepted state's configurations? */
bool safety_is_quorum(const struct safety *s, const struct id_set *nodes);
bool config_has_quorum(const struct str_set *config, const struct id_set *nodes);
bool safety_is_bootstrapped(const struct safety *s);

/* A first state with its first configurations, once in a cluster's life. Takes a reference. */
enum err safety_set_initial(struct safety *s, struct cluster_state *state, struct errmsg *em);
/* Raises the term; *out is the vote for `target`, to be sent once the term is durable. */
enum err safety_start_join(struct safety *s, struct str target, uint64_t term, struct vote *out,
                           struct errmsg *em);
/* A vote for this node came. *counted: it was new. s->won may have become true. */
enum err safety_join(struct safety *s, const struct vote *v, bool *counted, struct errmsg *em);
/* This process leads no more in this term: late votes do not bring it back. */
void safety_give_up(struct safety *s);
/* May this master publish that state? From here on it is the one that votes are for. */
enum err safety_publish(struct safety *s, const struct cluster_state *state, struct errmsg *em);
/* A state came from the master of the current term: accepted from here on (a reference is taken). */
enum err safety_accept(struct safety *s, struct cluster_state *state, struct errmsg *em);
/* A node has accepted this version. *commit: now a majority has. */
enum err safety_accepted_by(struct safety *s, struct str node_id, uint64_t term, uint64_t version,
                            bool *commit, struct errmsg *em);
/* The last accepted state is committed: its configuration counts as such. s->accepted may be replaced by a
 * marked one. */
enum err safety_commit(struct safety *s, uint64_t term, uint64_t version, struct errmsg *em);

/* Asserts what must hold between steps. */
void safety_invariant(const struct safety *s);

#endif
