/* Publishing a state: to every node of it, accepted by a majority, committed, applied. Both sides. */
#include "master/quorum_int.h"

#include <stdlib.h>

/* ---- a node that gets states ---- */

static enum err state_of_message(struct quorum *q, const struct quorum_message *m, struct cluster_state **out,
                                 struct errmsg *em)
{
    enum err e = m->base_uuid.n > 0 ? cluster_state_patch(out, q->safety.accepted, m->state, em)
                                    : cluster_state_decode(out, m->state, em);
    if (e == ERR_OK) {
        (*out)->own = q->safety.accepted->own;
    }
    if (e == ERR_OK && ((*out)->coordination == NULL || (*out)->nodes == NULL)) {
        cluster_state_unref(*out);
        *out = NULL;
        e = err_set(em, ERR_CORRUPT, "a state without nodes or configuration");
    }
    return e;
}

/* ok false, term the sender's: what it published counts no more, or (same term) it must send the whole
 * state. */
void publication_receive(struct quorum *q, const struct quorum_message *m, void *call)
{
    ERR_LOCAL(em);
    struct cluster_state *state;
    if (m->term < q->safety.term || (m->term == q->safety.term && q->mode == QUORUM_LEADER)) {
        quorum_reply(q, call, MESSAGE_PUBLISH, false);
        return;
    }
    enum err e = state_of_message(q, m, &state, &em);
    if (e == ERR_ILLEGAL_STATE) {
        struct quorum_effect *r = quorum_reply(q, call, MESSAGE_PUBLISH, false);
        if (r != NULL) {
            r->message.term = m->term;
        }
        return;
    }
    if (e == ERR_OK && state->coordination->term != m->term) {
        e = err_set(&em, ERR_CORRUPT, "a state of term [%llu] in a message of term [%llu]",
                    (unsigned long long)state->coordination->term, (unsigned long long)m->term);
        cluster_state_unref(state);
    }
    if (e != ERR_OK) {
        quorum_refuse(q, call, &em);
        return;
    }
    struct vote vote = {0};
    uint64_t ticket;
    election_raise_term(q, m->from.id, m->term, &vote, &ticket);
    /* the answer was lost */
    bool again = m->term == safety_accepted_term(&q->safety) && state->version == q->safety.accepted->version;
    e = again ? ERR_OK : safety_accept(&q->safety, state, &em);
    cluster_state_unref(state);
    if (e != ERR_OK) {
        quorum_refuse(q, call, &em);
        return;
    }
    ticket = again ? q->next_ticket : quorum_persist(q, true);
    quorum_become_follower(q, &m->from);
    discovery_note_nodes(q);
    struct quorum_effect *r = quorum_reply(q, call, MESSAGE_PUBLISH, true);
    if (r != NULL) {
        r->ticket = ticket;
        election_repeat_vote(q, m->from.id, &r->message);
        r->message.version = q->safety.accepted->version;
    }
}

static bool keep_commit(struct quorum *q, void *call, uint64_t version)
{
    if (q->n_commits == q->commits_cap) {
        size_t cap = q->commits_cap == 0 ? 8 : q->commits_cap * 2;
        struct waiting_call *v = realloc(q->commits, cap * sizeof(*v));
        if (v == NULL) {
            return false;
        }
        q->commits = v;
        q->commits_cap = cap;
    }
    q->commits[q->n_commits++] = (struct waiting_call){call, version};
    return true;
}

static void apply_accepted(struct quorum *q)
{
    struct quorum_effect *e = quorum_emit(q, EFFECT_APPLY);
    if (e != NULL) {
        e->state = cluster_state_ref(q->safety.accepted);
        e->version = e->state->version;
    }
}

void publication_receive_commit(struct quorum *q, const struct quorum_message *m, void *call)
{
    ERR_LOCAL(em);
    if (m->term == q->safety.term && m->term == safety_accepted_term(&q->safety)
        && m->version < q->safety.accepted->version && keep_commit(q, call, m->version)) {
        return; /* the next one came first, as this node was slow: it contains this one, and is answered when applied */
    }
    if (safety_commit(&q->safety, m->term, m->version, &em) != ERR_OK || !keep_commit(q, call, m->version)) {
        quorum_refuse(q, call, &em);
        return;
    }
    apply_accepted(q);
}

/* ---- the leader ---- */

static void publication_free(struct publication *p)
{
    cluster_state_unref(p->state);
    cluster_state_unref(p->base);
    arena_fini(&p->arena);
    free(p);
}

void publications_free(struct quorum *q)
{
    if (q->publication != NULL) {
        publication_free(q->publication);
    }
    while (q->trailing != NULL) {
        struct publication *p = q->trailing;
        q->trailing = p->next;
        publication_free(p);
    }
}

static struct publication *publication_of(struct quorum *q, uint64_t version)
{
    if (q->publication != NULL && q->publication->state->version == version) {
        return q->publication;
    }
    for (struct publication *p = q->trailing; p != NULL; p = p->next) {
        if (p->state->version == version) {
            return p;
        }
    }
    return NULL;
}

static struct target *target_of(struct publication *p, const struct asked *a)
{
    for (uint32_t i = 0; i < p->n; i++) {
        if (id_is(a->ephemeral_id, p->targets[i].peer.ephemeral_id)) {
            return &p->targets[i];
        }
    }
    return NULL;
}

static void send_state(struct quorum *q, struct publication *p, struct target *t, bool whole)
{
    struct quorum_effect *e = quorum_ask(q, &t->peer, MESSAGE_PUBLISH, q->set.publish_timeout_ms);
    if (e == NULL) {
        t->phase = TARGET_FAILED;
        return;
    }
    q->asked[q->n_asked - 1].version = p->state->version;
    e->kind = EFFECT_PUBLISH;
    e->state = cluster_state_ref(p->state);
    e->base = whole ? NULL : cluster_state_ref(p->base);
    e->message.version = p->state->version;
}

static bool make_targets(struct quorum *q, struct publication *p)
{
    const struct nodes_part *nodes = p->state->nodes;
    p->targets = ARENA_ARRAY(&p->arena, struct target, nodes->n);
    for (uint32_t i = 0; p->targets != NULL && i < nodes->n; i++) {
        const struct node_meta *n = &nodes->v[i];
        if (str_eq(n->id, q->local.id)) {
            continue;
        }
        struct target *t = &p->targets[p->n++];
        id_copy(t->id, n->id);
        t->peer = peer_of_node(n); /* borrows from the state, which the publication holds */
    }
    return p->targets != NULL;
}

/* One that has not answered yet gets the next difference behind the last; should it miss that one, it says so. So it does when what
 * a new master supposes is not so: that a node of its own last state has that state, as most have when a master is lost. */
static bool takes_difference(const struct publication *p, const struct target *t, const struct peer *peer)
{
    if (peer == NULL || peer->has_version == p->base->version || peer->sent_version == p->base->version) {
        return peer != NULL;
    }
    const struct node_meta *was = cluster_node(p->base, str_of(t->id));
    return p->base->coordination->term != p->state->coordination->term && peer->has_version == 0
           && peer->sent_version == 0 && was != NULL && str_eq(was->ephemeral_id, t->peer.ephemeral_id);
}

enum err publication_begin(struct quorum *q, struct cluster_state *state, struct errmsg *em)
{
    if (q->mode != QUORUM_LEADER || q->publication != NULL) {
        return err_set(em, q->mode != QUORUM_LEADER ? ERR_NOT_MASTER : ERR_ILLEGAL_STATE,
                       "this node cannot publish now");
    }
    struct publication *p = calloc(1, sizeof(*p));
    if (p == NULL) {
        return err_no_memory(em);
    }
    arena_init(&p->arena, NULL, ARENA_UNLIMITED);
    p->state = cluster_state_ref(state);
    p->base = cluster_state_ref(q->safety.accepted);
    p->begun_ms = q->now;
    enum err e = make_targets(q, p) ? safety_publish(&q->safety, state, em) : err_no_memory(em);
    e = e == ERR_OK ? safety_accept(&q->safety, state, em) : e;
    if (e != ERR_OK) {
        publication_free(p);
        return e;
    }
    q->publication = p;
    p->own_ticket = quorum_persist(q, true);
    for (uint32_t i = 0; i < p->n; i++) {
        struct peer *peer = peer_by_ephemeral(q, p->targets[i].peer.ephemeral_id);
        send_state(q, p, &p->targets[i], !takes_difference(p, &p->targets[i], peer));
        if (peer != NULL) {
            peer->sent_version = p->targets[i].phase != TARGET_FAILED ? state->version : 0;
        }
    }
    return ERR_OK;
}

static void finish(struct quorum *q, const struct errmsg *error)
{
    struct publication *p = q->publication;
    struct quorum_effect *e = quorum_emit(q, EFFECT_PUBLISHED);
    if (e != NULL) {
        e->version = p->state->version;
        e->ok = error == NULL;
        if (error != NULL) {
            quorum_effect_error(e, error);
        }
    }
    q->publication = NULL;
    if (error != NULL) {
        publication_free(p);
    } else {
        p->next = q->trailing;
        q->trailing = p;
    }
}

void publication_abandon(struct quorum *q, const char *why)
{
    ERR_LOCAL(em);
    if (q->publication != NULL) {
        err_set(&em, ERR_FAILED_TO_COMMIT, "publication of version [%llu] in term [%llu] failed: %s",
                (unsigned long long)q->publication->state->version, (unsigned long long)q->safety.term, why);
        finish(q, &em);
    }
    while (q->trailing != NULL) {
        struct publication *p = q->trailing;
        q->trailing = p->next;
        publication_free(p);
    }
}

/* Everybody has answered, or never will: those who wait for all copies of a change may be told. */
static void check_acked(struct quorum *q, struct publication *p, bool time_up)
{
    bool all = true, open = false;
    for (uint32_t i = 0; i < p->n; i++) {
        all &= p->targets[i].phase == TARGET_APPLIED;
        open |= p->targets[i].phase != TARGET_APPLIED && p->targets[i].phase != TARGET_FAILED;
    }
    if (p->acked || !p->applied || (open && !time_up)) {
        return;
    }
    struct quorum_effect *e = quorum_emit(q, EFFECT_ACKED);
    if (e != NULL) {
        e->version = p->state->version;
        e->ok = all;
    }
    p->acked = true;
}

static void send_commit(struct quorum *q, struct publication *p, struct target *t)
{
    struct quorum_effect *e = quorum_ask(q, &t->peer, MESSAGE_COMMIT, q->set.publish_timeout_ms);
    if (e == NULL) {
        t->phase = TARGET_FAILED;
        return;
    }
    q->asked[q->n_asked - 1].version = p->state->version;
    e->message.term = p->state->coordination->term;
    e->message.version = p->state->version;
    t->phase = TARGET_COMMITTING;
}

static void vote_for(struct quorum *q, struct publication *p, struct str node_id)
{
    bool commit = false;
    if (safety_accepted_by(&q->safety, node_id, p->state->coordination->term, p->state->version, &commit,
                           NULL)
            != ERR_OK
        || !commit || p->committed) {
        return;
    }
    p->committed = true;
    p->committed_ms = q->now;
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->targets[i].phase == TARGET_ACCEPTED) {
            send_commit(q, p, &p->targets[i]);
        }
    }
    ERR_LOCAL(em);
    if (p->own_ticket == 0) { /* else once this node has it itself */
        if (safety_commit(&q->safety, q->safety.term, p->state->version, &em) == ERR_OK) {
            apply_accepted(q);
        }
    }
}

/* No majority can come together any more: whoever can be reached may have another master. */
static void check_possible(struct quorum *q)
{
    struct publication *p = q->publication;
    struct id_set possible = {0};
    if (p == NULL || p->committed) {
        return;
    }
    id_set_add(&possible, q->local.id);
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->targets[i].phase != TARGET_FAILED) {
            id_set_add(&possible, str_of(p->targets[i].id));
        }
    }
    const struct coordination_part *c = p->state->coordination;
    bool quorum = config_has_quorum(&c->committed, &possible) && config_has_quorum(&c->accepted, &possible);
    id_set_fini(&possible);
    if (!quorum) {
        quorum_become_candidate(q, "no majority can be reached");
    }
}

void publication_accepted(struct quorum *q, const struct asked *a, const struct quorum_message *m)
{
    struct publication *p = publication_of(q, a->version);
    struct target *t = p != NULL && q->mode == QUORUM_LEADER ? target_of(p, a) : NULL;
    if (t == NULL || t->phase != TARGET_SENT) {
        return;
    }
    if (m->term > q->safety.term) {
        quorum_become_candidate(q, "a newer term began");
        return;
    }
    struct peer *peer = peer_by_ephemeral(q, t->peer.ephemeral_id);
    if (!m->ok) {
        if (peer != NULL) {
            peer->has_version = 0;
            peer->sent_version = p->state->version;
        }
        send_state(q, p, t, true);
        return;
    }
    t->phase = TARGET_ACCEPTED;
    if (peer != NULL) {
        peer->has_version = MAX_OF(peer->has_version, p->state->version);
    }
    election_count_repeated(q, m);
    voting_look_for(q, cluster_node(p->state, str_of(t->id)));
    if (p->committed) {
        send_commit(q, p, t);
    } else {
        vote_for(q, p, str_of(t->id));
    }
}

void publication_commit_done(struct quorum *q, const struct asked *a)
{
    struct publication *p = publication_of(q, a->version);
    struct target *t = p != NULL ? target_of(p, a) : NULL;
    struct peer *peer = peer_by_ephemeral(q, str_of(a->ephemeral_id));
    if (peer != NULL) {
        peer->applied_version = MAX_OF(peer->applied_version, a->version);
    }
    if (t != NULL) {
        t->phase = TARGET_APPLIED;
        check_acked(q, p, false);
    }
}

void publication_failed_at(struct quorum *q, const struct asked *a, UNUSED const struct errmsg *error)
{
    struct publication *p = publication_of(q, a->version);
    struct target *t = p != NULL ? target_of(p, a) : NULL;
    struct peer *peer = peer_by_ephemeral(q, str_of(a->ephemeral_id));
    if (peer != NULL && a->kind == MESSAGE_PUBLISH) { /* who missed a commit has the state all the same */
        peer->has_version = peer->sent_version = 0;
    }
    if (t == NULL) {
        return;
    }
    t->phase = TARGET_FAILED;
    if (p == q->publication) {
        check_possible(q);
    }
    if (publication_of(q, a->version) != NULL) { /* still there */
        check_acked(q, p, false);
    }
}

void publication_durable(struct quorum *q)
{
    struct publication *p = q->publication;
    if (p == NULL || p->own_ticket == 0 || q->durable < p->own_ticket) {
        return;
    }
    p->own_ticket = 0;
    if (p->committed) { /* a majority without this node was quicker */
        if (safety_commit(&q->safety, q->safety.term, p->state->version, NULL) == ERR_OK) {
            apply_accepted(q);
        }
    } else {
        vote_for(q, p, q->local.id);
    }
}

static void forget_strangers(struct quorum *q)
{
    for (struct peer *p = q->peers; p != NULL; p = p->next) {
        if (p->node.id.p == NULL || p->keep || (p->node.roles & ROLE_MASTER) != 0
            || cluster_node(q->safety.accepted, p->node.id) != NULL) {
            continue;
        }
        struct quorum_effect *e = quorum_emit(q, EFFECT_FORGET);
        if (e != NULL) {
            e->peer.address = arena_str(&e->arena, p->node.transport_address);
            e->peer.ephemeral_id = arena_str(&e->arena, p->node.ephemeral_id);
        }
        p->node = (struct node_meta){0};
        arena_reset(&p->arena);
    }
}

void quorum_refuse_waiting(struct quorum *q, const struct errmsg *em)
{
    for (size_t i = 0; i < q->n_commits; i++) {
        quorum_refuse(q, q->commits[i].call, em);
    }
    q->n_commits = 0;
}

void publication_applied(struct quorum *q, uint64_t version)
{
    size_t left = 0;
    for (size_t i = 0; i < q->n_commits; i++) {
        if (q->commits[i].version <= version) {
            quorum_reply(q, q->commits[i].call, MESSAGE_COMMIT, true);
        } else {
            q->commits[left++] = q->commits[i];
        }
    }
    q->n_commits = left;
    struct publication *p = q->publication;
    /* What is not committed yet is another state of that version, of a master before this one. */
    if (p == NULL || p->state->version != version || !p->committed || p->own_ticket != 0) {
        if (q->mode == QUORUM_FOLLOWER) {
            forget_strangers(q);
        }
        return;
    }
    p->applied = true;
    finish(q, NULL);
    q->reconfiguring = false;
    joiners_remove_present(q);
    detection_begin(q);
    check_acked(q, p, false);
    if (q->mode == QUORUM_LEADER && voting_barred(q)) { /* it is to be taken away: those that vote lead */
        quorum_become_candidate(q, "this node is excluded from voting");
    }
}

/* Nodes that missed the newest state, and are thought to be there, get it again. */
static void repeat(struct quorum *q, struct publication *p)
{
    if (q->now < p->repeat_ms) {
        return;
    }
    p->repeat_ms = q->now + q->set.check_interval_ms;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct peer *peer = peer_by_ephemeral(q, p->targets[i].peer.ephemeral_id);
        if (p->targets[i].phase == TARGET_FAILED && peer != NULL && peer->in_state && !peer->leaving) {
            p->targets[i].phase = TARGET_SENT;
            send_state(q, p, &p->targets[i], true);
        }
    }
}

void publication_tick(struct quorum *q)
{
    struct publication *p = q->publication;
    if (p != NULL && !p->committed && q->now - p->begun_ms >= q->set.publish_timeout_ms) {
        quorum_become_candidate(q, "a state found no majority in time");
    }
    if (q->mode == QUORUM_LEADER && q->publication == NULL && q->trailing != NULL) {
        repeat(q, q->trailing); /* the newest is first */
    }
    for (struct publication **at = &q->trailing; *at != NULL;) {
        p = *at;
        check_acked(q, p, q->now - p->begun_ms >= q->set.publish_timeout_ms);
        bool old = q->now - p->committed_ms >= q->set.lag_timeout_ms;
        for (uint32_t i = 0; old && i < p->n; i++) {
            struct peer *peer = peer_by_ephemeral(q, p->targets[i].peer.ephemeral_id);
            if (peer != NULL && peer->in_state && peer->applied_version < p->state->version) {
                detection_left(q, peer, "lagging");
            }
        }
        if (old) {
            *at = p->next;
            publication_free(p);
        } else {
            at = &p->next;
        }
    }
}

int64_t publication_wake(const struct quorum *q)
{
    int64_t wake = q->publication != NULL && !q->publication->committed
                       ? q->publication->begun_ms + q->set.publish_timeout_ms
                       : INT64_MAX;
    for (const struct publication *p = q->trailing; p != NULL; p = p->next) {
        bool failed = false;
        for (uint32_t i = 0; i < p->n; i++) {
            failed |= p->targets[i].phase == TARGET_FAILED;
        }
        wake = failed && p == q->trailing && q->publication == NULL ? MIN_OF(wake, p->repeat_ms) : wake;
        wake = MIN_OF(wake, p->acked ? p->committed_ms + q->set.lag_timeout_ms
                                     : p->begun_ms + q->set.publish_timeout_ms);
    }
    return wake;
}
