/* The steps of the coordination core: what happens goes to the concern that it is of. */
#include "master/quorum_int.h"

#define TERM_LEAP_MAX ((uint64_t)1 << 32) /* elections that a node may have missed */

static void tick(struct quorum *q)
{
    discovery_tick(q);
    election_tick(q);
    publication_tick(q);
    detection_tick(q);
    if (q->mode == QUORUM_LEADER) {
        voting_check(q);
    }
}

/* Who took any term would follow nobody any more after a message with the highest that there is, and could not be elected: no
 * term comes after it. A node that has none yet may find a cluster at any. */
static bool believable(const struct quorum *q, uint64_t term)
{
    uint64_t own = q->safety.term;
    return term <= own || term - own <= TERM_LEAP_MAX || (own == 0 && term <= UINT64_MAX / 2);
}

static void doubt(const struct quorum *q, uint64_t term, struct errmsg *em)
{
    err_set(em, ERR_ILLEGAL_STATE,
            "term [%llu] cannot be that of a cluster of which this node knew term [%llu]",
            (unsigned long long)term, (unsigned long long)q->safety.term);
}

static void heard_from(struct quorum *q, const struct node_meta *from)
{
    struct peer *p = peer_by_ephemeral(q, from->ephemeral_id);
    if (p != NULL) {
        p->silent = false;
    }
}

/* ---- messages of coordination ---- */

static void receive_handshake(struct quorum *q, const struct quorum_message *m, void *call)
{
    quorum_reply(q, call, m->kind, true);
}

static void pre_vote_answered(struct quorum *q, UNUSED const struct asked *a, const struct quorum_message *m)
{
    election_pre_vote_done(q, m);
}

static void start_join_answered(struct quorum *q, UNUSED const struct asked *a,
                                const struct quorum_message *m)
{
    election_vote(q, m);
}

static void commit_answered(struct quorum *q, const struct asked *a, UNUSED const struct quorum_message *m)
{
    publication_commit_done(q, a);
}

static void leader_check_answered(struct quorum *q, UNUSED const struct asked *a,
                                  const struct quorum_message *m)
{
    detection_leader_done(q, m);
}

static void follower_check_failed(struct quorum *q, const struct asked *a, UNUSED const struct errmsg *error)
{
    detection_follower_done(q, a, NULL);
}

static void leader_check_failed(struct quorum *q, UNUSED const struct asked *a,
                                UNUSED const struct errmsg *error)
{
    detection_leader_done(q, NULL);
}

/* What a node does with a message, with its answer, and when there is none. NULL: nothing; what comes next says the rest. */
struct message_row {
    void (*receive)(struct quorum *q, const struct quorum_message *m, void *call);
    void (*answered)(struct quorum *q, const struct asked *a, const struct quorum_message *m);
    void (*failed)(struct quorum *q, const struct asked *a, const struct errmsg *error);
};
static const struct message_row messages[] = {
    [MESSAGE_HANDSHAKE] = {receive_handshake, discovery_handshake_done, discovery_failed},
    [MESSAGE_PEERS] = {discovery_receive_peers, discovery_peers_done, discovery_failed},
    [MESSAGE_PRE_VOTE] = {election_receive_pre_vote, pre_vote_answered, NULL},
    [MESSAGE_START_JOIN] = {election_receive_start_join, start_join_answered, NULL},
    [MESSAGE_JOIN] = {election_receive_join, NULL, discovery_join_failed},
    [MESSAGE_PUBLISH] = {publication_receive, publication_accepted, publication_failed_at},
    [MESSAGE_COMMIT] = {publication_receive_commit, commit_answered, publication_failed_at},
    [MESSAGE_FOLLOWER_CHECK] = {detection_receive_follower_check, detection_follower_done,
                                follower_check_failed},
    [MESSAGE_LEADER_CHECK] = {detection_receive_leader_check, leader_check_answered, leader_check_failed},
    [MESSAGE_HAND_OVER] = {election_receive_hand_over, NULL, NULL},
};

/* NULL: it is no message of coordination. */
static const struct message_row *row_of(enum message_kind kind)
{
    return (size_t)kind < ARRAY_LEN(messages) && messages[kind].receive != NULL ? &messages[kind] : NULL;
}

static void receive(struct quorum *q, const struct quorum_message *m, void *call)
{
    ERR_LOCAL(em);
    if (!str_eq(m->cluster_name, q->cluster_name)) {
        err_set(&em, ERR_ILLEGAL_STATE, "this node is of cluster [%.*s], not of [%.*s]",
                STR_ARG(q->cluster_name), STR_ARG(m->cluster_name));
        quorum_refuse(q, call, &em);
        return;
    }
    if (!believable(q, m->term)) {
        doubt(q, m->term, &em);
        quorum_refuse(q, call, &em);
        return;
    }
    heard_from(q, &m->from);
    quorum_saw_term(q, m->term);
    const struct message_row *row = row_of(m->kind);
    if (row == NULL) {
        err_set(&em, ERR_ILLEGAL_ARGUMENT, "no message of coordination");
        quorum_refuse(q, call, &em);
        return;
    }
    row->receive(q, m, call);
}

static bool take_asked(struct quorum *q, uint64_t id, struct asked *out)
{
    for (size_t i = 0; i < q->n_asked; i++) {
        if (q->asked[i].id == id) {
            *out = q->asked[i];
            q->asked[i] = q->asked[--q->n_asked];
            return true;
        }
    }
    return false;
}

static void failed(struct quorum *q, uint64_t id, const struct errmsg *error)
{
    struct asked a;
    if (!take_asked(q, id, &a)) {
        return;
    }
    const struct message_row *row = row_of(a.kind);
    if (row != NULL && row->failed != NULL) {
        row->failed(q, &a, error);
    }
}

static void answer(struct quorum *q, uint64_t id, const struct quorum_message *m)
{
    struct asked a;
    ERR_LOCAL(em);
    if (!believable(q, m->term)) {
        doubt(q, m->term, &em);
        failed(q, id, &em);
        return;
    }
    if (!take_asked(q, id, &a)) {
        return;
    }
    heard_from(q, &m->from);
    quorum_saw_term(q, m->term);
    const struct message_row *row = row_of(a.kind);
    if (row != NULL && row->answered != NULL) {
        row->answered(q, &a, m);
    }
}

static void lost(struct quorum *q, struct str ephemeral_id)
{
    struct peer *p = peer_by_ephemeral(q, ephemeral_id);
    if (q->mode == QUORUM_LEADER && p != NULL && p->in_state) {
        detection_left(q, p, "disconnected");
    }
    bool leader = q->mode == QUORUM_FOLLOWER && str_eq(q->leader.ephemeral_id, ephemeral_id);
    if (p != NULL) { /* whoever answers there next may be another process */
        p->node = (struct node_meta){0};
        arena_reset(&p->arena);
        p->in_state = false;
        p->next_probe_ms = q->now;
        p->probe = p->check = 0;
        discovery_look_again(q);
    }
    if (leader) {
        quorum_become_candidate(q, "the master is gone");
        tick(q);
    }
}

static void durable(struct quorum *q, uint64_t ticket)
{
    q->durable = MAX_OF(q->durable, ticket);
    election_durable(q);
    publication_durable(q);
}

static void applied(struct quorum *q, uint64_t version)
{
    q->applied_version = MAX_OF(q->applied_version, version);
    publication_applied(q, version);
    if (q->mode == QUORUM_LEADER) {
        voting_check(q);
    }
}

static void start(struct quorum *q, const struct str *seeds, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        discovery_note_address(q, seeds[i], true);
    }
    q->next_find_ms = q->now;
    discovery_note_state(q);
    tick(q);
}

enum err quorum_step(struct quorum *q, const struct quorum_event *e, struct errmsg *em)
{
    q->now = e->now;
    switch (e->kind) {
    case EVENT_START:
        start(q, e->seeds, e->n_seeds);
        break;
    case EVENT_TICK:
        tick(q);
        break;
    case EVENT_REQUEST:
        receive(q, e->message, e->call);
        break;
    case EVENT_ANSWER:
        answer(q, e->id, e->message);
        break;
    case EVENT_FAILED:
        failed(q, e->id, e->error);
        break;
    case EVENT_LOST:
        lost(q, e->ephemeral_id);
        break;
    case EVENT_DURABLE:
        durable(q, e->number);
        break;
    case EVENT_APPLIED:
        applied(q, e->number);
        break;
    case EVENT_PUBLISH:
        return publication_begin(q, e->state, em);
    case EVENT_NOT_RECONFIGURED:
        q->reconfiguring = false;
        break;
    case EVENT_HAND_OVER:
        return election_hand_over(q)
                   ? ERR_OK
                   : err_set(em, ERR_NOT_MASTER, "there is no node to take this one's place");
    }
    return ERR_OK;
}
