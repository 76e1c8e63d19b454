/* quorum_int.h - declarations shared by the files of the coordination core. */
#ifndef MASTER_QUORUM_INT_H
#define MASTER_QUORUM_INT_H

#include "master/quorum.h"

/* Another process that may be part of this cluster. */
struct peer {
    struct peer *next;
    char address[64];      /* where it is looked for */
    char why[160];         /* why nothing came of it, for people; "": nothing went wrong */
    struct arena arena;    /* of node */
    struct node_meta node; /* id.p == NULL: nobody has answered there yet */
    bool keep;             /* a seed, or in the last state: not dropped for being silent */
    int64_t found_ms;      /* when it last said something */
    int64_t next_probe_ms;
    uint64_t probe; /* id of the request that is out; 0: none */
    /* a leader's view of a node in its state */
    bool in_state, leaving;
    bool silent; /* led this node until it did not answer any more; nothing has come from it since */
    int64_t next_check_ms;
    uint32_t missed;
    uint64_t check;
    uint64_t has_version;  /* newest state it accepted in this term; 0: unknown */
    uint64_t sent_version; /* newest state that was sent to it, and is not known to have failed; 0: unknown */
    uint64_t applied_version;
};

enum target_phase { TARGET_SENT, TARGET_ACCEPTED, TARGET_COMMITTING, TARGET_APPLIED, TARGET_FAILED };
struct target {
    char id[32];
    struct transport_peer peer; /* lives in the publication's arena */
    enum target_phase phase;
};

/* A state on its way. Those that are committed and applied here stay until every node has answered. */
struct publication {
    struct publication *next;
    struct arena arena;
    struct cluster_state *state, *base; /* references */
    struct target *targets;
    uint32_t n;
    uint64_t own_ticket; /* this node's acceptance; 0: counted */
    bool committed, applied, acked;
    int64_t begun_ms, committed_ms;
    int64_t repeat_ms; /* when nodes that missed it get it again */
};

/* A request that is out. */
struct asked {
    uint64_t id;
    enum message_kind kind;
    char ephemeral_id[32]; /* "": a handshake */
    char address[64];
    uint64_t version;
};

struct waiting_call {
    void *call;
    uint64_t version;
};

struct joiner {
    struct joiner *next;
    struct arena arena;
    struct node_meta node;
};

struct quorum {
    struct quorum_settings set;
    struct arena arena; /* local, names */
    struct node_meta local;
    struct str cluster_name;
    struct str *initial_masters;
    uint32_t n_initial_masters;
    struct rng *rng;
    struct safety safety;
    enum quorum_mode mode;
    int64_t now;
    uint64_t seen_term; /* the highest known */
    uint64_t applied_version;

    struct quorum_effect *effects;
    size_t n_effects, first_effect, effects_cap;
    bool starved; /* an effect was lost for want of memory: as if the message had been */
    uint64_t next_id, next_ticket, durable;

    struct peer *peers;
    int64_t next_find_ms;
    char joining[32]; /* ephemeral id of the master that was asked */
    int64_t join_until_ms;

    int64_t next_election_ms; /* INT64_MAX: none planned */
    uint32_t attempts;
    bool asking_pre_votes;
    int64_t stood_ms; /* when it last asked for them; INT64_MIN: not since it voted for another */
    struct id_set pre_votes;
    struct { /* this node's vote in the current term, repeated to who got it: its first sending may be lost */
        char target[32];
        uint64_t term, accepted_term, accepted_version, ticket;
    } cast;
    struct vote own_vote; /* counts once own_vote_ticket is durable */
    uint64_t own_vote_ticket;

    struct joiner *joiners;
    struct arena leader_arena;
    struct node_meta leader; /* of a follower */
    int64_t next_leader_check_ms;
    uint32_t leader_missed;
    uint64_t leader_check;

    struct publication *publication; /* not yet applied here; NULL: none */
    struct publication *trailing;
    bool reconfiguring;
    int64_t next_hand_over_ms;
    struct nodes_part *noted; /* the nodes that are all among the peers; NULL: who knows */
    bool vote_missing;        /* a node took this leader's state that did not vote for it */

    struct asked *asked;
    size_t n_asked, asked_cap;
    struct waiting_call *commits; /* answered when their version is applied */
    size_t n_commits, commits_cap;
};

/* ---- effects (quorum.c). NULL: no memory; the effect is then as good as a lost message. ---- */
struct quorum_effect *quorum_emit(struct quorum *q, enum quorum_effect_kind kind);
/* What went wrong, for the effect to say. */
void quorum_effect_error(struct quorum_effect *e, const struct errmsg *em);
/* A request; the id is remembered. */
struct quorum_effect *quorum_ask(struct quorum *q, const struct transport_peer *to, enum message_kind kind,
                                 int64_t timeout_ms);
struct quorum_effect *quorum_reply(struct quorum *q, void *call, enum message_kind kind, bool ok);
void quorum_refuse(struct quorum *q, void *call, const struct errmsg *em);
/* Term and last accepted state to disk; the ticket. */
uint64_t quorum_persist(struct quorum *q, bool with_state);
static inline struct transport_peer peer_of_node(const struct node_meta *n)
{
    return (struct transport_peer){n->transport_address, n->ephemeral_id};
}
static inline bool id_is(const char *fixed, struct str id)
{
    return str_is(id, fixed);
}
void id_copy(char out[32], struct str id);

void quorum_become_candidate(struct quorum *q, const char *why);
void quorum_become_follower(struct quorum *q, const struct node_meta *leader);
void quorum_become_leader(struct quorum *q);
void quorum_saw_term(struct quorum *q, uint64_t term);

/* ---- discovery.c ---- */
struct peer *peer_by_ephemeral(struct quorum *q, struct str ephemeral_id);
/* Learns of an address, perhaps with what lives there. */
void discovery_note_address(struct quorum *q, struct str address, bool keep);
struct peer *discovery_note_node(struct quorum *q, const struct node_meta *n);
void discovery_tick(struct quorum *q);
int64_t discovery_wake(const struct quorum *q);
void discovery_handshake_done(struct quorum *q, const struct asked *a, const struct quorum_message *m);
void discovery_peers_done(struct quorum *q, const struct asked *a, const struct quorum_message *m);
void discovery_failed(struct quorum *q, const struct asked *a, const struct errmsg *error);
/* The node that was asked to take this one in has not. */
void discovery_join_failed(struct quorum *q, const struct asked *a, const struct errmsg *error);
void discovery_receive_peers(struct quorum *q, const struct quorum_message *m, void *call);
/* All nodes of the accepted state are peers. Costs nothing while they stay the same. */
void discovery_note_nodes(struct quorum *q);
void discovery_look_again(struct quorum *q); /* peers have been forgotten: the next time is the first again */
void discovery_note_state(struct quorum *q); /* the nodes of the accepted state are looked for too */
void discovery_free(struct quorum *q);

/* ---- election.c ---- */
void election_tick(struct quorum *q);
/* Stands in the next term, whatever this node is now. */
void election_start(struct quorum *q);
int64_t election_wake(const struct quorum *q);
void election_receive_pre_vote(struct quorum *q, const struct quorum_message *m, void *call);
void election_pre_vote_done(struct quorum *q, const struct quorum_message *m);
void election_receive_start_join(struct quorum *q, const struct quorum_message *m, void *call);
/* A leader that should not lead asks a node that may to stand at once: one that has the newest state, and whose vote
 * counts. Nothing is promised: should the word be lost, it is said again. */
bool election_hand_over(struct quorum *q); /* false: to nobody */
void election_receive_hand_over(struct quorum *q, const struct quorum_message *m, void *call);
void election_receive_join(struct quorum *q, const struct quorum_message *m, void *call);
void election_vote(struct quorum *q, const struct quorum_message *m);
void election_durable(struct quorum *q);
/* Raises the term with a vote for that node. false: not a newer term. */
bool election_raise_term(struct quorum *q, struct str target, uint64_t term, struct vote *vote,
                         uint64_t *ticket);
/* The vote that was cast for that leader in this term, if any, into an answer to it. */
void election_repeat_vote(const struct quorum *q, struct str leader, struct quorum_message *m);
void election_count_repeated(struct quorum *q, const struct quorum_message *m);
void joiners_clear(struct quorum *q);
void joiners_remove_present(struct quorum *q); /* those that the accepted state has */

/* ---- publication.c ---- */
/* EVENT_PUBLISH. */
enum err publication_begin(struct quorum *q, struct cluster_state *state, struct errmsg *em);
void publication_receive(struct quorum *q, const struct quorum_message *m, void *call);
void publication_receive_commit(struct quorum *q, const struct quorum_message *m, void *call);
void publication_accepted(struct quorum *q, const struct asked *a, const struct quorum_message *m);
void publication_commit_done(struct quorum *q, const struct asked *a);
void publication_failed_at(struct quorum *q, const struct asked *a, const struct errmsg *error);
void publication_durable(struct quorum *q);
void publication_applied(struct quorum *q, uint64_t version);
void publication_tick(struct quorum *q);
int64_t publication_wake(const struct quorum *q);
/* The one that is under way fails; nothing when there is none. */
void publication_abandon(struct quorum *q, const char *why);
void publications_free(struct quorum *q);

/* ---- detection.c ---- */
/* This node leads from now on: what it thought of others when it last did counts no more. A former master that
 * has not answered it until now has had its time: it is out at once, without a second round of checks. */
void detection_lead(struct quorum *q);
void detection_begin(struct quorum *q);
void detection_tick(struct quorum *q);
int64_t detection_wake(const struct quorum *q);
void detection_receive_follower_check(struct quorum *q, const struct quorum_message *m, void *call);
void detection_receive_leader_check(struct quorum *q, const struct quorum_message *m, void *call);
void detection_follower_done(struct quorum *q, const struct asked *a,
                             const struct quorum_message *m /* NULL: failed */);
void detection_leader_done(struct quorum *q, const struct quorum_message *m /* NULL: failed */);
void detection_left(struct quorum *q, struct peer *p, const char *why);

/* ---- voting.c ---- */

/* The configuration that should vote, given who is there (ids, sorted) and who leads; in `arena`. It is
 * `current` when nothing better is safe. Elasticsearch's Reconfigurator. */
struct str_set voting_improve(const struct str_set *current, const struct str_set *live,
                              const struct str_set *excluded, struct str leader, bool auto_shrink,
                              struct arena *arena);
/* This node is excluded from voting, and no longer among those whose votes count: it does not lead. */
bool voting_barred(const struct quorum *q);
void voting_check(struct quorum *q);
/* `n` has accepted this leader's state; NULL: not one of the state's. */
void voting_look_for(struct quorum *q, const struct node_meta *n);

/* The cluster that this node belongs to for good; n == 0: none yet (what a master proposed that was never
 * committed binds nobody). */
struct str quorum_cluster_uuid(const struct quorum *q);

#endif
