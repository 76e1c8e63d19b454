/* Elections: when to stand, pre-votes, votes; and the first configuration of a new cluster. */
#include "master/quorum_int.h"

#include <stdio.h>
#include <stdlib.h>

#define PLACEHOLDER_PREFIX "{bootstrap-placeholder}-"

/* ---- who could vote ---- */

static bool is_master_eligible(const struct node_meta *n)
{
    return (n->roles & ROLE_MASTER) != 0;
}

static void found_masters(const struct quorum *q, struct id_set *out)
{
    if (is_master_eligible(&q->local)) {
        id_set_add(out, q->local.id);
    }
    for (const struct peer *p = q->peers; p != NULL; p = p->next) {
        if (p->node.id.p != NULL && is_master_eligible(&p->node)) {
            id_set_add(out, p->node.id);
        }
    }
}

/* ---- the first configuration ---- */

static const struct node_meta *match(const struct quorum *q, struct str wanted)
{
    if (str_eq(q->local.name, wanted) || str_eq(q->local.transport_address, wanted)
        || str_eq(q->local.host, wanted)) {
        return &q->local;
    }
    for (const struct peer *p = q->peers; p != NULL; p = p->next) {
        const struct node_meta *n = &p->node;
        if (n->id.p != NULL && is_master_eligible(n)
            && (str_eq(n->name, wanted) || str_eq(n->transport_address, wanted) || str_eq(n->host, wanted))) {
            return n;
        }
    }
    return NULL;
}

static void set_initial(struct quorum *q, const struct str_set *config)
{
    struct state_builder b;
    struct coordination_part *p = coordination_part_new();
    if (p == NULL || !state_builder_init(&b, q->safety.accepted)) {
        state_part_unref(p != NULL ? &p->part : NULL);
        q->starved = true;
        return;
    }
    p->committed = str_set_copy(config, &p->part.arena);
    p->accepted = str_set_copy(config, &p->part.arena);
    bool ok = p->committed.v != NULL && p->accepted.v != NULL;
    state_put_coordination(&b, p);
    struct cluster_state *s = ok ? state_builder_seal(&b, STR("_initial_")) : NULL;
    if (s == NULL) {
        state_builder_fini(&b);
        q->starved = true;
        return;
    }
    if (safety_set_initial(&q->safety, s, NULL) == ERR_OK) {
        quorum_persist(q, true);
    }
    cluster_state_unref(s);
}

static void bootstrap(struct quorum *q)
{
    if (q->n_initial_masters == 0 || !is_master_eligible(&q->local) || safety_is_bootstrapped(&q->safety)) {
        return;
    }
    struct arena scratch;
    struct str_set config = {0};
    uint32_t found = 0;
    bool local = false;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    for (uint32_t i = 0; i < q->n_initial_masters; i++) {
        const struct node_meta *n = match(q, q->initial_masters[i]);
        local |= n == &q->local;
        found += n != NULL;
        struct str id =
            n != NULL ? n->id
                      : arena_printf(&scratch, PLACEHOLDER_PREFIX "%.*s", STR_ARG(q->initial_masters[i]));
        config = id.p != NULL ? str_set_with(&config, id, &scratch) : (struct str_set){NULL, 1};
        if (config.v == NULL) {
            break;
        }
    }
    if (config.v != NULL && local && found * 2 > q->n_initial_masters) {
        set_initial(q, &config);
    }
    arena_fini(&scratch);
}

/* ---- standing ---- */

/* Is this node's vote enough? Then there is nobody to leave time for. */
static bool alone(const struct quorum *q)
{
    struct id_set self = {0};
    bool yes = id_set_add(&self, q->local.id) && safety_is_quorum(&q->safety, &self);
    id_set_fini(&self);
    return yes;
}

static void plan_election(struct quorum *q)
{
    if (q->attempts == 0 && alone(q)) {
        q->next_election_ms = q->now;
        q->attempts++;
        return;
    }
    int64_t spread = MIN_OF(q->set.election_initial_ms + (int64_t)q->attempts * q->set.election_backoff_ms,
                            q->set.election_max_ms);
    int64_t delay = 1 + (int64_t)rng_below(q->rng, (uint64_t)MAX_OF(spread, 1));
    q->next_election_ms = q->now + delay + (q->attempts > 0 ? q->set.election_duration_ms : 0);
    q->attempts++;
}

static void ask_pre_votes(struct quorum *q)
{
    q->asking_pre_votes = true;
    q->stood_ms = q->now;
    id_set_clear(&q->pre_votes);
    for (const struct peer *p = q->peers; p != NULL; p = p->next) {
        if (p->node.id.p != NULL && is_master_eligible(&p->node)) {
            struct transport_peer to = peer_of_node(&p->node);
            struct quorum_effect *e = quorum_ask(q, &to, MESSAGE_PRE_VOTE, q->set.request_timeout_ms);
            if (e != NULL) {
                e->message.accepted_term = safety_accepted_term(&q->safety);
                e->message.version = q->safety.accepted->version;
            }
        }
    }
    struct quorum_message own = {.ok = true,
                                 .from = q->local,
                                 .term = q->safety.term,
                                 .accepted_term = safety_accepted_term(&q->safety),
                                 .version = q->safety.accepted->version};
    election_pre_vote_done(q, &own);
}

void election_tick(struct quorum *q)
{
    if (q->mode != QUORUM_CANDIDATE || !is_master_eligible(&q->local)) {
        return;
    }
    bootstrap(q);
    struct id_set found = {0};
    found_masters(q, &found);
    bool enough = safety_is_quorum(&q->safety, &found);
    id_set_fini(&found);
    if (!enough || voting_barred(q)) {
        q->next_election_ms = INT64_MAX;
        q->attempts = 0;
        return;
    }
    if (q->next_election_ms == INT64_MAX) {
        plan_election(q);
    }
    if (q->now >= q->next_election_ms) {
        plan_election(q);
        ask_pre_votes(q);
    }
}

int64_t election_wake(const struct quorum *q)
{
    return q->next_election_ms;
}

/* < 0: the other's last accepted state is older than this node's, > 0: newer. */
static int compare_accepted(const struct quorum *q, const struct quorum_message *m)
{
    uint64_t term = safety_accepted_term(&q->safety), version = q->safety.accepted->version;
    return m->accepted_term != term ? (m->accepted_term > term ? 1 : -1)
                                    : (m->version > version) - (m->version < version);
}

/* Another is being elected: this node leaves it the time for that. */
static void stand_back(struct quorum *q)
{
    q->asking_pre_votes = false;
    if (q->next_election_ms != INT64_MAX) {
        q->next_election_ms = MAX_OF(q->next_election_ms, q->now + q->set.election_duration_ms);
    }
}

/* Two that stand at once would take each other's votes, and both would have to wait for their next turn. So
 * one goes on: whoever has the newer state, or is further, or has the lower id; both see it alike. A node that
 * is still to stand lets the other go first. This decides about time alone: a pre-vote promises nothing. */
static bool lets_stand(struct quorum *q, const struct quorum_message *m)
{
    bool standing = q->stood_ms != INT64_MIN && q->now - q->stood_ms < q->set.election_duration_ms;
    int newer = compare_accepted(q, m);
    if (newer < 0) {
        return true; /* what this node has accepted goes with the answer, and ends it there */
    }
    if (standing && newer == 0 && (!q->asking_pre_votes || str_cmp(m->from.id, q->local.id) > 0)) {
        return false;
    }
    stand_back(q);
    return true;
}

void election_receive_pre_vote(struct quorum *q, const struct quorum_message *m, void *call)
{
    bool healthy =
        q->mode == QUORUM_LEADER || (q->mode == QUORUM_FOLLOWER && !str_eq(q->leader.id, m->from.id));
    if (peer_by_ephemeral(q, m->from.ephemeral_id) == NULL) {
        discovery_note_address(q, m->from.transport_address, false);
    }
    bool ok = !healthy && (q->mode != QUORUM_CANDIDATE || lets_stand(q, m));
    quorum_reply(q, call, MESSAGE_PRE_VOTE, ok);
}

void election_start(struct quorum *q)
{
    uint64_t term = MAX_OF(q->seen_term, q->safety.term) + 1;
    struct vote vote;
    uint64_t ticket;
    q->asking_pre_votes = false;
    for (const struct peer *p = q->peers; p != NULL; p = p->next) {
        if (p->node.id.p != NULL && is_master_eligible(&p->node)) {
            struct transport_peer to = peer_of_node(&p->node);
            struct quorum_effect *e = quorum_ask(q, &to, MESSAGE_START_JOIN, q->set.request_timeout_ms);
            if (e != NULL) {
                e->message.term = term;
            }
        }
    }
    if (election_raise_term(q, q->local.id, term, &vote, &ticket)) {
        q->own_vote = vote;
        q->own_vote_ticket = ticket;
    }
}

static bool may_succeed(const struct quorum *q, const struct peer *p)
{
    const struct coordination_part *c = q->safety.accepted->coordination;
    return p->in_state && !p->leaving && p->node.id.p != NULL && is_master_eligible(&p->node)
           && p->has_version == q->safety.accepted->version && str_set_has(&c->committed, p->node.id)
           && str_set_has(&c->accepted, p->node.id);
}

bool election_hand_over(struct quorum *q)
{
    if (q->mode != QUORUM_LEADER || q->now < q->next_hand_over_ms) {
        return false;
    }
    for (const struct peer *p = q->peers; p != NULL; p = p->next) {
        if (may_succeed(q, p)) {
            struct transport_peer to = peer_of_node(&p->node);
            (void)quorum_ask(q, &to, MESSAGE_HAND_OVER, q->set.request_timeout_ms);
            q->next_hand_over_ms = q->now + q->set.check_timeout_ms;
            return true;
        }
    }
    return false;
}

/* It stands as at any time, but neither waits for its turn nor asks whether an election is due: the leader says so. */
void election_receive_hand_over(struct quorum *q, const struct quorum_message *m, void *call)
{
    bool ok = q->mode == QUORUM_FOLLOWER && str_eq(q->leader.ephemeral_id, m->from.ephemeral_id)
              && m->term == q->safety.term && is_master_eligible(&q->local) && !voting_barred(q);
    quorum_reply(q, call, MESSAGE_HAND_OVER, ok);
    if (ok) {
        election_start(q);
    }
}

void election_pre_vote_done(struct quorum *q, const struct quorum_message *m)
{
    uint64_t mine = safety_accepted_term(&q->safety);
    bool newer =
        m->accepted_term > mine || (m->accepted_term == mine && m->version > q->safety.accepted->version);
    if (!q->asking_pre_votes || q->mode != QUORUM_CANDIDATE || !m->ok || newer) {
        return;
    }
    id_set_add(&q->pre_votes, m->from.id);
    if (safety_is_quorum(&q->safety, &q->pre_votes)) {
        election_start(q);
    }
}

/* ---- votes ---- */

bool election_raise_term(struct quorum *q, struct str target, uint64_t term, struct vote *vote,
                         uint64_t *ticket)
{
    if (safety_start_join(&q->safety, target, term, vote, NULL) != ERR_OK) {
        return false;
    }
    quorum_saw_term(q, term);
    q->own_vote_ticket = 0;
    id_copy(q->cast.target, target);
    q->cast.term = vote->term;
    q->cast.accepted_term = vote->accepted_term;
    q->cast.accepted_version = vote->accepted_version;
    q->cast.ticket = q->next_ticket + 1; /* of what is persisted next */
    *ticket = quorum_persist(q, false);
    if (q->mode != QUORUM_CANDIDATE) {
        quorum_become_candidate(q, "a newer term began");
    }
    return true;
}

void election_repeat_vote(const struct quorum *q, struct str leader, struct quorum_message *m)
{
    m->has_vote =
        q->cast.term == q->safety.term && q->durable >= q->cast.ticket && id_is(q->cast.target, leader);
    m->accepted_term = q->cast.accepted_term;
}

/* The leader's side: the state that the voter had then is older than what this leader has published since. */
void election_count_repeated(struct quorum *q, const struct quorum_message *m)
{
    struct vote v = {
        .voter = m->from.id, .target = q->local.id, .term = m->term, .accepted_term = m->accepted_term};
    bool counted;
    if (m->has_vote && q->mode == QUORUM_LEADER) {
        (void)safety_join(&q->safety, &v, &counted, NULL);
    }
}

void election_receive_start_join(struct quorum *q, const struct quorum_message *m, void *call)
{
    struct vote vote;
    uint64_t ticket;
    if (!election_raise_term(q, m->from.id, m->term, &vote, &ticket)) {
        quorum_reply(q, call, MESSAGE_START_JOIN, false);
        return;
    }
    stand_back(q);
    q->stood_ms = INT64_MIN;
    discovery_note_node(q, &m->from);
    struct quorum_effect *e = quorum_reply(q, call, MESSAGE_START_JOIN, true);
    if (e != NULL) {
        e->ticket = ticket;
        e->message.has_vote = true;
        e->message.term = vote.term;
        e->message.accepted_term = vote.accepted_term;
        e->message.version = vote.accepted_version;
    }
}

static void note_joiner(struct quorum *q, const struct node_meta *n)
{
    for (struct joiner **at = &q->joiners;
         *at != NULL;) { /* the same node, or who was at its address before */
        struct joiner *old = *at;
        if (str_eq(old->node.id, n->id) || str_eq(old->node.transport_address, n->transport_address)) {
            *at = old->next;
            arena_fini(&old->arena);
            free(old);
        } else {
            at = &old->next;
        }
    }
    struct joiner *j = calloc(1, sizeof(*j));
    if (j == NULL) {
        q->starved = true;
        return;
    }
    arena_init(&j->arena, NULL, ARENA_UNLIMITED);
    if (!node_meta_copy(&j->node, n, &j->arena)) {
        arena_fini(&j->arena);
        free(j);
        q->starved = true;
        return;
    }
    j->next = q->joiners;
    q->joiners = j;
}

void joiners_clear(struct quorum *q)
{
    while (q->joiners != NULL) {
        struct joiner *j = q->joiners;
        q->joiners = j->next;
        arena_fini(&j->arena);
        free(j);
    }
}

void joiners_remove_present(struct quorum *q)
{
    for (struct joiner **at = &q->joiners; *at != NULL;) {
        struct joiner *j = *at;
        const struct node_meta *n = cluster_node(q->safety.accepted, j->node.id);
        if (n == NULL || !str_eq(n->ephemeral_id, j->node.ephemeral_id)) {
            at = &j->next;
            continue;
        }
        *at = j->next;
        arena_fini(&j->arena);
        free(j);
    }
}

static void ask_to_add(struct quorum *q, const struct node_meta *n)
{
    struct quorum_effect *e = quorum_emit(q, EFFECT_JOINED);
    if (e != NULL && !node_meta_copy(&e->node, n, &e->arena)) {
        q->starved = true;
    }
}

/* A node wants to be led, with its vote or without. `asked`: it said so itself, because it has no master; although it may
 * be in the state already, it needs one from this master to know that it is followed again. */
static enum err take_join(struct quorum *q, const struct node_meta *n, const struct vote *vote, bool asked,
                          struct errmsg *em)
{
    bool counted = false;
    if (vote != NULL) {
        enum err e = safety_join(&q->safety, vote, &counted, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    if (q->mode == QUORUM_LEADER) {
        struct peer *p = peer_by_ephemeral(q, n->ephemeral_id);
        if (p != NULL) {
            p->leaving = false; /* the one that was thought gone is back */
            p->missed = 0;
        }
        const struct node_meta *present = cluster_node(q->safety.accepted, n->id);
        if (present == NULL || !str_eq(present->ephemeral_id, n->ephemeral_id) || p == NULL
            || p->has_version == 0 || asked) {
            note_joiner(q, n);
            ask_to_add(q, n);
        }
        return ERR_OK;
    }
    note_joiner(q, n);
    if (q->safety.won) {
        quorum_become_leader(q);
    }
    return ERR_OK;
}

void election_vote(struct quorum *q, const struct quorum_message *m)
{
    struct vote v = {.voter = m->from.id,
                     .target = q->local.id,
                     .term = m->term,
                     .accepted_term = m->accepted_term,
                     .accepted_version = m->version};
    if (m->ok && m->has_vote && q->mode != QUORUM_FOLLOWER) {
        take_join(q, &m->from, &v, false, NULL);
    }
}

void election_durable(struct quorum *q)
{
    if (q->own_vote_ticket != 0 && q->durable >= q->own_vote_ticket) {
        q->own_vote_ticket = 0;
        struct vote v = q->own_vote;
        if (v.term != q->safety.term || !str_eq(v.target, q->local.id)) {
            return;
        }
        v.target = v.voter = q->local.id;
        if (q->mode == QUORUM_CANDIDATE) {
            take_join(q, &q->local, &v, false, NULL);
        } else if (q->mode
                   == QUORUM_LEADER) { /* elected by others, whose disks were quicker: it may vote now, too */
            bool counted;
            (void)safety_join(&q->safety, &v, &counted, NULL);
            voting_check(q);
        }
    }
}

void election_receive_join(struct quorum *q, const struct quorum_message *m, void *call)
{
    ERR_LOCAL(em);
    struct str mine = quorum_cluster_uuid(q);
    struct vote v = {.voter = m->from.id,
                     .target = q->local.id,
                     .term = m->term,
                     .accepted_term = m->accepted_term,
                     .accepted_version = m->version};
    if (mine.n > 0 && m->cluster_uuid.n > 0 && !str_eq(mine, m->cluster_uuid)) {
        err_set(&em, ERR_ILLEGAL_STATE,
                "join validation on cluster state with a different cluster uuid [%.*s] than local cluster "
                "uuid [%.*s], rejecting",
                STR_ARG(mine), STR_ARG(m->cluster_uuid));
        quorum_refuse(q, call, &em);
        return;
    }
    if (q->mode == QUORUM_FOLLOWER || (q->mode == QUORUM_CANDIDATE && !m->has_vote)) {
        err_set(&em, ERR_NOT_MASTER, "this node is not the master");
        quorum_refuse(q, call, &em);
        return;
    }
    discovery_note_node(q, &m->from);
    if (take_join(q, &m->from, m->has_vote ? &v : NULL, true, &em) != ERR_OK) {
        quorum_refuse(q, call, &em);
        return;
    }
    quorum_reply(q, call, MESSAGE_JOIN, true);
}

/* ---- the nodes of the next state ---- */

/* Gone, as far as this node knows: a state that is published now should not count on it. */
static bool known_gone(struct quorum *q, const struct node_meta *n)
{
    const struct peer *p = peer_by_ephemeral(q, n->ephemeral_id);
    return p == NULL || p->leaving;
}

/* Another process with the id or the address of the one. */
static bool passes_for(const struct node_meta *one, const struct node_meta *n)
{
    return str_eq(n->id, one->id) || str_eq(n->transport_address, one->transport_address);
}

enum err quorum_next_nodes(struct quorum *q, const struct cluster_state *from, struct state_builder *b,
                           struct errmsg *em)
{
    static const struct nodes_part none;
    const struct nodes_part *old = from->nodes != NULL ? from->nodes : &none;
    uint32_t more = 1;
    for (const struct joiner *j = q->joiners; j != NULL; j = j->next) {
        more++;
    }
    struct nodes_part *p = nodes_part_copy(old, more);
    bool ok = p != NULL && nodes_part_put(p, &q->local);
    for (const struct joiner *j = q->joiners; ok && j != NULL; j = j->next) {
        /* Gone before it was in any state: it must not take its address from another. Nor does it take this node's. */
        if (known_gone(q, &j->node) || passes_for(&q->local, &j->node)) {
            continue;
        }
        for (uint32_t i = 0; i < p->n; i++) { /* another node's old address, taken over by this one */
            if (str_eq(p->v[i].transport_address, j->node.transport_address)
                && !str_eq(p->v[i].id, j->node.id)) {
                nodes_part_remove(p, p->v[i].id);
                break;
            }
        }
        ok = nodes_part_put(p, &j->node);
    }
    for (uint32_t i = 0; ok && i < p->n;) {
        if (!str_eq(p->v[i].id, q->local.id) && known_gone(q, &p->v[i])) {
            nodes_part_remove(p, p->v[i].id);
        } else {
            i++;
        }
    }
    if (ok) {
        p->master = arena_str(&p->part.arena, q->local.id);
        ok = p->master.p != NULL;
    }
    struct coordination_part *c =
        ok && from->coordination != NULL ? coordination_part_copy(from->coordination) : NULL;
    if (c == NULL) {
        state_part_unref(p != NULL ? &p->part : NULL);
        return err_no_memory(em);
    }
    c->term = q->safety.term;
    state_put_nodes(b, p);
    state_put_coordination(b, c);
    b->next->term = q->safety.term;
    return ERR_OK;
}
